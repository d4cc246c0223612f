"""Inverse kinematics and dynamics, reactions and motions of bodies of one robot at any batch of states.

Functions take a motion, a record or its fields by keyword, with any leading batch dims, (*batch, core...), and return
arrays of the same batch dims, without a cluster. SI units, world axes; see `robots.model` for frames.

`Dynamics` runs compiled stages on a batch. `body_motion` follows every body, see `tasks.dynamics.body_motions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robots.arguments import check_arguments
from robots.criteria.parts import NO_CRITERIA, CriteriaParameters
from robots.data_classes import dataclass
from robots.labels import WRENCH, in_order_of
from robots.model import Robot
from robots.quantities import names
from robots.status import Status
from robots.types import TWIST
from tasks.dynamics.body_motions import BodyMotions, limb_motion, platform_motion
from tasks.dynamics.criteria_inputs import reaction_criteria
from tasks.dynamics.given_tree import GivenTree
from tasks.dynamics.inputs import (
    FieldInput,
    field_input,
    load_input,
    mounts,
    moving_input,
    parameters,
    refuse_actuator,
    signals_input,
)
from tasks.dynamics.records import (
    NO_FORCES,
    STANDING,
    TIMELESS,
    Environment,
    Forces,
    MotionKeywords,
    Moving,
    State,
    long_form,
)
from tasks.features.friction.feature import FrictionGroups
from tasks.features.friction.inputs import FrictionInput, friction_input
from tasks.features.loads import PlatformWrench
from tasks.features.singularities import HELD
from tasks.features.table import criteria_features, criteria_inputs, request
from tasks.features.tree_motion import TreeMotion
from tasks.kernels.kernel import STRIP, checked, kernel, padded, rows
from tasks.kernels.keys import Indexed, Key, Values
from tasks.mechanics.families import even_weights
from tasks.stages.limb import FORMULATIONS
from tasks.stages.parts import OUTCOME, RECURSION, VELOCITY
from tasks.stages.stage import Stage
from tasks.stages.stages import limb, stages

Column = NDArray[np.float64]


class InverseKinematics(NamedTuple):
    """Joint positions, velocities, accelerations (*batch, limb, joint), and status (*batch).

    Joints of the spanning tree, then the joint at the platform; relative variables, zero at the reference pose [rad or
    m].
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


class JointReactions(NamedTuple):
    """Wrenches (*batch, limb, joint, 6) on the child by the parent at each joint, and status (*batch)."""

    wrench: np.ndarray
    status: np.ndarray


class ActuatorPositions(NamedTuple):
    """Positions of the actuators (*batch, actuator) [rad or m], and status (*batch)."""

    position: np.ndarray
    status: np.ndarray


@check_arguments
def inverse_kinematics(robot: Robot, motion: State | None = None, **short: Unpack[MotionKeywords]) -> InverseKinematics:
    """Compute the motion of all joints for a motion of the platform, or of the independent joints of a chain.

    Samples that cannot be solved hold NaN. Raises ValueError for shapes that do not fit and for motions the platform
    cannot make. Source: hybrid-limb paper, Eqs. (87), (88), (96); joint-friction paper, Eq. (24).

        >>> robot = ls.robots.build("delta_3rr2rrr")
        >>> joints = ls.inverse_kinematics(robot, position=[[0.0, 0.0, -0.9], [0.1, 0.0, -0.9]])
        >>> joints.position.shape  # (sample, limb, joint)
        (2, 3, 7)
        >>> joints.status
        array([0, 0], dtype=int8)
    """
    motion, _ = long_form(motion, STANDING, short, TIMELESS)
    dynamics = Dynamics(robot, motion.moving, names("limb", "series"))
    limbs = range(len(robot.mechanism.instances))
    dynamics.run(limb(dynamics.request, k) for k in limbs)
    status = np.max([dynamics.status_of(k) for k in limbs], axis=0)
    series = {}
    for name in ("joint_position", "joint_velocity", "joint_acceleration"):
        values = np.stack([dynamics.sample_rows(Indexed(name, k)) for k in limbs])  # limb, joint, sample
        values[..., status != Status.OK] = np.nan
        series[name.removeprefix("joint_")] = np.moveaxis(values, -1, 0).reshape(*dynamics.batch, *values.shape[:2])
    return InverseKinematics(**series, status=status.astype(np.int8).reshape(dynamics.batch))


