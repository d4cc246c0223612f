"""Loops that close at their reference pose and move from there with small gaps alone: their frames are moved.

Parallelograms of CAD programs whose bars differ by rounding are such loops: a solver with soft constraints can move
them, but exact constraints lock them. Frames of the cut joints get the least changes with which all gaps vanish at
several poses, by Gauss-Newton steps of least norm; the gaps are then checked at other poses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.linalg import qr
from scipy.spatial.transform import Rotation

from robots.data_classes import dataclass, replace
from robots.formats.assembly import CLOSED, LEVER, PATIENCE, Setting, approach, close, gap_between, sides
from robots.formats.checks import Pose
from robots.formats.nearly_closed import GAP, TURN
from robots.formats.poses import compose, frame_of, inverse, pose_of
from robots.formats.tree import Tree
from robots.model import Closure, Frame

CONDITION = 1e-8
"""Share of the largest singular value below which a condition on frames is ignored."""

NEARLY = 1e-2
"""The same of slopes, below which a motion opens small gaps at most."""

SPREAD = 0.2
"""Largest displacements of driving joints at the examined poses [rad or m]."""

POSES, ALL, REPEATS = 8, 12, 8
"""Number of poses at which gaps are made to vanish, of all examined poses, and of Gauss-Newton steps."""

EXACT = 10.0 * CLOSED
"""Largest residual with moved frames [m, or cosine]; samples of loops with a larger one have a status."""

STEP = 1e-6
"""Displacement of a frame for differences [m or rad]."""


@dataclass(frozen=True)
class NearlyMoving:
    """A tree whose loops move; the largest gap [m] without the change, and the largest change of a frame [m, rad].

    `joints` is empty if no change of frames lets the loops move exactly; the tree is then unchanged.
    """

    tree: Tree
    joints: tuple[str, ...]
    gap: float
    shift: float
    turn: float


def nearly_moving(tree: Tree, reference: np.ndarray) -> NearlyMoving | None:
    """Return a tree whose loops move without gaps from `reference`, its joint positions; None if they already do.

    If loops close exactly with all driving joints displaced, they can move; gaps at other poses mean that these cannot
    be reached.
    """
    setting = tree.setting()
    driving = _driving(setting, reference)
    followers = [tree.joints.index(entry.joint) for entry in tree.couplings]
    if driving is None or setting.gap_slopes(reference)[:, followers].any():
        return None
    random, near, gaps = np.random.default_rng(20240501), list[np.ndarray](), list[float]()
    largest = min(GAP * _size(setting, reference), LEVER * TURN)
    for count in range(ALL + 1):
        guess = np.array(reference)
        guess[driving] += random.uniform(-SPREAD, SPREAD, len(driving)) if count else 0.0
        near.append(approach(setting, guess, driving))
        if (gap := _gap(setting, near[-1])) > EXACT:
            near[-1] = close(setting, near[-1], driving, PATIENCE)[0]
            gap = _gap(setting, near[-1])
        gaps.append(gap)
        if gap > largest or (count and gap <= EXACT):
            return None
    changes = _least_changes(setting, near[:POSES], driving)
    cuts = tuple(map(_changed, setting.limb.cuts, changes))
    exact = replace(setting, limb=replace(setting.limb, loops=cuts))
    if any(close(exact, values, driving, PATIENCE)[1] > EXACT for values in near):
        return NearlyMoving(tree, (), float(max(gaps)), 0.0, 0.0)
    loops = tuple(
        replace(loop, frame_a=_inner(tree, loop.a, cut.frame_a), frame_b=_inner(tree, loop.b, cut.frame_b))
        for loop, cut in zip(tree.loops, cuts, strict=True)
    )
    moved = [k for k, change in enumerate(changes) if np.abs(change).max() > CLOSED]
    lengths = np.linalg.norm(changes.reshape(-1, 3), axis=1).reshape(-1, 2)
    shift, turn = lengths[:, 0].max(), lengths[:, 1].max()
    names = tuple(tree.loops[k].joint for k in moved)
    return NearlyMoving(replace(tree, loops=loops), names, float(max(gaps)), float(shift), float(turn))


def _driving(setting: Setting, reference: np.ndarray) -> list[int] | None:
    """Return joints that determine all others if small gaps are ignored; None if no joint moves then."""
    slopes = setting.gap_slopes(reference)
    used = np.flatnonzero(np.abs(slopes).max(axis=0, initial=0.0))
    if not len(used):
        return None
    _, sizes, ways = np.linalg.svd(slopes[:, used])
    rank = int((sizes > NEARLY * sizes[0]).sum())
    order = qr(ways[rank:], pivoting=True, mode="r")[1] if rank < len(used) else []
    return [*map(int, used[order[: len(used) - rank]])] or None


def _gap(setting: Setting, values: np.ndarray) -> float:
    return float(np.abs(setting.gaps(values)).max())


def _size(setting: Setting, reference: np.ndarray) -> float:
    """Return the size of the loops: the spread of both sides of cut joints, and of joints between them [m]."""
    at, slopes = setting.poses(reference), setting.gap_slopes(reference)
    points = [at[int(k)][1] for k in np.flatnonzero(np.abs(slopes).max(axis=0))]
    points += [side[1] for cut in setting.limb.cuts for side in sides(cut, at)]
    return float(np.linalg.norm(np.ptp(points, axis=0)))


def _least_changes(setting: Setting, near: Sequence[np.ndarray], driving: Sequence[int]) -> np.ndarray:
    """Return the changes (cut, 12) of least norm with which the loops close at poses: shift and turn of both frames."""
    cuts = setting.limb.cuts
    changes, places = np.zeros((len(cuts), 12)), [np.array(values) for values in near]
    free = [k for k in range(len(near[0])) if k not in driving]
    weights = np.tile([1.0, 1.0, 1.0, LEVER, LEVER, LEVER], 2 * len(cuts))
    for _ in range(REPEATS):
        changed = replace(setting, limb=replace(setting.limb, loops=tuple(map(_changed, cuts, changes))))
        by_changes = [_slopes_of_changes(cuts, changes, setting.poses(values)) for values in places]
        rows, demands, steps = list[np.ndarray](), list[np.ndarray](), list[tuple[np.ndarray, np.ndarray]]()
        for values, by_change in zip(places, by_changes, strict=True):
            gaps, slopes = changed.gaps(values), changed.gap_slopes(values)
            left, sizes, _ = np.linalg.svd(slopes[:, free])
            rank = int((sizes > NEARLY * sizes[0]).sum())
            rows.append(left[:, rank:].T @ by_change)
            demands.append(left[:, rank:].T @ (by_change @ changes.ravel() - gaps))
            steps.append((gaps, slopes[:, free]))
        if max(np.abs(gaps).max() for gaps, _ in steps) <= 0.1 * CLOSED:
            break
        whole = np.linalg.lstsq(np.vstack(rows) / weights, np.concatenate(demands), rcond=CONDITION)[0] / weights
        more, changes = whole - changes.ravel(), whole.reshape(changes.shape)
        for values, by_change, (gaps, slopes) in zip(places, by_changes, steps, strict=True):
            values[free] += np.linalg.lstsq(slopes, -gaps - by_change @ more, rcond=None)[0]
    return np.where(np.abs(changes) > 0.1 * CLOSED, changes, 0.0)


def _slopes_of_changes(cuts: Sequence[Closure], changes: np.ndarray, at: dict[int, Pose]) -> np.ndarray:
    """Return the derivatives (gaps, 12 * cuts) of the gaps over the changes, by differences."""

    def column(k: int, component: int) -> Iterator[np.ndarray]:
        for sign in (1.0, -1.0):
            change = np.array(changes[k])
            change[component] += sign * STEP
            cut = _changed(cuts[k], change)
            yield gap_between(cut, *sides(cut, at))

    blocks = [[np.subtract(*column(k, component)) / (2.0 * STEP) for component in range(12)] for k in range(len(cuts))]
    result, row = np.zeros((sum(len(block[0]) for block in blocks), changes.size)), 0
    for k, block in enumerate(blocks):
        result[row : row + len(block[0]), 12 * k : 12 * k + 12] = np.transpose(block)
        row += len(block[0])
    return result


def _changed(cut: Closure, change: np.ndarray) -> Closure:
    """Return a cut joint whose frames are shifted and turned, by numbers (12,)."""
    frames = []
    for frame, part in zip((cut.frame_a, cut.frame_b), np.reshape(change, (2, 6)), strict=True):
        turn, position = pose_of(frame)
        frames.append(frame_of((Rotation.from_rotvec(part[3:]).as_matrix() @ turn, position + part[:3])))
    return replace(cut, frame_a=frames[0], frame_b=frames[1])


def _inner(tree: Tree, body: str, frame: Frame) -> Frame:
    """Return a frame of a body of the model in the frame of a body of the file."""
    return frame_of(compose(inverse(tree.bodies[body][1]), pose_of(frame)))
