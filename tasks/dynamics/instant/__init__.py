"""Dynamics of a robot with friction at one instant, one sample: accelerations, friction, forces of joints at rest."""
