"""Recordings as rows of a fit.

Rows of a prepared recording pass through the filter of the forces; as many samples are kept as the filter leaves
independent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from applications.identification.estimation.base import BaseParameters
from applications.identification.estimation.encoders import ActuatorMotion, finite
from applications.identification.estimation.machines.preparation import Prepared
from applications.identification.estimation.machines.residuals import FitRows
from robots.data_classes import dataclass, field, replace
from robots.parameter_errors import ParameterError
from tasks.dynamics.inputs import present
from tasks.dynamics.records import Moving

Rows = Callable[[Moving, ActuatorMotion], tuple[np.ndarray, np.ndarray]]
"""From a motion to the regressor (samples, actuator, column) and the forces beside it (samples, actuator)."""


@dataclass(frozen=True)
class Run:
    """One recording as rows of a fit: matrix (samples, actuator, column), forces, times, motion of the actuators.

    good (samples, actuator): rows that the fit uses; forces of actuators at rest are not used. remainder (samples,
    actuator): forces beside matrix @ parameters, where these are not linear in parameters and the matrix has their
    derivatives. thin: the recording at the samples that the regressor was computed at; numbers: those of them that are
    rows. slopes: rates of matrix and remainder along time, at the step of `thin`, which is finer than that of the rows.
    moving: motion of the robot at the rows.
    """

    recording: Prepared
    matrix: np.ndarray
    forces: np.ndarray
    good: np.ndarray
    remainder: np.ndarray
    time: np.ndarray
    motion: ActuatorMotion
    thin: Prepared = field(repr=False)
    numbers: np.ndarray = field(repr=False)
    slopes: tuple[np.ndarray, np.ndarray] = field(repr=False)
    moving: Moving = field(repr=False)

    def rows(self, base: BaseParameters) -> FitRows:
        """Return the rows of base parameters."""
        return FitRows(base.reduced(self.matrix), self.linear_forces, self.good, colour=self.recording.colour)

    @property
    def linear_forces(self) -> np.ndarray:
        """Forces that matrix @ parameters has to reproduce (samples, actuator)."""
        return self.forces - self.remainder

    def predicted(self, base: BaseParameters, values: np.ndarray) -> np.ndarray:
        """Return the forces (samples, actuator) predicted by base parameters."""
        return np.asarray(base.reduced(self.matrix) @ values + self.remainder)

    def predicted_rate(self, base: BaseParameters, values: np.ndarray) -> np.ndarray:
        """Return the rates (samples, actuator) of the forces predicted by base parameters [N m/s or N/s]."""
        matrix, remainder = self.slopes
        return np.asarray(base.reduced(matrix) @ values + remainder)


def thinning(recording: Prepared) -> int:
    """Return of how many samples one is taken for the regressor: eight times as many as are rows."""
    return max(1, recording.every // 8)


def thinned(recording: Prepared) -> tuple[Prepared, np.ndarray]:
    """Return the recording at the samples that a regressor is computed at, and which of its own these are.

    A filter that cuts far below the rate makes most samples superfluous before it, too.
    """
    stride = thinning(recording)
    samples = np.arange(0, len(recording.force), stride)
    series = ("position", "velocity", "acceleration", "force", "usable", "resting")
    parts = {name: getattr(recording, name)[samples] for name in series}
    return replace(recording, step=recording.step * stride, **parts), samples


def run_of(recording: Prepared, moving: Moving, rows: Rows) -> Run:
    """Return the rows of a recording; samples that the robot cannot reach are left out.

    moving: motion of the robot at the samples of `thinned`; rows: the regressor along a motion, and the known part of
    forces. Raises ParameterError.
    """
    thin, samples = thinned(recording)
    thin = replace(thin, force=recording.filtered(recording.force)[samples])
    part: ActuatorMotion = (thin.position, thin.velocity, thin.acceleration)
    matrix, remainder = rows(moving, part)
    good = finite(matrix) & thin.usable
    forces, matrix = thin.force, np.where(np.isfinite(matrix), matrix, 0.0)
    matrix = thin.filtered(matrix)
    if remainder.any():
        remainder = thin.filtered(np.where(np.isfinite(remainder), remainder, 0.0))
    # neighbours that the filter spoils by invalid samples are left out with these
    reach = round(1.0 / (thin.used.cutoff * thin.step)) if thin.used.cutoff else 0
    spoilt = np.convolve(~good, np.ones(2 * reach + 1), mode="same") > 0.5 if (~good).any() else ~good
    numbers = thin.kept
    numbers = numbers[~spoilt[numbers]]
    if len(numbers) < 2:
        raise ParameterError(f"{recording.name}: no samples are left; expected some that are whole and can be reached")
    moves = ~thin.resting[numbers]
    if not moves.any():
        raise ParameterError(f"{recording.name}: nothing moves; expected a recording of a motion; look at rest")
    return Run(
        recording,
        matrix[numbers],
        forces[numbers],
        moves,
        remainder[numbers],
        numbers * thin.step,
        at_samples(part, numbers),
        thin,
        numbers,
        (slope(matrix, numbers, thin.step), slope(remainder, numbers, thin.step)),
        _rows_of_motion(moving, numbers),
    )


def _rows_of_motion(moving: Moving, numbers: np.ndarray) -> Moving:
    """Return a motion at some samples."""
    values = {name: np.asarray(series)[numbers] for name, series in present(moving).items()}
    return cast(Moving, values)


def slope(series: np.ndarray, numbers: np.ndarray, step: float) -> np.ndarray:
    """Return the rates of a series along its first dim at some samples, by differences of the samples beside them."""
    before, after = np.maximum(numbers - 1, 0), np.minimum(numbers + 1, len(series) - 1)
    times = (after - before).reshape(-1, *[1] * (series.ndim - 1)) * step
    return np.asarray((series[after] - series[before]) / times)


def at_samples(motion: ActuatorMotion, numbers: np.ndarray) -> ActuatorMotion:
    """Return some samples of a motion of the actuators."""
    position, velocity, acceleration = motion
    return position[numbers], velocity[numbers], acceleration[numbers]
