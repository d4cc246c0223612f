"""Equations of motion of a platform in joint and actuator form: systems whose joints are a part of the state.

The forms are described in the hybrid-limb paper, section 8.1. `task_space`: pose and twist are the state, joints follow
from inverse kinematics; this is `tasks.dynamics.motion_system.MotionSystem` itself. `joint`: joint variables in
addition. `actuator`: joint variables, and actuator rates in place of the twist. In the last two forms the joints are
states, so their loops drift. The drift is reported, and corrected by a Newton step after each step in time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from robots.model import Robot
from tasks.dynamics.equations import Model
from tasks.dynamics.forces_over_step import Cases
from tasks.dynamics.instant.moments import JointModes
from tasks.dynamics.inverse import InverseKinematics, inverse_kinematics
from tasks.dynamics.motion_system import MotionSystem
from tasks.kernels.kernel import kernel
from tasks.kernels.keys import Arrays, Indexed, Values
from tasks.mathematics import rotations
from tasks.stages import equations

Form = Literal["task_space", "joint", "actuator"]


class FormSystem(MotionSystem):
    """A robot without friction in joint or actuator form; with `close` loops are closed after each step.

    Raises ValueError for a form that does not exist or does not suit the robot.
    """

    def __init__(self, base: MotionSystem, robot: Robot, form: Form, gravity: ArrayLike, *, close: bool = True):
        super().__init__(base.instant, load_with_platform=base.load_with_platform)
        self.model, self.form, self.closes = Model(robot, gravity), check_form(robot, form), close
        limbs = self.model.structure.mechanism.limbs
        self._joints = [len(limbs[instance.limb].links) for instance in self.model.instances]
        self.layout = replace(base.layout, angles=sum(self._joints))

    def started(self, cases: Cases) -> Cases:
        """Return cases at whose start joints are where inverse kinematics finds them."""
        state, at = cases.state.copy(), self.layout.at
        joints = self._inverse_kinematics(state).position
        angles = [joints[:, k, :count].T for k, count in enumerate(self._joints)]
        state[at["angles"]] = np.concatenate(angles)
        if self.form == "actuator":
            speed, (motion, parts) = state[at["qd"]], self._shares(state)
            reached = np.isfinite(state[at["angles"]]).all(axis=0)
            state[at["qd"]] = np.where(reached, _times(self._jacobian(parts, motion.shape[-1]), speed), speed)
        return cases._replace(state=state)

    def seen(self, state: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return position (3,), rotation (3, 3) and twist (6, samples) of the platform."""
        position, rotation, twist = self.instant.seen(state)
        if self.form == "actuator":
            forward = self.model.total(*self._shares(state))["forward"][0]
            square = forward.reshape(len(self.model.freedoms), -1, forward.shape[-1])
            twist[self.model.freedoms] = _times(square, state[self.layout.at["qd"]])
        return position, rotation, twist

    def is_finite(self, state: np.ndarray) -> np.ndarray:
        """Return a mask (samples,) of finite states, whether joints reach the pose or not."""
        return super().is_finite(state[: self.layout.moving])

    def normalised(self, state: np.ndarray) -> np.ndarray:
        """Return the state with a unit quaternion and, if loops are closed, after a Newton step of its joints."""
        state, at = super().normalised(state), self.layout.at
        _, parts = self._shares(state)
        state[at["drift"]] = np.maximum(state[at["drift"]], self._opening(parts))
        if self.closes:
            corrections = [parts[Indexed("correction", k)][0] for k in range(len(self._joints))]
            state[at["angles"]] += np.concatenate(corrections)
        return state

    def gap(self, state: np.ndarray) -> np.ndarray:
        """Return the residuals of the loop closures of limbs (samples,)."""
        return self._opening(self._shares(state)[1])

    def _outputs(self, state: np.ndarray, modes: JointModes, acting: np.ndarray, stage: np.ndarray | None) -> Arrays:
        """Return rates and status, named as in `tasks.dynamics.instant.programs.outputs_of_motion`."""
        at, rows, width = self.layout.at, self.layout.acting, state.shape[1]
        twist, free = self.seen(state)[2], self.model.freedoms
        motion, parts = self._shares(state, twist)
        force, load = acting[rows["force"]], acting[rows["load"]]
        if self.form == "actuator":
            total, velocity = self.model.total(motion, parts), state[at["qd"]]
            change = self._actuator_change(total, velocity, force, load[free])
            status = self.model.status(parts, total)
        else:
            change, status = self.model.acceleration(motion, parts, force[None], load[None, free])
            velocity = _times(self._jacobian(parts, width), twist[free])
        lost = np.isfinite(state[at["q"]]).all(axis=0) & ~np.isfinite(state[at["angles"]]).all(axis=0)
        if lost.any():
            status = np.where(lost, self._inverse_kinematics(state).status, status)
        going = [twist[3:], rotations.rate(state[at["q"]][3:], twist[:3])]
        rates = [parts[Indexed("rates", k)][0] for k in range(len(self._joints))]
        none = np.zeros((1, width))
        rate = [*going, change, force * velocity, (load * twist).sum(axis=0)[None], *rates, none]
        result = {"rate": np.concatenate(rate), "joints": none[:0], "kept_speed": state[at["qd"]]}
        return {name: array[None] for name, array in result.items()} | {
            "dependent": none[None], "status": status[None, None].astype(float), "unbalanced": none[None]
        }  # fmt: skip

    def _actuator_change(self, total: Arrays, rate: np.ndarray, force: np.ndarray, load: np.ndarray) -> np.ndarray:
        """Return the actuator accelerations, Eq. (135)."""
        arrays = {name: total[f"actuator_{name}"] for name in ("mass", "coriolis", "gravity")}
        arrays |= {"forward": total["forward"], "rate": rate[None], "force": force[None], "load": load[None]}
        run = kernel(equations.actuator_acceleration_program(self.model.robot.family))
        return run(arrays, rate.shape[-1])["acceleration"][0]

    def _shares(self, state: np.ndarray, twist: np.ndarray | None = None) -> tuple[np.ndarray, Values]:
        """Return the motion input of kernels, at rest by default, and the shares of limbs there."""
        rows, none = state[self.layout.at["angles"]], np.zeros((3, state.shape[1]))
        position, rotation, _ = self.instant.seen(state)
        moving = np.concatenate([none, none]) if twist is None else twist
        parts = [position, moving[3:], none]
        if self.model.structure.motion_size != 9:
            parts = [position, rotation.reshape(9, -1), moving, none, none]
        motion = np.concatenate(parts)[None]
        angles = np.split(rows, np.cumsum(self._joints)[:-1])
        return motion, self.model.shares(motion, [np.ascontiguousarray(part)[None] for part in angles])

    def _jacobian(self, parts: Values, width: int) -> np.ndarray:
        """Return J_IK (actuator, freedom, samples)."""
        rows = [parts[Indexed("jacobian", k)][0] for k in range(len(self._joints))]
        return np.concatenate(rows).reshape(-1, len(self.model.freedoms), width)

    def _opening(self, parts: Values) -> np.ndarray:
        opened = [parts[Indexed("open", k)][0, 0] for k in range(len(self._joints))]
        return np.asarray(np.max(opened, axis=0))

    def _inverse_kinematics(self, state: np.ndarray) -> InverseKinematics:
        position, rotation, _ = self.instant.seen(state)
        turns = self.model.structure.motion_size != 9
        return inverse_kinematics(
            self.model.robot, position=position.T, rotation=np.moveaxis(rotation, -1, 0) if turns else None
        )


def check_form(robot: Robot, form: Form) -> Form:
    """Return a form of the equations. Raises ValueError for one that does not exist or does not suit the robot."""
    if form not in get_args(Form):
        raise ValueError(f"form: got {form!r}; expected one of {', '.join(get_args(Form))}")
    mechanism = robot.mechanism
    if form == "actuator" and len(mechanism.actuators) != len(mechanism.freedoms):
        raise ValueError(
            f"form: got 'actuator', but {robot.name} has more actuators than freedoms; expected task_space or joint"
        )
    return form


def _times(matrix: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the product of a matrix (row, column, samples) and columns (column, samples)."""
    return np.asarray(np.einsum("ijn,jn->in", matrix, columns))
