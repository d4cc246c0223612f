"""Inputs of design criteria besides a robot and its motion: elasticity and errors of parts, capsules around links."""
