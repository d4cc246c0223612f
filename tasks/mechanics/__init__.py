"""Kinematics and dynamics of limbs, chains and platforms for one sample, from which programs are traced."""
