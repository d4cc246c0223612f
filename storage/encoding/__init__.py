"""Formats of the bytes of files: shards, checksums, bounded JSON. No files are opened here."""
