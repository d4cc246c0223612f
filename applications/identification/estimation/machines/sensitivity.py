"""Dependence of a fit on its preparation: bias by noise of positions, change with the cutoff, wider bands.

Noise of positions is in the regressor as well, so that least squares are biased: by -(Y' Y)^-1 E[dY' dY + Y' ddY] b for
parameters b and first and second order errors dY, ddY of the regressor. These follow from noise as large as that of the
positions, put on the motion with both signs. Source: Soderstrom 2018, for errors in variables.

A filter that is good for accelerations can be narrow for parameters: where independent rows are few, what a wider band
tells is worth its noise. Which band is best follows from the deviations alone, which count noise and its bias.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from applications.identification.estimation.encoders import finite
from applications.identification.estimation.machines.fitting import MachineFit, fit_machine, with_coupled_friction
from applications.identification.estimation.machines.machine import TRAIN, RecordedMachine
from applications.identification.estimation.machines.noise import HIGHEST
from applications.identification.estimation.machines.preparation import Prepared, filtered_motion
from applications.identification.estimation.machines.recorded_motion import robot_motion
from applications.identification.estimation.machines.run import Run, thinned
from robots.data_classes import dataclass, replace
from tasks.mathematics.signals import rate

PIECE = 2500
"""Samples of a recording, in one piece, whose regressor is computed with noise, at most."""
FACTORS = (0.7, 1.4)
"""Other cutoffs that are tried, relative to the chosen one."""
MOVED = 3.0
"""Change with the cutoff over its deviation from which a parameter is named."""
SCARCE = 10.0
"""Independent rows for each parameter below which chance adds more than 5 % to the errors of predicted forces."""
WIDER = (1.4, 2.0, 2.8, 4.0)
"""Wider bands that are tried, over that of the least errors of accelerations."""
SMALLER = 0.9
"""Deviations of a wider band over those of the first, below which it is taken."""


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
        trial = _with_recordings(machine, tuple(_refiltered(recording, factor) for recording in machine.recordings))
        fit_of_trial = fit_machine(trial, method)
        whole = fit_of_trial.all_values[list(fit.kept)]
        change = np.abs(whole - fit.values) / fit.deviations
        trials.append(CutoffTrial(factor, change, tuple(fit_of_trial.errors.values())))
    return tuple(trials)


def with_wider_band(machine: RecordedMachine, is_free: Sequence[bool], method: str) -> tuple[RecordedMachine, float]:
    """Return the machine with higher cutoffs where its rows are few and these tell more, and how many times higher.

    is_free (recording,): whether the cutoff of a recording may be chosen. The band with the least deviations is taken,
    by their geometric mean.
    """
    best, factor, least = machine, 1.0, SMALLER
    if not any(is_free) or any(recording.uniform is None for recording in machine.recordings):
        return best, factor
    first = _told(machine, method)
    if first.independent >= SCARCE * len(first.values):
        return best, factor
    before = machine.recordings
    for wider in WIDER:
        pairs = zip(machine.recordings, is_free, strict=True)
        recordings = tuple(_refiltered(part, wider, HIGHEST) if free else part for part, free in pairs)
        if all(part.filter == old.filter for part, old in zip(recordings, before, strict=True)):
            break
        before = recordings
        trial = _with_recordings(machine, recordings)
        if (size := _deviations_over(_told(trial, method), first)) < least:
            best, factor, least = trial, wider, size
    return best, factor


def _told(machine: RecordedMachine, method: str) -> MachineFit:
    """Return a fit whose deviations count the bias by noise of positions."""
    if machine.model.coupled(machine.robot) is not None:
        return fit_machine(with_coupled_friction(machine, method), method)
    return with_bias(machine, fit_machine(machine, method))


def _deviations_over(fit: MachineFit, other: MachineFit) -> float:
    """Return the geometric mean of a fit's deviations over those of another, of the parameters that both estimate."""
    sizes, others = (dict(zip(each.kept, each.deviations.tolist(), strict=True)) for each in (fit, other))
    ratios = [sizes[k] / others[k] for k in sizes.keys() & others.keys() if sizes[k] > 0.0 < others[k]]
    return float(np.exp(np.mean(np.log(ratios)))) if ratios else np.inf


def _with_recordings(machine: RecordedMachine, recordings: tuple[Prepared, ...]) -> RecordedMachine:
    """Return the machine with recordings that are filtered in another way."""
    trial = replace(machine, recordings=recordings)
    trial.__dict__.update(base=machine.base, columns=machine.columns)
    return trial


def _refiltered(recording: Prepared, factor: float, highest: float = 0.45) -> Prepared:
    """Return a recording with so many times its cutoff, raised to at most `highest` over the time of a sample."""
    assert recording.uniform is not None, "recordings that were prepared from signals"
    cutoff = min(recording.filter[0] * factor, max(highest / recording.step, recording.filter[0]))
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
