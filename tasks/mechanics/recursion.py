"""Recursive Newton-Euler inverse dynamics of a limb's spanning tree, for one sample, with the spinning parts of drives.

The recursion is in body axes. Inertial moments use the second-moment form: with S = [alpha]x + [omega]x[omega]x, a
body's force is m (a + S c) and its moment the skew part of S J, where J is the second moment of mass about the body's
origin; so inertia costs as many products as it has elements. Source: Featherstone, Rigid Body Dynamics Algorithms,
section 5.3, for the recursion.

A wheel of inertia I that spins at q_s' about the axis a of a link that turns with omega has, beside the energy that it
has at rest in the link, I q_s'^2 / 2 + c I q_s' (a . omega): c is its coupling, 0 where the second part is left out.
Source: Szkodny, Dynamics of industrial robot manipulators, Eqs. (2), (7), (13), here for symmetric rotors.

All positions and motions are relative to the base of the robot. On a moving base, bodies feel besides gravity its
acceleration and rotation (`Field`); `gravity` is then less the acceleration of the base's origin. The wrench on a
platform has the same terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from robots.data_classes import dataclass, replace
from robots.drives import Spin
from robots.model import Inertia, Limb, Link, Platform
from robots.types import BASE, ZERO
from tasks.kernels.expression import Array, Scalar, Scalars
from tasks.mathematics.algebra import array, cross, skew
from tasks.mechanics.kinematics import JointState, Pose, SpatialMotion, along, joint_rotation, sliding, traced_once, way

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
        """Return the field of a kernel's `gravity` input, or of a vector of gravity."""
        if isinstance(values, Field):
            return values
        numbers, zero = array(values), np.zeros(3)
        return cls(numbers, zero, zero) if len(numbers) == STILL else cls(numbers[:3], numbers[3:6], numbers[6:])

    def seen_from(self, pose: Pose) -> Field:
        """Return the field in the axes of a frame that is fixed on the base."""
        swirl = cross(self.alpha, pose.position) + cross(self.omega, cross(self.omega, pose.position))
        inward = pose.rotation.T
        return Field(inward @ (self.gravity - swirl), inward @ self.omega, inward @ self.alpha)

    def at(self, position: Array, motion: SpatialMotion) -> SpatialMotion:
        """Return a body's absolute motion, except its velocity, from its motion relative to the base; less gravity."""
        omega, alpha = self.omega, self.alpha
        swirl = cross(alpha, position) + cross(omega, cross(omega, position)) + cross(omega, motion.v) * 2.0
        return SpatialMotion(
            motion.omega + omega,
            motion.v,
            motion.alpha + alpha + cross(omega, motion.omega),
            motion.a - self.gravity + swirl,
        )


@dataclass(frozen=True)
class Massing:
    """Mass, first moment (3,) and second moment (3, 3) of mass about a body's origin."""

    mass: Scalar
    first: Array
    second: Array

    @classmethod
    def of(cls, inertia: Inertia) -> Massing:
        """Return the massing from mass, centre, and inertia tensor about the centre."""
        centre, tensor = array(inertia.centre), array(inertia.tensor)
        half_trace = (tensor[0, 0] + tensor[1, 1] + tensor[2, 2]) * 0.5
        second = array(np.eye(3)) * half_trace - tensor + np.outer(centre, centre) * inertia.mass
        return cls(inertia.mass, centre * inertia.mass, second)

    def tensor(self) -> np.ndarray:
        """Return the inertia tensor (3, 3) about the origin."""
        return array(np.eye(3)) * np.trace(self.second) - self.second

    def spatial(self) -> np.ndarray:
        """Return the spatial inertia (6, 6) about the origin: from (angular, linear) to (moment, force)."""
        tilde = skew(self.first)
        return array(np.block([[self.tensor(), tilde], [-tilde, array(np.eye(3)) * self.mass]]))

    def wrench(self, spin: Array, acceleration: Array) -> tuple[np.ndarray, np.ndarray]:
        """Return moment about the origin and force for this motion; `spin`: S; `acceleration`: of the origin."""
        product = spin @ self.second
        apart = array([product[2, 1] - product[1, 2], product[0, 2] - product[2, 0], product[1, 0] - product[0, 1]])
        return apart + cross(self.first, acceleration), acceleration * self.mass + spin @ self.first


