"""Numbers, vectors and names that descriptions of robots are made of."""

from __future__ import annotations

from typing import Any, Literal

Number = Any
"""A float, or an expression while a kernel is traced."""

Vector = tuple[Number, Number, Number]

Matrix = tuple[Vector, Vector, Vector]

JointKind = str
"""The name of a kind of joint, a row of `robots.joint_kinds`."""

BASE = -1
"""Parent index of a link that is mounted on the base."""

IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

ZERO: Vector = (0.0, 0.0, 0.0)

TWIST = ("wx", "wy", "wz", "vx", "vy", "vz")
"""Components of a twist: angular, then linear."""

ROTATION, TRANSLATION = TWIST[:3], TWIST[3:]

LoadAxes = Literal["world", "platform"]
"""The axes that a load on the platform is given in."""

SPATIAL = TWIST
