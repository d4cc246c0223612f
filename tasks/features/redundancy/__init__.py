"""Redundant chains at one configuration: what the joints that a pose leaves free do for a posture, and for tasks."""