def spin_matrix(omega: Array, alpha: Array) -> np.ndarray:
    """Return S = [alpha]x + [omega]x [omega]x: accelerations relative to the origin are S times the position."""
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
    """Rotor on a link: its angular momentum relative to the link and the derivative there, (3,) in the link's axes."""

    carrier: int
    momentum: Array
    change: Array

    def moment(self, carrier: BodyMotion) -> np.ndarray:
        """Return the moment on the carrier that speeds up the wheel and turns its momentum along."""
        return self.change + cross(carrier.omega, self.momentum)


def inverse_dynamics(
    links: Sequence[Link],
    states: Sequence[JointState],
    rates: Scalars,
    accelerations: Scalars,
    gravity: Array | Field,
) -> list[Scalar]:
    """Return the tree joints' generalised forces [N m or N], armatures included; `gravity` in the axes of the base."""
    inertial = body_wrenches(links, body_motions(links, states, rates, accelerations, Field.of(gravity)))
    return joint_forces(links, states, accelerations, inertial)


def joint_forces(
    links: Sequence[Link],
    states: Sequence[JointState],
    accelerations: Scalars,
    inertial: Sequence[tuple[np.ndarray, np.ndarray]],
) -> list[Scalar]:
    """Return the joint forces from the wrenches for the motions of bodies."""
    wrenches = joint_wrenches(links, states, inertial)
    return [along(link, states[i], *wrenches[i]) + link.armature * accelerations[i] for i, link in enumerate(links)]


def body_motions(
    links: Sequence[Link], states: Sequence[JointState], rates: Scalars, accelerations: Scalars, field: Field
) -> dict[int, BodyMotion]:
    """Return the motion of the base and of each body, in its own axes, from the base outwards."""
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
    """Return (moment, force) at the origin of each body for its motion, and that of the `wheels` that it carries."""
    result = [Massing.of(link.inertia).wrench(moving[i].spin, moving[i].acceleration) for i, link in enumerate(links)]
    for wheel in wheels:
        if wheel.carrier != BASE:
            moment, force = result[wheel.carrier]
            result[wheel.carrier] = moment + wheel.moment(moving[wheel.carrier]), force
    return result


