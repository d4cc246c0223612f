"""Dependence of a fit on its preparation: bias by noise of positions, and change of the answer with the cutoff.

Noise of positions is in the regressor as well, so that least squares are biased: by -(Y' Y)^-1 E[dY' dY + Y' ddY] b for
parameters b and first and second order errors dY, ddY of the regressor. These follow from noise as large as that of the
positions, put on the motion with both signs. Source: Soderstrom 2018, for errors in variables.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from applications.identification.estimation.encoders import finite
from applications.identification.estimation.machines.fitting import MachineFit, fit_machine
from applications.identification.estimation.machines.machine import TRAIN, RecordedMachine
from applications.identification.estimation.machines.preparation import Prepared, filtered_motion
from applications.identification.estimation.machines.recorded_motion import robot_motion
from applications.identification.estimation.machines.run import Run, thinned
from robots.data_classes import dataclass, replace
from tasks.mathematics.signals import rate

PIECE = 2500
"""Samples of a recording, in one piece, whose regressor is computed with noise, at most."""
FACTORS = (0.7, 1.4)
"""Other cutoffs that are tried, over the one that was taken."""
MOVED = 3.0
"""Change with the cutoff over its deviation from which a parameter is named."""


def with_bias(machine: RecordedMachine, fit: MachineFit) -> MachineFit:
    """Return the fit with the bias by noise of positions, which its deviations count."""
    bias = noise_bias(machine, fit)
    return replace(fit, bias=bias, deviations=np.hypot(fit.deviations, bias))


def noise_bias(machine: RecordedMachine, fit: MachineFit) -> np.ndarray:
    """Return the bias (kept,) of the estimated parameters by the noise of positions in the recordings for training."""
    random, places = np.random.default_rng(0), list(fit.kept)
    normal = np.zeros((len(places), len(places)))
    errors = np.zeros((len(places), len(places)))
    for run in machine.of(TRAIN):
        weighted = machine.base.reduced(run.matrix)[:, :, places] / fit.noise[:, None]
        rows = weighted[run.good]
        normal += rows.T @ rows
        if run.recording.noise is None or not run.recording.noise.position.any():
            continue
        part, count = _errors(machine, run, random, fit)
        errors += part * (run.good.sum() / max(count, 1))
    sizes = np.sqrt(np.maximum(np.diag(normal), np.finfo(float).tiny))
    scaled = normal / sizes / sizes[:, None]
    return np.asarray(-np.linalg.lstsq(scaled, errors @ fit.values / sizes, rcond=1e-12)[0] / sizes)


def _errors(machine: RecordedMachine, run: Run, random: np.random.Generator, fit: MachineFit) -> tuple[np.ndarray, int]:
    """Return the sum of dY' dY + Y' ddY (kept, kept) over the rows of a piece of a recording, and their number."""
    thin, samples = thinned(run.recording)
    noise = _noise(run.recording, random)[samples]
    first = max((len(samples) - PIECE) // 2, 0)
    piece = slice(first, first + PIECE)
    rows = [
        machine.base.reduced(_matrix(machine, run.recording, _moved(thin, noise * sign, piece)))[:, :, list(fit.kept)]
        / fit.noise[:, None]
        for sign in (-1.0, 0.0, 1.0)
    ]
    good = (finite(np.concatenate(rows, axis=2)) & thin.usable[piece])[:, None] & ~thin.resting[piece]
    ends = min(round(2.0 / (thin.filter[0] * thin.step)), len(good) // 4)
    good[:ends] = good[len(good) - ends :] = False
    less, plain, more = (part[good] for part in rows)
    first_order, second_order = 0.5 * (more - less), 0.5 * (more + less) - plain
    return first_order.T @ first_order + plain.T @ second_order, len(plain)


def _noise(recording: Prepared, random: np.random.Generator) -> np.ndarray:
    """Return noise (samples, actuator) as large as that of the positions, through their filter."""
    assert recording.noise is not None, "recordings without noise have no bias"
    return recording.filtered(random.normal(size=recording.position.shape) * recording.noise.position)


def _moved(thin: Prepared, noise: np.ndarray, piece: slice) -> Prepared:
    """Return a piece of a recording with noise (samples, actuator) on its positions and on their rates."""
    assert thin.noise is not None, "recordings without noise have no bias"
    quiet = thin.noise.is_velocity_quiet
    velocity = rate(noise, thin.step)
    return replace(
        thin,
        position=(thin.position + noise)[piece],
        velocity=(thin.velocity + np.where(quiet, 0.0, velocity))[piece],
        acceleration=(thin.acceleration + np.where(quiet, 0.0, rate(velocity, thin.step)))[piece],
        force=thin.force[piece],
        usable=thin.usable[piece],
        resting=thin.resting[piece],
    )


def _matrix(machine: RecordedMachine, recording: Prepared, thin: Prepared) -> np.ndarray:
    motion = thin.position, thin.velocity, thin.acceleration
    matrix = machine.rows_of(recording)(robot_motion(machine.robot, thin), motion)[0]
    return thin.filtered(np.where(np.isfinite(matrix), matrix, 0.0))


@dataclass(frozen=True)
class CutoffTrial:
    """A fit with other cutoffs: their factor, change (kept,) of the parameters over their standard deviations.

    errors: share of the forces of each recording that is not explained.
    """

    factor: float
    change: np.ndarray
    errors: tuple[float, ...]

    def __str__(self) -> str:
        """Return the change of the answer in words."""
        shares = ", ".join(f"{share:.2%}" for share in self.errors)
        return (
            f"{self.factor:g} times the cutoff: parameters change by {np.median(self.change):.2g} standard deviations "
            f"at the median, {self.change.max():.2g} at most; {shares} not explained"
        )


def cutoff_trials(machine: RecordedMachine, fit: MachineFit, method: str) -> tuple[CutoffTrial, ...]:
    """Return fits of the recordings with lower and higher cutoffs; none where a recording cannot be filtered again."""
    if any(recording.uniform is None for recording in machine.recordings) or machine.model.coupled(machine.robot):
        return ()
    trials = []
    for factor in FACTORS:
        trial = replace(machine, recordings=tuple(_refiltered(recording, factor) for recording in machine.recordings))
        trial.__dict__.update(base=machine.base, columns=machine.columns)
        fit_of_trial = fit_machine(trial, method)
        whole = fit_of_trial.all_values[list(fit.kept)]
        change = np.abs(whole - fit.values) / fit.deviations
        trials.append(CutoffTrial(factor, change, tuple(fit_of_trial.errors.values())))
    return tuple(trials)


def _refiltered(recording: Prepared, factor: float) -> Prepared:
    assert recording.uniform is not None, "recordings that were prepared from signals"
    cutoff = min(recording.filter[0] * factor, 0.45 / recording.step)
    return filtered_motion(recording.uniform, replace(recording.used, cutoff=cutoff))


def unsettled(fit: MachineFit, trials: tuple[CutoffTrial, ...]) -> Iterator[str]:
    """Yield a text where the answer depends on the cutoff by more than its deviations say."""
    if not trials:
        return
    change = np.max([trial.change for trial in trials], axis=0)
    if not (change > MOVED).any():
        return
    yield (
        f"the answer depends on the cutoff: at {FACTORS[0]:g} or {FACTORS[1]:g} times of it, "
        f"{int(np.sum(change > MOVED))} parameters change by more than {MOVED:g} standard deviations "
        f"({fit.largest(change, MOVED)}); "
        "look for vibrations and delays, or try other cutoffs under preparation"
    )
