"""Forward dynamics over time: batches of cases in fixed Runge-Kutta steps of order four, single cases adaptively.

The equations are integrated in one of three forms (hybrid-limb paper, section 8.1). `task_space`: pose and twist are
the state, joints come from inverse kinematics. `joint`: joint variables beside them. `actuator`: joint variables, and
actuator rates in place of the twist. The last two carry the joints as state, so their loops drift; the drift is
reported, and taken back by a Newton step after each step in time. The orientation is a unit quaternion: no
parameterisation has a singularity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeGuard, cast, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import DOP853

from robots.arguments import argument_count
from robots.model import Robot
from robots.status import Status
from tasks.dynamics import inputs
from tasks.dynamics.equations import Model
from tasks.dynamics.inverse import inverse_dynamics, inverse_kinematics
from tasks.dynamics.motions import Simulation
from tasks.dynamics.records import AdaptiveSteps, FixedSteps, Forces, Moving, State
from tasks.kernels import kernel as batches
from tasks.kernels.expression import Array
from tasks.kernels.kernel import Batch, checked, kernel, padded
from tasks.kernels.keys import Arrays, Indexed, Values
from tasks.mathematics import rotations
from tasks.stages import equations

Form = Literal["task_space", "joint", "actuator"]
OfTime = Callable[[float], np.ndarray]
OfPose = Callable[[float, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Forces (size, padded samples) at a time, position (3, padded samples), rotation (9, ...) and twist (6, ...)."""


@dataclass(frozen=True)
class MotionState:
    """Arrays (size, samples): position, quaternion, speeds of freedoms or actuators, joint variables of each limb."""

    position: Array
    quaternion: Array
    speed: Array
    angles: tuple[Array, ...] = ()

    def moved(self, rate: MotionState, step: float) -> MotionState:
        """Return the state after a step at a constant rate."""
        return MotionState(
            self.position + rate.position * step,
            self.quaternion + rate.quaternion * step,
            self.speed + rate.speed * step,
            tuple(a + r * step for a, r in zip(self.angles, rate.angles, strict=True)),
        )

    def normalised(self) -> MotionState:
        """Return the state with a unit quaternion."""
        return MotionState(
            self.position, self.quaternion / np.linalg.norm(self.quaternion, axis=0), self.speed, self.angles
        )


