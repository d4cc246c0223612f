"""Checks of motion from forces, robots by laws of friction: balance of energy, friction at rest, round trips, loads."""
