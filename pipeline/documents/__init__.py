"""Strict reading of YAML and CSV files: problems with line, key, what was found and what was expected."""
