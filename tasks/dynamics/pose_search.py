"""Search for the poses of platforms that belong to actuator positions, on the assembly branch of guesses.

Newton's method finds a pose. A path from the guess to this pose along which J_IK stays regular proves that both are in
the same assembly. Without such a path, or without a pose, the actuators are moved straight from their positions at the
guess to the given ones, in steps that keep J_IK regular.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from scipy.spatial.transform import Rotation

from robots.joint_kinds import JOINT_KINDS
from robots.model import Mechanism
from robots.status import Status
from robots.types import TWIST

STEPS = 60
SETTLED = 1e-9  # step [rad, or share of the robot's size] after which a quadratic method is exact to rounding
SMALL_CHANGE = 0.8  # largest relative change of J_IK in a step; with 1 a singularity could lie between its ends
LEAST_SHARE = 2.0**-9  # least share of a way: with a smaller share the way ends
MATCHED = 1e-10  # largest error of actuator positions, in the same units; relative where positions are larger


class ForwardKinematics(NamedTuple):
    """Platform position (*batch, 3), rotation (*batch, 3, 3), and status (*batch)."""

    position: np.ndarray
    rotation: np.ndarray
    status: np.ndarray


class SolvedPoses(NamedTuple):
    """Inverse kinematics at poses: actuator positions (n, actuator), J_IK (n, actuator, freedom), status (n,)."""

    actuators: np.ndarray
    jacobian: np.ndarray
    status: np.ndarray


class PoseSolver(Protocol):
    """Inverse kinematics of the samples of a search, by the numbers of the samples (n,)."""

    @property
    def mechanism(self) -> Mechanism:
        """A mechanism with the joints of all of them."""

    def solve(self, samples: np.ndarray, position: np.ndarray, rotation: np.ndarray) -> SolvedPoses:
        """Compute actuator positions and J_IK at poses for Newton's method. They are valid where the status is OK."""

    def scale(self, samples: np.ndarray) -> np.ndarray:
        """Return the divisors of the freedoms of J_IK that bring all of them to m, (n or 1, freedom)."""

    def size(self, samples: np.ndarray) -> np.ndarray:
        """Return the size of the robot [m], (n or 1,)."""


def found_poses(
    solver: PoseSolver, position: np.ndarray, rotation: np.ndarray, wanted: np.ndarray
) -> ForwardKinematics:
    """Return the poses (n, ...) that belong to actuator positions `wanted` (n, actuator), from guesses (n, ...)."""
    search = _PoseSearch(solver, np.arange(len(position)), position, rotation, wanted)
    search.run()
    search.found &= _connected(search, position, rotation)
    _follow(search, position, rotation)
    p = np.where(search.found[:, None], search.position, np.nan)
    r = np.where(search.found[:, None, None], search.rotation, np.nan)
    return ForwardKinematics(p, r, np.where(search.found, Status.OK, Status.NOT_CONVERGED).astype(np.int8))


