"""Forward dynamics over time: batches of cases in fixed Runge-Kutta steps of order four, single cases in adaptive ones.

Three forms of the equations, hybrid-limb paper, section 8.1: `task_space` (pose and twist; joints from the inverse kinematics),
`joint` (joint variables and twist), `actuator` (joint variables and actuator rates). The last two carry joint variables as
state, so their loops drift open; the drift is reported, and taken back by one Newton step of the joints after each step. The
orientation is a unit quaternion: no parameterisation has a singularity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from robots.model import Robot
from robots.status import Status
from tasks import equation_programs, evaluate
from tasks.forward import GRAVITY, Model
from tasks.kernels.cache import kernel
from tasks.kernels.kernel import padded

Array = Any
Form = Literal["task_space", "joint", "actuator"]
Load = Any
"""Forces or loads: an array (*batch, size) that is constant, or a function of time [s] that gives one."""

_RK4 = ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0))  # share of the step, weight


class Simulation(NamedTuple):
    """Times (kept,), platform position (kept, *batch, 3), rotation (kept, *batch, 3, 3), twist (kept, *batch, 6).

    drift (kept, *batch): how far kept rows of limbs were open before they were closed again [m], zero in task space; status
    (*batch). From a failure on, a case holds NaN.
    """

    time: np.ndarray
    position: np.ndarray
    rotation: np.ndarray
    twist: np.ndarray
    drift: np.ndarray
    status: np.ndarray


@dataclass(frozen=True)
class State:
    """Arrays (size, samples): position, quaternion (w, x, y, z), speeds of the freedoms or actuators, joint variables."""

    position: Array
    quaternion: Array
    speed: Array
    angles: tuple[Array, ...] = ()

    def moved(self, rate: State, step: float) -> State:
        """The state after a step at a constant rate."""
        return State(
            self.position + rate.position * step,
            self.quaternion + rate.quaternion * step,
            self.speed + rate.speed * step,
            tuple(a + r * step for a, r in zip(self.angles, rate.angles, strict=True)),
        )

    def normalised(self) -> State:
        """With a unit quaternion."""
        return State(self.position, self.quaternion / np.linalg.norm(self.quaternion, axis=0), self.speed, self.angles)


class _System:
    """Rates of a state, in one of the forms; all samples padded to whole groups of lanes."""

    def __init__(
        self, robot: Robot, form: Form, gravity: Array, force: Callable[[float], Array], load: Callable[[float], Array]
    ):
        self.model, self.form, self.force, self.load = Model(robot, gravity), form, force, load
        self.free = self.model.free

    def motion(self, state: State, speed: Array) -> np.ndarray:
        """The motion input of kernels for a pose and speeds of the freedoms."""
        twist = self.twist(speed)
        if self.model.made.motion_size == 9:
            return np.concatenate([state.position, twist[3:], np.zeros_like(twist[3:])])[None]
        turned = rotation_matrix(state.quaternion).reshape(9, -1)
        return np.concatenate([state.position, turned, twist, np.zeros_like(twist)])[None]

    def twist(self, speed: Array) -> np.ndarray:
        """Twist (6, samples) of the platform."""
        result = np.zeros((6, speed.shape[1]))
        result[self.free] = speed
        return result

    def speed(self, state: State) -> np.ndarray:
        """Speeds of the platform's freedoms."""
        if self.form != "actuator":
            return np.asarray(state.speed)
        still = self.motion(state, np.zeros((len(self.free), state.speed.shape[1])))
        total = self.model.total(still, self.model.shares(still, [a[None] for a in state.angles]))
        return np.einsum("ijn,jn->in", _matrix(total["forward"], len(self.free)), state.speed)

    def rate(self, t: float, state: State) -> State:
        """Time derivative of a state."""
        speed = self.speed(state)
        motion = self.motion(state, speed)
        angles = list(state.angles) if self.form != "task_space" else None
        parts = self.model.shares(motion, [a[None] for a in angles] if angles is not None else None)
        force, load = self.force(t)[None], self.load(t)[self.free][None]
        if self.form == "actuator":
            total = self.model.total(motion, parts)
            inputs = {
                "mass": total["actuator_mass"], "coriolis": total["actuator_coriolis"], "gravity": total["actuator_gravity"],
                "forward": total["forward"], "rate": np.ascontiguousarray(state.speed)[None], "force": force, "load": load,
            }  # fmt: skip
            program = equation_programs.actuator_acceleration_program(self.model.robot.family)
            change = kernel(program)(inputs, motion.shape[-1])["acceleration"][0]
        else:
            change = self.model.acceleration(motion, parts, force, load)[0]
        twist = self.twist(speed)
        rates = tuple(parts[f"rates_{k}"][0] for k in range(len(state.angles)))
        return State(twist[3:], quaternion_rate(state.quaternion, twist[:3]), change, rates)

    def closed(self, state: State) -> tuple[State, np.ndarray]:
        """The state with its joints closed again by one Newton step, and how far they were open (samples,)."""
        if self.form == "task_space":
            return state, np.zeros(state.position.shape[1])
        motion = self.motion(state, np.zeros((len(self.free), state.position.shape[1])))
        parts = self.model.shares(motion, [a[None] for a in state.angles])
        angles = tuple(a + parts[f"correction_{k}"][0] for k, a in enumerate(state.angles))
        drift = np.max([parts[f"open_{k}"][0, 0] for k in range(len(angles))], axis=0)
        return State(state.position, state.quaternion, state.speed, angles), drift


