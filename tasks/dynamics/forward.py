"""Forward dynamics: accelerations of platforms, trees and closed chains from actuator forces, and batches of cases.

`forward_dynamics` is for one instant. `Cases` hold the initial states of a batch and the forces on it; `over_time`
integrates them in fixed steps, and `series` keeps the results for callers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike

from robots.arguments import check_arguments
from robots.labels import WRENCH
from robots.model import Robot
from robots.parameter_errors import nearest
from robots.status import Status
from tasks.dynamics import inputs
from tasks.dynamics.equations import free_acceleration
from tasks.dynamics.forces_over_step import (
    Acting,
    Cases,
    HeldForces,
    Pushes,
    SignalSource,
    Source,
    arguments,
    asked_of,
    first_shape,
)
from tasks.dynamics.instant.decisions import census
from tasks.dynamics.instant.layout import POSE
from tasks.dynamics.instant.moments import Moment
from tasks.dynamics.integration import Stepper, forced
from tasks.dynamics.motion_system import MotionSystem
from tasks.dynamics.records import (
    NO_FORCES,
    STANDING,
    Environment,
    FixedSteps,
    Forces,
    Motion,
    MotionKeywords,
    Moving,
    ServoLike,
    State,
    Timed,
    check_record,
    long_form,
)
from tasks.dynamics.resting_joints import first_modes, settled
from tasks.dynamics.step_methods import METHODS
from tasks.kernels import kernel
from tasks.kernels.kernel import Batch, checked, common_batch
from tasks.kernels.keys import whole_lanes
from tasks.mathematics import rotations
from tasks.mechanics.recursion import MOVING


class BaseMotion(NamedTuple):
    """Motion of the base in the world: constants or functions of time, see `tasks.inverse_dynamics`."""

    rotation: Timed | None = None
    twist: Timed | None = None
    acceleration: Timed | None = None

    @property
    def moves(self) -> bool:
        """True if any part of the motion is given."""
        return any(part is not None for part in self)

    def source(self, gravity: ArrayLike) -> Source:
        """Return the field that base motion and gravity exert on all bodies: `tasks.mechanics.recursion`.

        Raises ValueError.
        """

        def field(time: float) -> np.ndarray:
            parts = self._asdict().items()
            values = {name: part(time) if callable(part) else part for name, part in parts}
            return inputs.field_input(Environment(gravity=gravity, base=Motion(**values))).values

        return Source("base", field if any(callable(part) for part in self) else field(0.0), MOVING, ())


def opened(
    robot: Robot,
    system: MotionSystem,
    state: State,
    forces: Forces,
    environment: Environment = STANDING,
    start: float = 0.0,
    signals: np.ndarray | None = None,
) -> Cases:
    """Return cases from the arguments of a caller. Raises ValueError and TypeError for arguments that do not fit.

    signals (*batch, signal): signals of loads at one instant; absent: signals over time.
    """
    layout, base = system.layout, BaseMotion(**environment.base_parts)
    force = cast(Acting | ServoLike, asked_of(forces.actuator, layout.windings))
    servo = force if isinstance(force, ServoLike) else None
    acting = np.zeros(layout.actuators) if isinstance(force, ServoLike) else force
    load_sources = [*_load_sources(robot, system, forces.load, signals)]
    load_sources += [base.source(environment.gravity)] if base.moves else []
    sources = [Source("force", acting, layout.actuators, robot.mechanism.actuators), *load_sources]
    arguments(acting, (4,) if layout.platform else (3,))
    shapes = {source.name: source.first(start).shape[:-1] for source in load_sources}
    arrays = {} if state.memory is None else {"memory": checked("memory", state.memory, (layout.joints,))}
    shapes |= {name: values.shape[:-1] for name, values in arrays.items()}
    if layout.platform:
        if arguments(acting) < 2:
            shapes["force"] = sources[0].first(start).shape[:-1]
        batch, motion = inputs.moving_input(robot, _from_home(robot, state.moving), shapes)
        rows = {"q": _pose(robot, motion[0]), "qd": _speeds(system, motion[0])}
    else:
        arrays = _joint_state(robot, system, state.moving) | arrays
        shapes = {name: values.shape[:-1] for name, values in arrays.items()} | shapes
        shapes["force"] = first_shape(acting, start, (arrays["q"], arrays["qd"]), robot.mechanism.actuators)
        batch, rows = common_batch(shapes), {}
    rows |= {name: kernel.rows(values, batch) for name, values in arrays.items()}
    packed = np.zeros((layout.size, rows["q"].shape[1]))
    for name, value in rows.items():
        packed[layout.at[name]] = value
    return Cases(batch, packed, Pushes(sources, batch, system.seen), start, servo, environment.gravity)


def _load_sources(
    robot: Robot, system: MotionSystem, load: Acting | None, signals: np.ndarray | None
) -> Iterator[Source | SignalSource]:
    """Yield the load on a platform, and the signals of loads of the robot."""
    if system.layout.platform:
        yield Source("load", np.zeros(6) if load is None else load, 6, WRENCH)
    if signals is not None:
        yield Source("time", signals, system.layout.signals, ())
    elif system.layout.signals:
        yield SignalSource.of(robot.family)


def _joint_state(robot: Robot, system: MotionSystem, moving: Moving) -> dict[str, np.ndarray]:
    """Return q and q' (*batch, freedom) of a chain; at rest where no rates are given."""
    inputs.check_names(robot, moving)
    parts = {"qd": np.zeros(system.layout.free), **inputs.present(moving)}
    return {name: checked(name, parts[name], (system.layout.free,), robot.mechanism.freedoms) for name in ("q", "qd")}


