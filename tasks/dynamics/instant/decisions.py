"""Decision about samples whose friction and reactions do not settle in the kernel: a motion, several, none, or open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robots.status import Status
from tasks.dynamics.instant.affine_loads import affine_loads
from tasks.dynamics.instant.load_search import LoadSearch
from tasks.dynamics.instant.no_motion import is_refuted
from tasks.dynamics.instant.programs import Instant
from tasks.dynamics.instant.systems import loaded_joints
from tasks.kernels.keys import Arrays, Values

Numbers = NDArray[np.float64]

OPEN = (float(Status.FRICTION_NOT_CONVERGED), float(Status.FRICTION_NO_SOLUTION))
"""Statuses of the kernel that a search may better."""


class Decisions(NamedTuple):
    """Status (samples,), and outputs (1, size, samples) of the kernel where it is OK."""

    status: Numbers
    outputs: Arrays


def decide(instant: Instant, where: Sequence[Numbers], count: int) -> Decisions:
    """Decide about the first `count` samples of `where`: states, modes and what acts (size, padded samples)."""
    run, joints = instant.under_loads(*where), loaded_joints(instant.groups)
    search = LoadSearch(run, count, joints, instant.layout.at["qd"])
    motions, refuted = search.spread(), np.zeros(count, dtype=bool)
    remaining = np.flatnonzero(motions.count < 2.0)
    models = affine_loads(instant, where, remaining) if len(remaining) else []
    found = [[] if model is None else model.solutions() for model in models]
    for k in range(max(map(len, found), default=0)):
        starts = np.full((joints, count), np.nan)
        for sample, solutions in zip(remaining, found, strict=True):
            if k < len(solutions):
                starts[:, sample] = solutions[k]
        search.follow(starts, motions)
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
