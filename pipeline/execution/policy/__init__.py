"""Decisions of a run as pure functions: how much is in flight, what is tried again, alone, or given up."""
