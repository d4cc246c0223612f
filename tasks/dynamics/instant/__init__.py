"""What a robot with friction does at one instant: accelerations, friction, and what joints at rest hold, one sample."""
