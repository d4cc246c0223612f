"""The pose of the platform that belongs to actuator positions, on the assembly branch of a guess.

Newton's method finds a pose. A path from the guess to this pose along which J_IK stays regular proves that both are in
the same assembly. Without such a path, or without a pose, the actuators are moved straight from their positions at the
guess to the given ones, in steps that keep J_IK regular.
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from robots.arguments import check_arguments
from robots.geometry import AXES
from robots.joint_kinds import JOINT_KINDS
from robots.model import Robot
from robots.status import Status
from robots.types import TWIST
from tasks.dynamics.inputs import rotations
from tasks.dynamics.inverse import Dynamics
from tasks.dynamics.records import STANDING, TIMELESS, MotionKeywords, Moving, State, long_form
from tasks.kernels.kernel import checked, common_batch
from tasks.kernels.keys import Indexed
from tasks.stages.metrics.poses import weights
from tasks.stages.stages import stages

STEPS = 60
SETTLED = 1e-9  # step [m, rad] after which a quadratic method is exact to rounding
SMALL_CHANGE = 0.8  # largest relative change of J_IK in a step; with 1 a singularity could lie between its ends
LEAST_SHARE = 2.0**-9  # least share of a way: with a smaller share the way ends
MATCHED = 1e-10  # largest error of actuator positions [m, rad]; relative where positions are large


class ForwardKinematics(NamedTuple):
    """Platform position (*batch, 3), rotation (*batch, 3, 3), and status (*batch)."""

    position: np.ndarray
    rotation: np.ndarray
    status: np.ndarray


@check_arguments
def forward_kinematics(
    robot: Robot, guess: State | None = None, *, actuator_position: ArrayLike, **short: Unpack[MotionKeywords]
) -> ForwardKinematics:
    """Compute the pose of the platform for actuator positions (*batch, actuator) [rad or m], from a guess.

    guess, or position and rotation as keywords: absent, the reference pose.

    Angles of joints count modulo full turns, angles of drives do not. The pose is on the assembly branch of the guess:
    the platform can reach it from the guess without passing a singularity. Of several such poses, the result is the one
    to which Newton's method leads. Samples without such a pose, or without convergence, hold NaN and have the status
    NOT_CONVERGED. Raises ValueError for shapes that do not fit. Source: hybrid-limb paper, Eq. (114).

        >>> robot = ls.robots.build("delta_3rr2rrr")
        >>> angles = ls.actuator_positions(robot, position=[0.0, 0.1, -0.9]).position
        >>> ls.forward_kinematics(robot, actuator_position=angles).position.round(6) + 0.0
        array([ 0. ,  0.1, -0.9])
    """
    home, (near, _) = robot.mechanism.platform.home, long_form(guess, STANDING, short, TIMELESS)
    actuators = robot.mechanism.actuators
    target = checked("actuator_position", actuator_position, (len(actuators),), actuators)
    start = checked("position", home.position if near.position is None else near.position, (3,), AXES)
    turned = checked("rotation", home.rotation if near.rotation is None else near.rotation, (3, 3))
    turned = rotations("rotation", turned)
    batch = common_batch(
        {"actuator_position": target.shape[:-1], "position": start.shape[:-1], "rotation": turned.shape[:-2]}
    )

    def flat(values: np.ndarray, *core: int) -> np.ndarray:
        return np.broadcast_to(values, (*batch, *core)).reshape(-1, *core)

    begin = flat(start, 3), flat(turned, 3, 3)
    search = _PoseSearch(robot, *begin, flat(target, target.shape[-1]))
    search.run()
    search.found &= _connected(search, *begin)
    _follow(search, *begin)
    p = np.where(search.found[:, None], search.position, np.nan)
    r = np.where(search.found[:, None, None], search.rotation, np.nan)
    status = np.where(search.found, Status.OK, Status.NOT_CONVERGED).astype(np.int8)
    return ForwardKinematics(p.reshape(*batch, 3), r.reshape(*batch, 3, 3), status.reshape(batch))


class _Solved(NamedTuple):
    """Inverse kinematics at poses: actuator positions (n, actuator), J_IK (n, actuator, freedom), status (n,)."""

    actuators: np.ndarray
    jacobian: np.ndarray
    status: np.ndarray


def _solve(robot: Robot, position: np.ndarray, rotation: np.ndarray) -> _Solved:
    """Compute actuator positions and J_IK at poses for Newton's method. They are valid where the status is OK."""
    dynamics = Dynamics(robot, Moving(position=position, rotation=rotation), ("actuator_position",))
    dynamics.run(stages(dynamics.request))
    limbs = range(len(robot.mechanism.instances))
    actuators, jacobian = (
        np.concatenate([dynamics.sample_rows(Indexed(name, k)) for k in limbs]).T
        for name in ("actuator_position", "jacobian")
    )
    shape = (len(position), -1, len(robot.mechanism.freedoms))
    return _Solved(actuators, jacobian.reshape(shape), dynamics.status)


