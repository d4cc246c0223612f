"""Tolerances for the closure of limbs and loops, and their reference length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from robots.model import Limb
from tasks.kernels.expression import Dual, Scalar, Scalars
from tasks.mathematics.algebra import is_zero, largest, total, where

WINDING = 2000  # iterations of limbs with joints that count their turns; each turn takes a dozen steps
AT_ORIGIN = 1e-3  # least sum of coordinates of the tips, relative to all joints, that gives the size of a limb
CONVERGED = Dual(1e-8, 1e-4)  # residual, relative to the limb, of the last Newton step
SETTLED = Dual(2e-8, 5e-4)
"""Longest last Newton step of a joint [rad, or share of the limb]. Its square is rounding: what such a step leaves open
counts as rounding of the closure, however near a singularity is. A residual alone would leave more open there.
"""
CLOSED = Dual(1e-10, 1e-5)  # largest residual, relative to the limb, of a solved sample
FOLLOWED = Dual(1e-11, 1e-5)  # value of CONVERGED near a singularity, and at the end of a path
STRICTER = Dual(1e3, 10.0)  # factor of residuals near a singularity: CONVERGED over FOLLOWED
NEARLY_SINGULAR = Dual(0.02, 0.1)  # volume of L_t, relative to a box at the reference pose, near a singularity
SINGULAR = Dual(2e-4, 1e-2)
"""Dependence of the columns of L_t up to which a sample is SINGULAR: see `tasks.mechanics.matrices.is_flat`.

Rounding moves joints by its size over this number, and the number by as much: forces lose all but five digits here, at
some 1e-8 of the length of a limb before its reach ends. `python -m benchmarks.motion singular` measures it.
"""
LOOP_SINGULAR, LOOP_SINGULAR_AT_REST = Dual(2.5e-3, 1e-2), Dual(6e-5, 1e-2)
"""The same for the dependent joints of loops, which may be flat with rates and accelerations that stay small.

Rates lose as many digits again. So do accelerations, by the drift of rates; at rest this drift is zero.
"""


def longest_step(limb: Limb, steps: Mapping[int, Scalar], size: Scalar) -> Scalar:
    """Return the longest step of some joints by number [rad, or share of the size of a limb]."""
    per_size = 1.0 / size
    turns = {joint: limb.links[joint].joint_kind.turns for joint in steps}
    return largest(step if turns[joint] else step * per_size for joint, step in steps.items())


def _coordinates(limb: Limb) -> list[Scalar]:
    """Return the coordinates of all joints of a limb in the frames of their bodies [m]."""
    frames = [
        *(link.placement for link in limb.links),
        *(frame for cut in limb.cuts for frame in (cut.frame_a, cut.frame_b)),
    ]
    return [x for frame in frames for x in frame.position]


def lever_of(limb: Limb) -> Scalar:
    """Return the mean distance of joints on a body along its axes [m], above zero; 1 if all joints are at one point."""
    distances = [x for x in _coordinates(limb) if not is_zero(x)]
    mean = total(distances) * (1.0 / max(len(distances), 1))
    return where(mean > 0.0, mean, 1.0)


def distance_of(position: Scalars, *limbs: Limb) -> float:
    """Return the distance of a platform at reference from the base [m], of numbers; if zero, a part of its limbs."""
    levers = np.array([lever_of(limb) for limb in limbs], dtype=float)
    return float(max(np.linalg.norm(np.asarray(position, dtype=float)), AT_ORIGIN * levers.max(initial=0.0)))


def length_of(limb: Limb, near: Scalar, further: Sequence[Scalar] = ()) -> Scalar:
    """Return a length [m] above zero: the cut joints' distance from an origin; if zero, the limb's length."""
    lengths = total(_coordinates(limb) + list(further))
    # tips may be at the origin of the mount frame, up to rounding
    whole = where(near > AT_ORIGIN * lengths, near, lengths)
    return where(whole > 0.0, whole, 1.0)
