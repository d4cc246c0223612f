"""Arrays in, arrays out: inverse kinematics and dynamics of one robot at any batch of states, without a cluster.

All functions take keyword arguments with any leading batch dims, (*batch, core...), and return arrays of the same batch
dims. SI units, world axes; see `robots.model` for frames.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np

from robots.model import Robot
from robots.status import Status
from robots.types import TWIST
from tasks.arrays.inputs import (
    GRAVITY,
    Base,
    FieldInput,
    Moving,
    field_input,
    gravity_input,
    in_world,
    mounts,
    moving_input,
    parameters,
)
from tasks.friction.given import Friction, FrictionInput, friction_input
from tasks.friction.joints import NO_FRICTION, LimbFriction
from tasks.kernels.batches import checked, rows
from tasks.kernels.cache import kernel
from tasks.kernels.program import Program
from tasks.mechanics.platform import held_directions
from tasks.mechanics.structure import structure_of
from tasks.programs import coupled_friction
from tasks.programs import reactions as reaction_programs
from tasks.programs.actuation import actuation_program
from tasks.programs.assembly import assembly_program, even_weights
from tasks.programs.limb import LIMB_SERIES, OWN_SERIES, limb_program
from tasks.programs.platform import platform_program

Array = Any

HELD = 1e-9
"""What limbs cannot hold of the wrench on a platform, relative to the largest reaction, up to which it is rounding."""


class InverseKinematics(NamedTuple):
    """Joint positions, velocities, accelerations (*batch, limb, joint), and status (*batch).

    Joints are those of the spanning tree, then the joint at the platform; relative variables, zero at the reference
    pose [rad or m].
    """

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    status: np.ndarray


class InverseDynamics(NamedTuple):
    """Actuator forces and velocities (*batch, actuator), rows of J_IK (*batch, actuator, freedom), status (*batch)."""

    force: np.ndarray
    velocity: np.ndarray
    jacobian: np.ndarray
    status: np.ndarray


def inverse_kinematics(robot: Robot, **moving: Unpack[Moving]) -> InverseKinematics:
    """Motion of all joints for a motion of the platform, or of the independent joints of a chain; see `Moving`.

    Samples that cannot be solved hold NaN. Raises ValueError for shapes that do not fit and for motions the platform
    cannot make. Source: hybrid-limb paper, Eqs. (87), (88), (96); joint-friction paper, Eq. (24).
    """
    batch, motion = moving_input(robot, moving)
    inputs = {"parameters": parameters(robot), "gravity": gravity_input(GRAVITY), "motion": motion}
    shares = _limbs(robot, inputs, LIMB_SERIES)
    samples = int(np.prod(batch, dtype=int))
    status = np.stack([share["status"][0, 0, :samples] for share in shares])
    bad = (status != Status.OK).any(axis=0)
    series = {}
    for name in LIMB_SERIES:
        values = np.stack([share[name][0, :, :samples] for share in shares])  # limb, joint, sample
        values[..., bad] = np.nan
        series[name.removeprefix("joint_")] = np.moveaxis(values, -1, 0).reshape(*batch, *values.shape[:2])
    return InverseKinematics(**series, status=status.max(axis=0).astype(np.int8).reshape(batch))


def inverse_dynamics(
    robot: Robot,
    *,
    gravity: Array = GRAVITY,
    load: Array = None,
    load_axes: str = "world",
    friction: Friction = None,
    weights: Array = None,
    full: bool = False,
    base_rotation: Array = None,
    base_twist: Array = None,
    base_acceleration: Array = None,
    **moving: Unpack[Moving],
) -> Any:
    """Actuator forces or torques (*batch, actuator) [N or N m] for a motion of the robot; see `Moving`.

    gravity (3,) [m/s^2]; load (*batch, 6) = (moment, force) that acts on the platform at its reference point, in
    `load_axes`, those of the "world" or of the "platform"; friction: see `tasks.friction.given`; weights (actuator,),
    of a robot with more actuators than freedoms: the frictionless forces have the least sum of weight times square, one
    each where they are absent; base_rotation, base_twist, base_acceleration: see `tasks.arrays.inputs.Base`. With
    `full`, an InverseDynamics. Samples that cannot be solved hold NaN; their status says why. Raises ValueError or
    ParameterError for input that does not fit. Source: hybrid-limb paper, Eqs. (137) to (140).
    """
    load = in_world(robot, load, moving.get("rotation"), load_axes)
    base = Base(base_rotation=base_rotation, base_twist=base_twist, base_acceleration=base_acceleration)
    done = Dynamics(robot, moving, field_input(gravity, base), load, weights, friction_input(robot, friction))
    batch, samples, assembled = done.batch, done.samples, done.assembled
    if done.friction.groups:
        assembled = {**assembled, "force": done.with_friction("actuator_force")["actuator_force"]}
    force, velocity = (np.ascontiguousarray(assembled[name][0, :, :samples].T) for name in ("force", "velocity"))
    jacobian = np.concatenate([share["jacobian"][0, :, :samples] for share in done.shares]).T
    for values in (force, velocity, jacobian):
        values[done.status != Status.OK] = np.nan
    force, velocity = force.reshape(*batch, -1), velocity.reshape(*batch, -1)
    if not full:
        return force
    shape = (*batch, force.shape[-1], structure_of(robot.family).freedoms)
    return InverseDynamics(force, velocity, jacobian.reshape(shape), done.statuses())


def joint_reactions(
    robot: Robot,
    *,
    gravity: Array = GRAVITY,
    load: Array = None,
    load_axes: str = "world",
    friction: Friction = None,
    weights: Array = None,
    full: bool = False,
    base_rotation: Array = None,
    base_twist: Array = None,
    base_acceleration: Array = None,
    **moving: Unpack[Moving],
) -> Any:
    """Reaction wrenches of all joints (*batch, limb, joint, 6) for a motion of the robot; see `inverse_dynamics`.

    (moment [N m], force [N]) on the child by the parent at the joint's origin, world axes; joints in the order of
    `Limb.joints`; the drive's force is inside its joint, and so is friction; of a drive on another link, what its train
    passes on beside each joint that it moves, so that about its axis a joint carries T^T (u - what spins up rotors).
    Forces inside a train show where its rods are links in loops. The child of a joint at the platform is the platform,
    that of a loop's cut joint the second body of its closure. Where a mechanism is overconstrained, some components are
    not unique: those given have the least norm, see `tasks.mechanics.reactions`. NaN for joints that only other limbs
    have, and for samples that cannot be solved, or whose load no joint holds (SINGULAR), friction in a part that is
    loose included. With `full`, a pair with the status (*batch). Raises ValueError as above. Source: hybrid-limb paper,
    section 6, with the multipliers that its projection removes.
    """
    load = in_world(robot, load, moving.get("rotation"), load_axes)
    base = Base(base_rotation=base_rotation, base_twist=base_twist, base_acceleration=base_acceleration)
    done = Dynamics(
        robot, moving, field_input(gravity, base), load, weights, friction_input(robot, friction), statics=True
    )
    wrenches, held = done.reactions()
    most = max(wrench.shape[1] // 6 for wrench in wrenches)
    result = np.full((done.samples, len(wrenches), most, 6), np.nan)
    for k, wrench in enumerate(wrenches):
        result[:, k, : wrench.shape[1] // 6] = wrench[0, :, : done.samples].T.reshape(done.samples, -1, 6)
    done.status[(done.status == Status.OK) & ~held] = Status.SINGULAR
    result[done.status != Status.OK] = np.nan
    result = result.reshape(*done.batch, *result.shape[1:])
    return (result, done.statuses()) if full else result


def actuator_positions(robot: Robot, **moving: Unpack[Moving]) -> np.ndarray:
    """Positions of the actuators (*batch, actuator) [rad or m], drives or joints; see `inverse_kinematics`.

    Joints of parallel robots count within half a turn of the reference pose. Samples that cannot be solved hold NaN.
    """
    batch, motion = moving_input(robot, moving)
    inputs = {"parameters": parameters(robot), "gravity": gravity_input(GRAVITY), "motion": motion}
    shares = _limbs(robot, inputs, OWN_SERIES)
    samples = int(np.prod(batch, dtype=int))
    found = np.concatenate([share["actuator_position"][0, :, :samples] for share in shares])
    found[:, np.any([share["status"][0, 0, :samples] != Status.OK for share in shares], axis=0)] = np.nan
    return np.ascontiguousarray(found.T).reshape(*batch, len(found))


class Dynamics:
    """Inverse dynamics of one robot for a batch, up to the actuator forces; arrays (1, size, padded samples)."""

    def __init__(
        self,
        robot: Robot,
        moving: Moving,
        field: FieldInput,
        load: Array,
        weights: Array,
        friction: FrictionInput,
        statics: bool = False,
    ):
        acting = None if load is None else checked("load", load, (6,))
        beside = field.batch | ({} if acting is None else {"load": acting.shape[:-1]})
        self.robot, self.friction, self.statics = robot, friction, statics or friction.statics
        self.batch, self.motion = moving_input(robot, moving, beside)
        self.samples = int(np.prod(self.batch, dtype=int))
        self.inputs = {"parameters": parameters(robot), "gravity": field.columns(self.batch), "motion": self.motion}
        self.moving_base = field.moving
        self.wanted = coupled_friction.wanted(robot.family, friction.groups, statics)
        self.shares = _limbs(
            robot, self.inputs, statics=self.statics, friction=self.wanted, moving_base=self.moving_base
        )
        self.own = self._platform(acting)
        self.weights = weights_input(robot, weights)
        inputs = {"motion": self.motion, **self.weights}
        inputs |= {"platform_wrench": self.own["wrench"]} if self.own else {}
        for k, share in enumerate(self.shares):
            inputs |= {f"{name}_{k}": share[name] for name in ("wrench", "jacobian", "status")}
        self.assembled = kernel(assembly_program(robot.family))(inputs, self.samples)
        self.status = self.assembled["status"][0, 0, : self.samples]

    def _platform(self, load: np.ndarray | None) -> Mapping[str, np.ndarray]:
        """What the platform's motion takes, less the load on it; nothing where there is no platform."""
        if self.robot.mechanism.is_chain:
            return {}
        own = kernel(platform_program(self.robot.family, self.statics, self.moving_base))(self.inputs, self.samples)
        if load is not None:
            acting = rows(load, self.batch)
            mobility = structure_of(self.robot.family).mechanism.platform.mobility
            for name, directions in (("wrench", mobility), ("held", held_directions(mobility))):
                if name in own:
                    own[name][0] -= acting[[TWIST.index(each) for each in directions]]
        return own

    def statuses(self) -> np.ndarray:
        """Status of each sample, (*batch)."""
        return self.status.astype(np.int8).reshape(self.batch)

    def with_friction(self, *series: str) -> Mapping[str, np.ndarray]:
        """`series` of the friction program, (1, size, padded samples) each; statuses are of it too from here on."""
        run = kernel(actuation_program(self.robot.family, self.friction.groups, (*series, "unsettled"), ()))
        result = run(self.friction_inputs(run.program), self.motion.shape[-1])
        unsettled = result["unsettled"][0, 0, : self.samples] > 0.5
        self.status[(self.status == Status.OK) & unsettled] = Status.FRICTION_NOT_CONVERGED
        return result

    def friction_inputs(self, program: Program) -> dict[str, np.ndarray]:
        """Inputs of a program of friction: of the whole robot without friction, and the friction's parameters."""
        given = {**self.assembled, **self._named_shares(), **self.weights}
        weight = np.zeros((1, 1, self.motion.shape[-1]))
        given |= {"friction": self.friction.values, "held": self.held, "weight": weight}
        return {name: given[name] for name in program.inputs}

    def _named_shares(self) -> dict[str, np.ndarray]:
        return {f"{name}_{k}": value for k, share in enumerate(self.shares) for name, value in share.items()}

    @property
    def held(self) -> np.ndarray:
        """What the platform's motion takes along the directions in which it is held; nothing of a chain."""
        return self.own.get("held", np.zeros((1, 0, self.motion.shape[-1])))

    def reactions(self) -> tuple[list[np.ndarray], np.ndarray]:
        """Wrenches of all joints of each limb (1, joint * 6, padded samples), and whether they hold (samples,)."""
        family, width, made = self.robot.family, self.motion.shape[-1], structure_of(self.robot.family)
        passive = tuple(each.passive for each in self.wanted)
        loads = {"force": self.assembled["force"], "held": self.held, **self._named_shares()}
        if any(passive):
            rubbing = (f"rubbing_{k}" for k, each in enumerate(passive) if each)
            loads |= self.with_friction("net_force", *rubbing)
            loads["force"] = loads["net_force"]
        run = kernel(reaction_programs.balance_program(family, tuple(map(len, passive))))
        balanced, result = run({name: loads[name] for name in run.program.sample}, width), []
        for k, (instance, mount) in enumerate(zip(made.mechanism.instances, mounts(self.robot), strict=True)):
            given = {"force": loads["force"][:, made.driven[k]], "redundant": balanced[f"redundant_{k}"]}
            given |= {"rubbing": loads[f"rubbing_{k}"]} if passive[k] else {}
            run = kernel(
                reaction_programs.reaction_program(
                    family, instance.limb, passive=passive[k], moving_base=self.moving_base
                )
            )
            result.append(run({**self.inputs, "mount": mount, **given}, width)["joint_reaction"])
        size = np.max([np.abs(each[0]).max(axis=0) for each in result], axis=0)
        return result, (balanced["missing"][0, 0] <= HELD * size)[: self.samples]


