"""Tests of tasks.forces."""