def simulate(
    robot: Robot,
    *,
    force: Load,
    step: float,
    steps: int,
    position: Array = None,
    rotation: Array = None,
    twist: Array = None,
    load: Load = None,
    gravity: Array = GRAVITY,
    form: Form = "task_space",
    every: int = 1,
) -> Simulation:
    """Integrate the motion of a batch of cases with constant steps [s].

    position (*batch, 3), rotation (*batch, 3, 3), twist (*batch, 6): the start (absent: reference pose, at rest). force
    (*batch, actuator) and load (*batch, 6) on the platform, world axes, are constant or functions of time. `every` n-th step is
    kept, the start included. Raises ValueError for a form that does not exist or does not suit the robot.
    """
    home = robot.mechanism.platform.home
    start = np.asarray(home.position if position is None else position, dtype=float)
    turned = np.asarray(home.rotation if rotation is None else rotation, dtype=float)
    moving = np.zeros(6) if twist is None else np.asarray(twist, dtype=float)
    first = force(0.0) if callable(force) else force
    batch = np.broadcast_shapes(start.shape[:-1], turned.shape[:-2], moving.shape[:-1], np.shape(first)[:-1])
    width = padded(int(np.prod(batch, dtype=int)))
    system = _System(
        robot, form, gravity, _input(force, batch, width), _input(np.zeros(6) if load is None else load, batch, width)
    )
    _check(robot, form, step, steps, system)
    state = State(
        _rows(start, batch, width), quaternion_of(_rows(turned.reshape(*turned.shape[:-2], 9), batch, width)),
        _rows(moving, batch, width)[system.free],
    )  # fmt: skip
    state = _with_joints(robot, system, state, batch, width)
    kept = [(0.0, state, np.zeros(width))]
    with np.errstate(all="ignore"):  # a failed case holds NaN
        for k in range(steps):
            state, drift = system.closed(_rk4(system, k * step, state, step))
            if (k + 1) % every == 0:
                kept.append(((k + 1) * step, state, drift))
        return _collected(system, kept, batch)


def _check(robot: Robot, form: Form, step: float, steps: int, system: _System) -> None:
    if form not in ("task_space", "joint", "actuator"):
        raise ValueError(f"form: got {form!r}; expected task_space, joint or actuator")
    if form == "actuator" and len(robot.mechanism.actuators) != len(system.free):
        raise ValueError(f"form: {robot.name} has more actuators than freedoms; expected task_space or joint")
    if not step > 0 or steps < 1:
        raise ValueError(f"step, steps: got {step!r}, {steps!r}; expected a positive step and at least one")


def _rk4(system: _System, t: float, state: State, step: float) -> State:
    total, rate = state, state
    for share, weight in _RK4:
        rate = system.rate(t + share * step, state if share == 0.0 else state.moved(rate, share * step))
        total = total.moved(rate, step * weight / 6.0)
    return total.normalised()


def _with_joints(robot: Robot, system: _System, state: State, batch: Sequence[int], width: int) -> State:
    """A state with the joint variables and, for the actuator form, actuator rates that belong to its pose and twist."""
    if system.form == "task_space":
        return state
    pose = rotation_matrix(state.quaternion)
    twist = system.twist(state.speed).T
    at = {"position": state.position.T, "rotation": np.moveaxis(pose, -1, 0)}
    found = evaluate.inverse_kinematics(robot, **at)
    instances, limbs = robot.mechanism.instances, robot.mechanism.limbs
    angles = tuple(
        np.ascontiguousarray(found.position[:, k, : len(limbs[each.limb].links)].T) for k, each in enumerate(instances)
    )
    speed = state.speed
    if system.form == "actuator":
        speed = np.ascontiguousarray(evaluate.inverse_dynamics(robot, **at, twist=twist, full=True).velocity.T)
    return State(state.position, state.quaternion, speed, angles)