def joint_wrenches(
    links: Sequence[Link], states: Sequence[JointState], inertial: Sequence[tuple[np.ndarray, np.ndarray]]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return (moment, force) carried by each joint, at the link's origin in its axes, from the tips inwards."""
    total = list(inertial)
    hinges = traced_once("hinges", links, states, lambda: [*map(_hinge, links, states)])
    for i in reversed(range(len(links))):
        parent, wrench = links[i].parent, total[i]
        if parent == BASE or not any(part.dtype == object or part.any() for part in wrench):
            continue
        inward, turn, at = hinges[i]
        moment, force = (inward @ (turn @ x) for x in wrench)
        before = total[parent]
        total[parent] = (before[0] + moment + cross(at, force), before[1] + force)
    return total


def _hinge(link: Link, state: JointState) -> tuple[Array, Array, Array]:
    """Return the rotations from the axes of a joint's placement to its parent's and from its link's, and its place."""
    inward = array(link.placement.rotation)
    at = array(link.placement.position) + (inward @ array(link.axis)) * way(link, state)
    return inward, joint_rotation(link, state), at


class Gearing(Protocol):
    """Transmission between the actuators and the joints of a tree: `tasks.mechanics.drives.Transmission`."""

    @property
    def still(self) -> Gearing:
        """The same where joints are at rest."""

    def motion(self, rates: Array, accelerations: Array) -> tuple[Array, Array]:
        """Return the rates and accelerations of the actuators from those of the joints."""

    def joint_forces(self, forces: Array) -> Array:
        """Return T^T times actuator forces."""


def spins(limb: Limb) -> Iterator[tuple[int, Spin]]:
    """Yield the spinning bodies with the index of their drive."""
    return ((row, spin) for row, drive in enumerate(limb.drives) for spin in drive.spins)


def wheels(limb: Limb, speeds: Array, accelerations: Array) -> list[Wheel]:
    """Return the spinning parts that act on their carriers, for rates and accelerations of the actuators."""
    result = []
    for row, spin in spins(limb):
        along = array(spin.axis) * (spin.inertia * spin.share * spin.coupling)
        result.append(Wheel(spin.carrier, along * speeds[row], along * accelerations[row]))
    return result


def inertial_forces(limb: Limb, accelerations: Array, moving: Mapping[int, BodyMotion]) -> Array:
    """Return the forces (actuator,) that spin up all rotors, for accelerations of actuators and motions of links."""
    result: list[Scalar] = [0.0] * len(limb.actuators)
    for row, spin in spins(limb):
        carried = array(spin.axis) @ moving[spin.carrier].alpha
        speeding = accelerations[row] * spin.share + carried * spin.coupling
        result[row] = result[row] + speeding * (spin.inertia * spin.share)
    return array(result)


def tree_dynamics(
    limb: Limb,
    states: Sequence[JointState],
    rates: Array,
    accelerations: Array,
    field: Field,
    geared: Gearing,
    applied: Mapping[int, tuple[Array, Array]] | None = None,
) -> tuple[list[tuple[Array, Array]], Array]:
    """Return the wrenches for the motions of bodies, in their axes, and the generalised forces (joint,) of the tree.

    Both include spinning bodies; `field` is in the axes of the limb. `applied` are external wrenches on links, (moment,
    force) at their origins in their axes; they are subtracted from the wrenches of the links.
    """
    links = limb.links
    moving = body_motions(links, states, rates, accelerations, field)
    speeds, second = geared.motion(array(rates), array(accelerations))
    wrenches = body_wrenches(links, moving, wheels(limb, speeds, second))
    for body, (moment, force) in (applied or {}).items():
        wrenches[body] = wrenches[body][0] - moment, wrenches[body][1] - force
    forces = array(joint_forces(links, states, accelerations, wrenches))
    if limb.drives:
        forces = forces + geared.joint_forces(inertial_forces(limb, second, moving))
    return wrenches, forces


WEIGHTLESS = Inertia(0.0, ZERO, (ZERO, ZERO, ZERO))


def spin_forces(
    limb: Limb,
    states: Sequence[JointState],
    rates: Array,
    accelerations: Array,
    geared: Gearing,
    base: Field | None = None,
) -> Array:
    """Return the part (joint,) of spinning bodies in a tree's forces; `base` moves it, gravity does not count."""
    still = Field.of(np.zeros(3))
    field = still if base is None else replace(base, gravity=still.gravity)
    links = tuple(replace(link, inertia=WEIGHTLESS, armature=0.0) for link in limb.links)
    bare = replace(limb, links=links)
    return tree_dynamics(bare, states, rates, accelerations, field, geared)[1]


def spin_inertia(limb: Limb, states: Sequence[JointState], geared: Gearing) -> Array:
    """Return the part (joint, joint) of spinning bodies in the inertia matrix of a tree."""
    count = len(limb.links)
    columns = [spin_forces(limb, states, np.zeros(count), unit, geared.still) for unit in np.eye(count)]
    return array(np.stack(columns, axis=1))


def platform_wrench(platform: Platform, pose: Pose, motion: SpatialMotion, gravity: Array) -> list[Scalar]:
    """Return (moment, force) at the reference point for the motion, less the weight, in world axes. Eq. (104)."""
    inward, moving = pose.rotation.T, Field.of(gravity).at(pose.position, motion)
    spin = spin_matrix(inward @ moving.omega, inward @ moving.alpha)
    moment, force = Massing.of(platform.inertia).wrench(spin, inward @ moving.a)
    return [*(pose.rotation @ moment), *(pose.rotation @ force)]