@check_arguments
def inverse_dynamics(
    robot: Robot,
    motion: State | None = None,
    forces: Forces = NO_FORCES,
    environment: Environment = STANDING,
    *,
    formulation: str = RECURSION,
    constraints: bool = False,
    **short: Unpack[MotionKeywords],
) -> InverseDynamics:
    """Compute actuator forces or torques (*batch, actuator) [N or N m] for a motion of the robot.

    motion, or its fields as keywords: see `limbsweep.Motion`, with the time of loads that change with it. environment,
    or gravity as a keyword: see `limbsweep.Environment`. forces: load, friction, weights and elasticity of
    `limbsweep.Forces`. formulation: one of `tasks.stages.limb.FORMULATIONS`, all of which give the same forces up to
    rounding. constraints: search for constraint singularities of a robot with a platform as well, at a sample or on the
    way to it; their status is CONSTRAINT_SINGULAR. Samples that cannot be solved hold NaN, with the reason as their
    status. Raises ValueError or ParameterError for input that does not fit. Source: hybrid-limb paper, Eqs. (137) to
    (140).

        >>> robot = ls.robots.build("delta_3rr2rrr", upper_arm=0.28)
        >>> ls.inverse_dynamics(robot, position=[0.0, 0.1, -0.9], acceleration=[0, 0, 0, 0, 0, 2.0]).force.round(2)
        array([-4.41, -3.15, -5.68])
        >>> motion = ls.Motion(position=[[0.0, 0.1, -0.9], [0.0, 0.1, 5.0]])
        >>> result = ls.inverse_dynamics(robot, motion, forces=ls.Forces(load=[0, 0, 0, 0, 0, -10.0]))
        >>> result.force.shape, [ls.Status(code).name for code in result.status]
        ((2, 3), ['OK', 'NOT_REACHABLE'])
    """
    motion, environment = long_form(motion, environment, short, ("memory",))
    refuse_actuator(forces)
    load, field = load_input(robot, forces, motion.rotation), field_input(environment)
    groups = friction_input(robot, forces.friction)
    quantities: tuple[str, ...] = ("actuator_force", "status") if groups.groups else ()
    if formulation not in FORMULATIONS:
        raise ValueError(f"formulation: got {formulation!r}; expected one of {', '.join(FORMULATIONS)}")
    if constraints and robot.mechanism.is_chain:
        raise ValueError(
            f"constraints: {robot.name} has no platform that limbs hold; leave it out: a chain whose coordinates are "
            "coupled says CONSTRAINT_SINGULAR without it"
        )
    quantities += ("least_constraint_regularity",) * constraints
    shared = reaction_criteria(robot, forces.elasticity)
    shared = shared if groups.statics else NO_CRITERIA
    acting = Influences(field, load, forces.weights, groups, motion.time, forced=True)
    dynamics = Dynamics(robot, motion.moving, quantities, acting, formulation=formulation, criteria=shared)
    return _by_strips(dynamics, "actuator_force" if groups.groups else "force")


def _by_strips(dynamics: Dynamics, key: str) -> InverseDynamics:
    """Return the results of inverse dynamics, forces of actuators by the name `key`."""
    mechanism = dynamics.robot.mechanism
    actuators, freedoms, limbs = len(mechanism.actuators), len(mechanism.freedoms), range(len(mechanism.instances))
    sizes, status = (actuators, actuators, actuators * freedoms), np.empty(dynamics.samples)
    force, velocity, jacobian = (np.empty((size, dynamics.samples)) for size in sizes)
    for strip in dynamics.strips(stages(dynamics.request)):
        place, status[strip.place] = strip.place, strip.status
        force[:, place], velocity[:, place] = strip.sample_rows(key), strip.sample_rows(VELOCITY)
        np.concatenate([strip.sample_rows(Indexed("jacobian", k)) for k in limbs], out=jacobian[:, place])
    lost = status != Status.OK
    if lost.any():
        for values in (force, velocity, jacobian):
            values[:, lost] = np.nan
    force, velocity = (np.ascontiguousarray(rows.T).reshape(*dynamics.batch, actuators) for rows in (force, velocity))
    jacobian = jacobian.T.reshape(*dynamics.batch, actuators, freedoms)
    return InverseDynamics(force, velocity, jacobian, dynamics.statuses(status))


