"""Recordings of real machines: descriptions in YAML, files, identification, what comes out of it."""
