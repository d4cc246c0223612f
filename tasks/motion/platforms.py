"""Forward dynamics over time: batches of cases in fixed Runge-Kutta steps of order four, single cases in adaptive ones.

The equations may be integrated in three forms, see `tasks.motion.forms`. Where joint variables are part of the state,
the drift of the loops is reported, and taken back by a Newton step after each step in time. The orientation is a unit
quaternion: no parameterisation has a singularity.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeGuard, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import DOP853

from robots.model import Robot
from robots.status import Status
from robots.types import LoadAxes
from tasks.arrays import inputs
from tasks.arrays.inputs import GRAVITY
from tasks.kernels import batches
from tasks.kernels.batches import Batch, checked
from tasks.kernels.kernel import padded
from tasks.kernels.types import ABSENT
from tasks.mathematics import quaternions
from tasks.motion.forms import Form, OfPose, OfTime, State, System

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


class Simulation(NamedTuple):
    """Times (kept,), platform position (kept, *batch, 3), rotation (kept, *batch, 3, 3), twist (kept, *batch, 6).

    drift (kept, *batch): how far limbs have been open since the last kept time before they were closed again [m, or
    cosine]; gap: how far they are open at that time. Both are zero in task space. status (*batch): INTEGRATION_FAILED
    for a case that came to an end, out of reach, singular, or too quick for its steps; it holds NaN from there on.

    Where friction is given, or a motion of the base, status says why a case ended, and of joints with friction, in the
    order of the groups, there are friction, stuck, memory and loss (kept, *batch, joint) as in
    `tasks.motion.chains.ChainMotion`, work (kept, *batch, actuator) that actuators have done and load_work (kept,
    *batch) of the load on the platform [J]. Otherwise these are empty.
    """

    time: np.ndarray
    position: np.ndarray
    rotation: np.ndarray
    twist: np.ndarray
    drift: np.ndarray
    gap: np.ndarray
    status: np.ndarray
    friction: np.ndarray = ABSENT
    stuck: np.ndarray = ABSENT
    memory: np.ndarray = ABSENT
    loss: np.ndarray = ABSENT
    work: np.ndarray = ABSENT
    load_work: np.ndarray = ABSENT


class Kept(NamedTuple):
    """What is kept of one time: the state (size, padded samples), drift and gap (padded samples,)."""

    time: float
    state: State
    drift: np.ndarray
    gap: np.ndarray


def simulate(
    robot: Robot, *, force: Load | Feedback, step: float, steps: int,
    position: ArrayLike | None = None, rotation: ArrayLike | None = None, twist: ArrayLike | None = None,
    load: Load | None = None, load_axes: LoadAxes = "world", gravity: ArrayLike = GRAVITY,
    form: Form = "task_space", every: int = 1, close: bool = True,
) -> Simulation:  # fmt: skip
    """Integrate the motion of a batch of cases with constant steps [s].

    position (*batch, 3), rotation (*batch, 3, 3), twist (*batch, 6): the start (absent: reference pose, at rest). force
    (*batch, actuator) and load (*batch, 6) on the platform are constant or functions of time [s]; a force may be a
    function of time, position, rotation and twist too, which is called in every stage of a step. `load_axes` are those
    of the "world", or of the "platform", with which the load then turns. Every n-th step is kept, the start included.
    Without `close`, loops drift open. Raises ValueError for shapes that do not fit, motions that the platform cannot
    make, and a form that does not exist or does not suit the robot.
    """
    if not step > 0 or min(steps, every) < 1:
        raise ValueError(f"step, steps, every: got {step!r}, {steps!r}, {every!r}; expected all above zero")
    moving = inputs.Moving(position=position, rotation=rotation, twist=twist)
    system, motion, batch = _opened(robot, form, gravity, force, (load, load_axes), moving)
    state = system.start(motion)
    drift = np.zeros(motion.shape[-1])
    kept = [Kept(0.0, state, drift, system.closed(state)[1])]
    with np.errstate(all="ignore"):  # a failed case holds NaN
        for k in range(1, steps + 1):
            state = _rk4(system, (k - 1) * step, state, step)
            closed, opened = system.closed(state)
            state, drift = closed if close else state, np.maximum(drift, opened)
            if k % every == 0:
                kept.append(Kept(k * step, state, drift, system.closed(state)[1]))
                drift = np.zeros_like(drift)
        return _collected(system, kept, batch)


def simulate_adaptive(
    robot: Robot, *, force: Load | Feedback, times: ArrayLike,
    position: ArrayLike | None = None, rotation: ArrayLike | None = None, twist: ArrayLike | None = None,
    load: Load | None = None, load_axes: LoadAxes = "world", gravity: ArrayLike = GRAVITY,
    rtol: float = 1e-10, atol: float = 1e-12,
) -> Simulation:  # fmt: skip
    """Integrate one case in task space with scipy's DOP853 and keep it at `times` (kept,) [s], from the first on.

    Other arguments and errors as in `simulate`, without batch dims.
    """
    wanted = np.asarray(times, dtype=float)
    if wanted.ndim != 1 or len(wanted) < 2 or not (np.diff(wanted) > 0).all():
        raise ValueError(f"times: got {times!r}; expected at least two, ascending")
    moving = inputs.Moving(position=position, rotation=rotation, twist=twist)
    system, motion, batch = _opened(robot, "task_space", gravity, force, (load, load_axes), moving, wanted[0])
    if batch:
        raise ValueError(f"position, twist, force, ...: got batch dims {batch}; expected one case, or call simulate")
    start = system.start(motion)
    first = np.concatenate([start.position, start.quaternion, start.speed])[:, 0]
    still = np.zeros(motion.shape[-1])
    with np.errstate(all="ignore"):  # a failed case holds NaN
        flat = _integrated(system, wanted, first, rtol, atol)
        kept = [Kept(t, _unpacked(row), still, still) for t, row in zip(wanted, flat, strict=True)]
        return _collected(system, kept, ())


def _integrated(system: System, times: np.ndarray, first: np.ndarray, rtol: float, atol: float) -> np.ndarray:
    """The state at all times (time, size); NaN from where the integrator gets stuck."""
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
    robot: Robot,
    form: Form,
    gravity: ArrayLike,
    force: Load | Feedback,
    loading: tuple[Load | None, LoadAxes],
    moving: inputs.Moving,
    start: float = 0.0,
) -> tuple[System, np.ndarray, Batch]:
    """The system, its motion at the start and the batch dims, from what a caller gives."""
    load, axes = loading
    inputs.check_load_axes(axes)
    if moving.get("position") is None:
        moving = {**moving, "position": robot.mechanism.platform.home.position}
    size = len(robot.mechanism.actuators)
    loads = _Input("load", np.zeros(6) if load is None else load, 6, start)
    control = force if is_feedback(force) else None
    forces = _Input("force", np.zeros(size) if control else cast(Load, force), size, start)
    shapes = {acting.name: acting.first.shape[:-1] for acting in (forces, loads)}
    batch, motion = inputs.moving_input(robot, moving, shapes)
    acting = (forces.of_time(batch), loads.of_time(batch))
    closed = _of_rows(control, size, batch) if control else None
    return System(robot, form, gravity, *acting, with_platform=axes == "platform", feedback=closed), motion, batch


def is_feedback(force: Load | Feedback) -> TypeGuard[Feedback]:
    """Whether it is a function of the state. Raises TypeError for a function of something else."""
    if not callable(force):
        return False
    parameters = inspect.signature(force).parameters.values()
    count = sum(parameter.default is inspect.Parameter.empty for parameter in parameters)
    if count not in (1, 4):
        raise TypeError(
            f"force: got a function of {count} arguments; expected one of time, or of time, position, rotation, twist"
        )
    return count == 4


def _of_rows(control: Feedback, size: int, batch: Batch) -> OfPose:
    """The same on rows of padded samples. Raises ValueError for forces that do not fit."""
    samples = int(np.prod(batch, dtype=int))

    def forces(time: float, position: np.ndarray, rotation: np.ndarray, twist: np.ndarray) -> np.ndarray:
        position, rotation, twist = (x[:, :samples].T.reshape(*batch, -1) for x in (position, rotation, twist))
        acting = control(time, position, rotation.reshape(*batch, 3, 3), twist)
        if np.shape(acting)[-1:] != (size,) or np.ndim(acting) > 1 + len(batch):
            raise ValueError(f"force: got an array of shape {np.shape(acting)}; expected {(*batch, size)}")
        return batches.rows(np.asarray(acting, dtype=float), batch)

    return forces


class _Input:
    """Forces or loads as a caller gives them, and what they are at the start, (*batch, size)."""

    def __init__(self, name: str, value: Load, size: int, start: float):
        self.name, self.value, self.size = name, value, size
        self.first = self._checked(value(start) if callable(value) else value)

    def _checked(self, value: ArrayLike) -> np.ndarray:
        return checked(self.name, value, (self.size,))

    def of_time(self, batch: Batch) -> OfTime:
        """The same as a function of time that gives (size, padded samples)."""
        if callable(self.value):
            function = self.value
            return lambda t: batches.rows(self._checked(function(t)), batch)
        constant = batches.rows(self.first, batch)
        return lambda t: constant


def _rk4(system: System, t: float, state: State, step: float) -> State:
    total, rate, changes = state, state, []
    for share, weight in _RK4:
        rate = system.rate(t + share * step, state if share == 0.0 else state.moved(rate, share * step))
        total = total.moved(rate, step * weight / 6.0)
        changes.append(rate.speed)
    rough = np.abs(changes[2] - changes[1]).max(axis=0) > ROUGH * np.abs(changes).max(axis=(0, 1)) + STILL
    total.position[:, rough] = np.nan
    return total.normalised()


def _unpacked(flat: np.ndarray) -> State:
    wide = np.repeat(flat[:, None], padded(1), axis=1)
    return State(wide[:3], wide[3:7], wide[7:]).normalised()


def _flat_rate(system: System, t: float, flat: np.ndarray) -> np.ndarray:
    change = system.rate(t, _unpacked(flat))
    return np.concatenate([change.position, change.quaternion, change.speed])[:, 0]


def _collected(system: System, kept: Sequence[Kept], batch: Batch) -> Simulation:
    samples = int(np.prod(batch, dtype=int))

    def stacked(rows: Sequence[np.ndarray], *core: int) -> np.ndarray:
        return np.stack([row[..., :samples].reshape(-1, samples).T.reshape((*batch, *core)) for row in rows])

    states = [moment.state for moment in kept]
    position = stacked([state.position for state in states], 3)
    rotation = stacked([quaternions.rotation_matrix(state.quaternion) for state in states], 3, 3)
    twist = stacked([system.twist(system.speed(state)) for state in states], 6)
    ended = ~(np.isfinite(position).all(axis=-1) & np.isfinite(twist).all(axis=-1))
    position[ended], rotation[ended], twist[ended] = np.nan, np.nan, np.nan
    drift, gap = stacked([moment.drift for moment in kept]), stacked([moment.gap for moment in kept])
    status = np.where(ended.any(axis=0), Status.INTEGRATION_FAILED, Status.OK).astype(np.int8)
    return Simulation(np.array([moment.time for moment in kept]), position, rotation, twist, drift, gap, status)
