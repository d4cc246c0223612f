"""Decisions of a run on plain data, without effects: attempts, restarts, pauses, slow blocks, silence, window."""
