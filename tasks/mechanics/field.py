"""What acts on all bodies of a robot alike: gravity, and the motion of its base, for one sample.

All positions and motions of a robot are relative to its base. Where that moves, bodies feel besides gravity its
acceleration and rotation; `gravity` is then less the acceleration of the base's origin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tasks.kernels.types import Array
from tasks.mathematics.algebra import array, cross
from tasks.mechanics.kinematics import Motion, Pose

STILL = 3
"""Length of the `gravity` input of kernels of a robot whose base stands still."""

MOVING = 9
"""The same of one whose base moves: gravity less acceleration, angular velocity, angular acceleration; base axes."""


@dataclass(frozen=True)
class Field:
    """Gravity less the acceleration of the base's origin, the base's angular velocity and acceleration, (3,) each."""

    gravity: Array
    omega: Array
    alpha: Array

    @classmethod
    def of(cls, values: Array | Field) -> Field:
        """From the `gravity` input of a kernel, or a vector of gravity."""
        if isinstance(values, Field):
            return values
        given, zero = array(values), np.zeros(3)
        return cls(given, zero, zero) if len(given) == STILL else cls(given[:3], given[3:6], given[6:])

    def seen_from(self, pose: Pose) -> Field:
        """The same for a frame that stands on the base, in its axes."""
        swirl = cross(self.alpha, pose.position) + cross(self.omega, cross(self.omega, pose.position))
        inward = pose.rotation.T
        return Field(inward @ (self.gravity - swirl), inward @ self.omega, inward @ self.alpha)

    def at(self, position: Array, motion: Motion) -> Motion:
        """Absolute motion, but for the velocity, of a body that moves so relative to the base; less gravity."""
        omega, alpha = self.omega, self.alpha
        swirl = cross(alpha, position) + cross(omega, cross(omega, position)) + cross(omega, motion.v) * 2.0
        return Motion(
            motion.omega + omega,
            motion.v,
            motion.alpha + alpha + cross(omega, motion.omega),
            motion.a - self.gravity + swirl,
        )