class _PoseSearch:
    """Samples on their way to the pose that is wanted, each independent of the others."""

    def __init__(self, robot: Robot, position: np.ndarray, rotation: np.ndarray, wanted: np.ndarray):
        self.robot, self.position, self.rotation, self.wanted = robot, position.copy(), rotation.copy(), wanted
        mechanism = robot.mechanism
        self.freedoms = [TWIST.index(name) for name in mechanism.platform.mobility]
        limbs = [mechanism.limbs[instance.limb] for instance in mechanism.instances]
        # a turn of a motor behind a gear leads elsewhere
        turns = [JOINT_KINDS[kind].periodic and not limb.drives for limb in limbs for kind in limb.actuator_kinds]
        self.turns = np.array(turns)
        self.before = position.copy(), rotation.copy()  # where the last step started, inside the workspace
        self.step = np.full((len(position), 6), np.nan)
        self.found, self.lost = np.zeros((2, len(position)), dtype=bool)
        self.begin = _solve(robot, position, rotation)
        self.jacobian = self.begin.jacobian.copy()  # where a sample was solved last

    def run(self) -> None:
        """Repeat steps until all samples are found or lost, at most STEPS times."""
        for step in range(STEPS):
            if not self.advance(begins=step == 0):
                break

    def advance(self, begins: bool) -> bool:
        """Advance all samples that are neither found nor lost by one step; return whether there were any."""
        moving = np.flatnonzero(~(self.found | self.lost))
        if not len(moving):
            return False
        solved = self.begin if begins else _solve(self.robot, self.position[moving], self.rotation[moving])
        self.jacobian[moving] = solved.jacobian
        gap = self.wanted[moving] - solved.actuators
        gap = np.where(self.turns, gap - 2 * np.pi * np.round(gap / (2 * np.pi)), gap)
        good = (solved.status == Status.OK) & np.isfinite(gap).all(axis=-1)
        met = (np.abs(gap) <= MATCHED * np.maximum(1.0, np.abs(self.wanted[moving]))).all(axis=-1)
        self.found[moving] = good & met & (np.abs(self.step[moving]).max(axis=-1) < SETTLED)
        self._accept(moving[good], solved.jacobian[good], gap[good])
        self._retreat(moving[~good])
        return True

    def _accept(self, chosen: np.ndarray, jacobian: np.ndarray, gap: np.ndarray) -> None:
        """Make a Newton step from the present poses of these samples."""
        self.before[0][chosen], self.before[1][chosen] = self.position[chosen], self.rotation[chosen]
        step = np.zeros((len(chosen), 6))
        step[:, self.freedoms] = _divided(jacobian, gap[..., None])[..., 0]
        self.step[chosen] = step
        self._move(chosen)

    def _retreat(self, chosen: np.ndarray) -> None:
        """Halve the step that led these samples out of the workspace; a guess outside of it is lost."""
        self.step[chosen] *= 0.5
        self.lost[chosen] |= np.isnan(self.step[chosen]).any(axis=-1)
        self._move(chosen)

    def _move(self, chosen: np.ndarray) -> None:
        step = self.step[chosen]
        self.position[chosen] = self.before[0][chosen] + step[:, 3:]
        self.rotation[chosen] = Rotation.from_rotvec(step[:, :3]).as_matrix() @ self.before[1][chosen]


