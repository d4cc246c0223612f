"""Tests of `tasks.criteria`."""