class FreeSystem:
    """A robot under forces and loads, functions of time (size, padded samples), in one of the forms.

    `feedback`, where there is one, takes the place of the forces. The load is in the axes of the world, or
    `with_platform` in those of the platform. Raises ValueError for a form that does not exist or does not suit the
    robot.
    """

    def __init__(
        self, robot: Robot, form: Form, gravity: ArrayLike, force: OfTime, load: OfTime, *,
        with_platform: bool = False, feedback: OfPose | None = None,
    ):  # fmt: skip
        if form not in get_args(Form):
            raise ValueError(f"form: got {form!r}; expected one of {', '.join(get_args(Form))}")
        self.model, self.form, self.force, self.load = Model(robot, gravity), form, force, load
        self.has_finite_gravity = bool(np.isfinite(np.asarray(gravity, dtype=float)).all())
        self.with_platform, self.feedback = with_platform, feedback
        self.freedoms = self.model.freedoms
        if form == "actuator" and self.model.actuators != len(self.freedoms):
            raise ValueError(
                f"form: got 'actuator', but {robot.name} has more actuators than freedoms; expected task_space or joint"
            )

    def start(self, motion: np.ndarray) -> MotionState:
        """Return the state that belongs to a motion input (1, size, padded samples)."""
        m, width = motion[0], motion.shape[-1]
        home = np.array(self.model.robot.mechanism.platform.home.rotation, dtype=float).reshape(9, 1)
        turned = m[3:12] if self.model.structure.motion_size != 9 else np.broadcast_to(home, (9, width))
        state = MotionState(m[:3], rotations.of_rotation(turned), self.model.speeds(motion))
        if self.form == "task_space":
            return state
        position, rotation = m[:3].T, turned.T.reshape(width, 3, 3)
        joints = inverse_kinematics(self.model.robot, position=position, rotation=rotation).position
        limbs = [self.model.structure.mechanism.limbs[instance.limb] for instance in self.model.instances]
        angles = tuple(np.ascontiguousarray(joints[:, k, : len(limb.links)].T) for k, limb in enumerate(limbs))
        speed = state.speed
        if self.form == "actuator":
            twist = self.twist(state.speed).T
            solved = inverse_dynamics(self.model.robot, position=position, rotation=rotation, twist=twist)
            speed = solved.velocity.T
        return MotionState(state.position, state.quaternion, np.ascontiguousarray(speed), angles)

    def has_finite_inputs(self, t: float, start: MotionState) -> np.ndarray:
        """Return a mask (padded samples,) of cases with a finite state at the start, and finite inputs at a time."""
        values = [start.position, self.load(t)]
        values += [start.speed] if self.form != "actuator" else []  # of actuators, which no pose out of reach has
        values += [self.force(t)] if self.feedback is None else []
        return np.all([np.isfinite(rows).all(axis=0) for rows in values], axis=0) & self.has_finite_gravity

    def twist(self, speed: np.ndarray) -> np.ndarray:
        """Return the twist (6, samples) of the platform for speeds of its freedoms."""
        result = np.zeros((6, speed.shape[1]))
        result[self.freedoms] = speed
        return result

    def speed(self, state: MotionState) -> np.ndarray:
        """Return the speeds of the platform's freedoms."""
        if self.form != "actuator":
            return np.asarray(state.speed)
        still = self._motion(state, np.zeros((len(self.freedoms), state.speed.shape[1])))
        forward = self.model.total(still, self._shares(still, state))["forward"][0]
        return np.einsum("ijn,jn->in", forward.reshape(len(self.freedoms), -1, forward.shape[-1]), state.speed)

    def rate(self, t: float, state: MotionState) -> MotionState:
        """Return the time derivative of a state; NaN if it has none: out of reach, singular, or torn open."""
        speed = self.speed(state)
        motion = self._motion(state, speed)
        parts = self._shares(motion, state)
        force, load = (
            self._force(t, state, speed)[None],
            np.ascontiguousarray(self._load_in_world(t, state)[self.freedoms])[None],
        )
        if self.form == "actuator":
            total = self.model.total(motion, parts)
            change, status = self._actuator_change(total, state, force, load), self.model.status(parts, total)
        else:
            change, status = self.model.acceleration(motion, parts, force, load)
        twist = self.twist(speed)
        for values in (twist, change):
            values[:, status != Status.OK] = np.nan
        rates = tuple(parts[Indexed("rates", k)][0] for k in range(len(state.angles)))
        return MotionState(twist[3:], rotations.rate(state.quaternion, twist[:3]), change, rates)

    def _force(self, t: float, state: MotionState, speed: np.ndarray) -> np.ndarray:
        if self.feedback is None:
            return self.force(t)
        rotation = rotations.rotation_matrix(state.quaternion).reshape(9, -1)
        return self.feedback(t, state.position, rotation, self.twist(speed))

    def _load_in_world(self, t: float, state: MotionState) -> np.ndarray:
        load = self.load(t)
        if not self.with_platform:
            return load
        turned = np.einsum("ijn,kjn->kin", rotations.rotation_matrix(state.quaternion), load.reshape(2, 3, -1))
        return turned.reshape(6, -1)

    def _actuator_change(self, total: Arrays, state: MotionState, force: np.ndarray, load: np.ndarray) -> np.ndarray:
        """Return the actuator accelerations, Eq. (135)."""
        arrays = {name: total[f"actuator_{name}"] for name in ("mass", "coriolis", "gravity")}
        arrays |= {"forward": total["forward"], "rate": np.ascontiguousarray(state.speed)[None]}
        run = kernel(equations.actuator_acceleration_program(self.model.robot.family))
        return run({**arrays, "force": force, "load": load}, state.speed.shape[-1])["acceleration"][0]

    def closed(self, state: MotionState) -> tuple[MotionState, np.ndarray]:
        """Return the state after a Newton step of its joints, and their closure residuals before it (samples,)."""
        if self.form == "task_space":
            return state, np.zeros(state.position.shape[1])
        motion = self._motion(state, np.zeros((len(self.freedoms), state.position.shape[1])))
        parts = self._shares(motion, state)
        angles = tuple(a + parts[Indexed("correction", k)][0] for k, a in enumerate(state.angles))
        drift = np.max([parts[Indexed("open", k)][0, 0] for k in range(len(angles))], axis=0)
        return MotionState(state.position, state.quaternion, state.speed, angles), drift

    def _shares(self, motion: np.ndarray, state: MotionState) -> Values:
        return self.model.shares(motion, [a[None] for a in state.angles] or None)

    def _motion(self, state: MotionState, speed: np.ndarray) -> np.ndarray:
        """Return the motion input of kernels for a pose and speeds of the freedoms."""
        twist = self.twist(speed)
        if self.model.structure.motion_size == 9:
            return np.concatenate([state.position, twist[3:], np.zeros_like(twist[3:])])[None]
        turned = rotations.rotation_matrix(state.quaternion).reshape(9, -1)
        return np.concatenate([state.position, turned, twist, np.zeros_like(twist)])[None]


