"""Cut-body formulation of a loop, for floats: the screws of all its joints add up to nothing.

The second way to what `tasks.mechanics.loops` does with a cut joint: nothing is cut, so the variables of the cut
joint are unknowns too, and a loop has six conditions, redundant ones among them. Used to check the first way, and to
look at a loop's freedoms. Screws are (angular, linear) of the point at the origin of the loop's root, in its axes.
Source: hybrid-limb paper, section 3.4, Eqs. (50), (58)-(60), (73), (74).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg

from robots.joint_kinds import JOINT_KINDS
from tasks.mechanics.cut_joints import Joined
from tasks.mechanics.kinematics import columns
from tasks.mechanics.leads import lead_slope
from tasks.mechanics.loops import SolvedLoop

RANK_TOLERANCE = 1e-9


class LoopError(ValueError):
    """Independent joints that do not determine the others. The text says how many do."""


def loop_screws(loop: SolvedLoop) -> np.ndarray:
    """Screws (6, joints) of a closed loop: side a, side b against its sense, the cut joint. Eqs. (50), (61)."""
    sides = ((loop.choice.side_a, 1.0), (loop.choice.side_b, -1.0))
    found = []
    for side, sign in sides:
        along = columns(loop.limb.links, loop.at, side, np.zeros(3))
        found += [sign * np.concatenate(along[joint]) for joint in side]
    return np.array([*found, *_cut_screws(loop.joined)], dtype=float).T


def _cut_screws(joined: Joined) -> list[np.ndarray]:
    """Motions of body b relative to body a that the cut joint allows."""
    axes = {"a": joined.a.axes, "b": joined.b.axes}
    screws = []
    for freedom in JOINT_KINDS[joined.kind].freedoms:
        axis = axes[freedom.side][:, freedom.axis]
        screw = np.concatenate([axis, np.cross(joined.b.origin, axis)]) if freedom.turns else np.zeros(6)
        screw[3:] += axis * lead_slope(freedom, joined.kind, joined.pitch, joined.position())
        screws.append(screw)
    return screws


def rank(screws: np.ndarray) -> int:
    """Dimension of the motion that screws (6, joints) span, by a factorisation with pivots."""
    sizes = np.abs(np.diag(scipy.linalg.qr(screws, mode="r", pivoting=True)[0]))
    return int((sizes > RANK_TOLERANCE * sizes[0]).sum())


def independent_joints(screws: np.ndarray) -> tuple[int, ...]:
    """A choice of independent joints: those whose screws the pivots leave for last, as they depend on the others."""
    order = scipy.linalg.qr(screws, mode="r", pivoting=True)[1]
    return tuple(sorted(int(k) for k in order[rank(screws) :]))


def _split(screws: np.ndarray, independent: Sequence[int]) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Dependent joints, their screws and those of the independent ones. Raises LoopError."""
    dependent = [k for k in range(screws.shape[1]) if k not in independent]
    g_z, g_q = screws[:, dependent], screws[:, list(independent)]
    if not rank(g_z) == len(dependent) == rank(screws):
        freedoms = screws.shape[1] - rank(screws)
        raise LoopError(
            f"independent joints {tuple(independent)}: got {len(independent)} that leave dependent screws of rank "
            f"{rank(g_z)} for {len(dependent)} joints; expected {freedoms} that determine the others; "
            f"try {independent_joints(screws)}"
        )
    return dependent, g_z, g_q


def embedding(screws: np.ndarray, independent: Sequence[int]) -> np.ndarray:
    """H (joints, independent) with all rates = H times independent rates, by orthogonal factors. Eqs. (73), (74).

    Raises LoopError where the independent joints do not determine the others.
    """
    dependent, g_z, g_q = _split(screws, independent)
    q, r = np.linalg.qr(g_z)
    return _assembled(dependent, independent, -scipy.linalg.solve_triangular(r, q.T @ g_q))


def reciprocal_screws(screws: np.ndarray, independent: Sequence[int]) -> np.ndarray:
    """W (dependent, 6): each does work on one of the dependent screws only, as (moment, force). Eq. (59).

    Of all such wrenches the one that is nearest to the screw. Raises LoopError.
    """
    _, g_z, _ = _split(screws, independent)
    rows = []
    for j, screw in enumerate(g_z.T):
        others = np.delete(g_z, j, axis=1)
        blind = scipy.linalg.null_space(others.T) if others.size else np.eye(6)  # wrenches that the others do not feel
        rows.append(blind @ (blind.T @ screw))
    return np.array(rows)


def embedding_by_reciprocal_screws(screws: np.ndarray, independent: Sequence[int]) -> np.ndarray:
    """H as `embedding` gives it, one scalar division for each dependent joint. Eq. (60). Raises LoopError."""
    dependent, g_z, g_q = _split(screws, independent)
    w = reciprocal_screws(screws, independent)
    work = np.sum(w * g_z.T, axis=1)
    return _assembled(dependent, independent, -(w @ g_q) / work[:, None])


def _assembled(dependent: Sequence[int], independent: Sequence[int], answers: np.ndarray) -> np.ndarray:
    result = np.zeros((len(dependent) + len(independent), len(independent)))
    result[list(dependent)] = answers
    result[list(independent)] = np.eye(len(independent))
    return result
