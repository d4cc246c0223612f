"""Elements of the inertia matrix and of the bias vector of a tree, each as an expression of its own.

Element (u, k) couples the acceleration of joint k into the force of joint u. It is zero for joints on different
branches. Else it is n_u . (sum of one term over the bodies that both joints move) n_k. The kinds of both joints
(rotation or translation) and their order select the term: the eight cases of the paper are the rows of `CASES`. Terms
of a joint that turns and slides add up. No element needs another one.

Source: Wang, Ju, An explicit modelling method of joint-space inertia matrix for tree-chain dynamic system, Eqs. (30)
to (37); bias vector: Eqs. (21), (22) of the paper on explicit dynamics with joint friction. Misprints there:
docs/theory/inertia_matrix.md.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from robots.data_classes import dataclass
from robots.model import Link
from tasks.kernels.expression import Array, Scalar, Scalars
from tasks.mathematics.algebra import array, cross, dot, skew
from tasks.mechanics.inertia.placed import Body, Placed, by_elements
from tasks.mechanics.kinematics import ZERO, JointState

Term = Callable[[Body, Array, Array], Array]
"""(3, 3) from a body and the vectors from the origins of u and k to its centre of mass."""


def _double_cross(a: Array, b: Array) -> np.ndarray:
    """Return -[a]x [b]x."""
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
    return skew(from_u) * body.mass


def _slide_by_turn(body: Body, from_u: Array, from_k: Array) -> np.ndarray:
    return skew(from_k) * -body.mass


def _slide_by_slide(body: Body, from_u: Array, from_k: Array) -> np.ndarray:
    return array(np.eye(3)) * body.mass


@dataclass(frozen=True)
class Case:
    """One of the eight cases: its equation, its `term`, and the joint, u or k, whose subtree is summed over."""

    equation: int
    term: Term
    over: str


R, P = "turns", "slides"
BEFORE, FROM = "before", "from"
"""Place of joint k: nearer to the root than u, or in the subtree of u, which includes u itself."""

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
"""Cases of the paper, by motion of joint u, motion of joint k, and place of k."""


def _parts(body: Body) -> list[tuple[str, Scalar]]:
    """Return the motions of a joint at unit rate, turn or slide, each with its amount."""
    return [(R, 1.0)] * body.turns + [(P, body.slope)] * body.slides


def _place(placed: Placed, u: int, k: int) -> str | None:
    """Return the place of k as seen from u; None on another branch."""
    if k in placed.subtree(u):
        return FROM
    return BEFORE if k in placed.chain(u) else None


def _coupling(placed: Placed, u: int, k: int, moved: Sequence[tuple[str, Scalar]]) -> np.ndarray:
    """Return the matrix (3, 3) from `moved`, the acceleration vector of joint k, to its effect along n_u at joint u."""
    place, result = _place(placed, u, k), np.zeros((3, 3))
    if place is not None:
        for (first, share), (second, amount) in itertools.product(_parts(placed.bodies[u]), moved):
            result = result + _term_sum(placed, u, k, CASES[first, second, place]) * (share * amount)
    return result


def _term_sum(placed: Placed, u: int, k: int, case: Case) -> np.ndarray:
    first, second = placed.bodies[u], placed.bodies[k]
    bodies = [placed.bodies[j] for j in placed.subtree({"u": u, "k": k}[case.over])]
    return sum(
        (case.term(body, body.centre - first.origin, body.centre - second.origin) for body in bodies[1:]),
        start=case.term(bodies[0], bodies[0].centre - first.origin, bodies[0].centre - second.origin),
    )


def element_of(placed: Placed, u: int, k: int) -> Scalar:
    """Return the element (u, k) of the inertia matrix of a tree at a configuration, without drives."""
    return placed.bodies[u].axis @ (_coupling(placed, u, k, _parts(placed.bodies[k])) @ placed.bodies[k].axis)


def matrix(placed: Placed) -> np.ndarray:
    """Return the inertia matrix (n, n) without drives, element by element of the lower triangle."""
    return by_elements(placed, lambda u, k: element_of(placed, u, k))


def element(links: Sequence[Link], states: Sequence[JointState], u: int, k: int) -> Scalar:
    """Return the element (u, k) of the inertia matrix alone, with the drive [kg m^2, kg m or kg].

    It is computed in the axes of the inner link of both, so that joints before it cost no time.
    """
    inner = min(u, k)
    placed = Placed.of(links, states, inner)
    if max(u, k) not in placed.bodies:
        return 0.0
    return element_of(placed, u, k) + (links[u].armature if u == k else 0.0)


def bias(links: Sequence[Link], states: Sequence[JointState], rates: Scalars, gravity: Array) -> np.ndarray:
    """Return the bias vector h (n,) [N m or N]: forces of the joints that leave them without acceleration.

    `gravity` (3,) in the axes of the base.
    """
    flow = _Flow.of(Placed.of(links, states), rates, array(gravity))
    return array([_bias_element(flow, u) for u in range(len(links))])


@dataclass(frozen=True)
class _Flow:
    """A tree in motion: by link its angular velocity `omega`, `drift` of the joint's axis, and `pull` at its centre.

    `drift` is the angular acceleration that a revolute joint adds at constant rates. `pull` is the acceleration of the
    centre of mass that all joints cause in addition, less gravity.
    """

    placed: Placed
    omega: Mapping[int, Array]
    drift: Mapping[int, Array]
    pull: Mapping[int, Array]

    @classmethod
    def of(cls, placed: Placed, rates: Scalars, gravity: Array) -> _Flow:
        omega: dict[int, Array] = {}
        drift: dict[int, Array] = {}
        swirl: dict[int, Array] = {}  # of the origins
        pull: dict[int, Array] = {}
        for i, body in placed.bodies.items():
            before = omega.get(body.parent, ZERO)
            rate = body.axis * rates[i]
            behind = placed.bodies[body.parent].origin if body.parent in placed.bodies else body.origin
            omega[i] = before + rate if body.turns else before
            drift[i] = cross(before, rate) if body.turns else ZERO
            curved = body.axis * (body.bend * rates[i] * rates[i])
            slide = cross(before, rate * body.slope) * 2.0 + curved if body.slides else ZERO
            swirl[i] = swirl.get(body.parent, ZERO) + _twice(before, body.origin - behind) + slide
            pull[i] = swirl[i] + _twice(omega[i], body.centre - body.origin) - gravity
        return cls(placed, omega, drift, pull)


def _twice(omega: Array, arm: Array) -> np.ndarray:
    return cross(omega, cross(omega, arm))


def _bias_element(flow: _Flow, u: int) -> Scalar:
    """Return Eq. (21) for a joint that turns, Eq. (22) for one that slides."""
    placed, joint = flow.placed, flow.placed.bodies[u]
    turning = [k for k in (*placed.chain(u)[:-1], *placed.subtree(u)) if placed.bodies[k].turns]
    total = sum((_coupling(placed, u, k, [(R, 1.0)]) @ flow.drift[k] for k in turning), start=ZERO)
    for j in placed.subtree(u):
        body, force = placed.bodies[j], flow.pull[j] * placed.bodies[j].mass
        if joint.turns:
            gyroscopic = cross(flow.omega[j], body.tensor @ flow.omega[j])
            total = total + cross(body.centre - joint.origin, force) + gyroscopic
        if joint.slides:
            total = total + force * joint.slope
    return dot(joint.axis, total)
