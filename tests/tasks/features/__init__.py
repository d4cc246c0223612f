"""Tests of `tasks.features`."""