class _PoseSearch:
    """Samples on their way to the pose that is wanted, each independent of the others; `samples` are their numbers."""

    def __init__(
        self,
        solver: PoseSolver,
        samples: np.ndarray,
        position: np.ndarray,
        rotation: np.ndarray,
        wanted: np.ndarray,
    ):
        self.solver, self.samples, self.wanted = solver, samples, wanted
        self.position, self.rotation = position.copy(), rotation.copy()
        mechanism = solver.mechanism
        self.freedoms = [TWIST.index(name) for name in mechanism.platform.mobility]
        limbs = [mechanism.limbs[instance.limb] for instance in mechanism.instances]
        # a turn of a motor behind a gear leads elsewhere
        turns = [JOINT_KINDS[kind].periodic and not limb.drives for limb in limbs for kind in limb.actuator_kinds]
        self.turns = np.array(turns)
        size = solver.size(samples)
        self.unit = np.broadcast_to(np.where(size > 0.0, size, 1.0), len(samples))  # of lengths
        self.slides = np.array([not JOINT_KINDS[kind].turns for kind in mechanism.actuator_kinds])
        self.before = position.copy(), rotation.copy()  # where the last step started, inside the workspace
        self.step = np.full((len(position), 6), np.nan)
        self.found, self.lost = np.zeros((2, len(position)), dtype=bool)
        self.begin = self.solve(slice(None), position, rotation)
        self.jacobian = self.begin.jacobian.copy()  # where a sample was solved last

    def solve(self, places: np.ndarray | slice, position: np.ndarray, rotation: np.ndarray) -> SolvedPoses:
        """Solve some of the samples at other poses."""
        return self.solver.solve(self.samples[places], position, rotation)

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
        solved = self.begin if begins else self.solve(moving, self.position[moving], self.rotation[moving])
        self.jacobian[moving] = solved.jacobian
        gap = self.wanted[moving] - solved.actuators
        gap = np.where(self.turns, gap - 2 * np.pi * np.round(gap / (2 * np.pi)), gap)
        good = (solved.status == Status.OK) & np.isfinite(gap).all(axis=-1)
        units = np.where(self.slides, self.unit[moving, None], 1.0)
        met = (np.abs(gap) <= MATCHED * np.maximum(units, np.abs(self.wanted[moving]))).all(axis=-1)
        self.found[moving] = good & met & (self._longest(moving) < SETTLED)
        self._accept(moving[good], solved.jacobian[good], gap[good])
        self._retreat(moving[~good])
        return True

    def _longest(self, chosen: np.ndarray) -> np.ndarray:
        """Return the longest component of the last step [rad, or share of the size] (n,); NaN before the first."""
        turn, shift = np.abs(self.step[chosen, :3]).max(axis=-1), np.abs(self.step[chosen, 3:]).max(axis=-1)
        return np.asarray(np.maximum(turn, shift / self.unit[chosen]))

    def _accept(self, chosen: np.ndarray, jacobian: np.ndarray, gap: np.ndarray) -> None:
        """Make a Newton step from the present poses of these samples."""
        self.before[0][chosen], self.before[1][chosen] = self.position[chosen], self.rotation[chosen]
        step = np.zeros((len(chosen), 6))
        step[:, self.freedoms] = divided(jacobian, gap[..., None])[..., 0]
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
        if min(self.freedoms, default=6) < 3:  # others have no step, and keep their rotation
            self.rotation[chosen] = Rotation.from_rotvec(step[:, :3]).as_matrix() @ self.before[1][chosen]


def _changes(search: _PoseSearch, places: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Compute the change of J_IK (n, actuator, freedom) of some samples, relative to itself: a norm (n,)."""
    scale = search.solver.scale(search.samples[places])[:, None]
    change = divided(before / scale, after / scale) - np.eye(before.shape[-1])
    return np.abs(change).sum(axis=-1).max(axis=-1)


def divided(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the least-squares solutions of matrix @ x = right, one for each sample."""
    if matrix.shape[-2] != matrix.shape[-1]:
        return np.asarray(np.linalg.pinv(matrix) @ right)
    try:
        return np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:  # of singular ones alone, so that no sample depends on the others
        singular = np.linalg.det(matrix) == 0.0
        result = np.empty((len(matrix), matrix.shape[-1], right.shape[-1]))
        result[~singular] = np.linalg.solve(matrix[~singular], right[~singular])
        result[singular] = np.linalg.pinv(matrix[singular]) @ right[singular]
        return result


def _connected(search: _PoseSearch, position: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Return a mask of the solved poses that a straight way from the other poses reaches with J_IK regular (n,)."""
    result = search.found & (search.begin.status == Status.OK)
    close = np.zeros_like(result)
    solved = np.flatnonzero(result)
    close[solved] = _changes(search, solved, search.begin.jacobian[solved], search.jacobian[solved]) < SMALL_CHANGE
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
        at = search.solve(poses[moving], p, r)
        good = at.status == Status.OK
        known = moving[good]
        good[good] = _changes(search, poses[known], matrices[known], at.jacobian[good]) < SMALL_CHANGE
        place[moving[good]], matrices[moving[good]] = ahead[good], at.jacobian[good]
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
        step = _PoseSearch(search.solver, search.samples[poses[moving]], p[moving], r[moving], target)
        step.run()
        good = step.found.copy()
        if good.any():
            at, known = step.solve(good, step.position[good], step.rotation[good]), moving[good]
            near = (at.status == Status.OK) & (
                _changes(search, poses[known], matrices[known], at.jacobian) < SMALL_CHANGE
            )
            good[good] = near
            done = moving[good]
            p[done], r[done], place[done] = step.position[good], step.rotation[good], ahead[good]
            matrices[done] = at.jacobian[near]
        share[moving] *= np.where(good, 2.0, 0.5)
        ended[moving] |= share[moving] < LEAST_SHARE
    found = poses[~ended]
    search.found[found] = True
    search.position[found], search.rotation[found] = p[~ended], r[~ended]
