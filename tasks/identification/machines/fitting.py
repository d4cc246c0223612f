"""From rows of recordings to the parameters of a machine: estimate, deviations, residuals by recording and actuator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from robots.parameters import ParameterError, nearest
from tasks.identification import estimators
from tasks.identification.base import BaseParameters
from tasks.identification.columns import Column
from tasks.identification.machines import residuals as statistics
from tasks.identification.machines.coupled import FRICTION, STEPS, settled
from tasks.identification.machines.machine import TRAIN, RecordedMachine
from tasks.identification.machines.model import finite
from tasks.identification.machines.motion import robot_motion
from tasks.identification.machines.preparation import Prepared
from tasks.identification.machines.residuals import FitRows, LackOfFit, Whiteness
from tasks.identification.machines.rows import Run, thinned

METHODS = (*estimators.ESTIMATORS,)
UNWEIGHTED = ("least_squares", "total_least_squares")
"""Estimators that take all rows for equal, whatever the noise of their actuators."""
FOLDS = 5
"""Parts of the time that a cross-validation predicts, each from the others."""
WEAK = 0.3
"""Relative standard deviation beyond which a parameter counts as not told by the data."""


@dataclass(frozen=True)
class MachineFit:
    """Parameters of a machine from recordings, and all that says how good they are.

    base: which combinations; kept: numbers of those that are estimated, the others are set to zero as the data do not
    tell them; values, deviations (kept,): deviations for correlated noise; plain: deviations as if noise were white;
    condition: of the weighted regressor with columns of length one, raw: as it is; noise (actuator,) [N m or N];
    errors: by recording the residuals relative to the forces; whiteness by actuator; independent: of how many
    independent rows residuals tell as much, of `rows`; lacks: tests of what the model may lack; used: rows that
    deviations are of, weighted as the estimate is.
    """

    base: BaseParameters
    columns: tuple[Column, ...]
    kept: tuple[int, ...]
    values: np.ndarray
    deviations: np.ndarray
    plain: np.ndarray
    condition: float
    raw_condition: float
    noise: np.ndarray
    errors: Mapping[str, float]
    actuator_errors: Mapping[str, np.ndarray]
    whiteness: tuple[Whiteness, ...]
    independent: float
    rows: int
    lacks: tuple[LackOfFit, ...]
    method: str
    weights: np.ndarray
    runs: tuple[Run, ...] = field(repr=False, default=())
    used: tuple[FitRows, ...] = field(repr=False, default=())

    @property
    def names(self) -> tuple[str, ...]:
        """What each estimated parameter is, in words."""
        return tuple(self.base.grouping(k) for k in self.kept)

    @property
    def all_values(self) -> np.ndarray:
        """Values of all base parameters; zero for those that are not estimated."""
        result = np.zeros(self.base.count)
        result[list(self.kept)] = self.values
        return result

    def predicted(self, run: Run) -> np.ndarray:
        """Forces (samples, actuator) of a recording as the parameters have them."""
        return run.predicted(self.base, self.all_values)

    def with_deviations(self, kind: str) -> MachineFit:
        """The fit with another estimate of its standard deviations, see `residuals.deviations`."""
        return replace(self, deviations=statistics.deviations(self.used, self.values, kind))

    @property
    def weak(self) -> tuple[str, ...]:
        """Parameters whose deviation is large beside them: those that the motions tell little of."""
        large = self.deviations > WEAK * np.abs(self.values)
        return tuple(name for name, is_weak in zip(self.names, large, strict=True) if is_weak)


def with_coupled_friction(machine: RecordedMachine, method: str = "weighted") -> RecordedMachine:
    """The machine linearised where its recordings say, if reactions load its friction: Gauss and Newton's steps.

    Raises ParameterError where these do not settle.
    """
    if machine.model.coupled(machine.robot) is None:
        return machine
    start = np.array(machine.point or machine.base.of(machine.nominal))

    def estimate(point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        fit = fit_machine(machine if point is start else machine.at(point), method)
        values, deviations = point.copy(), np.full(len(point), np.inf)
        values[list(fit.kept)], deviations[list(fit.kept)] = fit.values, fit.plain
        return values, deviations

    rubbing = [machine.columns[k].owner.startswith(FRICTION) for k in machine.base.independent]
    if (point := settled(start, estimate, rubbing)) is not None:
        return machine.at(point)
    raise ParameterError(
        f"model.joints: friction loaded by reactions did not settle within {STEPS} steps; expected recordings that "
        "tell it; give more motion, or load: constant"
    )


def fit_machine(
    machine: RecordedMachine,
    method: str = "weighted",
    *,
    eliminate: bool = False,
    instruments: Sequence[Run] | None = None,
) -> MachineFit:
    """Estimate the parameters of a machine from its recordings for training.

    eliminate: leave out parameters that the data do not tell, one after another. instruments: runs of the same rows
    along motions without noise; rows are then weighted by actuator, whatever the method. Raises ParameterError.
    """
    if method not in METHODS:
        raise ParameterError(f"method: got {method!r}; expected an estimator; {nearest(method, METHODS)}")
    training = machine.of(TRAIN)
    if not training:
        raise ParameterError("recordings: got none for training; expected at least one with the role train")
    base, actuators = machine.base, len(machine.robot.mechanism.actuators)
    parts = [run.rows(base) for run in training]
    matrix, forces = statistics.stacked(parts)
    labels = statistics.actuators_of(parts)
    kept = statistics.independent_columns(matrix)
    if len(forces) <= len(kept):
        raise ParameterError(
            f"recordings: {len(forces)} rows for {len(kept)} parameters; expected more; give longer recordings"
        )

    def solved(chosen: Sequence[int]) -> tuple[estimators.Estimate, list[FitRows]]:
        own = [_columns(part, chosen) for part in parts]
        if instruments is None:
            return estimators.estimate(method, matrix[:, list(chosen)], forces, labels), own
        return _instrumental(own, [_columns(run.rows(base), chosen) for run in instruments], labels)

    found, rows = solved(kept)
    while eliminate and len(kept) > 1:
        weighted, _ = _weighted(rows, found.values)
        spread = statistics.deviations(weighted, found.values)
        worst = int(np.argmax(spread / np.maximum(np.abs(found.values), np.finfo(float).tiny)))
        trial = [k for place, k in enumerate(kept) if place != worst]
        if not _may_go(found.values[worst], spread[worst]):
            break
        kept = trial
        found, rows = solved(kept)
    weighted, noise = _weighted(rows, found.values)
    stacked, _ = statistics.stacked(weighted)
    # deviations are those of the estimate, whose rows are weighted or not
    used = rows if method in UNWEIGHTED and instruments is None else weighted
    residuals = [part.residuals(found.values) for part in weighted]
    whole = np.zeros(base.groups.shape[0])
    whole[kept] = found.values
    errors, by_actuator = unexplained(machine.runs, base, whole)
    return MachineFit(
        base=base,
        columns=machine.columns,
        kept=tuple(kept),
        values=found.values,
        deviations=statistics.deviations(used, found.values),
        plain=found.deviations,
        condition=estimators.condition_number(stacked),
        raw_condition=float(np.linalg.cond(matrix[:, kept])),
        noise=noise,
        errors=errors,
        actuator_errors=by_actuator,
        whiteness=tuple(statistics.whiteness(residuals, k) for k in range(actuators)),
        independent=statistics.independent_rows(residuals),
        rows=len(forces),
        lacks=(),
        method=method,
        weights=1.0 / noise,
        runs=machine.runs,
        used=tuple(used),
    )


def _instrumental(
    parts: Sequence[FitRows], instruments: Sequence[FitRows], labels: np.ndarray
) -> tuple[estimators.Estimate, list[FitRows]]:
    """Least squares in two stages: the matrix projected on instruments, which errors of the motion do not touch."""
    matrix, forces = statistics.stacked(parts)
    seen = statistics.stacked(instruments)[0]
    values = estimators.estimate("weighted", matrix, forces, labels).values
    solution = estimators.Estimate(values, values, np.nan, np.nan)
    for _ in range(2):
        noise = _weighted(parts, solution.values)[1][labels]
        sizes = np.linalg.norm(seen / noise[:, None], axis=0)
        mixing = np.linalg.lstsq(seen / noise[:, None] / sizes, matrix / noise[:, None], rcond=None)[0] / sizes[:, None]
        solution = estimators.estimate("least_squares", seen @ mixing / noise[:, None], forces / noise)
        left = forces - matrix @ solution.values
        solution = estimators.Estimate(
            solution.values,
            solution.deviations,
            solution.condition,
            float(np.sqrt(np.mean(left**2))),
            solution.iterations,
        )
    return solution, [part.on(of.matrix @ mixing) for part, of in zip(parts, instruments, strict=True)]


def unexplained(
    runs: Sequence[Run], base: BaseParameters, values: np.ndarray
) -> tuple[dict[str, float], dict[str, np.ndarray]]:
    """Residuals relative to forces by recording, of all rows and (actuator,); values of all base parameters."""
    errors, by_actuator = {}, {}
    for run in runs:
        predicted, good = run.predicted(base, values), run.good
        errors[run.recording.name] = relative(run.forces[good], predicted[good])
        by_actuator[run.recording.name] = np.array(
            [
                relative(run.forces[good[:, k], k], predicted[good[:, k], k]) if good[:, k].any() else np.nan
                for k in range(good.shape[1])
            ]
        )
    return errors, by_actuator


def raw_error(machine: RecordedMachine, recording: Prepared, fit: MachineFit) -> float:
    """Residuals over forces as they were recorded: no filter on either side, actuators at rest counted.

    At one of a few samples, see `run_of`; what is no number or cannot be reached is left out.
    """
    thin = thinned(recording)[0]
    motion = thin.position, thin.velocity, thin.acceleration
    matrix, remainder = machine.rows_of(recording)(robot_motion(machine.robot, thin), motion)
    predicted = machine.base.reduced(matrix) @ fit.all_values + remainder
    good = finite(predicted) & thin.usable
    return relative(thin.force[good], predicted[good])


def cross_validated(machine: RecordedMachine, fit: MachineFit) -> float:
    """Residuals over forces of the training recordings, each part of the time by parameters from the other parts.

    Parts are in one piece, so that noise that is correlated tells nothing of its neighbours. NaN where the others do
    not tell the parameters.
    """
    parts = [_columns(run.rows(fit.base), fit.kept) for run in machine.of(TRAIN)]
    method = fit.method if fit.method in METHODS else "weighted"
    left, whole = 0.0, 0.0
    for fold in range(FOLDS):
        inside = [np.arange(len(part.forces)) * FOLDS // len(part.forces) == fold for part in parts]
        others = [replace(part, good=part.good & ~now[:, None]) for part, now in zip(parts, inside, strict=True)]
        matrix, forces = statistics.stacked(others)
        if len(statistics.independent_columns(matrix)) < matrix.shape[1]:
            return np.nan
        values = estimators.estimate(method, matrix, forces, statistics.actuators_of(others)).values
        for part, run, now in zip(parts, machine.of(TRAIN), inside, strict=True):
            good = part.good & now[:, None]
            left += float(np.sum(replace(part, good=good).residuals(values) ** 2))
            whole += float(np.sum(run.forces[good] ** 2))
    return float(np.sqrt(left / whole)) if whole else np.nan


def _may_go(value: float, deviation: float) -> bool:
    """Whether a parameter may be zero: within two deviations."""
    return abs(value) < 2.0 * deviation


def relative(forces: np.ndarray, predicted: np.ndarray) -> float:
    """Norm of the residuals over that of the forces."""
    size = float(np.linalg.norm(forces))
    return float(np.linalg.norm(forces - predicted)) / size if size else np.nan


def _columns(part: FitRows, kept: Sequence[int]) -> FitRows:
    return FitRows(part.matrix[:, :, list(kept)], part.forces, part.good)


def weighted_rows(machine: RecordedMachine, fit: MachineFit) -> list[FitRows]:
    """Rows of the recordings for training over the noise of their actuator, in the columns that are estimated."""
    parts = [_columns(run.rows(fit.base), fit.kept) for run in machine.of(TRAIN)]
    return _weighted(parts, fit.values)[0]


def _weighted(parts: Sequence[FitRows], values: np.ndarray) -> tuple[list[FitRows], np.ndarray]:
    """Rows over the noise of their actuator, and that noise (actuator,)."""
    residuals = np.concatenate([part.residuals(values) for part in parts])
    counts = np.sum([part.good.sum(axis=0) for part in parts], axis=0)
    noise = np.sqrt(np.sum(residuals**2, axis=0) / np.maximum(counts, 1))
    noise = np.maximum(noise, np.finfo(float).eps * max(float(np.abs(residuals).max()), 1.0))
    weighted = []
    for part in parts:
        measured = None if part.measured is None else part.measured / noise[:, None]
        weighted.append(FitRows(part.matrix / noise[:, None], part.forces / noise, part.good, measured))
    return weighted, noise