Load = ArrayLike | Callable[[float], ArrayLike]
"""Forces (*batch, actuator) or loads (*batch, 6): a constant array, or a function of time [s] that gives one."""

Feedback = Callable[[float, np.ndarray, np.ndarray, np.ndarray], ArrayLike]
"""Forces (*batch, actuator) from time [s], position (*batch, 3), rotation (*batch, 3, 3) and twist (*batch, 6)."""

_RK4 = ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0))  # share of the step, weight

ROUGH = 0.1
"""Difference of the two accelerations in the middle of a step, relative to the largest, from which it is too long."""

STILL = 1e-6
"""Acceleration [m/s^2, rad/s^2] below which differences are rounding."""

SHORT = 1e-9
"""Share of the whole time below which an adaptive step is stuck."""


class Kept(NamedTuple):
    """Stored values of one time: the state (size, padded samples), drift and gap (padded samples,)."""

    time: float
    state: MotionState
    drift: np.ndarray
    gap: np.ndarray


def simulate(
    robot: Robot,
    state: State,
    forces: Forces,
    gravity: ArrayLike,
    clock: FixedSteps,
    form: Form = "task_space",
    *,
    close: bool = True,
) -> Simulation:
    """Integrate the motion of a batch of cases with constant steps, from the time zero on.

    state: position (*batch, 3), rotation (*batch, 3, 3), twist (*batch, 6) at the start (absent: reference pose, at
    rest). forces: actuator (*batch, actuator) and load (*batch, 6) on the platform are constant or functions of time
    [s]; that of actuators may be a function of time, position, rotation and twist too, which is called in every stage
    of a step. `load_axes` are those of the "world", or of the "platform", with which the load then turns. Without
    `close`, loops drift open. Raises ValueError for shapes that do not fit, motions that the platform cannot make, and
    a form that does not exist or does not suit the robot.
    """
    step = clock.step
    system, motion, batch = _opened(robot, form, gravity, forces, state.moving)
    now = system.start(motion)
    drift = np.zeros(motion.shape[-1])
    kept = [Kept(0.0, now, drift, system.closed(now)[1])]
    with np.errstate(all="ignore"):  # a failed case holds NaN
        for k in range(1, clock.steps + 1):
            now = _rk4(system, (k - 1) * step, now, step)
            closed, opened = system.closed(now)
            now, drift = closed if close else now, np.maximum(drift, opened)
            if k % clock.every == 0:
                kept.append(Kept(k * step, now, drift, system.closed(now)[1]))
                drift = np.zeros_like(drift)
        return _collected(system, kept, batch)


