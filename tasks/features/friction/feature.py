"""Friction in joints, of motors and of limbs: rates and loads of joints, and forces of friction on actuators.

The actuator forces are u = u_0 + A tau with A = J_IK^-T G^T and friction tau in passive joints, whose rates are G V.
Friction of the actuators is added. The loads of bearings are affine in u, tau and the free multipliers of redundant
rows, see `tasks.features.friction.joints`. Loads and friction are iterated until nothing changes, see
`tasks.features.friction.load_iteration`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robots.data_classes import dataclass, replace
from robots.friction.groups import FrictionGroup, settles
from robots.limits import JointPlace
from robots.model import Family
from robots.status import Status
from tasks.features.friction import joints as joint_friction
from tasks.features.friction import load_iteration, requests
from tasks.features.friction.joints import JointFriction
from tasks.features.friction.passive import PassiveFriction, share
from tasks.features.friction.requests import NO_FRICTION, LimbFriction, wanted
from tasks.kernels.expression import Array, Numbers, Scalar, Scalars
from tasks.kernels.keys import Indexed, Shape, Shapes, indexed
from tasks.mathematics.algebra import array, opposite, where
from tasks.mechanics import reactions, solving
from tasks.mechanics.families import even_weights, structure_of
from tasks.mechanics.reactions import LimbStatics
from tasks.mechanics.structure import Structure
from tasks.stages.parts import ActuatorSample, LimbPart, LimbSample, Part
from tasks.stages.request import Feature, Request

LOAD_PART = "normal_load_part"

PARTS = frozenset((LOAD_PART, "joint_friction_part"))
"""Series of the parts of normal loads and friction of all joints."""


@dataclass(frozen=True)
class FrictionGroups(Feature):
    """Friction of groups of joints; its parameters are inputs."""

    groups: tuple[FrictionGroup, ...] = ()

    @property
    def settles(self) -> bool:
        """Return whether friction and reactions depend on each other, so that a sample may fail by friction."""
        return settles(self.groups)

    def limbs(self, request: Request) -> tuple[LimbFriction, ...]:
        """Return the joints of each limb; none where no requested quantity depends on friction."""
        groups = self.groups if request.of("actuation") or request.reactions else ()
        return wanted(request.family, groups, bool(request.reactions))

    def passive(self, request: Request, k: int) -> tuple[int, ...]:
        """Return the passive joints of limb k with friction."""
        return self.limbs(request)[k].passive

    def statics(self, request: Request) -> bool:
        """Return whether normal loads are reactions."""
        return requests.statics(self.limbs(request))

    def of_limb(self, request: Request, k: int) -> JointShares | None:
        """Return rates and loads of the joints of limb k."""
        joints = self.limbs(request)[k]
        return JointShares(joints) if joints != NO_FRICTION else None

    def of_actuators(self, request: Request) -> FrictionForces:
        """Return friction of one set of parameters."""
        series = {str(name) for name in request.actuation.series}
        return FrictionForces(self.groups, request.switched, not PARTS.isdisjoint(series), request.given)


@dataclass(frozen=True)
class JointShares(LimbPart):
    """Rates and loads of the joints of a limb, see `tasks.features.friction.passive.share`."""

    joints: LimbFriction

    def shapes(self, structure: Structure, limb_index: int) -> Shapes:
        """Return the shapes of its shares."""
        driven, redundant = len(structure.mechanism.limbs[limb_index].actuators), structure.redundant(limb_index)
        return self.joints.shapes(structure.freedoms, driven, redundant, structure.held)

    def terms(self, sample: LimbSample) -> Mapping[str, Numbers]:
        """Return its shares."""
        return share(sample.of_solved(LimbStatics), sample.moving, sample.gravity, self.joints)


@dataclass(frozen=True)
class FrictionForces(Part[ActuatorSample]):
    """Friction of all joints for one set of parameters, a case input `friction`.

    Sample inputs as `inputs` lists them. If more actuators than freedoms share friction of passive joints, `weights` is
    a case input, or a sample input if actuators are off for a time (`switched`). With `apart`, outputs contain the
    parts of normal loads and friction. With `given`, the force input includes friction, and friction of all joints is
    the sample input `history`, see `given_solution`.
    """

    groups: tuple[FrictionGroup, ...] = ()
    switched: bool = False
    apart: bool = False
    given: bool = False

    @property
    def label(self) -> str:
        """Return laws and loads of the groups."""
        return "-".join(f"{group.law}.{group.load}" for group in self.groups) or "none"

    def case(self, structure: Structure) -> Shapes:
        """Return its case inputs."""
        shapes: dict[str, Shape] = {"friction": (sum(len(group.parameters) for group in self.groups),)}
        return shapes | ({} if self.switched else self._weights(structure))

    def sample(self, structure: Structure) -> Shapes:
        """Return its sample inputs."""
        shapes = inputs(structure.family, self.groups, given=self.given)
        return shapes | (self._weights(structure) if self.switched else {})

    def _weights(self, structure: Structure) -> dict[str, Shape]:
        shares = inputs(structure.family, self.groups, given=self.given)
        return {name: value.shape[1:] for name, value in even_weights(structure.family).items() if shares}

    def add_to(self, sample: ActuatorSample) -> ActuatorSample:
        """Return the sample with friction in its forces, and with the series of friction."""
        family, status = sample.structure.family, sample.solved
        joints = joint_friction.of_groups(self.groups, requests.joint_kinds(family), sample.inputs["friction"])
        forces = (sample.inputs["force"], sample.velocity)
        solution = (given_solution if self.given else solve)(
            family, self.groups, joints, forces, sample.inputs, self.apart
        )
        sample = replace(sample, force=solution.forces, net=solution.net, free=solution.free)
        sample = replace(sample, unsettled=solution.unsettled, failure=solution.status)
        bad = sample.bad
        outputs: dict[Any, Numbers] = {
            "joint_friction": [tau + bad for tau in solution.friction],
            "friction_residual": [solution.residual + where(status > 0.5, np.nan, 0.0)],
            "unsettled_samples": [where(status > 0.5, 0.0, solution.unsettled)],
        }
        if self.apart:
            outputs[LOAD_PART] = [x + bad for load in solution.load_parts for x in load]
            outputs["joint_friction_part"] = [x + bad for friction in solution.friction_parts for x in friction]
        outputs |= {Indexed("passive_friction", k): list(tau) for k, tau in enumerate(solution.passive)}
        return replace(sample, outputs={**sample.outputs, **outputs})


@dataclass(frozen=True)
class FrictionSolution:
    """Actuator forces and friction of a robot, with residual and status of the solution.

    forces: forces of the actuators; net: forces less the actuators' own friction, which reach the joints; free: forces
    without any friction; friction: friction of every joint in the order of the groups; passive: friction of the passive
    joints of each limb; residual: remaining change of friction in the iteration [N m and N]; unsettled: 1 where the
    residual is too large, or several solutions exist; status: status of such a sample. If requested, load_parts and
    friction_parts: parts of every joint in the order of the groups, see
    `tasks.features.friction.joints.JointFriction`.
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


