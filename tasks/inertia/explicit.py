"""Elements of the inertia matrix of a tree, each as an expression of its own.

Element (u, k) couples the acceleration of joint k into the force of joint u. It is zero for joints on different
branches. Else it is n_u . (sum of one term over the bodies that both joints move) n_k, and the kinds of the joints
and their order say which term: the eight cases of the paper, which are the rows of `CASES`. No element needs another
one.

Source: Wang, Ju, An explicit modelling method of joint-space inertia matrix for tree-chain dynamic system, Eqs. (30)
to (37). What is misprinted there: docs/theory/inertia_matrix.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robots.model import Link
from tasks.inertia.placed import Body, Placed, by_elements
from tasks.mathematics.algebra import array, cross_matrix
from tasks.mechanics.kinematics import JointState

Scalar = Any
Array = Any
Term = Callable[[Body, Array, Array], Array]
"""(3, 3) from a body and the vectors from the origins of u and k to its centre of mass."""


def _double_cross(a: Array, b: Array) -> np.ndarray:
    """-[a]x [b]x."""
    xx, yy, zz = a * b
    return array(
        [
            [yy + zz, -(a[1] * b[0]), -(a[2] * b[0])],
            [-(a[0] * b[1]), xx + zz, -(a[2] * b[1])],
            [-(a[0] * b[2]), -(a[1] * b[2]), xx + yy],
        ]
    )


def _turn_by_turn(body: Body, from_u: Array, from_k: Array) -> np.ndarray:
    return body.tensor + _double_cross(from_u, from_k) * body.mass


def _turn_by_slide(body: Body, from_u: Array, from_k: Array) -> np.ndarray:
    return cross_matrix(from_u) * body.mass


def _slide_by_turn(body: Body, from_u: Array, from_k: Array) -> np.ndarray:
    return cross_matrix(from_k) * -body.mass


def _slide_by_slide(body: Body, from_u: Array, from_k: Array) -> np.ndarray:
    return array(np.eye(3)) * body.mass


@dataclass(frozen=True)
class Case:
    """One of the eight cases: its equation, its `term`, and the joint, u or k, whose subtree is summed over."""

    equation: int
    term: Term
    over: str


R, P = "revolute", "prismatic"
BEFORE, FROM = "before", "from"
"""Where joint k is: nearer to the root than u, or in the subtree of u, which holds u itself."""

CASES: Mapping[tuple[str, str, str], Case] = {
    (R, R, BEFORE): Case(30, _turn_by_turn, "u"),
    (R, P, BEFORE): Case(31, _turn_by_slide, "u"),
    (R, R, FROM): Case(32, _turn_by_turn, "k"),
    (R, P, FROM): Case(33, _turn_by_slide, "k"),
    (P, R, BEFORE): Case(34, _slide_by_turn, "u"),
    (P, P, BEFORE): Case(35, _slide_by_slide, "u"),
    (P, R, FROM): Case(36, _slide_by_turn, "k"),
    (P, P, FROM): Case(37, _slide_by_slide, "k"),
}
"""Kind of joint u, kind of joint k, place of k."""


def _place(placed: Placed, u: int, k: int) -> str | None:
    """Where k is as seen from u; None on another branch."""
    if k in placed.subtree(u):
        return FROM
    return BEFORE if k in placed.chain(u) else None


def coupling(placed: Placed, u: int, k: int) -> np.ndarray:
    """(3, 3): turns the acceleration vector of joint k into a moment or force at joint u, of which n_u . is felt."""
    place = _place(placed, u, k)
    if place is None:
        return np.zeros((3, 3))
    first, second = placed.bodies[u], placed.bodies[k]
    case = CASES[first.kind, second.kind, place]
    bodies = [placed.bodies[j] for j in placed.subtree({"u": u, "k": k}[case.over])]
    return sum(
        (case.term(body, body.centre - first.origin, body.centre - second.origin) for body in bodies[1:]),
        start=case.term(bodies[0], bodies[0].centre - first.origin, bodies[0].centre - second.origin),
    )


def element_of(placed: Placed, u: int, k: int) -> Scalar:
    """Element (u, k) of the inertia matrix of a tree at a configuration, without drive."""
    return placed.bodies[u].axis @ (coupling(placed, u, k) @ placed.bodies[k].axis)


def matrix(placed: Placed) -> np.ndarray:
    """The inertia matrix (n, n) without drives, element by element of the lower triangle."""
    return by_elements(placed, lambda u, k: element_of(placed, u, k))


def element(links: Sequence[Link], states: Sequence[JointState], u: int, k: int) -> Scalar:
    """Element (u, k) of the inertia matrix alone, the drive included [kg m^2, kg m or kg].

    It is worked out in the axes of the inner one of both links, so that joints before them cost nothing.
    """
    inner = min(u, k)
    placed = Placed.of(links, states, inner)
    if max(u, k) not in placed.bodies:
        return 0.0
    return element_of(placed, u, k) + (links[u].armature if u == k else 0.0)
