"""Arrays in, arrays out: inverse kinematics and dynamics of one robot at any batch of states, without a cluster.

All functions take keyword arguments with any leading batch dims, (*batch, core...), and return arrays of the same batch
dims. SI units, world axes; see `robots.model` for frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robots.criteria.elasticity import Elasticity
from robots.criteria.parameters import NO_CRITERIA, CriteriaParameters
from robots.model import Robot
from robots.quantities import names
from robots.status import Status
from robots.types import TWIST, LoadAxes
from tasks.arrays.inputs import (
    GRAVITY,
    FieldInput,
    Moving,
    field_input,
    gravity_input,
    in_world,
    mounts,
    moving_input,
    parameters,
    reaction_criteria,
    signals_input,
)
from tasks.friction.given import Friction, FrictionInput, friction_input
from tasks.kernels.batches import checked, rows
from tasks.kernels.cache import kernel
from tasks.kernels.kernel import padded
from tasks.kernels.keys import Indexed, Key, Values
from tasks.programs.actuation import OUTCOME
from tasks.programs.assembly import VELOCITY, even_weights
from tasks.programs.criteria import case_values, structural
from tasks.programs.limb import FORMULATIONS, RECURSION
from tasks.programs.stages import Request, Stage, limb, stages

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


def inverse_kinematics(
    robot: Robot, *, position: ArrayLike | None = None, rotation: ArrayLike | None = None,
    twist: ArrayLike | None = None, acceleration: ArrayLike | None = None,
    q: ArrayLike | None = None, qd: ArrayLike | None = None, qdd: ArrayLike | None = None,
) -> InverseKinematics:  # fmt: skip
    """Motion of all joints for a motion of the platform, or of the independent joints of a chain; see `Moving`.

    Samples that cannot be solved hold NaN. Raises ValueError for shapes that do not fit and for motions the platform
    cannot make. Source: hybrid-limb paper, Eqs. (87), (88), (96); joint-friction paper, Eq. (24).

        >>> robot = ls.robots.build("delta_3rr2rrr")
        >>> joints = ls.inverse_kinematics(robot, position=[[0.0, 0.0, -0.9], [0.1, 0.0, -0.9]])
        >>> joints.position.shape  # (sample, limb, joint)
        (2, 3, 7)
        >>> joints.status
        array([0, 0], dtype=int8)
    """
    moving = Moving(position=position, rotation=rotation, twist=twist, acceleration=acceleration, q=q, qd=qd, qdd=qdd)
    dynamics = Dynamics(robot, moving, names("limb", "series"))
    limbs = range(len(robot.mechanism.instances))
    dynamics.run(limb(dynamics.request, k) for k in limbs)
    status = np.max([dynamics.status_of(k) for k in limbs], axis=0)
    series = {}
    for name in ("joint_position", "joint_velocity", "joint_acceleration"):
        values = np.stack([dynamics.sample_rows(Indexed(name, k)) for k in limbs])  # limb, joint, sample
        values[..., status != Status.OK] = np.nan
        series[name.removeprefix("joint_")] = np.moveaxis(values, -1, 0).reshape(*dynamics.batch, *values.shape[:2])
    return InverseKinematics(**series, status=status.astype(np.int8).reshape(dynamics.batch))


@overload
def inverse_dynamics(
    robot: Robot, *, position: ArrayLike | None = None, rotation: ArrayLike | None = None,
    twist: ArrayLike | None = None, acceleration: ArrayLike | None = None,
    q: ArrayLike | None = None, qd: ArrayLike | None = None, qdd: ArrayLike | None = None,
    gravity: ArrayLike = GRAVITY, load: ArrayLike | None = None, load_axes: LoadAxes = "world",
    friction: Friction = None, weights: ArrayLike | None = None,
    base_rotation: ArrayLike | None = None, base_twist: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None, time: ArrayLike | None = None, formulation: str = RECURSION,
    constraints: bool = False, elasticity: Elasticity | None = None, full: Literal[False] = False,
) -> np.ndarray: ...  # fmt: skip
@overload
def inverse_dynamics(
    robot: Robot, *, position: ArrayLike | None = None, rotation: ArrayLike | None = None,
    twist: ArrayLike | None = None, acceleration: ArrayLike | None = None,
    q: ArrayLike | None = None, qd: ArrayLike | None = None, qdd: ArrayLike | None = None,
    gravity: ArrayLike = GRAVITY, load: ArrayLike | None = None, load_axes: LoadAxes = "world",
    friction: Friction = None, weights: ArrayLike | None = None,
    base_rotation: ArrayLike | None = None, base_twist: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None, time: ArrayLike | None = None, formulation: str = RECURSION,
    constraints: bool = False, elasticity: Elasticity | None = None, full: Literal[True],
) -> InverseDynamics: ...  # fmt: skip
def inverse_dynamics(
    robot: Robot, *, position: ArrayLike | None = None, rotation: ArrayLike | None = None,
    twist: ArrayLike | None = None, acceleration: ArrayLike | None = None,
    q: ArrayLike | None = None, qd: ArrayLike | None = None, qdd: ArrayLike | None = None,
    gravity: ArrayLike = GRAVITY, load: ArrayLike | None = None, load_axes: LoadAxes = "world",
    friction: Friction = None, weights: ArrayLike | None = None,
    base_rotation: ArrayLike | None = None, base_twist: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None, time: ArrayLike | None = None, formulation: str = RECURSION,
    constraints: bool = False, elasticity: Elasticity | None = None, full: bool = False,
) -> np.ndarray | InverseDynamics:  # fmt: skip
    """Actuator forces or torques (*batch, actuator) [N or N m] for a motion of the robot; see `Moving`.

    gravity (3,) [m/s^2]; load (*batch, 6) = (moment, force) that acts on the platform at its reference point, in
    `load_axes`, those of the "world" or of the "platform"; time (*batch,) [s], for a robot whose own loads change with
    it, see `robots.loads`; friction: see `tasks.friction.given`; weights (actuator,),
    of a robot with more actuators than freedoms: the frictionless forces have the least sum of weight times square, one
    each where they are absent; formulation: one of `tasks.programs.limb.FORMULATIONS`, all of which give the same
    forces up to rounding. With `full`, an InverseDynamics. Samples that cannot be solved hold NaN; their status says
    why. `constraints`: whether to look, of a robot with a platform, for constraint singularities as well, at a sample
    or on the way to it, which have the status CONSTRAINT_SINGULAR. `elasticity`: of joints and links, by which those
    reactions follow on which friction depends, as in `joint_reactions`. Raises ValueError or ParameterError for input
    that does not fit. Source: hybrid-limb paper, Eqs. (137) to (140).

    How the base moves in the world: base_rotation (*batch, 3, 3) turns its axes to those of the world (absent: the
    identity); base_twist (*batch, 6) and its time derivative base_acceleration (*batch, 6) as (angular, linear) of its
    origin, in the axes of the world (absent: zero). Gravity is in the axes of the world too; everything else, given or
    found, is relative to the base and in its axes.

        >>> robot = ls.robots.build("delta_3rr2rrr", upper_arm=0.28)
        >>> ls.inverse_dynamics(robot, position=[0.0, 0.1, -0.9], acceleration=[0, 0, 0, 0, 0, 2.0]).round(2)
        array([-4.41, -3.15, -5.68])
        >>> full = ls.inverse_dynamics(robot, position=[[0.0, 0.1, -0.9], [0.0, 0.1, 5.0]], full=True)
        >>> full.force.shape, [ls.Status(code).name for code in full.status]
        ((2, 3), ['OK', 'NOT_REACHABLE'])
    """
    moving = Moving(position=position, rotation=rotation, twist=twist, acceleration=acceleration, q=q, qd=qd, qdd=qdd)
    load = in_world(robot, load, rotation, load_axes)
    field = field_input(gravity, base_rotation, base_twist, base_acceleration)
    groups = friction_input(robot, friction)
    wanted: tuple[str, ...] = ("actuator_force", "status") if groups.groups else ()
    if formulation not in FORMULATIONS:
        raise ValueError(f"formulation: got {formulation!r}; expected one of {', '.join(FORMULATIONS)}")
    if constraints and robot.mechanism.is_chain:
        raise ValueError(
            f"constraints: {robot.name} has no platform that limbs hold; leave it out: a chain whose coordinates are "
            "coupled says CONSTRAINT_SINGULAR without it"
        )
    wanted += ("least_constraint_regularity",) * constraints
    shared = reaction_criteria(robot, elasticity)
    shared = shared if groups.statics else NO_CRITERIA
    dynamics = Dynamics(
        robot, moving, wanted, field, load, weights, groups, formulation, shared, time=time, forced=True
    )
    dynamics.run(stages(dynamics.request))
    force, velocity = (
        np.ascontiguousarray(dynamics.sample_rows(name).T)
        for name in ("actuator_force" if groups.groups else "force", VELOCITY)
    )
    limbs = range(len(robot.mechanism.instances))
    jacobian = np.concatenate([dynamics.sample_rows(Indexed("jacobian", k)) for k in limbs]).T
    status = dynamics.status
    for values in (force, velocity, jacobian):
        values[status != Status.OK] = np.nan
    force, velocity = force.reshape(*dynamics.batch, -1), velocity.reshape(*dynamics.batch, -1)
    if not full:
        return force
    shape = (*dynamics.batch, force.shape[-1], len(robot.mechanism.freedoms))
    return InverseDynamics(force, velocity, jacobian.reshape(shape), dynamics.statuses(status))


@overload
def joint_reactions(
    robot: Robot, *, position: ArrayLike | None = None, rotation: ArrayLike | None = None,
    twist: ArrayLike | None = None, acceleration: ArrayLike | None = None,
    q: ArrayLike | None = None, qd: ArrayLike | None = None, qdd: ArrayLike | None = None,
    gravity: ArrayLike = GRAVITY, load: ArrayLike | None = None, load_axes: LoadAxes = "world",
    friction: Friction = None, weights: ArrayLike | None = None,
    base_rotation: ArrayLike | None = None, base_twist: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None, time: ArrayLike | None = None, elasticity: Elasticity | None = None,
    full: Literal[False] = False,
) -> np.ndarray: ...  # fmt: skip
@overload
def joint_reactions(
    robot: Robot, *, position: ArrayLike | None = None, rotation: ArrayLike | None = None,
    twist: ArrayLike | None = None, acceleration: ArrayLike | None = None,
    q: ArrayLike | None = None, qd: ArrayLike | None = None, qdd: ArrayLike | None = None,
    gravity: ArrayLike = GRAVITY, load: ArrayLike | None = None, load_axes: LoadAxes = "world",
    friction: Friction = None, weights: ArrayLike | None = None,
    base_rotation: ArrayLike | None = None, base_twist: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None, time: ArrayLike | None = None, elasticity: Elasticity | None = None,
    full: Literal[True],
) -> tuple[np.ndarray, np.ndarray]: ...  # fmt: skip
def joint_reactions(
    robot: Robot, *, position: ArrayLike | None = None, rotation: ArrayLike | None = None,
    twist: ArrayLike | None = None, acceleration: ArrayLike | None = None,
    q: ArrayLike | None = None, qd: ArrayLike | None = None, qdd: ArrayLike | None = None,
    gravity: ArrayLike = GRAVITY, load: ArrayLike | None = None, load_axes: LoadAxes = "world",
    friction: Friction = None, weights: ArrayLike | None = None,
    base_rotation: ArrayLike | None = None, base_twist: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None, time: ArrayLike | None = None, elasticity: Elasticity | None = None,
    full: bool = False,
) -> np.ndarray | tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Reaction wrenches of all joints (*batch, limb, joint, 6) for a motion of the robot; see `inverse_dynamics`.

    (moment [N m], force [N]) on the child by the parent at the joint's origin, world axes; joints in the order of
    `Limb.joints`; the drive's force is inside its joint, and so is friction; of a drive on another link, what its train
    passes on beside each joint that it moves, so that about its axis a joint carries T^T (u - what spins up rotors).
    Forces inside a train show where its rods are links in loops. The child of a joint at the platform is the platform,
    that of a loop's cut joint the second body of its closure. Where a mechanism is overconstrained, some components are
    not unique: those given have the least norm, see `tasks.mechanics.reactions`, or with the `elasticity` of joints and
    links those whose deformations fit together, see `tasks.criteria.sharing`. NaN for joints that only other limbs
    have, and for samples that cannot be solved, or whose load no joint holds (CONSTRAINT_SINGULAR), friction in a part
    that is loose included. With `full`, a pair with the status (*batch). Raises ValueError as above. Source:
    hybrid-limb paper, section 6, with the multipliers that its projection removes.

        >>> robot = ls.robots.build("delta_3rr2rrr")
        >>> reactions = ls.joint_reactions(robot, position=[0.0, 0.1, -0.9])
        >>> reactions.shape  # (limb, joint, moment and force)
        (3, 7, 6)
    """
    moving = Moving(position=position, rotation=rotation, twist=twist, acceleration=acceleration, q=q, qd=qd, qdd=qdd)
    load = in_world(robot, load, rotation, load_axes)
    field = field_input(gravity, base_rotation, base_twist, base_acceleration)
    groups = friction_input(robot, friction)
    shared = reaction_criteria(robot, elasticity)
    dynamics = Dynamics(
        robot, moving, ("joint_reaction",), field, load, weights, groups, criteria=shared, time=time, forced=True
    )
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
        loose = (strip.status == Status.OK) & ~(strip.sample_rows("missing")[0] <= HELD * size)
        status[place] = np.where(loose, float(Status.CONSTRAINT_SINGULAR), strip.status)
        rows[status[place] != Status.OK] = np.nan
    result = result.reshape(*dynamics.batch, *result.shape[1:])
    return (result, dynamics.statuses(status)) if full else result