def inputs(family: Family, groups: Sequence[FrictionGroup], *, given: bool = False) -> dict[Any, Shape]:
    """Return the sample inputs besides the actuators' own; none if only actuators have friction, of constant load.

    given: friction of all joints is an input, see `given_solution`.
    """
    structure, limbs = structure_of(family), wanted(family, groups)
    result: dict[Any, Shape] = {}
    passive, loaded = any(limb.passive for limb in limbs), requests.statics(limbs)
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
    """Return the joints with given friction, as their law has a state: input `history` has it in this order.

    If their load is a reaction, it is consistent with this friction, see `tasks.blocks.friction_history`.
    """
    return [place for group in groups if group.remembers for place in group.places]


def passive_friction(
    family: Family, limbs: Sequence[LimbFriction], force: Array, shares: Mapping[str, Any]
) -> PassiveFriction:
    """Return the effect of friction of passive joints, from shares of limbs as `inputs` lists them."""
    held = solving.carried(family) if requests.statics(limbs) else ()
    return PassiveFriction(family, limbs, force, shares, held)


def solve(
    family: Family,
    groups: Sequence[FrictionGroup],
    joints: Sequence[JointFriction],
    actuators: tuple[Array, Array],
    shares: Mapping[str, Any],
    parts: bool = False,
) -> FrictionSolution:
    """Solve for friction of all joints, and actuator forces with friction; `shares` in the order of `inputs`.

    actuators: their forces without friction and their velocities. With `parts`, also the parts of normal loads and
    friction.
    """
    force, velocity = actuators
    robot = passive_friction(family, wanted(family, groups), array(force), shares)
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
    """Return the solution for known actuator forces and friction of all joints, such as of a simulated motion.

    actuators: their forces, friction included, and their velocities; `shares` as `inputs` lists them, with the friction
    of all joints as `history`. The part of friction in the forces is the actuators' own friction, plus A tau of the
    passive joints.
    """
    force, velocity = actuators
    at = dict(zip(places(groups), shares.get("history", ()), strict=True))
    limbs = wanted(family, groups)
    none: Scalar = 0.0
    net = array([u - at[place] if place in at else u for u, place in zip(force, _drives(force, groups), strict=True)])
    robot = passive_friction(family, limbs, net, shares)
    tau = array([at[place] for place in robot.places])
    free = net - robot.influence @ tau if len(tau) else net
    passive = [tau[slice_of_limb] for slice_of_limb in robot.slices]
    friction = [at[joint.place] for joint in joints]
    solution = FrictionSolution(list(force), net, free, friction, passive, none, none, none)
    robot = passive_friction(family, limbs, free, shares)
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