def simulate_adaptive(
    robot: Robot, state: State, forces: Forces, gravity: ArrayLike, clock: AdaptiveSteps
) -> Simulation:
    """Integrate one case in task space with scipy's DOP853 and keep it at the times of the clock, from the first on.

    Other arguments and errors as in `simulate`, without batch dims.
    """
    instants = clock.instants
    system, motion, batch = _opened(robot, "task_space", gravity, forces, state.moving, float(instants[0]))
    if batch:
        raise ValueError(f"position, twist, force, ...: got batch dims {batch}; expected one case, or method 'fixed'")
    start = system.start(motion)
    first = np.concatenate([start.position, start.quaternion, start.speed])[:, 0]
    still = np.zeros(motion.shape[-1])
    with np.errstate(all="ignore"):  # a failed case holds NaN
        flat = _integrated(system, instants, first, clock.rtol, clock.atol)
        kept = [Kept(t, _unpacked(row), still, still) for t, row in zip(instants, flat, strict=True)]
        return _collected(system, kept, ())


def _integrated(system: FreeSystem, times: np.ndarray, first: np.ndarray, rtol: float, atol: float) -> np.ndarray:
    """Return the state at all times (time, size); NaN after the point where the integrator gets stuck."""
    flat = np.full((len(times), len(first)), np.nan)
    flat[0] = first
    if not np.isfinite(_flat_rate(system, times[0], first)).all():  # the first step cannot be chosen
        return flat
    solver = DOP853(lambda t, y: _flat_rate(system, t, y), times[0], first, times[-1], rtol=rtol, atol=atol)
    while solver.status == "running":
        solver.step()
        if solver.status == "failed" or (solver.step_size < SHORT * (times[-1] - times[0]) and solver.t < times[-1]):
            break
        passed = (times > solver.t_old) & (times <= solver.t)
        if passed.any():
            flat[passed] = solver.dense_output()(times[passed]).T
    return flat


def _opened(
    robot: Robot, form: Form, gravity: ArrayLike, acting: Forces, moving: Moving, start: float = 0.0
) -> tuple[FreeSystem, np.ndarray, Batch]:
    """Return the system, its motion at the start and the batch dims, from a caller's arguments."""
    force, load, axes = cast(Load | Feedback, acting.actuator), acting.load, acting.load_axes
    inputs.check_load_axes(axes)
    if moving.get("position") is None:
        moving = {**moving, "position": robot.mechanism.platform.home.position}
    size = len(robot.mechanism.actuators)
    loads = _Input("load", np.zeros(6) if load is None else load, 6, start)
    control = force if is_feedback(force) else None
    forces = _Input("force", np.zeros(size) if control else cast(Load, force), size, start)
    shapes = {source.name: source.first.shape[:-1] for source in (forces, loads)}
    batch, motion = inputs.moving_input(robot, moving, shapes)
    over_time = (forces.of_time(batch), loads.of_time(batch))
    closed = _of_rows(control, size, batch) if control else None
    return (
        FreeSystem(robot, form, gravity, *over_time, with_platform=axes == "platform", feedback=closed),
        motion,
        batch,
    )


def is_feedback(force: Load | Feedback) -> TypeGuard[Feedback]:
    """Return whether a force is a function of the state. Raises TypeError for other functions."""
    if not callable(force):
        return False
    count = argument_count(force)
    if count not in (1, 4):
        raise TypeError(
            f"force: got a function of {count} arguments; expected one of time, or of time, position, rotation, twist"
        )
    return count == 4


