"""Friction in joints: laws with and without a state, normal loads, and what friction does to actuators.

`laws`, `stiction` and `lugre` are the laws; `given` is friction as callers give it; `joints` and `coupled` bring it to
a whole robot.
"""
