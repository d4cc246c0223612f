"""Lead laws: the displacement of a joint along its axis as a function of its variable.

There is a row for each kind of one variable that slides, with functions of the pitch [m/rad] and the variable q, floats
or traced. Joints that only turn have no row. Sources: hybrid-limb paper, Eqs. (148), (149), for the screw coordinates
of joints: e, y x e + h e.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from robots.data_classes import dataclass
from robots.joint_kinds import JOINT_KINDS, Freedom
from robots.types import JointKind
from tasks.kernels.expression import Array, Scalar

Law = Callable[..., Any]
"""A function of pitch and variable."""


@dataclass(frozen=True)
class Lead:
    """The way [m] along the axis, its derivative over the variable, and the second one where that is not zero.

    variable: reads the joint back from its pitch, its angle within half a turn, and its way.
    """

    way: Law
    slope: Law
    variable: Callable[..., Any]
    bend: Law | None = None


def turned_to(pitch: Array, angle: Array, way: Array) -> Array:
    """Return the angle of a screw with full turns, the one nearest to its displacement among equivalent angles."""
    turn = 2.0 * math.pi
    return angle + np.rint((way / pitch - angle) / turn) * turn


LEADS: Mapping[JointKind, Lead] = {
    "prismatic": Lead(lambda pitch, q: q, lambda pitch, q: 1.0, lambda pitch, angle, way: way),
    "screw": Lead(lambda pitch, q: pitch * q, lambda pitch, q: pitch, turned_to),
}
"""Lead laws by kind of joint."""


def lead_slope(freedom: Freedom, kind: JointKind, pitch: Scalar | None, q: Scalar | Array) -> Any:
    """Return a joint's displacement for a unit of one of its freedoms; q is its variable if it has just one."""
    if freedom.turns and freedom.slides:
        return LEADS[kind].slope(pitch, q)
    return 1.0 if freedom.slides else 0.0


def variable(kind: JointKind, pitch: Scalar | None, angle: Scalar, way: Scalar) -> Any:
    """Return the variable of a joint between bodies [rad or m], from angle within half a turn and displacement."""
    return LEADS[kind].variable(pitch, angle, way) if JOINT_KINDS[kind].slides else angle
