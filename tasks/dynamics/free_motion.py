"""Forward dynamics over time in three forms of the equations, for batches of cases in fixed Runge-Kutta steps.

The forms are those of the hybrid-limb paper, section 8.1. `task_space`: pose and twist are the state, joints come from
inverse kinematics. `joint`: joint variables beside them. `actuator`: joint variables, and actuator rates in place of
the twist. The last two carry the joints as state, so their loops drift; the drift is reported, and taken back by a
Newton step after each step in time. The orientation is a unit quaternion: no parameterisation has a singularity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from robots.model import Robot
from robots.status import Status
from tasks.dynamics.equations import Model
from tasks.dynamics.forces_over_step import Cases, Push
from tasks.dynamics.integration import MotionSystem
from tasks.dynamics.inverse import inverse_dynamics, inverse_kinematics
from tasks.dynamics.motions import Simulation
from tasks.dynamics.records import FixedSteps
from tasks.kernels.expression import Array
from tasks.kernels.kernel import kernel
from tasks.kernels.keys import Arrays, Indexed, Values
from tasks.mathematics import rotations
from tasks.stages import equations

Form = Literal["task_space", "joint", "actuator"]


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
    """A robot in one of the forms; `system` has the layout of what acts on it.

    Raises ValueError for a form that does not exist or does not suit the robot.
    """

    def __init__(self, robot: Robot, form: Form, gravity: ArrayLike, system: MotionSystem):
        if form not in get_args(Form):
            raise ValueError(f"form: got {form!r}; expected one of {', '.join(get_args(Form))}")
        self.model, self.form, self.system = Model(robot, gravity), form, system
        self.has_finite_gravity = bool(np.isfinite(np.asarray(gravity, dtype=float)).all())
        self.freedoms = self.model.freedoms
        if form == "actuator" and self.model.actuators != len(self.freedoms):
            raise ValueError(
                f"form: got 'actuator', but {robot.name} has more actuators than freedoms; expected task_space or joint"
            )

    def start(self, state: np.ndarray) -> MotionState:
        """Return the state that belongs to one of the system (size, padded samples)."""
        pose, speed = state[self.system.layout.at["q"]], state[self.system.layout.at["qd"]]
        if self.form == "task_space":
            return MotionState(pose[:3], pose[3:], speed)
        place = {"position": pose[:3].T}
        if self.model.structure.motion_size != 9:
            place["rotation"] = np.moveaxis(rotations.rotation_matrix(pose[3:]), -1, 0)
        joints = inverse_kinematics(self.model.robot, position=place["position"], rotation=place.get("rotation"))
        limbs = [self.model.structure.mechanism.limbs[instance.limb] for instance in self.model.instances]
        angles = tuple(np.ascontiguousarray(joints.position[:, k, : len(x.links)].T) for k, x in enumerate(limbs))
        if self.form == "actuator":
            twist = self.twist(speed).T
            solved = inverse_dynamics(
                self.model.robot, position=place["position"], rotation=place.get("rotation"), twist=twist
            )
            speed = np.ascontiguousarray(solved.velocity.T)
        return MotionState(pose[:3], pose[3:], speed, angles)

    def has_finite_inputs(self, acting: np.ndarray, start: MotionState) -> np.ndarray:
        """Return a mask (padded samples,) of cases with a finite state at the start, under finite inputs."""
        values = [start.position, acting]
        values += [start.speed] if self.form != "actuator" else []  # of actuators, which no pose out of reach has
        return np.all([np.isfinite(rows).all(axis=0) for rows in values], axis=0) & self.has_finite_gravity

    def packed(self, state: MotionState) -> np.ndarray:
        """Return a state as one of the system (size, padded samples)."""
        result = np.zeros((self.system.layout.size, state.position.shape[1]))
        result[self.system.layout.at["q"]] = np.concatenate([state.position, state.quaternion])
        result[self.system.layout.at["qd"]] = self.speed(state)
        return result

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

    def rate(self, state: MotionState, push: Push, share: float = 0.0) -> MotionState:
        """Return the time derivative of a state under inputs at a share of a step.

        NaN if it has none: out of reach, singular, or torn open.
        """
        packed = self.packed(state)
        acting = push(np.full(packed.shape[1], share), packed)
        if self.system.load_with_platform:
            acting = self.system.turned(packed, acting)
        layout = self.system.layout
        force = np.ascontiguousarray(acting[layout.acting["force"]])[None]
        load = np.ascontiguousarray(acting[layout.acting["load"]][self.freedoms])[None]
        speed = packed[layout.at["qd"]]
        motion = self._motion(state, speed)
        parts = self._shares(motion, state)
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


_RK4 = ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0))  # share of the step, weight

ROUGH = 0.1
"""Difference of the two accelerations in the middle of a step, relative to the largest, from which it is too long."""

STILL = 1e-6
"""Acceleration [m/s^2, rad/s^2] below which differences are rounding."""


class Kept(NamedTuple):
    """Stored values of one time: the state (size, padded samples), drift and gap (padded samples,)."""

    time: float
    state: MotionState
    drift: np.ndarray
    gap: np.ndarray


def simulate(system: FreeSystem, cases: Cases, clock: FixedSteps, *, close: bool = True) -> Simulation:
    """Integrate the motion of a batch of cases with constant steps, from the time zero on.

    Without `close`, loops drift open. Raises ValueError for forces that do not fit.
    """
    step = clock.step
    now = system.start(cases.state)
    drift = np.zeros(cases.state.shape[1])
    kept = [Kept(0.0, now, drift, system.closed(now)[1])]
    with np.errstate(all="ignore"):  # a failed case holds NaN
        for k in range(1, clock.steps + 1):
            push = cases.pushes.over((k - 1) * step, step, system.packed(now))
            now = _rk4(system, push, now, step)
            closed, opened = system.closed(now)
            now, drift = closed if close else now, np.maximum(drift, opened)
            if k % clock.every == 0:
                kept.append(Kept(k * step, now, drift, system.closed(now)[1]))
                drift = np.zeros_like(drift)
        return _collected(system, cases, kept)


def _rk4(system: FreeSystem, push: Push, state: MotionState, step: float) -> MotionState:
    total, rate, changes = state, state, []
    for share, weight in _RK4:
        rate = system.rate(state if share == 0.0 else state.moved(rate, share * step), push, share)
        total = total.moved(rate, step * weight / 6.0)
        changes.append(rate.speed)
    rough = np.abs(changes[2] - changes[1]).max(axis=0) > ROUGH * np.abs(changes).max(axis=(0, 1)) + STILL
    total.position[:, rough] = np.nan
    return total.normalised()


def _collected(system: FreeSystem, cases: Cases, moments: Sequence[Kept]) -> Simulation:
    batch = cases.batch
    samples = int(np.prod(batch, dtype=int))

    def stacked(rows: Sequence[np.ndarray], *core: int) -> np.ndarray:
        return np.stack([row[..., :samples].reshape(-1, samples).T.reshape((*batch, *core)) for row in rows])

    states = [moment.state for moment in moments]
    position = stacked([state.position for state in states], 3)
    rotation = stacked([rotations.rotation_matrix(state.quaternion) for state in states], 3, 3)
    twist = stacked([system.twist(system.speed(state)) for state in states], 6)
    ended = ~(np.isfinite(position).all(axis=-1) & np.isfinite(twist).all(axis=-1))
    status = np.where(ended.any(axis=0), Status.INTEGRATION_FAILED, Status.OK).astype(np.int8)
    if ended.any():
        at_start = inverse_kinematics(system.model.robot, position=position[0], rotation=rotation[0]).status
        status = np.where(ended.any(axis=0) & (at_start != Status.OK), at_start, status)
        for k in np.unique(ended.argmax(axis=0)[ended.any(axis=0)]):
            times = [moment.time for moment in moments[k : k + 2]]
            near = [system.has_finite_inputs(_acting(system, cases, time, states[0]), states[0]) for time in times]
            is_finite = stacked([np.all(near, axis=0)[None]], 1)[0, ..., 0]
            status[ended.any(axis=0) & (ended.argmax(axis=0) == k) & ~is_finite] = Status.NONFINITE
    position[ended], rotation[ended], twist[ended] = np.nan, np.nan, np.nan
    drift, gap = stacked([moment.drift for moment in moments]), stacked([moment.gap for moment in moments])
    return Simulation(np.array([moment.time for moment in moments]), position, rotation, twist, drift, gap, status)


def _acting(system: FreeSystem, cases: Cases, time: float, state: MotionState) -> np.ndarray:
    """Return what acts at a time (rows, padded samples)."""
    packed = system.packed(state)
    return cases.pushes.over(time, 0.0, packed)(np.zeros(packed.shape[1]), packed)
