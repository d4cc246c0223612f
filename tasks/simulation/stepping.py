"""Error control of simulated cases: steps are cut in halves, case by case, until the estimate meets a tolerance.

All steps of a case stay alike, so that times of controllers and of stored instants are met, and the bits of a case do
not depend on its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from robots.status import Status
from tasks.kernels.kernel import padded
from tasks.simulation.runner import Outcome, SimulatedBatch

FINEST = 256
"""Parts that a step is cut into at most."""

OF_STEPS = (Status.DIVERGED, Status.INTEGRATION_FAILED)
"""What shorter steps may cure."""

Judge = Callable[[Outcome, Outcome], tuple[np.ndarray, np.ndarray]]
"""The error of a run, and the same as a share, from it and one at half its step; see `accuracy.integration_error`."""


@dataclass(frozen=True)
class AcceptedCases:
    """Cases by number (case,), their outcome, error and its share (case,), and in how many parts steps were cut."""

    cases: np.ndarray
    outcome: Outcome
    error: np.ndarray
    share: np.ndarray
    substeps: int


def accepted(
    batch: Callable[[np.ndarray], SimulatedBatch], cases: np.ndarray, judge: Judge, tolerance: float
) -> Iterator[AcceptedCases]:
    """The cases of these numbers, in groups: those whose error is at most the tolerance, at the longest step that is.

    batch: the cases of some numbers, as many as fill whole groups of lanes. A case that does not meet it at FINEST has
    the status INTEGRATION_FAILED at all times. One that has come to its end for a reason that steps do not cure is
    taken as it is.
    """
    simulation, substeps = batch(_filled(cases)), 1
    outcome = simulation.run()
    while True:
        finer = simulation.run(2 * substeps)
        error, share = judge(outcome, finer)
        worst = outcome.status.max(axis=0)
        cured = (worst != Status.OK) & ~np.isin(worst, OF_STEPS)
        good = ((error <= tolerance) | cured)[: len(cases)]
        for chosen, failed in ((good, False), (~good & (substeps == FINEST), True)):
            if chosen.any():
                at = np.flatnonzero(chosen)
                part = outcome.part(at)
                yield AcceptedCases(cases[at], _failed(part) if failed else part, error[at], share[at], substeps)
        if good.all() or substeps == FINEST:
            return
        left = _filled(np.flatnonzero(~good))
        cases, outcome, substeps = cases[~good], finer.part(left), 2 * substeps
        simulation = batch(_filled(cases))


def _filled(cases: np.ndarray) -> np.ndarray:
    """Whole groups of lanes, the last case once more as often as is needed."""
    return np.concatenate([cases, np.repeat(cases[-1:], padded(len(cases)) - len(cases))])


def _failed(outcome: Outcome) -> Outcome:
    """An outcome without numbers, whose status says that the integration has failed where nothing else did."""
    status = np.where(outcome.status == Status.OK, np.int8(Status.INTEGRATION_FAILED), outcome.status)
    series = {name: np.full_like(values, np.nan) for name, values in outcome.series.items()}
    tallies = {
        name: values if name == "lost_steps" else np.full_like(values, np.nan)
        for name, values in outcome.tallies.items()
    }
    return replace(outcome, series=series, status=status, tallies=tallies)
