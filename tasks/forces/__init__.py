"""Wrenches of forces on bodies from outside the mechanism, for one sample."""
