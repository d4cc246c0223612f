"""Payloads of recordings, known and unknown, and gains of drives that a known one tells.

A payload is fixed to a body, whose columns of the regressor are its own as well. A known one takes forces that no
parameter has to explain; an unknown one has parameters of its own. Forces of drives are known up to a factor where
currents are recorded: without a load that is known, bodies of twice the mass with twice the gains are the same machine.
Sources: Khalil, Gautier and Lemoine 2007, for payloads; Gautier and Briot 2012, for gains.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import least_squares

from robots.parameters import ParameterError
from tasks.identification.machines import residuals as statistics
from tasks.identification.machines.fitting import MachineFit, fit_machine
from tasks.identification.machines.machine import TRAIN, RecordedMachine
from tasks.identification.machines.residuals import FitRows
from tasks.identification.machines.rows import Run

LARGEST = 20.0
"""Factor by which a gain may be off."""
UNTOLD = 1e-6
"""Least part of its column that a gain has of its own, or the recordings do not tell it."""


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
    deviations: str = statistics.LARGEST,
) -> Gains:
    """Estimate factors of the recorded forces with the parameters of the machine: forces times factors are explained.

    For each trial of the factors parameters follow by least squares of the recorded forces. Raises ParameterError where
    no recording for training has a known payload, or motions do not tell the factors.
    """
    training = machine.of(TRAIN)
    if not any(machine.is_loaded(run.recording) for run in training):
        raise ParameterError(
            "gains: no recording for training has a known payload; expected at least one, as forces are otherwise "
            "known up to a factor; add payload: {body, mass, centre} to a recording"
        )
    first = fit_machine(machine, method, eliminate=eliminate)
    parts = [_loaded(run.rows(machine.base), run, first) for run in training]
    count = parts[0][0].forces.shape[1]
    rows = [_stacked(part, load) for part, load in parts]
    matrix, force, load, labels = (np.concatenate(column) for column in zip(*rows, strict=True))
    noise = first.noise[labels]

    def residuals(logarithms: np.ndarray) -> np.ndarray:
        factor = np.exp(logarithms)[labels]
        scale = 1.0 / (factor * noise)
        wanted, weighted = (force * factor - load) * scale, matrix * scale[:, None]
        sizes = np.maximum(np.linalg.norm(weighted, axis=0), np.finfo(float).tiny)
        q = np.linalg.qr(weighted / sizes)[0]
        return np.asarray(wanted - q @ (q.T @ wanted))

    bound = np.log(LARGEST)
    answer = least_squares(residuals, np.zeros(count), bounds=(-bound, bound), x_scale=1.0, xtol=1e-12, ftol=1e-12)
    if not answer.success or np.abs(answer.x).max() > 0.99 * bound:
        raise ParameterError(
            f"gains: the search ended at factors {np.exp(answer.x).round(3).tolist()}; expected ones near 1; look at "
            "units and signs of forces, and at the payload"
        )
    factors = np.exp(answer.x)
    scaled = replace(
        machine,
        recordings=tuple(replace(recording, force=recording.force * factors) for recording in machine.recordings),
    )
    fit = fit_machine(scaled, method, eliminate=eliminate)
    joined = [_with_factors(run, fit, factors) for run in scaled.of(TRAIN)]
    whole = statistics.stacked(joined)[0]
    kept = len(fit.kept)
    own = np.linalg.qr(whole[:, :kept] / np.linalg.norm(whole[:, :kept], axis=0))[0]
    left = whole[:, kept:] - own @ (own.T @ whole[:, kept:])
    is_seen = np.linalg.norm(left, axis=0) > UNTOLD * np.linalg.norm(whole[:, kept:], axis=0)
    if not is_seen.all():
        name = machine.robot.mechanism.actuators[int(np.argmin(is_seen))]
        raise ParameterError(f"gains: the payload does not load {name}; expected motions and a payload that all feel")
    spread = statistics.deviations(joined, np.concatenate([fit.values, factors]), deviations)
    return Gains(factors, spread[kept:], scaled, replace(fit, deviations=spread[:kept]))


def _loaded(part: FitRows, run: Run, fit: MachineFit) -> tuple[FitRows, np.ndarray]:
    """Rows of the columns that are estimated with forces as recorded, and those that a known payload takes."""
    kept = FitRows(part.matrix[:, :, list(fit.kept)], run.forces, part.good)
    return kept, np.broadcast_to(run.remainder, run.forces.shape)


def _stacked(part: FitRows, load: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    good = part.good
    return part.matrix[good], part.forces[good], load[good], np.nonzero(good)[1]


def _with_factors(run: Run, fit: MachineFit, factors: np.ndarray) -> FitRows:
    """Weighted rows with a column more for each factor: what is recorded over it, on its actuator."""
    part = run.rows(fit.base)
    count = part.forces.shape[1]
    recorded = np.zeros((*part.forces.shape, count))
    for k in range(count):
        recorded[:, k, k] = -run.forces[:, k] / factors[k]
    matrix = np.concatenate([part.matrix[:, :, list(fit.kept)], recorded], axis=2) / fit.noise[:, None]
    # s f - load = Y p, with f as recorded: the factors' own part goes to the left
    wanted = (part.forces - run.forces) / fit.noise
    return FitRows(matrix, wanted, part.good)