@check_arguments
def joint_reactions(
    robot: Robot,
    motion: State | None = None,
    forces: Forces = NO_FORCES,
    environment: Environment = STANDING,
    **short: Unpack[MotionKeywords],
) -> JointReactions:
    """Compute reaction wrenches of all joints (*batch, limb, joint, 6) for a motion; see `inverse_dynamics`.

    (moment [N m], force [N]) on the child by the parent at the origin of the child's frame, world axes. So moments of
    a prismatic joint count from a point that slides with the child. Joints in the order of `Limb.joints`. The wrench of
    a joint includes its drive's force and its friction. For a drive on another link, it includes the force that the
    transmission passes on beside each joint that it moves: about its axis a joint carries T^T (u - torque that spins up
    rotors). Forces inside a transmission are results only if its rods are links in loops. The child of a joint at the
    platform is the platform; the child of a loop's cut joint is the second body of its closure. In an overconstrained
    mechanism some components are not unique: the solution of least norm is given, see `tasks.mechanics.reactions`. With
    the `elasticity` of joints and links it is the solution with compatible deformations, see
    `tasks.features.compliance`. NaN for joints that only other limbs have, for samples that cannot be solved, and for
    loads, or friction in a loose part, that no joint holds (CONSTRAINT_SINGULAR). Raises ValueError as above. Source:
    hybrid-limb paper, section 6, with the multipliers that its projection removes.

        >>> robot = ls.robots.build("delta_3rr2rrr")
        >>> reactions = ls.joint_reactions(robot, position=[0.0, 0.1, -0.9])
        >>> reactions.wrench.shape  # (limb, joint, moment and force)
        (3, 7, 6)
    """
    motion, environment = long_form(motion, environment, short, ("memory",))
    refuse_actuator(forces)
    load, field = load_input(robot, forces, motion.rotation), field_input(environment)
    groups, shared = friction_input(robot, forces.friction), reaction_criteria(robot, forces.elasticity)
    acting = Influences(field, load, forces.weights, groups, motion.time, forced=True)
    dynamics = Dynamics(robot, motion.moving, ("joint_reaction",), acting, criteria=shared)
    counts = [len(robot.mechanism.limbs[instance.limb].joints) for instance in robot.mechanism.instances]
    result = np.empty((dynamics.samples, len(counts), max(counts), len(TWIST)))
    status = np.empty(dynamics.samples)
    for strip in dynamics.strips(stages(dynamics.request)):
        place, rows = strip.place, result[strip.place]
        wrenches = [strip.sample_rows(Indexed("joint_reaction", k)) for k in range(len(counts))]
        for k, (wrench, count) in enumerate(zip(wrenches, counts, strict=True)):
            rows[:, k, :count] = wrench.T.reshape(len(rows), count, len(TWIST))
            rows[:, k, count:] = np.nan
        size = np.max([np.abs(wrench).max(axis=0) for wrench in wrenches], axis=0)
        status[place] = held_status(strip.status, strip.sample_rows("missing")[0], size)
        rows[status[place] != Status.OK] = np.nan
    return JointReactions(result.reshape(*dynamics.batch, *result.shape[1:]), dynamics.statuses(status))


def held_status(status: Column, missing: Column, largest: Column) -> Column:
    """Return statuses, CONSTRAINT_SINGULAR where limbs miss more of the platform's wrench than HELD of a reaction."""
    loose = (status == Status.OK) & ~(missing <= HELD * largest)
    return np.where(loose, float(Status.CONSTRAINT_SINGULAR), status)


