"""Motion of a chain under its loads, with all that sources publish of it: bodies, accelerations, reactions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.published.rows import Array, RefusedError
from limbsweep import Environment, Forces, Motion, State, Status, forward_dynamics, joint_reactions, simulate
from robots.model import Robot
from tasks.dynamics.body_motions import BodyMotions
from tasks.dynamics.inverse import body_motion

TIGHT = 1e-11
"""Relative tolerance of a step, far below the accuracy of published values; the absolute one is a tenth."""


@dataclass(frozen=True, eq=False)
class Course:
    """Motion of a robot at some times [s]: q and qd (time, freedom), under actuator forces (time, actuator)."""

    robot: Robot
    environment: Environment
    times: Array
    q: Array
    qd: Array
    forces: Array

    @cached_property
    def motion(self) -> Motion:
        """The motion with its accelerations."""
        state = State(q=self.q, qd=self.qd, time=self._time)
        moving = forward_dynamics(self.robot, state, Forces(actuator=self.forces), self.environment)
        _require("accelerations", moving.status)
        return Motion(q=self.q, qd=self.qd, qdd=moving.acceleration, time=self._time)

    @property
    def _time(self) -> Array | None:
        return self.times if self.robot.family.signals else None

    @cached_property
    def bodies(self) -> dict[str, BodyMotions]:
        """Motions of the links by name."""
        (limb,) = self.robot.mechanism.limbs
        still = Motion(q=self.motion.q, qd=self.motion.qd, qdd=self.motion.qdd)
        moving = body_motion(self.robot, still).limbs[0]
        return {link.body: body for link, body in zip(limb.links, moving, strict=True)}

    @cached_property
    def reactions(self) -> dict[str, Array]:
        """(moment, force) (time, 6) on the child by the parent, at each joint by name, world axes."""
        (limb,) = self.robot.mechanism.limbs
        carried = joint_reactions(self.robot, self.motion, environment=self.environment)
        _require("reactions", carried.status)
        return {joint: carried.wrench[..., 0, k, :] for k, joint in enumerate(limb.joints)}


def moved(
    robot: Robot,
    times: ArrayLike,
    gravity: ArrayLike,
    q: ArrayLike | None = None,
    qd: ArrayLike | None = None,
    forces: ArrayLike | None = None,
    tolerance: float = TIGHT,
) -> Course:
    """Integrate a chain from time zero and a state on, under constant actuator forces, to some times.

    Raises RefusedError where the motion ends early.
    """
    mechanism = robot.mechanism
    still = np.zeros(len(mechanism.freedoms))
    start = State(q=still if q is None else q, qd=still if qd is None else qd)
    push = np.zeros(len(mechanism.actuators)) if forces is None else np.asarray(forces, dtype=float)
    environment = Environment(gravity=gravity)
    instants = np.concatenate([[0.0], np.asarray(times, dtype=float)])
    motion = simulate(
        robot,
        start,
        Forces(actuator=push),
        instants,
        environment=environment,
        method="adaptive",
        rtol=tolerance,
        atol=0.1 * tolerance,
    )
    _require("motion", motion.status)
    held = np.broadcast_to(push, (len(instants) - 1, len(push)))
    return Course(robot, environment, instants[1:], motion.q[1:], motion.qd[1:], held)


def _require(what: str, status: ArrayLike) -> None:
    if np.any(bad := np.asarray(status)):
        raise RefusedError(f"{what}: {Status(int(np.max(bad))).name}")