def weights_input(robot: Robot, weights: Array) -> dict[str, np.ndarray]:
    """The `weights` input of an assembly; none for a robot without a choice. Raises ValueError."""
    even = even_weights(robot.family)
    if weights is None:
        return even
    if not even:
        raise ValueError(f"weights: {robot.name} has no more actuators than freedoms; leave them out")
    result = np.asarray(weights, dtype=float)
    if result.shape != even["weights"].shape[1:] or not (np.isfinite(result) & (result > 0)).all():
        raise ValueError(
            f"weights: got {weights!r}; "
            f"expected {even['weights'].size} finite numbers above zero, one for each actuator"
        )
    return {"weights": result[None]}


def _limbs(
    robot: Robot,
    inputs: Mapping[str, np.ndarray],
    series: tuple[str, ...] = (),
    statics: bool = False,
    friction: Sequence[LimbFriction] = (),
    moving_base: bool = False,
) -> list[Mapping[str, np.ndarray]]:
    """Results of every limb, (1, size, padded samples) each."""
    instances, width = structure_of(robot.family).mechanism.instances, inputs["motion"].shape[-1]
    asked = friction or [NO_FRICTION] * len(instances)
    return [
        kernel(limb_program(robot.family, each.limb, series, statics, one, moving_base))(
            {**inputs, "mount": mount}, width
        )
        for each, mount, one in zip(instances, mounts(robot), asked, strict=True)
    ]
