"""Drives for one sample: from joints to actuators and back, and forces of spinning rotors and shafts.

Actuator coordinates are q_a = f(q) of the joints of a limb's tree; T = dq_a/dq is the transmission matrix (actuator,
joint). Rates are q_a' = T q', accelerations q_a'' = T q'' + T' q', and actuator forces u put T^T u on the joints; what
is behind these rows (rows of J_IK, assembly, friction, reactions) does not know whether there are drives.

A wheel of inertia I that spins at q_s' about the axis a of a link that turns with omega has, beside the energy that it
has at rest in the link, I q_s'^2 / 2 + c I q_s' (a . omega): c is its coupling, 0 where the second part is left out.
Source: Szkodny, Dynamics of industrial robot manipulators, Eqs. (2), (7), (13), here for symmetric rotors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robots.drives import Drive, Spin
from robots.model import Inertia, Limb
from robots.types import BASE, ZERO
from tasks.kernels.derivatives import tangent
from tasks.kernels.expression import Array, Expression, Scalar, Scalars
from tasks.kernels.interpreter import interpret
from tasks.kernels.program import trace
from tasks.mathematics.algebra import array, cross
from tasks.mechanics import recursion
from tasks.mechanics.kinematics import JointState
from tasks.mechanics.recursion import BodyMotion, Field, Wheel


@dataclass(frozen=True)
class Direct:
    """Actuators that are joints of the tree, by their index; they have no spins of their own."""

    joints: tuple[int, ...]
    count: int

    def rows(self, columns: Array) -> Array:
        """Actuator rows of (joint, ...) columns: T times them."""
        return columns[list(self.joints)]

    def rate_rows(self, columns: Array) -> Array:
        """Return the same with the derivative of T."""
        return np.zeros((len(self.joints), *columns.shape[1:]))

    def joint_forces(self, forces: Array) -> Array:
        """T^T times actuator forces."""
        result = np.array(np.zeros(self.count), dtype=object)
        result[list(self.joints)] = forces
        return array(result)


@dataclass(frozen=True)
class Geared:
    """Drives at one configuration: T and its derivative along the motion, (actuator, joint) each."""

    matrix: Array
    change: Array

    def rows(self, columns: Array) -> Array:
        """Actuator rows of (joint, ...) columns: T times them."""
        return self.matrix @ columns

    def rate_rows(self, columns: Array) -> Array:
        """Return the same with the derivative of T."""
        return self.change @ columns

    def joint_forces(self, forces: Array) -> Array:
        """T^T times actuator forces."""
        return self.matrix.T @ array(forces)


Transmission = Direct | Geared
Positions = Callable[[int], Scalar]
"""The position of a joint of the tree by its index."""


def transmission(limb: Limb, position: Positions, rates: Scalars) -> Transmission:
    """Return the transmission between the actuators of a limb and its joints, at these positions and rates."""
    if not limb.drives:
        return Direct(tuple(limb.index(name) for name in limb.actuated), len(limb.links))
    matrix, change = np.array(np.zeros((2, len(limb.drives), len(limb.links))), dtype=object)
    for row, drive in enumerate(limb.drives):
        for joint, ratio in drive.ratios:
            matrix[row, limb.index(joint)] = matrix[row, limb.index(joint)] + ratio
        if not drive.constant:
            _, slopes, changes = _curve(limb, drive, position, rates)
            matrix[row], change[row] = matrix[row] + slopes, change[row] + changes
    return Geared(array(matrix), array(change))


def positions(limb: Limb, position: Positions) -> list[Scalar]:
    """Return the positions of the actuators [rad or m]."""
    if not limb.drives:
        return [position(limb.index(name)) for name in limb.actuated]
    still, result = [0.0] * len(limb.links), []
    for drive in limb.drives:
        value: Scalar = sum((position(limb.index(joint)) * ratio for joint, ratio in drive.ratios), start=0.0)
        result.append(value if drive.constant else value + _curve(limb, drive, position, still)[0])
    return result


def _curve(limb: Limb, drive: Drive, position: Positions, rates: Scalars) -> tuple[Scalar, np.ndarray, np.ndarray]:
    """The part of a drive's coordinate that is not proportional, its slopes over all joints, and their changes."""
    at = [position(joint) for joint in range(len(limb.links))]
    if any(isinstance(value, Expression) for value in at):
        return _differentiated(limb, drive, at, rates)
    count = len(at)

    def one_sample(q: Array, qd: Array) -> dict[str, Any]:
        value, slopes, changes = _differentiated(limb, drive, q, qd)
        return {"value": [value], "slopes": slopes, "changes": changes}

    program = trace(f"{limb.name}.{drive.name}", one_sample, case={}, sample={"q": (count,), "qd": (count,)})
    keywords = {"q": np.array(at, dtype=float), "qd": np.array(list(rates), dtype=float)}
    found = interpret(program, {name: values.reshape(1, count, 1) for name, values in keywords.items()}, 1)
    return found["value"][0, 0, 0], found["slopes"][0, :, 0], found["changes"][0, :, 0]


def _differentiated(limb: Limb, drive: Drive, at: Scalars, rates: Scalars) -> tuple[Scalar, np.ndarray, np.ndarray]:
    """Return the same where positions are traced. Raises ValueError where one is a number: it cannot be varied."""
    assert drive.position is not None
    graph = next(value for value in at if isinstance(value, Expression)).graph
    if fixed := [link.joint for link, x in zip(limb.links, at, strict=True) if not isinstance(x, Expression)]:
        raise ValueError(
            f"drive {drive.name} of limb {limb.name}: got joint {fixed[0]} at a constant position beside traced ones; "
            "expected all traced, or all numbers"
        )
    nodes: list[Any] = list(at)
    value = drive.position(dict(zip((link.joint for link in limb.links), nodes, strict=True)))
    still: dict[Any, Scalar] = dict.fromkeys(nodes, 0.0)  # of joints that a loop solves for, each has to be told
    slopes = [tangent([value], {**still, node: graph.lift(1.0)})[0] for node in nodes]
    changes = tangent(slopes, {node: graph.lift(rate) for node, rate in zip(nodes, rates, strict=True)})
    return value, array(slopes), array(changes)


