"""Estimate the gains of drives with the parameters of a machine: factors of the recorded forces.

Forces of drives are known up to a factor where currents are recorded: without a known load, bodies of twice the mass
with twice the gains are the same machine. Source: Gautier and Briot 2012.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import least_squares

from applications.identification.estimation.base import BaseParameters
from applications.identification.estimation.machines import choices
from applications.identification.estimation.machines import residuals as statistics
from applications.identification.estimation.machines.fitting import MachineFit, fit_machine
from applications.identification.estimation.machines.machine import TRAIN, RecordedMachine
from applications.identification.estimation.machines.residuals import FitRows
from applications.identification.estimation.machines.run import Run
from robots.data_classes import dataclass, replace
from robots.parameter_errors import ParameterError

LARGEST = 20.0
"""Factor by which a gain may be off."""
UNTOLD = 1e-6
"""Least independent part of the column of a gain, below which recordings do not determine it."""
WEIGHINGS = 8
"""Searches for gains, at most: each weighs rows by the noise that the gains of the one before leave."""
ALIKE = 1e-6
"""Relative change of gains from a search to the next at which they are settled."""


@dataclass(frozen=True)
class Gains:
    """Factors (actuator,) of recorded forces, their standard deviations, and the machine and its fit with them."""

    factors: np.ndarray
    deviations: np.ndarray
    machine: RecordedMachine
    fit: MachineFit


def with_gains(
    machine: RecordedMachine,
    method: str = "weighted",
    *,
    eliminate: bool = False,
    deviations: str = choices.LARGEST,
) -> Gains:
    """Estimate factors of the recorded forces with the parameters of the machine: forces times factors are explained.

    For each trial of the factors parameters follow by least squares of the recorded forces. Rows are weighted by the
    noise that the factors leave, so the search is repeated until both agree: at first, most of the residuals come from
    gains, not from noise. Raises ParameterError where no recording for training has a known payload, or motions do not
    tell the factors.
    """
    training = machine.of(TRAIN)
    if not any(machine.is_loaded(run.recording) for run in training):
        raise ParameterError(
            "gains: no recording for training has a known payload; expected at least one, as forces are otherwise "
            "known up to a factor; add payload: {body, mass, centre} to a recording"
        )
    fit = fit_machine(machine, method, eliminate=eliminate)
    scaled, factors = machine, np.ones(len(machine.robot.mechanism.actuators))
    for _ in range(WEIGHINGS):
        before, factors = factors, _factors(training, machine.base, fit, fit.noise / factors)
        scaled = machine.with_gains(factors)
        fit = fit_machine(scaled, method, eliminate=eliminate)
        if np.abs(factors / before - 1.0).max() < ALIKE:
            break
    joined = [_with_factors(run, fit, factors) for run in scaled.of(TRAIN)]
    whole = statistics.stacked(joined)[0]
    kept = len(fit.kept)
    basis = np.linalg.qr(whole[:, :kept] / np.linalg.norm(whole[:, :kept], axis=0))[0]
    remainder = whole[:, kept:] - basis @ (basis.T @ whole[:, kept:])
    is_seen = np.linalg.norm(remainder, axis=0) > UNTOLD * np.linalg.norm(whole[:, kept:], axis=0)
    if not is_seen.all():
        name = machine.robot.mechanism.actuators[int(np.argmin(is_seen))]
        raise ParameterError(f"gains: the payload does not load {name}; expected motions and a payload that all feel")
    spread = statistics.deviations(joined, np.concatenate([fit.values, factors]), deviations)
    return Gains(factors, spread[kept:], scaled, replace(fit, deviations=spread[:kept]))


def _factors(training: Sequence[Run], base: BaseParameters, fit: MachineFit, noise: np.ndarray) -> np.ndarray:
    """Return the factors (actuator,) of the recorded forces, whose noise (actuator,) is known.

    For each trial of the factors the parameters that `fit` has estimated follow by least squares.
    """
    parts = [_loaded(run.rows(base), run, fit) for run in training]
    rows = [_stacked(part, load) for part, load in parts]
    matrix, force, load, labels = (np.concatenate(column) for column in zip(*rows, strict=True))
    deviations = noise[labels]

    def residuals(logarithms: np.ndarray) -> np.ndarray:
        factor = np.exp(logarithms)[labels]
        scale = 1.0 / (factor * deviations)
        target, weighted = (force * factor - load) * scale, matrix * scale[:, None]
        sizes = np.maximum(np.linalg.norm(weighted, axis=0), np.finfo(float).tiny)
        q = np.linalg.qr(weighted / sizes)[0]
        return np.asarray(target - q @ (q.T @ target))

    bound = np.log(LARGEST)
    start = np.zeros(len(noise))
    answer = least_squares(residuals, start, bounds=(-bound, bound), x_scale=1.0, xtol=1e-12, ftol=1e-12)
    if not answer.success or np.abs(answer.x).max() > 0.99 * bound:
        raise ParameterError(
            f"gains: the search ended at factors {np.exp(answer.x).round(3).tolist()}; expected ones near 1; look at "
            "units and signs of forces, and at the payload"
        )
    return np.asarray(np.exp(answer.x))


def _loaded(part: FitRows, run: Run, fit: MachineFit) -> tuple[FitRows, np.ndarray]:
    """Return the rows of the estimated columns with forces as recorded, and the forces for a known payload."""
    kept = replace(part, matrix=part.matrix[:, :, list(fit.kept)], forces=run.forces)
    return kept, np.broadcast_to(run.remainder, run.forces.shape)


def _stacked(part: FitRows, load: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    good = part.good
    return part.matrix[good], part.forces[good], load[good], np.nonzero(good)[1]


def _with_factors(run: Run, fit: MachineFit, factors: np.ndarray) -> FitRows:
    """Return the weighted rows with one more column per factor: the recorded force over it, on its actuator."""
    part = run.rows(fit.base)
    count = part.forces.shape[1]
    recorded = np.zeros((*part.forces.shape, count))
    for k in range(count):
        recorded[:, k, k] = -run.forces[:, k] / factors[k]
    matrix = np.concatenate([part.matrix[:, :, list(fit.kept)], recorded], axis=2) / fit.noise[:, None]
    # s f - load = Y p, with f as recorded: the factors' own part goes to the left
    target = (part.forces - run.forces) / fit.noise
    return replace(part, matrix=matrix, forces=target)
