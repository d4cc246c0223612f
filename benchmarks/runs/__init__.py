"""Whole runs: their speed, memory and files."""