def _spins(limb: Limb) -> Iterator[tuple[int, Spin]]:
    """Yield the spinning bodies with the index of their drive."""
    return ((row, spin) for row, drive in enumerate(limb.drives) for spin in drive.spins)


def wheels(limb: Limb, speeds: Array, accelerations: Array) -> list[Wheel]:
    """Return the spinning parts that act on their carriers, for rates and accelerations of the actuators."""
    result = []
    for row, spin in _spins(limb):
        along = array(spin.axis) * (spin.inertia * spin.share * spin.coupling)
        result.append(Wheel(spin.carrier, along * speeds[row], along * accelerations[row]))
    return result


def actuator_motion(geared: Transmission, rates: Array, accelerations: Array) -> tuple[Array, Array]:
    """Return the rates and accelerations of the actuators from those of the joints."""
    q, qd = array(rates), array(accelerations)
    return geared.rows(q), geared.rows(qd) + geared.rate_rows(q)


def inertial_forces(limb: Limb, accelerations: Array, moving: Mapping[int, BodyMotion]) -> Array:
    """Forces (actuator,) that it takes to spin everything up, for accelerations of actuators and motions of links."""
    result: list[Scalar] = [0.0] * len(limb.actuators)
    for row, spin in _spins(limb):
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
    geared: Transmission,
    applied: Mapping[int, tuple[Array, Array]] | None = None,
) -> tuple[list[tuple[Array, Array]], Array]:
    """Return the wrenches that the motions of bodies take, in their axes, and generalised forces (joint,) of the tree.

    What spins is in both; `field` is in the axes of the limb. `applied` are wrenches on links from outside, which are
    taken from theirs, (moment, force) at their origins in their axes.
    """
    links = limb.links
    moving = recursion.body_motions(links, states, rates, accelerations, field)
    speeds, second = actuator_motion(geared, rates, accelerations)
    body_wrenches = recursion.body_wrenches(links, moving, wheels(limb, speeds, second))
    for body, (moment, force) in (applied or {}).items():
        body_wrenches[body] = body_wrenches[body][0] - moment, body_wrenches[body][1] - force
    forces = array(recursion.joint_forces(links, states, accelerations, body_wrenches))
    if limb.drives:
        forces = forces + geared.joint_forces(inertial_forces(limb, second, moving))
    return body_wrenches, forces


WEIGHTLESS = Inertia(0.0, ZERO, (ZERO, ZERO, ZERO))


def spin_forces(
    limb: Limb,
    states: Sequence[JointState],
    rates: Array,
    accelerations: Array,
    geared: Transmission,
    base: Field | None = None,
) -> Array:
    """The part (joint,) of spinning bodies in the forces of a tree; `base` moves it, gravity does not count."""
    still = Field.of(np.zeros(3))
    field = still if base is None else replace(base, gravity=still.gravity)
    links = tuple(replace(link, inertia=WEIGHTLESS, armature=0.0) for link in limb.links)
    bare = replace(limb, links=links)
    return tree_dynamics(bare, states, rates, accelerations, field, geared)[1]


def spin_inertia(limb: Limb, states: Sequence[JointState], geared: Transmission) -> Array:
    """Return the part (joint, joint) of spinning bodies in the inertia matrix of a tree."""
    count = len(limb.links)
    still, fixed = np.zeros(count), geared if isinstance(geared, Direct) else Geared(geared.matrix, geared.change * 0.0)
    columns = [spin_forces(limb, states, still, unit, fixed) for unit in np.eye(count)]
    return array(np.stack(columns, axis=1))


@dataclass(frozen=True)
class JointRows:
    """Rows over the freedoms and their derivatives: of the tree's joints (joint, freedom), of links (6, freedom) each.

    Those of links are body-fixed Jacobians (angular, linear).
    """

    joints: Array
    joints_change: Array
    links: Mapping[int, Array]
    links_change: Mapping[int, Array]


def spin_terms(limb: Limb, geared: Transmission, moving: JointRows, speed: Array) -> Iterator[tuple[Array, Array]]:
    """Mass and Coriolis matrix (freedom, freedom) of each thing that spins, so that M' - 2 C is skew-symmetric.

    speed (freedom,): rates of the freedoms.
    """
    rows = geared.rows(moving.joints)
    changes = geared.rows(moving.joints_change) + geared.rate_rows(moving.joints)
    for row, spin in _spins(limb):
        r, change = rows[row] * spin.share, changes[row] * spin.share
        mass, coriolis = np.outer(r, r), np.outer(r, change)
        if spin.carrier != BASE:
            along, turns = array(spin.axis), moving.links[spin.carrier][:3]
            carried, carried_change = along @ turns, along @ moving.links_change[spin.carrier][:3]
            whirl = np.stack([cross(column, along) for column in turns.T], axis=1) * (r @ speed)
            mass = mass + (np.outer(r, carried) + np.outer(carried, r)) * spin.coupling
            coupled = np.outer(r, carried_change) + turns.T @ (np.outer(along, change) + whirl)
            coriolis = coriolis + coupled * spin.coupling
        yield array(mass * spin.inertia), array(coriolis * spin.inertia)
