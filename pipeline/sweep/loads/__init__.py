"""Loads on the bodies of a robot, in sweep files."""