def _from_home(robot: Robot, moving: Moving) -> Moving:
    if moving.get("position") is None:
        return {**moving, "position": robot.mechanism.platform.home.position}
    return moving


def _pose(robot: Robot, motion: np.ndarray) -> np.ndarray:
    """Return (POSE, samples) from the motion input of kernels."""
    turned = motion[3:12]
    if len(motion) == 9:
        home = np.array(robot.mechanism.platform.home.rotation, dtype=float).reshape(9, 1)
        turned = np.broadcast_to(home, (9, motion.shape[1]))
    result = np.empty((POSE, motion.shape[1]))
    result[:3], result[3:] = motion[:3], rotations.of_rotation(turned)
    return result


def _speeds(system: MotionSystem, motion: np.ndarray) -> np.ndarray:
    twist = motion[12:18]
    if len(motion) == 9:
        twist = np.concatenate([np.zeros((3, motion.shape[1])), motion[3:6]])
    return twist[system.instant.structure.positions]


def begun(system: MotionSystem, cases: Cases, step: float, force: np.ndarray | None = None) -> Moment:
    """Return the first moment: joints without velocity stick if they can; under the `force` of a servo, if given."""
    push = cases.pushes.over(cases.start, step, cases.state, cases.start)
    push, now = push if force is None else HeldForces(push, force), np.zeros(cases.state.shape[1])
    state = system.begun(cases.state, push(now, cases.state))
    modes = first_modes(system, state, push(now, state))
    return Moment(*settled(system, state, modes, modes.rest > 0.5, lambda at: push(now, at)))


def over_time(system: MotionSystem, cases: Cases, clock: FixedSteps) -> Iterator[tuple[float, Moment]]:
    """Yield times [s] and moments of a motion in fixed steps, every n-th, the start included. Raises ValueError."""
    step, method = clock.step, clock.method
    name = method or ("rosenbrock" if system.bristling.any() else "rk4")
    if name not in METHODS:
        raise ValueError(f"method: got {name!r}; {nearest(name, METHODS)}")
    taken = system.step_of(name)
    with np.errstate(all="ignore"):  # a case that came to an end holds NaN
        width = cases.state.shape[1]
        running = None if cases.servo is None else cases.servo.loop(width, step, cases.gravity, cases.start)
        force = None if running is None else running.force(system.seen(cases.state))
        now = begun(system, cases, step, force)
        yield cases.start, now
        for k in range(1, clock.steps + 1):
            for part, piece in enumerate(cases.pushes.breaks.pieces(cases.start + (k - 1) * step, step)):
                push = cases.pushes.over(piece.start, piece.length, now.state)
                push = push if force is None else HeldForces(push, force)
                if (running is not None and k > 1 and part == 0) or piece.jumps:
                    now = forced(system, now, push(np.zeros(width), now.state))
                now = Stepper(system, taken, piece.length, push).taken(now)
            force = None if running is None else running.force(system.seen(now.state))
            if k % clock.every == 0:
                yield cases.start + k * step, now


