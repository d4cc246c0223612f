"""Error of a simulation's steps, and steps that are cut until it is within a tolerance.

The error is estimated from a second run at half the step, by Richardson's rule (`integration_error`). Steps are cut in
halves, case by case, until the estimate meets a tolerance. All steps of a case stay equal, so that times of controllers
and of stored instants are met, and the bits of a case do not depend on its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from robots.data_classes import dataclass, replace
from robots.status import Status
from tasks.kernels.kernel import padded
from tasks.sources.runner import Outcome, SimulatedBatch

ORDER = {"rk4": 4, "euler": 1, "semi_implicit": 1, "rosenbrock": 2, "spanning_tree": 4}
"""Orders of the methods of `tasks.dynamics.step_methods` and `tasks.dynamics.spanning_tree`."""


def integration_error(run: Outcome, finer: Outcome, method: str, chain: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest position error over the kept instants [m or rad], and the same as a share; (samples,).

    For a chain it is the error of its independent joints; for a platform the error of its position and orientation. The
    share is relative to the largest distance from the start in the same measure; 0 without an error. NaN if the run
    ended early; infinite if only the finer run did, as there is no estimate then. Source: Hairer, Norsett and Wanner
    1993, Solving Ordinary Differential Equations I, section II.4.
    """
    factor = 2.0 ** ORDER[method]
    coarse, fine = run.series["motion"], finer.series["motion"]
    error = _distance(coarse, fine, chain).max(axis=0) * (factor / (factor - 1.0))
    reach = _distance(coarse, np.broadcast_to(coarse[:1], coarse.shape), chain).max(axis=0)
    error = np.where(np.isnan(error) & np.isfinite(reach), np.inf, error)
    share = np.where(error == 0.0, 0.0, error / np.where(reach == 0.0, np.finfo(float).tiny, reach))
    return error, share


def _distance(first: np.ndarray, second: np.ndarray, chain: bool) -> np.ndarray:
    """Compute the distance in position (kept, samples) between motion inputs (kept, size, samples)."""
    if chain:
        free = first.shape[1] // 3
        return np.asarray(np.abs(first[:, :free] - second[:, :free]).max(axis=1))
    apart = np.sqrt(((first[:, :3] - second[:, :3]) ** 2).sum(axis=1))
    if first.shape[1] == 9:
        return np.asarray(apart)
    turned = np.sqrt(0.5 * ((first[:, 3:12] - second[:, 3:12]) ** 2).sum(axis=1))
    return np.asarray(np.maximum(apart, turned))


FINEST = 256
"""Parts that a step is cut into at most."""

OF_STEPS = (Status.DIVERGED, Status.INTEGRATION_FAILED)
"""Statuses that shorter steps may cure."""

Judge = Callable[[Outcome, Outcome], tuple[np.ndarray, np.ndarray]]
"""The error of a run, and the same as a share, from it and one at half its step; see `integration_error`."""


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
    """Yield the cases of these numbers in groups, at the longest step whose error is within the tolerance.

    batch: the cases of some numbers, which fill whole groups of lanes. A case that exceeds the tolerance at FINEST has
    the status INTEGRATION_FAILED at all times. A case that has ended for a reason that shorter steps do not change is
    accepted.
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
    """Return whole groups of lanes, filled up by repeating the last case."""
    return np.concatenate([cases, np.repeat(cases[-1:], padded(len(cases)) - len(cases))])


def _failed(outcome: Outcome) -> Outcome:
    """Return an outcome with NaN results; cases with status OK get the status INTEGRATION_FAILED."""
    status = np.where(outcome.status == Status.OK, np.int8(Status.INTEGRATION_FAILED), outcome.status)
    series = {name: np.full_like(values, np.nan) for name, values in outcome.series.items()}
    tallies = {
        name: values if name == "lost_steps" else np.full_like(values, np.nan)
        for name, values in outcome.tallies.items()
    }
    return replace(outcome, series=series, status=status, tallies=tallies)
