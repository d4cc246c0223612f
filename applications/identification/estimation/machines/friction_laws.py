"""Friction laws compared by held-out error: each part of the time is predicted by parameters from the others.

The laws are that of the fit, those with fewer columns, and those with a few more: each adds columns to the rows of the
fit, for all actuators at once. Bodies and friction are estimated together. Sums of products of each part of the time
are enough for all laws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from applications.identification.estimation.machines.fitting import FOLDS, MachineFit
from applications.identification.estimation.machines.machine import TRAIN, RecordedMachine
from applications.identification.estimation.machines.run import Run, thinning
from robots.data_classes import dataclass

NEAR = (0.01, 0.03)
"""Ways from a reversal over that of the whole motion, on which presliding fades."""
SLOW = (0.05, 0.2)
"""Speeds over the largest one, on which the Stribeck effect fades."""
RANK = 1e-12
"""Eigenvalue over the largest one of scaled columns, below which it counts as zero."""
BETTER = 0.9
"""Held-out error over that of the fit's law, below which another law is named."""


@dataclass(frozen=True)
class AxisSeries:
    """Position, velocity, force and time, centred and over its length, of one actuator (samples,)."""

    position: np.ndarray
    velocity: np.ndarray
    force: np.ndarray
    time: np.ndarray


@dataclass(frozen=True)
class LawTrial:
    """Friction law, and the share of the forces that it leaves of parts of the time that were held out."""

    law: str
    error: float

    def __str__(self) -> str:
        """Return law and error in words."""
        return f"{self.law} {self.error:.2%}"


def after_reversals(position: np.ndarray, velocity: np.ndarray) -> list[np.ndarray]:
    """Return factors (samples,) that fade over the way from the last reversal, one for each of NEAR."""
    turned = np.flatnonzero(np.diff(np.sign(velocity)) != 0) + 1
    place = np.searchsorted(turned, np.arange(len(position)), side="right") - 1
    reversal = position[turned[np.maximum(place, 0)]] if len(turned) else np.full(len(position), np.inf)
    way = np.where(place >= 0, np.abs(position - reversal), np.inf)
    size = max(float(np.ptp(position)), 1e-12)
    return [np.exp(-way / (share * size)) for share in NEAR]


def _stribeck(series: AxisSeries) -> list[np.ndarray]:
    relative = series.velocity / (float(np.abs(series.velocity).max()) or 1.0)
    return [np.sign(relative) * np.exp(-((relative / share) ** 2)) for share in SLOW]


def _presliding(series: AxisSeries) -> list[np.ndarray]:
    return [np.sign(series.velocity) * fading for fading in after_reversals(series.position, series.velocity)]


MORE: Mapping[str, Callable[[AxisSeries], list[np.ndarray]]] = {
    "asymmetric": lambda s: [(s.velocity > 0).astype(float), np.abs(s.velocity)],
    "stribeck": _stribeck,
    "load": lambda s: [np.sign(s.velocity) * np.abs(s.force)],
    "temperature": lambda s: [np.sign(s.velocity) * s.time, s.velocity * s.time],
    "presliding": _presliding,
}
"""Columns that a law adds for each actuator."""
FEWER: Mapping[str, tuple[str, ...]] = {"none": ("coulomb", "viscous"), "viscous": ("coulomb",)}
"""Columns that a law lacks."""


def law_trials(machine: RecordedMachine, fit: MachineFit) -> tuple[LawTrial, ...]:
    """Return the laws with their held-out errors, that of the fit first.

    None where friction is coupled with reactions, where a part of the time does not tell the parameters, and for fits
    whose residuals are not those of these rows.
    """
    runs = machine.of(TRAIN)
    if machine.model.coupled(machine.robot) is not None or any(part.measured is not None for part in fit.used):
        return ()
    of_fit = np.arange(len(fit.kept))
    names = [fit.base.names[fit.base.independent[k]] for k in fit.kept]
    blocks = {law: _columns_of(runs, columns) for law, columns in MORE.items()}
    widths = {law: parts[0].shape[2] for law, parts in blocks.items()}
    rows = [np.concatenate(parts, axis=2) for parts in zip(*blocks.values(), strict=True)]
    folds = list(_folds(runs, rows, fit))
    columns_of_law = {str(machine.model.friction): of_fit}
    for law, lacking in FEWER.items():
        kept = of_fit[[not name.endswith(lacking) for name in names]]
        if law != machine.model.friction and len(kept) < len(of_fit):
            columns_of_law[law] = kept
    first = len(of_fit)
    for law, width in widths.items():
        if law != machine.model.friction:
            columns_of_law[law] = np.concatenate([of_fit, first + np.arange(width)])
        first += width
    errors = {law: _held_out(folds, columns) for law, columns in columns_of_law.items()}
    if not np.isfinite(errors[str(machine.model.friction)]):
        return ()
    return tuple(LawTrial(law, error) for law, error in errors.items() if np.isfinite(error))


