"""Strict reading of YAML and CSV files: problems with line, key, got and expected."""
