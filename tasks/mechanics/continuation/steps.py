"""What paths have in common: numbers of joint states, and how far a matrix may change in a step."""

from __future__ import annotations

from collections.abc import Sequence

from robots.model import Limb
from tasks.kernels.expression import Dual
from tasks.kernels.types import Array, Mask, Scalar, Scalars
from tasks.mathematics.algebra import where
from tasks.mechanics.kinematics import JointState, unpacked

SMALL_CHANGE = 0.8  # of a matrix in a step, relative; from 1 a singularity could lie between its ends
TURN_LIMIT = 0.5  # of a joint in a step [rad]
GROWTH = 1.5  # of a step's share after one that was taken
LEAST_SHARE = 1.0 / 256.0  # of a Newton step: below it the path has come to an end
LEAST_STRIDE = 1e-5
NEARLY_CLOSED = 1e-4  # residual, relative to the limb, from which the way goes on
SAME = Dual(1e-6, 1e-3)  # difference of joint states that are the same but for rounding


def packed(limb: Limb, states: Sequence[JointState]) -> list[Scalar]:
    """The numbers that the states of all joints of a tree are made of."""
    return [x for link, state in zip(limb.links, states, strict=True) for x in state.packed(link)]


def unpacked_states(limb: Limb, flat: Sequence[Scalar]) -> list[JointState]:
    """The states of the next numbers, as `packed` gives them."""
    values = iter(flat)
    return [unpacked(link, values) for link in limb.links]


def relative_change(inverse: Array, matrix: Array, weights: Sequence[Scalar]) -> Scalar:
    """How much a matrix has changed since it had this inverse: a norm without unit.

    weights: what the variables of its columns are multiplied by so that none has a unit.
    """
    product = inverse @ matrix
    most: Scalar = 0.0
    for i, w in enumerate(weights):
        row: Scalar = 0.0
        for j, v in enumerate(weights):
            entry = product[i, j] - (1.0 if i == j else 0.0)
            row = row + abs(entry if w is v or w == v else entry * (w / v))
        most = where(row > most, row, most)
    return most


def chosen(mask: Mask, x: Scalars, y: Scalars) -> list[Scalar]:
    """Elements of x where the mask holds, else of y."""
    return [where(mask, p, q) for p, q in zip(x, y, strict=True)]