def _input(value: Load, batch: Sequence[int], width: int) -> Callable[[float], np.ndarray]:
    if callable(value):
        return lambda t: _rows(np.asarray(value(t), dtype=float), batch, width)
    rows = _rows(np.asarray(value, dtype=float), batch, width)
    return lambda t: rows


def _rows(values: np.ndarray, batch: Sequence[int], width: int) -> np.ndarray:
    """(*batch, size) as (size, padded samples)."""
    flat = np.broadcast_to(values, (*batch, values.shape[-1])).reshape(-1, values.shape[-1]).T
    return np.ascontiguousarray(np.concatenate([flat, np.repeat(flat[:, -1:], width - flat.shape[1], axis=1)], axis=1))


def _matrix(values: np.ndarray, rows: int) -> np.ndarray:
    return values[0].reshape(rows, -1, values.shape[-1])


def _collected(system: _System, kept: Sequence[tuple[float, State, np.ndarray]], batch: tuple[int, ...]) -> Simulation:
    samples = int(np.prod(batch, dtype=int))

    def stacked(rows: Sequence[np.ndarray], core: tuple[int, ...]) -> np.ndarray:
        return np.stack([row[..., :samples].reshape(-1, samples).T.reshape((*batch, *core)) for row in rows])

    states = [state for _, state, _ in kept]
    position = stacked([s.position for s in states], (3,))
    rotation = stacked([rotation_matrix(s.quaternion) for s in states], (3, 3))
    twist = stacked([system.twist(system.speed(s)) for s in states], (6,))
    lost = ~(np.isfinite(position[-1]).all(axis=-1) & np.isfinite(twist[-1]).all(axis=-1))
    status = np.where(lost, Status.INTEGRATION_FAILED, Status.OK).astype(np.int8)
    return Simulation(
        np.array([t for t, _, _ in kept]), position, rotation, twist, stacked([d for _, _, d in kept], ()), status
    )


def rotation_matrix(q: np.ndarray) -> np.ndarray:
    """Rotations (3, 3, samples) of unit quaternions (4, samples), scalar first."""
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_of(rows: np.ndarray) -> np.ndarray:
    """Unit quaternions (4, samples), scalar first, of rotations (9, samples), row by row."""
    from scipy.spatial.transform import Rotation

    return np.ascontiguousarray(np.roll(Rotation.from_matrix(rows.T.reshape(-1, 3, 3)).as_quat(), 1, axis=1).T)


def quaternion_rate(q: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """Time derivative of quaternions for angular velocities (3, samples) in world axes."""
    w, v = q[0], q[1:]
    cross = np.cross(omega, v, axis=0)
    return 0.5 * np.concatenate([-(omega * v).sum(axis=0)[None], omega * w + cross])


def simulate_adaptive(
    robot: Robot,
    *,
    force: Load,
    times: Array,
    position: Array = None,
    rotation: Array = None,
    twist: Array = None,
    load: Load = None,
    gravity: Array = GRAVITY,
    rtol: float = 1e-10,
    atol: float = 1e-12,
) -> Simulation:
    """Integrate one case in task space with scipy's DOP853 and keep it at `times` (kept,), the first of which is the start.

    Other arguments as in `simulate`, without batch dims. A case that cannot be integrated is NaN from there on, with a status.
    """
    from scipy.integrate import solve_ivp

    home = robot.mechanism.platform.home
    start = np.asarray(home.position if position is None else position, dtype=float)
    turned = np.asarray(home.rotation if rotation is None else rotation, dtype=float)
    moving = np.zeros(6) if twist is None else np.asarray(twist, dtype=float)
    width = padded(1)
    system = _System(
        robot, "task_space", gravity, _input(force, (), width), _input(np.zeros(6) if load is None else load, (), width)
    )
    times = np.asarray(times, dtype=float)

    def unpacked(flat: np.ndarray) -> State:
        wide = np.repeat(flat[:, None], width, axis=1)
        return State(wide[:3], wide[3:7], wide[7:]).normalised()

    def rate(t: float, flat: np.ndarray) -> np.ndarray:
        change = system.rate(t, unpacked(flat))
        result = np.concatenate([change.position, change.quaternion, change.speed])[:, 0]
        if not np.isfinite(result).all():
            raise FloatingPointError
        return np.asarray(result)

    first = np.concatenate([start, quaternion_of(turned.reshape(9, 1))[:, 0], moving[system.free]])
    flat = np.full((len(times), len(first)), np.nan)
    flat[0] = first
    try:
        found = solve_ivp(rate, (times[0], times[-1]), first, "DOP853", times, rtol=rtol, atol=atol)
        flat[: found.y.shape[1]] = found.y.T
    except FloatingPointError:
        pass
    return _collected(system, [(t, unpacked(row), np.zeros(width)) for t, row in zip(times, flat, strict=True)], ())