def _of_rows(control: Feedback, size: int, batch: Batch) -> OfPose:
    """Return the control as a function of rows of padded samples. Raises ValueError for forces that do not fit."""
    samples = int(np.prod(batch, dtype=int))

    def forces(time: float, position: np.ndarray, rotation: np.ndarray, twist: np.ndarray) -> np.ndarray:
        position, rotation, twist = (x[:, :samples].T.reshape(*batch, -1) for x in (position, rotation, twist))
        acting = control(time, position, rotation.reshape(*batch, 3, 3), twist)
        if np.shape(acting)[-1:] != (size,) or np.ndim(acting) > 1 + len(batch):
            raise ValueError(f"force: got an array of shape {np.shape(acting)}; expected {(*batch, size)}")
        return batches.rows(np.asarray(acting, dtype=float), batch)

    return forces


class _Input:
    """Forces or loads as a caller gives them, and their values at the start, (*batch, size)."""

    def __init__(self, name: str, value: Load, size: int, start: float):
        self.name, self.value, self.size = name, value, size
        self.first = self._checked(value(start) if callable(value) else value)

    def _checked(self, value: ArrayLike) -> np.ndarray:
        return checked(self.name, value, (self.size,))

    def of_time(self, batch: Batch) -> OfTime:
        """Return the input as a function of time that gives (size, padded samples)."""
        if callable(self.value):
            function = self.value
            return lambda t: batches.rows(self._checked(function(t)), batch)
        constant = batches.rows(self.first, batch)
        return lambda t: constant


def _rk4(system: FreeSystem, t: float, state: MotionState, step: float) -> MotionState:
    total, rate, changes = state, state, []
    for share, weight in _RK4:
        rate = system.rate(t + share * step, state if share == 0.0 else state.moved(rate, share * step))
        total = total.moved(rate, step * weight / 6.0)
        changes.append(rate.speed)
    rough = np.abs(changes[2] - changes[1]).max(axis=0) > ROUGH * np.abs(changes).max(axis=(0, 1)) + STILL
    total.position[:, rough] = np.nan
    return total.normalised()


def _unpacked(flat: np.ndarray) -> MotionState:
    wide = np.repeat(flat[:, None], padded(1), axis=1)
    return MotionState(wide[:3], wide[3:7], wide[7:]).normalised()


def _flat_rate(system: FreeSystem, t: float, flat: np.ndarray) -> np.ndarray:
    change = system.rate(t, _unpacked(flat))
    return np.concatenate([change.position, change.quaternion, change.speed])[:, 0]


def _collected(system: FreeSystem, kept: Sequence[Kept], batch: Batch) -> Simulation:
    samples = int(np.prod(batch, dtype=int))

    def stacked(rows: Sequence[np.ndarray], *core: int) -> np.ndarray:
        return np.stack([row[..., :samples].reshape(-1, samples).T.reshape((*batch, *core)) for row in rows])

    states = [moment.state for moment in kept]
    position = stacked([state.position for state in states], 3)
    rotation = stacked([rotations.rotation_matrix(state.quaternion) for state in states], 3, 3)
    twist = stacked([system.twist(system.speed(state)) for state in states], 6)
    ended = ~(np.isfinite(position).all(axis=-1) & np.isfinite(twist).all(axis=-1))
    status = np.where(ended.any(axis=0), Status.INTEGRATION_FAILED, Status.OK).astype(np.int8)
    if ended.any():
        at_start = inverse_kinematics(system.model.robot, position=position[0], rotation=rotation[0]).status
        status = np.where(ended.any(axis=0) & (at_start != Status.OK), at_start, status)
        for k in np.unique(ended.argmax(axis=0)[ended.any(axis=0)]):
            near = [system.has_finite_inputs(moment.time, states[0]) for moment in kept[k : k + 2]]
            is_finite = stacked([np.all(near, axis=0)[None]], 1)[0, ..., 0]
            status[ended.any(axis=0) & (ended.argmax(axis=0) == k) & ~is_finite] = Status.NONFINITE
    position[ended], rotation[ended], twist[ended] = np.nan, np.nan, np.nan
    drift, gap = stacked([moment.drift for moment in kept]), stacked([moment.gap for moment in kept])
    return Simulation(np.array([moment.time for moment in kept]), position, rotation, twist, drift, gap, status)
