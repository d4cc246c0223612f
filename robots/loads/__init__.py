"""Loads that a user puts on a robot: wrenches, springs and grasped objects, whose numbers are parameters of it."""
