"""Energy of any tree of bodies by products of transforms, body by body from the base; runs on complex numbers too.

With a step of 1e-100 i along a motion the imaginary part is the rate of energy, exact to rounding. Nothing of an
engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .delta_bodies import Array


def tree_energy(bodies: Sequence[Any], q: Array, qd: Array) -> Any:
    """Kinetic and potential energy [J] of a tree of `TreeBody` under a gravity of 9.81 m/s^2 along -z."""
    total, frames = 0.0, {-1: (np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3))}
    for index, body in enumerate(bodies):
        rotation, origin, omega, velocity = frames[body.parent]
        arm, axis = rotation @ body.position, rotation @ body.rotation @ body.axis
        rotation, velocity = rotation @ body.rotation, velocity + np.cross(omega, arm)
        if body.kind == "revolute":
            rotation, omega = rotation @ _about(body.axis, q[index]), omega + qd[index] * axis
        else:
            arm, velocity = arm + q[index] * axis, velocity + qd[index] * axis + np.cross(omega, q[index] * axis)
        frames[index] = rotation, origin + arm, omega, velocity
        centre, spin = rotation @ body.centre, rotation.T @ omega
        speed = velocity + np.cross(omega, centre)
        total = total + 0.5 * body.mass * (speed @ speed) + 0.5 * spin @ body.tensor @ spin
        total = total + 9.81 * body.mass * (origin + arm + centre)[2]
    return total


def _about(axis: Array, angle: Any) -> Array:
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross)