def _changes(search: _PoseSearch, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Compute the change of J_IK (n, actuator, freedom), relative to itself: a norm without unit (n,)."""
    scale = weights(search.robot.mechanism)
    change = _divided(before / scale, after / scale) - np.eye(len(scale))
    return np.abs(change).sum(axis=-1).max(axis=-1)


def _divided(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the least-squares solutions of matrix @ x = right, one for each sample."""
    if matrix.shape[-2] == matrix.shape[-1]:
        with suppress(np.linalg.LinAlgError):
            return np.linalg.solve(matrix, right)
    return np.asarray(np.linalg.pinv(matrix) @ right)


def _connected(search: _PoseSearch, position: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Return a mask of the solved poses that a straight way from the other poses reaches with J_IK regular (n,)."""
    result = search.found & (search.begin.status == Status.OK)
    close = np.zeros_like(result)
    close[result] = _changes(search, search.begin.jacobian[result], search.jacobian[result]) < SMALL_CHANGE
    poses = np.flatnonzero(result & ~close)
    if not len(poses):
        return result
    turn = Rotation.from_matrix(np.swapaxes(rotation[poses], 1, 2) @ search.rotation[poses]).as_rotvec()
    shift = search.position[poses] - position[poses]
    place, share, ended = np.zeros(len(poses)), np.full(len(poses), 0.5), np.zeros(len(poses), dtype=bool)
    matrices = search.begin.jacobian[poses]
    while len(moving := np.flatnonzero(~ended & (place < 1.0))):
        ahead = np.minimum(place[moving] + share[moving], 1.0)
        whole = ahead == 1.0
        p = position[poses[moving]] + shift[moving] * ahead[:, None]
        r = rotation[poses[moving]] @ Rotation.from_rotvec(turn[moving] * ahead[:, None]).as_matrix()
        p[whole], r[whole] = search.position[poses[moving[whole]]], search.rotation[poses[moving[whole]]]
        solved = _solve(search.robot, p, r)
        good = solved.status == Status.OK
        good[good] = _changes(search, matrices[moving[good]], solved.jacobian[good]) < SMALL_CHANGE
        place[moving[good]], matrices[moving[good]] = ahead[good], solved.jacobian[good]
        share[moving] *= np.where(good, 2.0, 0.5)
        ended[moving] |= share[moving] < LEAST_SHARE
    result[poses] = ~ended
    return result


def _follow(search: _PoseSearch, position: np.ndarray, rotation: np.ndarray) -> None:
    """Solve the remaining samples: actuators go straight from their positions at known poses to the given ones."""
    poses = np.flatnonzero(~search.found)
    if not len(poses):
        return
    p, r, wanted = position[poses].copy(), rotation[poses].copy(), search.wanted[poses]
    start = search.begin.actuators[poses]
    way = wanted - start
    way = np.where(search.turns, way - 2 * np.pi * np.round(way / (2 * np.pi)), way)
    place, share = np.zeros(len(poses)), np.full(len(poses), 0.125)
    ended, matrices = search.begin.status[poses] != Status.OK, search.begin.jacobian[poses]
    while len(moving := np.flatnonzero(~ended & (place < 1.0))):
        ahead = np.minimum(place[moving] + share[moving], 1.0)
        target = np.where((ahead == 1.0)[:, None], wanted[moving], start[moving] + way[moving] * ahead[:, None])
        step = _PoseSearch(search.robot, p[moving], r[moving], target)
        step.run()
        good = step.found.copy()
        if good.any():
            at = _solve(search.robot, step.position[good], step.rotation[good])
            near = (at.status == Status.OK) & (_changes(search, matrices[moving[good]], at.jacobian) < SMALL_CHANGE)
            good[good] = near
            done = moving[good]
            p[done], r[done], place[done] = step.position[good], step.rotation[good], ahead[good]
            matrices[done] = at.jacobian[near]
        share[moving] *= np.where(good, 2.0, 0.5)
        ended[moving] |= share[moving] < LEAST_SHARE
    found = poses[~ended]
    search.found[found] = True
    search.position[found], search.rotation[found] = p[~ended], r[~ended]
