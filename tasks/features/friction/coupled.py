"""Friction of a whole robot for one sample: loads and friction that depend on each other, and the actuator forces.

u = u_0 + A tau with A = J_IK^-T G^T: what friction tau in passive joints, whose rates are G V, asks of the actuators.
Their own friction is added to that. The loads of bearings are affine in u, tau and the free multipliers of redundant
rows, see `tasks.features.friction.joints`; they are iterated with the laws until nothing changes, see
`tasks.features.friction.load_iteration`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from robots import limits
from robots.friction.groups import FrictionGroup
from robots.limits import MOTOR, JointPlace
from robots.model import Family
from robots.status import Status
from tasks.features.friction import joints as joint_friction
from tasks.features.friction import load_iteration
from tasks.features.friction.joints import COMPONENTS, JointFriction, LimbFriction
from tasks.kernels.expression import Array, Scalar, Scalars
from tasks.kernels.keys import Shape, indexed
from tasks.mathematics.algebra import array, opposite, where
from tasks.mechanics import assembly
from tasks.mechanics import reactions as reactions
from tasks.mechanics.structure import structure_of
from tasks.stages import constraints


@dataclass(frozen=True)
class FrictionSolution:
    """Actuator forces and friction of a robot, with residual and status of the solution.

    forces: of the actuators; net: the same without the actuators' own friction, as the joints get them; free:
    without any friction; friction: of every joint in the order of the groups; passive: of the passive joints of
    each limb; residual: distance of friction from a settled value [N m and N]; unsettled: 1 where that is too far,
    or where there are several solutions; status: that of such a sample. Where they are requested: load_parts,
    friction_parts, of every joint in the order of the groups, see `tasks.features.friction.joints.JointFriction`.
    """

    forces: Sequence[Scalar]
    net: Scalars
    free: Scalars
    friction: Sequence[Scalar]
    passive: Sequence[Array]
    residual: Scalar
    unsettled: Scalar
    status: Scalar
    load_parts: Sequence[Scalars] = ()
    friction_parts: Sequence[Scalars] = ()


@functools.cache
def joint_kinds(family: Family) -> Mapping[JointPlace, str]:
    """Return the kind of motion, turn or slide, of each joint with one variable."""
    mechanism = family.reference
    result: dict[JointPlace, str] = {}
    for place, simple in limits.places(mechanism).values():
        limb = mechanism.limbs[mechanism.instances[place.limb].limb]
        if place.joint == MOTOR:
            result[place] = mechanism.actuator_kinds[place.actuator]
        elif simple:
            result[place] = (*(link.kind for link in limb.links), *(cut.kind for cut in limb.cuts))[place.joint]
    return result


def wanted(family: Family, groups: Sequence[FrictionGroup], statics: bool = False) -> tuple[LimbFriction, ...]:
    """Return the request of friction to each limb of the robot; `statics` if reactions are asked for."""
    limbs = range(len(family.reference.instances))
    return tuple(joint_friction.of_limb(groups, limb, statics) for limb in limbs)


def statics(limbs: Sequence[LimbFriction]) -> bool:
    """Return whether friction needs reactions."""
    return any(limb.statics for limb in limbs)


def inputs(family: Family, groups: Sequence[FrictionGroup], *, given: bool = False) -> dict[Any, Shape]:
    """Sample inputs beside those of the actuators; none where only actuators have friction, of constant load.

    given: friction of all joints is an input, see `given_solution`.
    """
    structure, limbs = structure_of(family), wanted(family, groups)
    result: dict[Any, Shape] = {}
    passive, loaded = any(limb.passive for limb in limbs), statics(limbs)
    for k, (instance, limb) in enumerate(zip(structure.mechanism.instances, limbs, strict=True)):
        driven, redundant = len(structure.mechanism.limbs[instance.limb].actuators), structure.redundant(instance.limb)
        shapes = limb.shapes(structure.freedoms, driven, redundant, structure.held)
        shapes |= {"jacobian": (driven, structure.freedoms)} if passive else {}
        shapes |= reactions.share_shapes(structure.held, driven, redundant) if loaded else {}
        result |= indexed(k, shapes)
    group_places = places(groups) if given else remembering(groups)
    result |= {"history": (len(group_places),)} if group_places else {}
    return result | ({"held": (structure.held,)} if loaded else {})


def places(groups: Sequence[FrictionGroup]) -> list[JointPlace]:
    """List the joints of all groups in their order."""
    return [place for group in groups for place in group.places]


def remembering(groups: Sequence[FrictionGroup]) -> list[JointPlace]:
    """Joints whose friction is given, as their law has a state: input `history` has it in this order.

    Where their load is a reaction it is that which belongs to this friction, see `tasks.blocks.friction_history`.
    """
    return [place for group in groups if group.remembers for place in group.places]


def solve(
    family: Family,
    groups: Sequence[FrictionGroup],
    joints: Sequence[JointFriction],
    actuators: tuple[Array, Array],
    shares: Mapping[str, Any],
    parts: bool = False,
) -> FrictionSolution:
    """Friction of all joints and actuator forces, from those without friction; `shares` as `inputs` lists them.

    actuators: their forces without friction and their velocities. With `parts`, what normal loads and friction are made
    of.
    """
    force, velocity = actuators
    robot = PassiveFriction(family, wanted(family, groups), array(force), shares)
    passive = [joint for joint in joints if joint.place.actuator < 0]
    remembered = remembering(groups)
    rates = {joint.place: robot.rate(joint.place, velocity) for joint in joints}

    def carried(joint: JointFriction, tau: Array) -> Array | None:
        return robot.carried(joint.place, tau) if joint.group.load == "reaction" else None

    def law(joint: JointFriction, tau: Array) -> Scalar:
        if joint.group.remembers:
            return shares["history"][remembered.index(joint.place)]
        return joint.force(rates[joint.place], joint.load(carried(joint, tau)))

    def friction_of(tau: Array) -> Array:
        friction = {joint.place: law(joint, tau) for joint in passive}
        return array([friction[place] for place in robot.places])

    still = np.zeros(len(robot.places))
    tau = friction_of(still) if passive else still
    residual: Scalar = 0.0
    unsettled: Scalar = 0.0
    status: Scalar = float(Status.FRICTION_NOT_CONVERGED)
    if loaded := sum(joint.group.load == "reaction" for joint in passive):
        around = load_iteration.settled(friction_of, tau, alone=loaded == 1)
        tau, residual, unsettled, status = around.tau, around.residual, around.unsettled, around.status
    for joint in joints:
        if joint.group.remembers and joint.group.load == "reaction":  # NaN where loads and friction did not settle
            lost = opposite(abs(law(joint, tau)) < math.inf)
            unsettled = where(lost, 1.0, unsettled)
    net = robot.forces(tau)
    forces = list(net)
    at = dict(zip(robot.places, tau, strict=True))
    for joint in joints:
        if joint.place.actuator >= 0:
            at[joint.place] = law(joint, tau) + joint.gear_loss(rates[joint.place], net[joint.place.actuator])
            forces[joint.place.actuator] = forces[joint.place.actuator] + at[joint.place]
    friction = [at[joint.place] for joint in joints]
    passive_tau = [tau[slice_of_limb] for slice_of_limb in robot.slices]
    solution = FrictionSolution(forces, net, force, friction, passive_tau, residual, unsettled, status)
    return with_parts(solution, robot, joints, velocity, tau) if parts else solution


def given_solution(
    family: Family,
    groups: Sequence[FrictionGroup],
    joints: Sequence[JointFriction],
    actuators: tuple[Array, Array],
    shares: Mapping[str, Any],
    parts: bool = False,
) -> FrictionSolution:
    """Return the solution where actuator forces and friction of all joints are known, as of a simulated motion.

    actuators: their forces, friction included, and their velocities; `shares` as `inputs` lists them, with the friction
    of all joints as `history`. Friction adds that of the actuators and A tau of the passive joints to the forces.
    """
    force, velocity = actuators
    at = dict(zip(places(groups), shares.get("history", ()), strict=True))
    limbs = wanted(family, groups)
    none: Scalar = 0.0
    net = array([u - at[place] if place in at else u for u, place in zip(force, _drives(force, groups), strict=True)])
    robot = PassiveFriction(family, limbs, net, shares)
    tau = array([at[place] for place in robot.places])
    free = net - robot.influence @ tau if len(tau) else net
    passive = [tau[slice_of_limb] for slice_of_limb in robot.slices]
    friction = [at[joint.place] for joint in joints]
    solution = FrictionSolution(list(force), net, free, friction, passive, none, none, none)
    robot = PassiveFriction(family, limbs, free, shares)
    return with_parts(solution, robot, joints, velocity, tau) if parts else solution


def _drives(force: Array, groups: Sequence[FrictionGroup]) -> list[JointPlace | None]:
    """Return the place with friction of each actuator; None of one without."""
    found = {place.actuator: place for place in places(groups) if place.actuator >= 0}
    return [found.get(number) for number in range(len(force))]


def with_parts(
    solution: FrictionSolution, robot: PassiveFriction, joints: Sequence[JointFriction], velocity: Array, tau: Array
) -> FrictionSolution:
    """Add the parts of normal loads and friction of all joints."""
    loads = [
        joint.load_parts(robot.carried(joint.place, tau) if joint.group.load == "reaction" else None)
        for joint in joints
    ]
    pairs = zip(joints, loads, solution.friction, strict=True)
    shown = [joint.parts(robot.rate(joint.place, velocity), load, whole) for joint, load, whole in pairs]
    return replace(solution, load_parts=loads, friction_parts=shown)


class PassiveFriction:
    """Effect of friction tau of passive joints in a robot, from shares of its limbs; tau in the order of `places`."""

    def __init__(self, family: Family, limbs: Sequence[LimbFriction], force: Array, shares: Mapping[str, Any]):
        self.structure, self.limbs, self.force, self.shares = structure_of(family), limbs, force, shares
        self.family, self.count = family, len(limbs)
        sizes = [len(limb.passive) for limb in limbs]
        self.slices = [slice(sum(sizes[:k]), sum(sizes[: k + 1])) for k in range(self.count)]
        self.places = [JointPlace(k, joint, -1) for k, limb in enumerate(limbs) for joint in limb.passive]

    def rate(self, place: JointPlace, velocity: Array) -> Scalar:
        """Return the velocity of a joint with friction."""
        if place.actuator >= 0:
            return velocity[place.actuator]
        return self.shares["passive_rate"][place.limb][self.limbs[place.limb].passive.index(place.joint)]

    @cached_property
    def influence(self) -> Array:
        """A (actuator, passive joint)."""
        jacobian = np.vstack([self.shares["jacobian"][k] for k in range(self.count)])
        through = np.vstack([self.shares["through"][k] for k, limb in enumerate(self.limbs) if limb.passive])
        weights = self.shares.get("weights")
        return array(np.stack([array(assembly.actuator_forces(jacobian, row, weights)) for row in through], axis=1))

    def forces(self, tau: Array) -> Array:
        """Actuator forces without the actuators' own friction."""
        return self.force + self.influence @ tau if len(tau) else self.force

    def carried(self, place: JointPlace, tau: Array) -> Array:
        """Return the loads on the bearings of a loaded joint; terms as in `tasks.features.friction.joints.share`."""
        k = place.limb
        start = COMPONENTS * self.limbs[k].loaded.index(place.joint)
        rows = slice(start, start + COMPONENTS)
        result = self.shares["load_own"][k][rows]
        if self.structure.mechanism.limbs[self.structure.mechanism.instances[k].limb].cuts:  # else no force goes round
            result = result + self.shares["load_driven"][k][rows] @ self.forces(tau)[self.structure.driven[k]]
            result = result + self.shares["load_redundant"][k][rows] @ self.multipliers(tau)[k]
        if self.limbs[k].passive:
            result = result + self.shares["load_friction"][k][rows] @ tau[self.slices[k]]
        return result

    def multipliers(self, tau: Array) -> list[Array]:
        """Free multipliers of each limb: affine in tau."""
        at_rest, slopes = self._multipliers
        return [a + b @ tau if len(tau) else a for a, b in zip(at_rest, slopes, strict=True)]

    @cached_property
    def _multipliers(self) -> tuple[list[Array], list[Array]]:
        names = (*reactions.SHARES, *(reactions.FRICTION_SHARES if self.places else ()))
        shares = [
            {name: self.shares[name][k] for name in names if k in self.shares.get(name, ())} for k in range(self.count)
        ]
        still = [np.zeros(len(limb.passive)) for limb in self.limbs]
        held = self.shares["held"]
        at_rest = self._balance(shares, self.force, held, still)
        linear = [
            {**s, "held_passive": s["held_passive"] * 0.0, "wish_passive": s["wish_passive"] * 0.0} for s in shares
        ]
        columns = []
        for p, unit in enumerate(np.eye(len(self.places))):
            friction = [unit[slice_of_limb] for slice_of_limb in self.slices]
            columns.append(self._balance(linear, self.influence[:, p], held * 0.0, friction))
        slopes = [
            array(np.stack([array(column[k]) for column in columns], axis=1)) if columns else np.zeros((0, 0))
            for k in range(self.count)
        ]
        return at_rest, slopes

    def _balance(
        self, shares: Sequence[Mapping[str, Array]], force: Array, held: Array, friction: Sequence[Array]
    ) -> list[Array]:
        forces = [array(force[driven]) for driven in self.structure.driven]
        carried = constraints.carried(self.family)
        return reactions.redundant_multipliers(shares, forces, array(held), carried, friction)[0]
