"""Motions beyond singular points: cases that ended there, integrated again in all joints of the tree.

Coordinates of a platform, or the independent joints of a chain, fail where a limb is stretched or a linkage lies flat.
The mechanism continues to move, and all joints of its tree describe its motion. Cases that ended are integrated once
more from their start by `tasks.dynamics.spanning_tree`, if it supports all their forces. The new motion replaces the
old one if it lasts longer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from robots.status import Status
from tasks.dynamics.motions import ChainMotion, Simulation
from tasks.dynamics.records import AdaptiveSteps, FixedSteps

Moved = ChainMotion | Simulation


class BatchRun(Protocol):
    """The part of `tasks.dynamics.spanning_tree.TreeRun` that is needed here."""

    @property
    def batch(self) -> tuple[int, ...]:
        """Batch dims."""
        ...

    @property
    def is_joint(self) -> bool:
        """True if the cases share a controller, so that none is taken alone."""
        ...

    def of(self, columns: NDArray[np.int64]) -> BatchRun:
        """Return the same of some samples, as one batch dim."""
        ...

    def result(self, clock: FixedSteps | AdaptiveSteps) -> Moved:
        """Return the motion at all kept times."""
        ...


ENDS = (
    Status.SINGULAR, Status.PLATFORM_SINGULAR, Status.CONSTRAINT_SINGULAR, Status.INTEGRATION_FAILED,
    Status.NOT_REACHABLE, Status.WRONG_BRANCH, Status.ILL_CONDITIONED, Status.SINGULARITY_CROSSED, Status.LOOP_OPEN,
)  # fmt: skip
"""Statuses of cases whose coordinates may have ended, and not their motion."""

OVER_TIME = (
    "position", "rotation", "twist", "q", "qd", "friction", "stuck", "memory", "loss", "work", "load_work", "joints",
)  # fmt: skip
"""Fields of a motion that have values at all kept times."""


def passed(motion: Moved, opened: Callable[[], BatchRun], clock: FixedSteps | AdaptiveSteps) -> Moved:
    """Return a motion in which cases that ended continue; opened: function that makes the run of the whole batch."""
    lasting = _lasting(motion)
    ended = np.isin(motion.status, ENDS) & (lasting > 0)
    if not ended.any():
        return motion
    run, columns = opened(), np.flatnonzero(ended)
    one_by_one = bool(run.batch) and not run.is_joint
    beyond = run.of(columns).result(clock) if one_by_one else run.result(clock)
    picked = beyond if one_by_one else _flat(beyond, run.batch, columns)
    longer = _lasting(picked) > lasting.reshape(-1)[columns]
    return _with(motion, picked, columns, longer) if longer.any() else motion


def _lasting(motion: Moved) -> NDArray[np.int64]:
    """Return the number of kept times up to the end of each case (*batch)."""
    speed = motion.qd if isinstance(motion, ChainMotion) else motion.twist
    return np.asarray(np.isfinite(speed).all(axis=-1).sum(axis=0))


def _flat(motion: Moved, batch: tuple[int, ...], columns: NDArray[np.int64]) -> Moved:
    """Return some cases of a motion, as one batch dim."""
    size, dims = int(np.prod(batch, dtype=int)), len(batch)
    parts = {}
    for name in (*OVER_TIME, "status"):
        values = getattr(motion, name, None)
        if values is not None and values.size:
            before = values.shape[: 0 if name == "status" else 1]
            flat = values.reshape(*before, size, *values.shape[len(before) + dims :])
            parts[name] = flat.take(columns, axis=len(before))
    return motion._replace(**parts)


def _with(motion: Moved, beyond: Moved, columns: NDArray[np.int64], longer: NDArray[np.bool_]) -> Moved:
    """Return a motion with other values in cases that last longer; columns: the cases of `beyond`."""
    batch, at = motion.status.shape, columns[longer]
    through = np.zeros(motion.status.size, dtype=bool)
    through[at] = True
    status = motion.status.reshape(-1).copy()
    status[at] = beyond.status[longer]
    parts = {"through": through.reshape(batch), "status": status.reshape(batch)}
    for name in OVER_TIME:
        values, others = getattr(motion, name, None), getattr(beyond, name, None)
        if name == "joints" and others is not None:  # coordinates of the robot do not have them
            values = np.full((len(others), *batch, others.shape[-1]), np.nan)
        if values is not None and others is not None and values.size and others.size:
            flat = values.reshape(len(values), motion.status.size, *values.shape[1 + len(batch) :]).copy()
            flat[:, at] = others[:, longer]
            parts[name] = flat.reshape(values.shape)
    return motion._replace(**parts)
