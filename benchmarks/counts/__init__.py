"""Counted operations of programs, and the peak rate of a core."""
