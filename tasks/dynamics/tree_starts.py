"""First states of batches in all joints of their trees, from inverse kinematics of each robot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robots.model import Robot
from robots.status import Status
from robots.types import TWIST
from tasks.dynamics.records import Motion
from tasks.dynamics.tree_coordinates import POSE, TreeCoordinates, angles_of, axes_of
from tasks.dynamics.tree_equations import TreeMachine, TreeState
from tasks.mathematics import rotations

Numbers = NDArray[np.float64]

Solve = Callable[..., Any]
"""Inverse kinematics of a batch: `tasks.dynamics.inverse.inverse_kinematics`."""


def started(machine: TreeMachine, state: Numbers, solve: Solve) -> tuple[TreeState, Numbers]:
    """Return the first state and the status of the samples, from states of the system (size, padded samples).

    One beyond a stop is NOT_REACHABLE.
    """
    at, count = machine.system.layout.at, machine.count
    begin = state[:, :count].T
    angles, rates, status = _joints(machine.coordinates, begin[:, at["q"]], begin[:, at["qd"]], solve)
    past = (machine.stops.room(angles, machine.free()) < -machine.stops.beyond).any(axis=1)
    status = np.where(past & (status == Status.OK), float(Status.NOT_REACHABLE), status)
    actuators = machine.system.layout.actuators
    sizes = actuators, len(machine.friction.joints), 1, len(machine.stops), actuators
    return TreeState(angles, rates, *(np.zeros((count, size)) for size in sizes)), status


def _joints(coordinates: TreeCoordinates, q: Numbers, qd: Numbers, solve: Solve) -> tuple[Numbers, Numbers, Numbers]:
    """Return angles, rates and status at states (samples, ...) of `tasks.dynamics.instant.layout.StateLayout`."""
    numbers = coordinates.numbers
    of_kind = _of_chain if coordinates.mechanism.is_chain else _of_platform
    parts = [of_kind(robot, q[numbers == k], qd[numbers == k], solve) for k, robot in enumerate(coordinates.robots)]
    order = np.argsort(np.argsort(numbers, kind="stable"), kind="stable")
    angles, rates, status = (np.concatenate(values)[order] for values in zip(*parts, strict=True))
    return np.nan_to_num(angles), np.nan_to_num(rates), status


def _of_chain(robot: Robot, q: Numbers, qd: Numbers, solve: Solve) -> tuple[Numbers, Numbers, Numbers]:
    solved, joints = solve(robot, q=q, qd=qd), len(robot.mechanism.limbs[0].links)
    return solved.position[:, 0, :joints], solved.velocity[:, 0, :joints], solved.status.astype(float)


def _of_platform(robot: Robot, q: Numbers, qd: Numbers, solve: Solve) -> tuple[Numbers, Numbers, Numbers]:
    position, turned = q[:, :3], rotations.rotation_matrix(q[:, 3:].T).transpose(2, 0, 1)
    twist, mobility = np.zeros((len(q), POSE)), robot.mechanism.platform.mobility
    twist[:, [TWIST.index(name) for name in mobility]] = qd
    turns = {"rotation": turned} if any(name in mobility for name in TWIST[:3]) else {}
    solved = solve(robot, Motion(position=position, twist=twist, **turns))
    limbs = robot.mechanism.limbs
    sizes = [len(limbs[instance.limb].links) for instance in robot.mechanism.instances]
    angles, rates = (
        np.concatenate([x[:, k, :size] for k, size in enumerate(sizes)], axis=1)
        for x in (solved.position, solved.velocity)
    )
    home = robot.mechanism.platform.home
    point, axes = np.array(home.position, dtype=float), np.array(home.rotation, dtype=float)
    pose = np.concatenate([position - point, angles_of(axes.T @ turned)], axis=1)
    turning = np.linalg.solve(axes_of(axes, pose), twist[:, :3, None])[..., 0]
    moving = np.concatenate([twist[:, 3:], turning], axis=1)
    return np.concatenate([pose, angles], axis=1), np.concatenate([moving, rates], axis=1), solved.status.astype(float)