@check_arguments
def actuator_positions(robot: Robot, motion: State | None = None, **short: Unpack[MotionKeywords]) -> ActuatorPositions:
    """Compute the positions of the actuators (*batch, actuator) [rad or m], drives or joints; see `inverse_kinematics`.

    Joints of parallel robots count within half a turn of the reference pose. Samples that cannot be solved hold NaN.

        >>> robot = ls.robots.build("five_bar")
        >>> ls.actuator_positions(robot, position=[0.05, 0.0, -0.6]).position.round(3)
        array([ 0.092, -0.09 ])
    """
    motion, _ = long_form(motion, STANDING, short, TIMELESS)
    dynamics = Dynamics(robot, motion.moving, ("actuator_position",))
    limbs = range(len(robot.mechanism.instances))
    dynamics.run(limb(dynamics.request, k) for k in limbs)
    positions = np.concatenate([dynamics.sample_rows(Indexed("actuator_position", k)) for k in limbs])
    status = np.max([dynamics.status_of(k) for k in limbs], axis=0)
    positions[:, status != Status.OK] = np.nan
    by_sample = np.ascontiguousarray(positions.T).reshape(*dynamics.batch, len(positions))
    return ActuatorPositions(by_sample, dynamics.statuses(status))


class Strip(NamedTuple):
    """Values of some samples, those of the batch at `place`."""

    place: slice
    values: Values

    def sample_rows(self, key: Key) -> NDArray[np.float64]:
        """Return a value (size, samples)."""
        return self.values[key][0, :, : self.place.stop - self.place.start]

    @property
    def status(self) -> NDArray[np.float64]:
        """Status of each sample, with the status of friction on request."""
        return self.sample_rows(OUTCOME if OUTCOME in self.values else "status")[0]


@dataclass(frozen=True)
class Influences:
    """Gravity and base, load, friction, and weights by which actuators share forces, for a robot that moves.

    time: of loads that change [s], needed where forces are `forced` by them. tree: the motion of all joints, if given.
    """

    field: FieldInput | None = None
    load: ArrayLike | None = None
    weights: ArrayLike | None = None
    friction: FrictionInput | None = None
    time: ArrayLike | None = None
    forced: bool = False
    tree: GivenTree | None = None


GRAVITY_ALONE = Influences()
"""Influences of gravity alone: no load, no friction, a base at rest."""


