"""Rates of a robot's state in the three forms of its equations of motion; hybrid-limb paper, section 8.1.

`task_space`: pose and twist, joints from inverse kinematics. `joint`: joint variables beside them. `actuator`: joint
variables, and actuator rates in place of the twist. The last two carry the joints as state, so what closes their loops
is lost little by little, and taken back by Newton steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from robots.model import Robot
from robots.status import Status
from tasks.arrays.equations import Model
from tasks.arrays.inverse import inverse_dynamics, inverse_kinematics
from tasks.kernels.cache import kernel
from tasks.kernels.keys import Arrays, Indexed, Values
from tasks.kernels.types import Array
from tasks.mathematics import quaternions
from tasks.programs import equations

Form = Literal["task_space", "joint", "actuator"]
OfTime = Callable[[float], np.ndarray]
OfPose = Callable[[float, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Forces (size, padded samples) at a time, position (3, padded samples), rotation (9, ...) and twist (6, ...)."""


@dataclass(frozen=True)
class State:
    """Arrays (size, samples): position, quaternion, speeds of freedoms or actuators, joint variables of each limb."""

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


class System:
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
        self.with_platform, self.feedback = with_platform, feedback
        self.freedoms = self.model.freedoms
        if form == "actuator" and self.model.actuators != len(self.freedoms):
            raise ValueError(
                f"form: got 'actuator', but {robot.name} has more actuators than freedoms; expected task_space or joint"
            )

    def start(self, motion: np.ndarray) -> State:
        """The state that belongs to a motion input (1, size, padded samples)."""
        m, width = motion[0], motion.shape[-1]
        home = np.array(self.model.robot.mechanism.platform.home.rotation, dtype=float).reshape(9, 1)
        turned = m[3:12] if self.model.structure.motion_size != 9 else np.broadcast_to(home, (9, width))
        state = State(m[:3], quaternions.of_rotation(turned), self.model.speeds(motion))
        if self.form == "task_space":
            return state
        position, rotation = m[:3].T, turned.T.reshape(width, 3, 3)
        joints = inverse_kinematics(self.model.robot, position=position, rotation=rotation).position
        limbs = [self.model.structure.mechanism.limbs[instance.limb] for instance in self.model.instances]
        angles = tuple(np.ascontiguousarray(joints[:, k, : len(limb.links)].T) for k, limb in enumerate(limbs))
        speed = state.speed
        if self.form == "actuator":
            twist = self.twist(state.speed).T
            solved = inverse_dynamics(self.model.robot, position=position, rotation=rotation, twist=twist, full=True)
            speed = solved.velocity.T
        return State(state.position, state.quaternion, np.ascontiguousarray(speed), angles)

    def twist(self, speed: np.ndarray) -> np.ndarray:
        """Twist (6, samples) of the platform for speeds of its freedoms."""
        result = np.zeros((6, speed.shape[1]))
        result[self.freedoms] = speed
        return result

    def speed(self, state: State) -> np.ndarray:
        """Speeds of the platform's freedoms."""
        if self.form != "actuator":
            return np.asarray(state.speed)
        still = self._motion(state, np.zeros((len(self.freedoms), state.speed.shape[1])))
        forward = self.model.total(still, self._shares(still, state))["forward"][0]
        return np.einsum("ijn,jn->in", forward.reshape(len(self.freedoms), -1, forward.shape[-1]), state.speed)

    def rate(self, t: float, state: State) -> State:
        """Time derivative of a state, NaN where it has none: out of reach, singular, or torn open."""
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
        return State(twist[3:], quaternions.rate(state.quaternion, twist[:3]), change, rates)

    def _force(self, t: float, state: State, speed: np.ndarray) -> np.ndarray:
        if self.feedback is None:
            return self.force(t)
        rotation = quaternions.rotation_matrix(state.quaternion).reshape(9, -1)
        return self.feedback(t, state.position, rotation, self.twist(speed))

    def _load_in_world(self, t: float, state: State) -> np.ndarray:
        load = self.load(t)
        if not self.with_platform:
            return load
        turned = np.einsum("ijn,kjn->kin", quaternions.rotation_matrix(state.quaternion), load.reshape(2, 3, -1))
        return turned.reshape(6, -1)

    def _actuator_change(self, total: Arrays, state: State, force: np.ndarray, load: np.ndarray) -> np.ndarray:
        """Actuator accelerations, Eq. (135)."""
        arrays = {name: total[f"actuator_{name}"] for name in ("mass", "coriolis", "gravity")}
        arrays |= {"forward": total["forward"], "rate": np.ascontiguousarray(state.speed)[None]}
        run = kernel(equations.actuator_acceleration_program(self.model.robot.family))
        return run({**arrays, "force": force, "load": load}, state.speed.shape[-1])["acceleration"][0]

    def closed(self, state: State) -> tuple[State, np.ndarray]:
        """The state after one Newton step of its joints, and how far they were open before (samples,)."""
        if self.form == "task_space":
            return state, np.zeros(state.position.shape[1])
        motion = self._motion(state, np.zeros((len(self.freedoms), state.position.shape[1])))
        parts = self._shares(motion, state)
        angles = tuple(a + parts[Indexed("correction", k)][0] for k, a in enumerate(state.angles))
        drift = np.max([parts[Indexed("open", k)][0, 0] for k in range(len(angles))], axis=0)
        return State(state.position, state.quaternion, state.speed, angles), drift

    def _shares(self, motion: np.ndarray, state: State) -> Values:
        return self.model.shares(motion, [a[None] for a in state.angles] or None)

    def _motion(self, state: State, speed: np.ndarray) -> np.ndarray:
        """The motion input of kernels for a pose and speeds of the freedoms."""
        twist = self.twist(speed)
        if self.model.structure.motion_size == 9:
            return np.concatenate([state.position, twist[3:], np.zeros_like(twist[3:])])[None]
        turned = quaternions.rotation_matrix(state.quaternion).reshape(9, -1)
        return np.concatenate([state.position, turned, twist, np.zeros_like(twist)])[None]
