"""Arithmetic expressions of robot and sweep files."""