def series(
    system: MotionSystem, history: Sequence[tuple[float, Moment]], batch: Batch
) -> tuple[np.ndarray, dict[str, Any]]:
    """Return times (kept,), arrays (kept, *batch, ...) of the state's parts, `friction`, `stuck`; `status` (*batch).

    A case that has come to an end holds NaN from there on.
    """
    moments = [moment for _, moment in history]
    ended = stacked([~np.isfinite(moment.rates.rate).all(axis=0)[None] for moment in moments], batch)[..., 0]
    ended = np.logical_or.accumulate(ended, axis=0)
    kept = {name: rows for name, rows in system.layout.at.items() if name != "integral"}
    result = {name: stacked([x.state[rows] for x in moments], batch) for name, rows in kept.items()}
    result["friction"] = stacked([moment.rates.braking for moment in moments], batch)
    for values in result.values():
        values[ended] = np.nan
    result["stuck"] = stacked([moment.modes.rest > 0.5 for moment in moments], batch) & ~ended[..., None]
    reasons = stacked([moment.rates.status[None] for moment in moments], batch)[..., 0]
    reason = np.take_along_axis(reasons, ended.argmax(axis=0)[None], axis=0)[0]
    reason = np.where(reason > 0.5, reason, Status.INTEGRATION_FAILED)
    is_finite = stacked([system.is_finite(moments[0].state)[None]], batch)[0, ..., 0]
    status = np.where(ended.any(axis=0), np.where(is_finite, reason, Status.NONFINITE), Status.OK)
    result["status"] = status.astype(np.int8)
    return np.array([time for time, _ in history]), result


def stacked(rows: Sequence[np.ndarray], batch: Batch) -> np.ndarray:
    """Return (kept, *batch, size) from (size, padded samples) of each kept time."""
    samples = int(np.prod(batch, dtype=int))
    return np.stack([row[:, :samples].T.reshape(*batch, len(row)) for row in rows])


class ForwardDynamics(NamedTuple):
    """Accelerations, friction and stuck (*batch, joint with friction), status (*batch).

    motions (*batch): number of motions that friction and its loads allow. It is 1 where the status is OK. With
    FRICTION_SEVERAL_SOLUTIONS it is the number that a search from many starts finds, at least two; 0 if no motion is
    found. residual (*batch): with FRICTION_NOT_CONVERGED, the least relative difference between assumed loads and the
    loads that result from the motion under them; 0 elsewhere.

    acceleration: for a platform (*batch, 6), the time derivative of its twist; for a chain (*batch, freedom), the
    accelerations of its independent joints. unique (*batch): friction at rest is determined. It is not determined where
    sticking joints depend on each other; then the friction of least norm is returned, and accelerations are still
    unique. The status is FRICTION_NOT_CONVERGED where no solution was found.
    """

    acceleration: np.ndarray
    friction: np.ndarray
    stuck: np.ndarray
    status: np.ndarray
    unique: np.ndarray
    motions: np.ndarray
    residual: np.ndarray


@check_arguments
def forward_dynamics(
    robot: Robot,
    state: State | None = None,
    forces: Forces = NO_FORCES,
    environment: Environment = STANDING,
    **short: Unpack[MotionKeywords],
) -> ForwardDynamics:
    """Compute accelerations of a robot under actuator forces (*batch, actuator), loads and joint friction of any law.

    state, or its fields as keywords: see `limbsweep.State`; accelerations of a motion have no effect. forces: actuator,
    which is required, load, friction and elasticity of `limbsweep.Forces`. environment, or gravity as a keyword: see
    `limbsweep.Environment`. Joints without velocity stick if their friction can hold them. At a singularity of the
    actuators alone (type 2), accelerations exist nevertheless; where the mass matrix has lost rank, the status is
    SINGULAR. Samples without a motion hold NaN, with the reason as their status. Raises ValueError, TypeError or
    ParameterError for input that does not fit. Source: hybrid-limb paper, Eq. (129).

        >>> robot = ls.robots.build("planar_3r")
        >>> torque = ls.inverse_dynamics(robot, q=[0.1, 0.2, 0.3], qdd=[1.0, 0.0, -1.0]).force
        >>> moving = ls.forward_dynamics(robot, q=[0.1, 0.2, 0.3], forces=ls.Forces(actuator=torque))
        >>> np.abs(moving.acceleration.round(6))
        array([1., 0., 1.])
        >>> dry = {"law": "coulomb_viscous", "coulomb": 50.0}
        >>> stuck = ls.forward_dynamics(robot, q=[0.1, 0.2, 0.3], forces=ls.Forces(actuator=torque, friction=dry))
        >>> stuck.stuck.all(), ls.Status(int(stuck.status)).name
        (np.True_, 'OK')
    """
    motion, environment = long_form(state, environment, short)
    check_record("forces", forces, Forces)
    asked_of(forces.actuator)
    if forces.weights is not None:
        raise ValueError("weights: got them in the forces of forward_dynamics, whose actuator forces are given")
    signals = inputs.signals_at(robot, motion.time)
    plain = forces.friction is None and motion.memory is None and forces.elasticity is None
    if plain and signals is None:
        change, status = free_acceleration(robot, motion, forces, environment)
        none = np.zeros((*status.shape, 0))
        one, sure = (status == Status.OK).astype(float), np.ones(status.shape, dtype=bool)
        return ForwardDynamics(change, none, none.astype(bool), status, sure, one, np.zeros(status.shape))
    return _with_friction(robot, motion, forces, environment, signals)


