"""Trajectories in closed form: positions, rotations and their derivatives."""
