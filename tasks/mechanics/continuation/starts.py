"""Ways to a pose, tried one after the other: how the first joint of a limb or its platform goes, to begin with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tasks.kernels.types import Array, Scalar
from tasks.mathematics.algebra import array, dot, every, sqrt, where
from tasks.mathematics.elementary import atan2, sincos
from tasks.mechanics.continuation.steps import chosen
from tasks.mechanics.kinematics import Pose


class Start(NamedTuple):
    """Another way from the reference pose, in cylindrical coordinates about the axis of the first joint."""

    height: bool
    """Whether the tips are brought to the height of the platform along that axis first."""
    beyond: float | None
    """How far the first joint then turns the limb beyond the direction of the platform [rad]; None: not at all."""
    straight: bool = False
    """Whether the independent joints go straight to where they are to be, which is known but for its branch."""
    turning: tuple[float, float] | None = None
    """From which to which part of the way the platform turns; None: it is where it is wanted from the beginning."""
    moving: tuple[float, float] | None = None
    """The same of how it moves."""


LEVELLING = 40  # rounds in which tips are brought to their height
STARTS = (
    Start(False, None),
    Start(False, None, straight=True),
    Start(False, 0.0),
    Start(True, 0.0),
    Start(True, None),
    Start(True, 0.8),
    Start(True, -0.8),
)
ROUTES = (
    Start(False, None, turning=(0.0, 1.0), moving=(0.0, 1.0)),
    Start(False, None, turning=(0.0, 0.6), moving=(0.6, 1.0)),
    Start(False, None, turning=(0.4, 1.0), moving=(0.0, 0.4)),
)
"""Ways of a platform that turns, which Newton's path does not do evenly: both at once, or one after the other."""


@dataclass(frozen=True)
class Way:
    """The way of a platform that turns, from its reference pose to where it is wanted: a turn and a move."""

    home: Pose
    wanted: Pose

    @cached_property
    def turn(self) -> tuple[Array, Scalar]:
        """Axis in the platform and angle of the turn [rad]; any axis where it does not turn."""
        r = self.home.rotation.T @ self.wanted.rotation
        twice = array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])
        size = sqrt(dot(twice, twice))
        some = size > 1e-12
        axis = [where(some, x / where(some, size, 1.0), float(k == 2)) for k, x in enumerate(twice)]
        return array(axis), atan2(size, r[0, 0] + r[1, 1] + r[2, 2] - 1.0)

    def at(self, turned: Scalar, moved: Scalar) -> Pose:
        """The pose some shares of the way; exactly the wanted one at its end."""
        axis, angle = self.turn
        sine, cosine = sincos(angle * turned)
        rotation = self.home.rotation @ about(axis, cosine, sine)
        position = self.home.position + (self.wanted.position - self.home.position) * moved
        there = every([turned >= 1.0, moved >= 1.0])
        return Pose(
            np.reshape(array(chosen(there, list(self.wanted.rotation.ravel()), list(rotation.ravel()))), (3, 3)),
            array(chosen(there, list(self.wanted.position), list(position))),
        )


def about(axis: Array, cosine: Scalar, sine: Scalar) -> Array:
    """Rotation (3, 3) about a unit vector: Rodrigues' formula."""
    x, y, z = axis
    skew = array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + skew * sine + (skew @ skew) * (1.0 - cosine)
