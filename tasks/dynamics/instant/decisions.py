"""Decision about samples whose friction and reactions do not settle in the kernel: a motion, several, none, or open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from robots.friction.groups import FrictionGroup
from robots.status import Status
from tasks.dynamics.instant.affine_loads import AffineLoads, is_convex
from tasks.dynamics.instant.elimination import TINY
from tasks.dynamics.instant.layout import StateLayout, loaded_joints
from tasks.dynamics.instant.load_search import FoundMotions, LoadSearch, Round
from tasks.dynamics.instant.no_motion import is_refuted
from tasks.kernels.keys import Arrays, Values

Numbers = NDArray[np.float64]

OPEN = (float(Status.FRICTION_NOT_CONVERGED), float(Status.FRICTION_NO_SOLUTION))
"""Statuses of the kernel that a search may better."""


class Decisions(NamedTuple):
    """Status (samples,), and outputs (1, size, samples) of the kernel where it is OK."""

    status: Numbers
    outputs: Arrays


class LoadedMotions(Protocol):
    """Motions of samples with friction, under normal loads that a search tries: `tasks.dynamics.instant.programs`."""

    groups: tuple[FrictionGroup, ...]
    layout: StateLayout

    def under_loads(self, state: Numbers, modes: Numbers, acting: Numbers) -> Round:
        """Return the motions of samples under normal loads that are given."""
        ...


def decide(instant: LoadedMotions, where: Sequence[Numbers], count: int) -> Decisions:
    """Decide about the first `count` samples of `where`: states, modes, external inputs (size, padded samples)."""
    run = instant.under_loads(*where)
    search = LoadSearch(run, count, loaded_joints(instant.groups), instant.layout.at["qd"])
    motions, refuted = search.spread(), np.zeros(count, dtype=bool)
    remaining, models = _follow_models(search, motions, instant, where)
    for sample, model in zip(remaining, models, strict=True):
        refuted[sample] = model is not None and motions.count[sample] == 0.0 and is_refuted(model)
    search.mark_others(motions)
    status = np.where(motions.count > 1.0, float(Status.FRICTION_SEVERAL_SOLUTIONS), 0.0)
    none = np.where(refuted, float(Status.FRICTION_NO_SOLUTION), float(Status.FRICTION_NOT_CONVERGED))
    status[motions.count == 0.0] = none[motions.count == 0.0]
    outputs: Values = {}
    one = np.flatnonzero(motions.count == 1.0)
    if len(one):
        for name, values in run(motions.loads[:, one], one).items():
            outputs[name] = np.full((*values.shape[:-1], count), np.nan)
            outputs[name][..., one] = values[..., : len(one)]
        status[one] = outputs["status"][0, 0, one]
    return Decisions(status, outputs)


def _follow_models(
    search: LoadSearch, motions: FoundMotions, instant: LoadedMotions, where: Sequence[Numbers]
) -> tuple[NDArray[np.int64], list[AffineLoads | None]]:
    """Search from the solutions of affine loads; return the remaining samples, and their models."""
    remaining = np.flatnonzero(motions.count < search.enough)
    models = affine_loads(instant, where, remaining) if len(remaining) else []
    solutions_of = [[] if model is None else model.solutions() for model in models]
    for k in range(max(map(len, solutions_of), default=0)):
        starts = np.full((search.joints, search.count), np.nan)
        for sample, solutions in zip(remaining, solutions_of, strict=True):
            if k < len(solutions):
                starts[:, sample] = solutions[k]
        search.follow(starts, motions)
    return remaining, models


def census(instant: LoadedMotions, where: Sequence[Numbers], count: int) -> tuple[Numbers, Numbers]:
    """Return for the first `count` samples of `where` the number of motions found, and the least residual (samples,).

    The search starts from all places and all affine solutions, to find as many motions as possible; others may exist.
    Residual: relative difference between assumed loads and the loads that result from the motion under them.
    """
    search = LoadSearch(
        instant.under_loads(*where), count, loaded_joints(instant.groups), instant.layout.at["qd"], np.inf
    )
    motions = search.spread()
    _follow_models(search, motions, instant, where)
    return motions.count, motions.residual


def affine_loads(
    instant: LoadedMotions, where: Sequence[Numbers], columns: NDArray[np.int64]
) -> list[AffineLoads | None]:
    """Return the affine loads of samples (columns,); None where friction is not linear in loads.

    where: arrays (size, padded samples) of states, modes and external inputs.
    """
    state, modes, acting = where
    groups = instant.groups
    half, places = len(modes) // 2, np.cumsum([0, *(len(group.places) for group in groups)])
    parts = zip(groups, places[:-1], places[1:], strict=True)
    loaded = np.array([k for group, a, b in parts if group.load == "reaction" for k in range(a, b)])
    still, joints = modes[:half] > 0.5, len(loaded)
    sliding = np.concatenate([np.zeros((half, modes.shape[1])), np.where(still, 1.0, modes[half:])])
    run = instant.under_loads(state, sliding, acting)
    loads = run(np.zeros((joints, len(columns))), columns)["following"][0, :, : len(columns)]
    result: list[AffineLoads | None] = []
    for k, column in enumerate(columns):
        resting, scale = still[:, column], loads[:, k] + loads[:, k].mean() + TINY
        out = run(np.concatenate([np.zeros((joints, 1)), np.diag(scale)], axis=1), np.repeat(column, joints + 1))
        vectors, following, change = (out[name][0, :, : joints + 1].T for name in ("vectors", "following", "change"))
        good = np.isfinite(vectors).all() and np.isfinite(change).all() and is_convex(groups, bool(resting.any()))
        result.append(AffineLoads.of(vectors, following, change, scale, resting[loaded]) if good else None)
    return result
