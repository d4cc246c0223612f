"""Loops that close only up to a small gap at all positions of joints: their frames are moved so that they meet.

Files of CAD programs have such loops where axes are rounded, or frames of a pin stand apart along it. Positions with
the least gaps are found by damped least squares, Levenberg 1944. There the second frame of each loop is moved along the
directions in which its joint is fixed, and along no others.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from robots.data_classes import dataclass, replace
from robots.formats.assembly import ASIDE, Setting, approach, sides, turn_apart
from robots.formats.checks import Pose
from robots.formats.closing import ClosingJoint
from robots.formats.poses import compose, frame_of, inverse
from robots.formats.tree import Tree
from robots.joint_kinds import JOINT_KINDS, X, Y, Z
from robots.model import Closure

GAP = 0.005
"""Largest gap that is closed by moving a frame, relative to the size of the robot."""

TURN = 0.01
"""Largest turn between both sides that is taken away so [rad]."""

REPEATS = 4
"""Steps of moving a frame: each leaves the square of the turn before."""


@dataclass(frozen=True)
class Apart:
    """A loop at the positions with the least gaps: its joint, and the gap [m] and turn [rad] that it does not allow."""

    joint: str
    gap: float
    turn: float


@dataclass(frozen=True)
class NearlyClosed:
    """A tree with loops closed at `reference`, positions by joint; the former gaps; the size of the robot [m]."""

    tree: Tree
    reference: dict[str, float]
    apart: tuple[Apart, ...]
    size: float

    @property
    def is_small(self) -> bool:
        """Return whether all gaps and turns are so small that frames may be moved."""
        return all(loop.gap <= GAP * self.size and loop.turn <= TURN for loop in self.apart)

    @property
    def widest(self) -> Apart:
        """The loop with the largest gap, or turn by the lever of the least squares."""
        return max(self.apart, key=lambda loop: max(loop.gap, 0.3 * loop.turn))


def nearly_closed(tree: Tree) -> NearlyClosed:
    """Return a tree with loops whose frames are moved so that they meet at the positions with the least gaps."""
    setting = tree.setting()
    values = _nearest(setting, list(setting.limb.followers))
    at = setting.poses(values)
    points = np.array(
        [pose[1] for pose in at.values()] + [side[1] for cut in setting.limb.cuts for side in sides(cut, at)]
    )
    size = float(np.linalg.norm(np.ptp(points, axis=0)))
    loops, apart = list[ClosingJoint](), list[Apart]()
    for loop, cut in zip(tree.loops, setting.limb.cuts, strict=True):
        side_a, side_b = sides(cut, at)
        gap, turn = _apart(cut, side_a, side_b)
        apart.append(Apart(cut.joint, float(np.linalg.norm(gap)), float(np.linalg.norm(turn))))
        for _ in range(REPEATS):
            gap, turn = _apart(cut, side_a, side_b)
            side_b = Rotation.from_rotvec(-turn).as_matrix() @ side_b[0], side_b[1] - gap
        body, pose = tree.bodies[loop.b]
        inner = compose(inverse(compose(at[body], pose)), side_b)
        loops.append(replace(loop, frame_b=frame_of(inner)))
    reference = {name: float(x) for name, x in zip(tree.joints, values, strict=True) if x}
    return NearlyClosed(replace(tree, loops=tuple(loops)), reference, tuple(apart), size)


def _nearest(setting: Setting, held: list[int]) -> np.ndarray:
    """Return the positions with the least gaps, from zero and from guesses beside it, always the same ones."""
    random, count = np.random.default_rng(20240501), len(setting.limb.links)
    best, least = np.zeros(count), np.inf
    for spread in (0.0, *ASIDE):
        guess = random.uniform(-spread, spread, count)
        guess[held] = 0.0
        values = approach(setting, guess, held)
        gaps = setting.gaps(values)
        if gaps @ gaps < 0.99 * least:
            best, least = values, float(gaps @ gaps)
    return best


def _apart(cut: Closure, a: Pose, b: Pose) -> tuple[np.ndarray, np.ndarray]:
    """Return gap and turn (3,) between both sides of a closure in directions that its joint does not allow."""
    across = [axis for axis in (X, Y, Z) if axis not in JOINT_KINDS[cut.kind].sliding]
    directions = a[0][:, across]
    return directions @ (directions.T @ (b[1] - a[1])), turn_apart(cut, a[0], b[0])
