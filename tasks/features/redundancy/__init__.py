"""Redundant chains at one configuration: free joints at a pose decided by a posture and by tasks."""