class Dynamics:
    """The stages of one robot run on a whole batch in memory; values are (1, size, padded samples)."""

    def __init__(
        self,
        robot: Robot,
        moving: Moving,
        wanted: tuple[str, ...] = (),
        acting: Influences = GRAVITY_ALONE,
        *,
        formulation: str = RECURSION,
        criteria: CriteriaParameters = NO_CRITERIA,
    ):
        field, friction = acting.field or field_input(), acting.friction or friction_input(robot, None)
        self.robot, self.load = robot, None if acting.load is None else checked("load", acting.load, (6,), WRENCH)
        batches = field.batch | ({} if self.load is None else {"load": self.load.shape[:-1]})
        time = None if acting.time is None else checked("time", acting.time, ())
        batches |= {} if time is None else {"time": time.shape}
        batches |= {} if acting.tree is None else {"joints": acting.tree.batch}
        self.batch, motion = moving_input(robot, moving, batches)
        self.samples, width = int(np.prod(self.batch, dtype=int)), motion.shape[-1]
        features = (
            FrictionGroups(friction.groups),
            PlatformWrench(self.load is not None),
            *criteria_features(robot.family.reference, criteria),
            *([] if acting.tree is None else [TreeMotion(given=True)]),
        )
        moves = field.moving
        self.request = request(robot.family, wanted, *features, moving_base=moves, formulation=formulation)
        self.values: Values = {
            "parameters": parameters(robot, timed=True),
            **signals_input(robot, time, self.batch, needed=acting.forced),
            "gravity": field.columns(self.batch),
            "motion": motion,
            "friction": friction.values,
            "weight": np.zeros((1, 1, width)),  # nothing is integrated over time
            "held": np.zeros((1, 0, width)),  # of a chain; a platform gives its own
            **weights_input(robot, acting.weights),
            **{Indexed("mount", k): mount for k, mount in enumerate(mounts(robot))},
        }
        if criteria != NO_CRITERIA:
            self.values |= criteria_inputs(robot.family, criteria)
        if acting.tree is not None:
            self.values |= acting.tree.values(robot.mechanism, self.batch)
        if self.load is not None:
            self.values["load"] = rows(self.load, self.batch)[None]

    def strips(self, stages: Iterable[Stage]) -> Iterator[Strip]:
        """Yield the results of stages, in their order, strip by strip: each is valid until the next is requested.

        Results for the next stage stay in the cache, and take no memory for the whole batch.
        """
        stages, width = list(stages), padded(self.samples)
        most = width if any(stage.program.reductions for stage in stages) else min(width, STRIP)
        buffers = [kernel(stage.program).allocate(1, most) for stage in stages]
        along = {key for key, array in self.values.items() if array.ndim == 3}
        for start in range(0, width, max(most, 1)):
            count = min(most, width - start)
            place = slice(start, start + count)
            values = {key: array[..., place] if key in along else array for key, array in self.values.items()}
            for stage, buffer in zip(stages, buffers, strict=True):
                cut = {name: array if array.ndim == 2 else array[..., :count] for name, array in buffer.items()}
                values |= stage.run(kernel, values, count, cut, filled=True)
            yield Strip(slice(start, min(start + count, self.samples)), values)

    def run(self, stages: Iterable[Stage]) -> None:
        """Run some stages in their order."""
        for stage in stages:
            self.values |= stage.run(kernel, self.values, self.samples)

    @property
    def whole(self) -> Strip:
        """Values of the stages that have run, as one strip."""
        return Strip(slice(0, self.samples), self.values)

    def sample_rows(self, key: Key) -> NDArray[np.float64]:
        """Return a value (size, samples)."""
        return self.whole.sample_rows(key)

    def status_of(self, limb: int) -> NDArray[np.float64]:
        """Return the status of a limb at each sample."""
        return self.sample_rows(Indexed("status", limb))[0]

    @property
    def status(self) -> NDArray[np.float64]:
        """Status of each sample, with the status of friction on request."""
        return self.whole.status

    def statuses(self, status: NDArray[np.float64]) -> NDArray[np.int8]:
        """Return a status of each sample as callers get it, (*batch)."""
        return status.astype(np.int8).reshape(self.batch)


def weights_input(robot: Robot, weights: ArrayLike | None) -> dict[str, np.ndarray]:
    """Return the `weights` input of an assembly; none for a robot without a choice. Raises ValueError."""
    even = even_weights(robot.family)
    if weights is None:
        return even
    if not even:
        raise ValueError(f"weights: {robot.name} has no more actuators than freedoms; leave them out")
    result = np.asarray(in_order_of(robot.mechanism.actuators, "weights", weights), dtype=float)
    if result.shape != even["weights"].shape[1:] or not (np.isfinite(result) & (result > 0)).all():
        raise ValueError(
            f"weights: got {weights!r}; "
            f"expected {even['weights'].size} finite numbers above zero, one for each actuator"
        )
    return {"weights": result[None]}


class RobotMotion(NamedTuple):
    """Motions of all links, limb by limb in the order of their links, of the platform, and the joint motion behind."""

    limbs: tuple[tuple[BodyMotions, ...], ...]
    platform: BodyMotions
    joints: InverseKinematics


def body_motion(robot: Robot, motion: State | None = None, **short: Unpack[MotionKeywords]) -> RobotMotion:
    """Return the motions of all bodies for a motion of the robot; shapes and errors as in `tasks.inverse_kinematics`.

    Samples without a solution hold NaN; `status` of `joints` has the reason.
    """
    motion, _ = long_form(motion, STANDING, short, TIMELESS)
    joints = inverse_kinematics(robot, motion)
    mechanism, batch = robot.mechanism, joints.status.shape
    limbs = tuple(
        limb_motion(mechanism.limbs[instance.limb], instance.base, *(part[..., k, :] for part in joints[:3]))
        for k, instance in enumerate(mechanism.instances)
    )
    home = mechanism.platform.home
    position = home.position if motion.position is None else motion.position
    rotation = home.rotation if motion.rotation is None else motion.rotation
    platform = platform_motion(batch, position, rotation, motion.twist, motion.acceleration)
    return RobotMotion(limbs, platform, joints)