def actuator_positions(
    robot: Robot, *, position: ArrayLike | None = None, rotation: ArrayLike | None = None,
    twist: ArrayLike | None = None, acceleration: ArrayLike | None = None,
    q: ArrayLike | None = None, qd: ArrayLike | None = None, qdd: ArrayLike | None = None,
) -> np.ndarray:  # fmt: skip
    """Positions of the actuators (*batch, actuator) [rad or m], drives or joints; see `inverse_kinematics`.

    Joints of parallel robots count within half a turn of the reference pose. Samples that cannot be solved hold NaN.

        >>> robot = ls.robots.build("five_bar")
        >>> ls.actuator_positions(robot, position=[0.05, 0.0, -0.6]).round(3)
        array([ 0.092, -0.09 ])
    """
    moving = Moving(position=position, rotation=rotation, twist=twist, acceleration=acceleration, q=q, qd=qd, qdd=qdd)
    dynamics = Dynamics(robot, moving, ("actuator_position",))
    limbs = range(len(robot.mechanism.instances))
    dynamics.run(limb(dynamics.request, k) for k in limbs)
    positions = np.concatenate([dynamics.sample_rows(Indexed("actuator_position", k)) for k in limbs])
    positions[:, np.any([dynamics.status_of(k) != Status.OK for k in limbs], axis=0)] = np.nan
    return np.ascontiguousarray(positions.T).reshape(*dynamics.batch, len(positions))


