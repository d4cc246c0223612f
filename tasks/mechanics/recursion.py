"""Recursive Newton-Euler inverse dynamics of a limb's spanning tree, for one sample, in body axes.

Inertial moments use the second-moment form: with S = [alpha]x + [omega]x[omega]x, a body's force is m (a + S c) and its
moment the skew part of S J, where J is the second moment of mass about the body's origin; so inertia costs as many
products as it has elements. Source: Featherstone, Rigid Body Dynamics Algorithms, section 5.3, for the recursion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robots.model import Inertia, Link
from robots.types import BASE
from tasks.kernels.types import Array, Scalar, Scalars
from tasks.mathematics.algebra import array, cross
from tasks.mechanics.field import Field
from tasks.mechanics.kinematics import JointState, along, joint_rotation, sliding, way


@dataclass(frozen=True)
class Massing:
    """Mass, first moment (3,) and second moment (3, 3) of mass about a body's origin."""

    mass: Scalar
    first: Array
    second: Array

    @classmethod
    def of(cls, inertia: Inertia) -> Massing:
        """From mass, centre, and inertia tensor about the centre."""
        centre, tensor = array(inertia.centre), array(inertia.tensor)
        half_trace = (tensor[0, 0] + tensor[1, 1] + tensor[2, 2]) * 0.5
        second = array(np.eye(3)) * half_trace - tensor + np.outer(centre, centre) * inertia.mass
        return cls(inertia.mass, centre * inertia.mass, second)

    def tensor(self) -> np.ndarray:
        """The inertia tensor (3, 3) about the origin."""
        return array(np.eye(3)) * np.trace(self.second) - self.second

    def spatial(self) -> np.ndarray:
        """The spatial inertia (6, 6) about the origin: from (angular, linear) to (moment, force)."""
        tilde = skew(self.first)
        return array(np.block([[self.tensor(), tilde], [-tilde, array(np.eye(3)) * self.mass]]))

    def wrench(self, spin: Array, acceleration: Array) -> tuple[np.ndarray, np.ndarray]:
        """Moment about the origin and force that give this motion; `spin` is S, `acceleration` that of the origin."""
        product = spin @ self.second
        apart = array([product[2, 1] - product[1, 2], product[0, 2] - product[2, 0], product[1, 0] - product[0, 1]])
        return apart + cross(self.first, acceleration), acceleration * self.mass + spin @ self.first


def skew(v: Array) -> np.ndarray:
    """The matrix (3, 3) whose product with a vector is the vector product with it."""
    return array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def spin_matrix(omega: Array, alpha: Array) -> np.ndarray:
    """S = [alpha]x + [omega]x [omega]x: accelerations relative to the origin are S times the position."""
    x, y, z = omega
    xx, yy, zz = x * x, y * y, z * z
    return array(
        [
            [-(yy + zz), x * y - alpha[2], x * z + alpha[1]],
            [x * y + alpha[2], -(xx + zz), y * z - alpha[0]],
            [x * z - alpha[1], y * z + alpha[0], -(xx + yy)],
        ]
    )


@dataclass(frozen=True)
class BodyMotion:
    """Motion of a body in its own axes; `spin` is S, `acceleration` that of the origin less gravity."""

    omega: Array
    alpha: Array
    spin: Array
    acceleration: Array


@dataclass(frozen=True)
class Wheel:
    """What spins on a link: its angular momentum relative to that and the derivative there, (3,) in the link's axes."""

    carrier: int
    momentum: Array
    change: Array

    def moment(self, carrier: BodyMotion) -> np.ndarray:
        """On the carrier, which it takes to let the wheel speed up and to turn its momentum along."""
        return self.change + cross(carrier.omega, self.momentum)


def inverse_dynamics(
    links: Sequence[Link],
    states: Sequence[JointState],
    rates: Scalars,
    accelerations: Scalars,
    gravity: Array | Field,
) -> list[Scalar]:
    """Generalised forces of the tree joints [N m or N], armatures included; `gravity` in the axes of the base."""
    own = body_wrenches(links, body_motions(links, states, rates, accelerations, Field.of(gravity)))
    return joint_forces(links, states, accelerations, own)


def joint_forces(
    links: Sequence[Link],
    states: Sequence[JointState],
    accelerations: Scalars,
    own: Sequence[tuple[np.ndarray, np.ndarray]],
) -> list[Scalar]:
    """The same from the wrenches that the motions of bodies take."""
    wrenches = joint_wrenches(links, states, own)
    return [along(link, states[i], *wrenches[i]) + link.armature * accelerations[i] for i, link in enumerate(links)]


def body_motions(
    links: Sequence[Link], states: Sequence[JointState], rates: Scalars, accelerations: Scalars, field: Field
) -> dict[int, BodyMotion]:
    """Outward: the motion of the base and of each body, in its own axes."""
    base = BodyMotion(field.omega, field.alpha, spin_matrix(field.omega, field.alpha), -field.gravity)
    moving: dict[int, BodyMotion] = {BASE: base}
    for i, link in enumerate(links):
        parent, axis = moving[link.parent], array(link.axis)
        inward = array(link.placement.rotation)
        turn = joint_rotation(link, states[i])
        at = array(link.placement.position) + (inward @ axis) * way(link, states[i])
        omega, alpha, acceleration = (
            turn.T @ (inward.T @ x) for x in (parent.omega, parent.alpha, parent.acceleration + parent.spin @ at)
        )
        if link.joint_kind.slides:
            speed, change = sliding(link, states[i], rates[i], accelerations[i])
            acceleration = acceleration + axis * change + cross(omega, axis * speed) * 2.0
        if link.joint_kind.turns:
            alpha = alpha + axis * accelerations[i] + cross(omega, axis * rates[i])
            omega = omega + axis * rates[i]
        moving[i] = BodyMotion(omega, alpha, spin_matrix(omega, alpha), acceleration)
    return moving


def body_wrenches(
    links: Sequence[Link], moving: Mapping[int, BodyMotion], wheels: Sequence[Wheel] = ()
) -> list[tuple[np.ndarray, np.ndarray]]:
    """(moment, force) at the origin of each body that its motion takes, and that of the `wheels` that it carries."""
    result = [Massing.of(link.inertia).wrench(moving[i].spin, moving[i].acceleration) for i, link in enumerate(links)]
    for wheel in wheels:
        if wheel.carrier != BASE:
            moment, force = result[wheel.carrier]
            result[wheel.carrier] = moment + wheel.moment(moving[wheel.carrier]), force
    return result


def joint_wrenches(
    links: Sequence[Link], states: Sequence[JointState], own: Sequence[tuple[np.ndarray, np.ndarray]]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Inward: (moment, force) that each joint carries, at the link's origin in its axes."""
    total = list(own)
    for i in reversed(range(len(links))):
        link = links[i]
        if link.parent == BASE:
            continue
        inward = array(link.placement.rotation)
        turn = joint_rotation(link, states[i])
        at = array(link.placement.position) + (inward @ array(link.axis)) * way(link, states[i])
        moment, force = (inward @ (turn @ x) for x in total[i])
        before = total[link.parent]
        total[link.parent] = (before[0] + moment + cross(at, force), before[1] + force)
    return total
