"""Kinematic calibration: geometry and zeros of sensors from measured poses, and from more sensors than are needed."""