STRIP = 1 << 11
"""Samples of a long batch that all stages work through at a time."""


class Strip(NamedTuple):
    """Values of some samples, those of the batch at `place`."""

    place: slice
    values: Values

    def sample_rows(self, key: Key) -> NDArray[np.float64]:
        """A value (size, samples)."""
        return self.values[key][0, :, : self.place.stop - self.place.start]

    @property
    def status(self) -> NDArray[np.float64]:
        """Status of each sample, that of friction included where it was asked for."""
        return self.sample_rows(OUTCOME if OUTCOME in self.values else "status")[0]


class Dynamics:
    """The stages of one robot run on a whole batch in memory; values are (1, size, padded samples)."""

    def __init__(
        self,
        robot: Robot,
        moving: Moving,
        wanted: tuple[str, ...] = (),
        field: FieldInput | None = None,
        load: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        friction: FrictionInput | None = None,
        formulation: str = RECURSION,
        criteria: CriteriaParameters = NO_CRITERIA,
        *,
        time: ArrayLike | None = None,
        forced: bool = False,
    ):
        field, friction = field or FieldInput(gravity_input(GRAVITY)[0]), friction or friction_input(robot, None)
        self.robot, self.load = robot, None if load is None else checked("load", load, (6,))
        batches = field.batch | ({} if self.load is None else {"load": self.load.shape[:-1]})
        batches |= {} if time is None else {"time": np.shape(time)}
        self.batch, motion = moving_input(robot, moving, batches)
        self.samples, width = int(np.prod(self.batch, dtype=int)), motion.shape[-1]
        loaded = self.load is not None
        design = structural(robot.family.reference, criteria)
        self.request = Request(robot.family, wanted, friction.groups, (), field.moving, formulation, loaded, design)
        self.values: Values = {
            "parameters": parameters(robot, timed=True),
            **signals_input(robot, time, self.batch, needed=forced),
            "gravity": field.columns(self.batch),
            "motion": motion,
            "friction": friction.values,
            "weight": np.zeros((1, 1, width)),  # nothing is integrated over time
            "held": np.zeros((1, 0, width)),  # of a chain; a platform gives its own
            **weights_input(robot, weights),
            **{Indexed("mount", k): mount for k, mount in enumerate(mounts(robot))},
        }
        if criteria != NO_CRITERIA:
            self.values |= case_values(robot.family, criteria)
        if self.load is not None:
            self.values["load"] = rows(self.load, self.batch)[None]

    def strips(self, stages: Iterable[Stage]) -> Iterator[Strip]:
        """What some stages give, in their order, for some samples after the others: each until the next is asked for.

        What one stage hands to the next stays in the cache, and takes no memory for the whole batch.
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
        """All that stages have given by now."""
        return Strip(slice(0, self.samples), self.values)

    def sample_rows(self, key: Key) -> NDArray[np.float64]:
        """A value (size, samples)."""
        return self.whole.sample_rows(key)

    def status_of(self, limb: int) -> NDArray[np.float64]:
        """Status of a limb at each sample."""
        return self.sample_rows(Indexed("status", limb))[0]

    @property
    def status(self) -> NDArray[np.float64]:
        """Status of each sample, that of friction included where it was asked for."""
        return self.whole.status

    def statuses(self, status: NDArray[np.float64]) -> NDArray[np.int8]:
        """A status of each sample as callers get it, (*batch)."""
        return status.astype(np.int8).reshape(self.batch)


def weights_input(robot: Robot, weights: ArrayLike | None) -> dict[str, np.ndarray]:
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
