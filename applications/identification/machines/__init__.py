"""Recordings of real machines: descriptions in YAML, files, identification, results."""