def comparison(trials: Sequence[LawTrial]) -> str:
    """Return the trials in words, with the law that is clearly better than that of the fit."""
    text = ", ".join(map(str, trials))
    least = min(trials, key=lambda trial: trial.error)
    return f"{text}: {least.law} is better" if least.error < BETTER * trials[0].error else text


def _columns_of(runs: Sequence[Run], columns: Callable[[AxisSeries], list[np.ndarray]]) -> list[np.ndarray]:
    """Return the columns (samples, actuator, column) of each recording, through its filter; each is of one actuator."""
    result = []
    for run in runs:
        recording = run.recording
        samples, count = run.numbers * thinning(recording), recording.force.shape[1]
        time = recording.time
        centred = (time - time.mean()) / max(float(np.ptp(time)), 1e-12)
        force = recording.filtered(recording.force)
        parts = []
        for k in range(count):
            series = AxisSeries(recording.position[:, k], recording.velocity[:, k], force[:, k], centred)
            shapes = np.stack([recording.filtered(shape)[samples] for shape in columns(series)], axis=1)
            parts.append(np.eye(count)[k][:, None] * shapes[:, None])
        result.append(np.concatenate(parts, axis=2))
    return result


def _folds(runs: Sequence[Run], more: Sequence[np.ndarray], fit: MachineFit) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield sums of products of all columns and the forces for each part of the time: weighted rows, and as they are.

    Rows are weighted over the noise of their actuator.
    """
    for fold in range(FOLDS):
        products = [np.zeros((0, 0))] * 2
        for run, columns in zip(runs, more, strict=True):
            part = run.rows(fit.base)
            inside = part.good & (np.arange(len(part.good)) * FOLDS // len(part.good) == fold)[:, None]
            of_fit = part.matrix[:, :, list(fit.kept)]
            rows = np.concatenate([of_fit, columns, part.forces[..., None]], axis=2)[inside]
            weights = np.broadcast_to(1.0 / fit.noise, inside.shape)[inside]
            sums = [(rows * weights[:, None] ** power).T @ (rows * weights[:, None] ** power) for power in (1, 0)]
            products = sums if not products[0].size else [a + b for a, b in zip(products, sums, strict=True)]
        yield products[0], products[1]


def _held_out(folds: Sequence[tuple[np.ndarray, np.ndarray]], columns: np.ndarray) -> float:
    """Return the share of the forces that is not explained of parts of the time; NaN where others do not tell it."""
    squares = whole = 0.0
    for held, (_, plain) in enumerate(folds):
        weighted = np.sum([fold[0] for number, fold in enumerate(folds) if number != held], axis=0)
        normal = weighted[np.ix_(columns, columns)]
        sizes = np.sqrt(np.diag(normal))
        if not (sizes > 0.0).all():
            return np.nan
        powers, directions = np.linalg.eigh(normal / np.outer(sizes, sizes))
        is_told = powers > RANK * powers[-1]
        along = directions[:, is_told].T @ (weighted[columns, -1] / sizes)
        values = directions[:, is_told] @ (along / powers[is_told]) / sizes
        forces = float(plain[-1, -1])
        squares += forces - 2.0 * float(values @ plain[columns, -1])
        squares += float(values @ plain[np.ix_(columns, columns)] @ values)
        whole += forces
    return float(np.sqrt(max(squares, 0.0) / whole)) if whole else np.nan