def _with_friction(
    robot: Robot, motion: Motion, forces: Forces, environment: Environment, signals: np.ndarray | None
) -> ForwardDynamics:
    """Return forward dynamics with joint friction, or under loads that change with time."""
    system = MotionSystem.of(
        robot,
        forces.friction,
        environment.gravity,
        base=bool(environment.base_parts),
        elasticity=forces.elasticity,
    )
    acting = replace(
        forces,
        actuator=inputs.actuator_forces(robot, forces),
        load=inputs.load_input(robot, forces, motion.rotation),
    )
    cases = opened(robot, system, replace(motion, acceleration=None, qdd=None), acting, environment, signals=signals)
    return accelerations(system, cases)


def accelerations(system: MotionSystem, cases: Cases) -> ForwardDynamics:
    """Compute the accelerations at the start of a batch of cases."""
    layout, batch = system.layout, cases.batch
    with np.errstate(all="ignore"):  # a failed sample holds NaN
        now = begun(system, cases, 1.0)
    rates, samples = now.rates, int(np.prod(batch, dtype=int))
    change = rates.rate[layout.at["qd"]]
    if layout.platform:
        change = np.zeros((6, change.shape[1]))
        change[system.instant.structure.positions] = rates.rate[layout.at["qd"]]
    padded = (change, rates.braking, (now.modes.rest > 0.5) & (rates.breaking == 0.0))
    found, braking, stuck = (values[:, :samples].T.reshape(*batch, len(values)) for values in padded)
    status = rates.status[:samples].astype(np.int8).reshape(batch)
    finite = _finite(system, cases)[:samples].reshape(batch)
    status[~finite], stuck[~finite] = Status.NONFINITE, False
    found[status != Status.OK], braking[status != Status.OK] = np.nan, np.nan
    unique = (rates.dependent[:samples] < 0.5).reshape(batch) & finite
    motions, residual = (status == Status.OK).astype(float).reshape(-1), np.zeros(status.size)
    at = np.flatnonzero(np.isin(status, (Status.FRICTION_SEVERAL_SOLUTIONS, Status.FRICTION_NOT_CONVERGED)))
    if len(at) and system.loaded:
        motions[at], residual[at] = _census(system, cases, at)
        several = status.reshape(-1) == Status.FRICTION_SEVERAL_SOLUTIONS
        motions[several], residual[several] = np.maximum(motions[several], 2.0), 0.0
    return ForwardDynamics(found, braking, stuck, status, unique, motions.reshape(batch), residual.reshape(batch))


def _census(system: MotionSystem, cases: Cases, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of motions of some samples, all that is still at rest, and the least residual."""
    push = cases.pushes.over(cases.start, 1.0, cases.state, cases.start)
    columns = whole_lanes(at)
    acting = push(np.zeros(cases.state.shape[1]), cases.state)
    with np.errstate(all="ignore"):
        modes = first_modes(system, cases.state, acting)
        where = [np.ascontiguousarray(x[:, columns]) for x in (cases.state, modes.both, acting)]
        return census(system.part(columns).instant, where, len(at))


def _finite(system: MotionSystem, cases: Cases) -> np.ndarray:
    """Return a mask (padded samples,) of the cases whose state, forces and gravity at the start are finite."""
    push = cases.pushes.over(cases.start, 1.0, cases.state, cases.start)
    acting = push(np.zeros(cases.state.shape[1]), cases.state)
    return np.asarray(system.is_finite(cases.state) & np.isfinite(acting).all(axis=0))
