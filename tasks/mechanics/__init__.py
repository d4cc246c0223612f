"""Kinematics and dynamics of limbs, chains and platforms for one sample: what programs are traced from."""
