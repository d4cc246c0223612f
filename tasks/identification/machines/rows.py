"""Rows of a fit from one prepared recording: the regressor goes through the filter of the forces.

Then as many samples are kept as the filter leaves independent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from robots.model import Robot
from robots.parameters import ParameterError
from tasks.arrays.inputs import Moving
from tasks.identification.base import BaseParameters
from tasks.identification.machines.model import ActuatorMotion, MachineModel, finite
from tasks.identification.machines.motion import robot_motion
from tasks.identification.machines.preparation import Prepared
from tasks.identification.machines.residuals import FitRows

Rows = Callable[[Moving, ActuatorMotion], tuple[np.ndarray, np.ndarray]]
"""From a motion to the regressor (samples, actuator, column) and what forces have beside it (samples, actuator)."""


@dataclass(frozen=True)
class Run:
    """One recording as rows of a fit: matrix (samples, actuator, column), forces, times, motion of the actuators.

    good (samples, actuator): rows that the fit uses; forces of actuators at rest are not used. remainder (samples,
    actuator): forces beside matrix @ parameters, where these are not linear in parameters and the matrix has their
    derivatives. thin: the recording at the samples that the regressor was computed at; numbers: those of them that are
    rows. slopes: rates of matrix and remainder along time, at the step of `thin`, which is finer than that of the rows.
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

    def beside(self, robot: Robot, model: MachineModel) -> np.ndarray:
        """The columns beside those of bodies alone, of another model too, through the filter."""
        motion: ActuatorMotion = (self.thin.position, self.thin.velocity, self.thin.acceleration)
        return self.thin.filtered(model.beside(robot, motion))[self.numbers]

    def rows(self, base: BaseParameters) -> FitRows:
        """The rows of base parameters."""
        return FitRows(base.reduced(self.matrix), self.linear_forces, self.good)

    @property
    def linear_forces(self) -> np.ndarray:
        """What matrix @ parameters has to give (samples, actuator)."""
        return self.forces - self.remainder

    def predicted(self, base: BaseParameters, values: np.ndarray) -> np.ndarray:
        """Forces (samples, actuator) as base parameters have them."""
        return np.asarray(base.reduced(self.matrix) @ values + self.remainder)

    def predicted_rate(self, base: BaseParameters, values: np.ndarray) -> np.ndarray:
        """Rates (samples, actuator) of the forces as base parameters have them [N m/s or N/s]."""
        matrix, remainder = self.slopes
        return np.asarray(base.reduced(matrix) @ values + remainder)


def thinned(recording: Prepared) -> tuple[Prepared, np.ndarray]:
    """The recording at the samples that a regressor is computed at, and which of its own these are.

    A filter that cuts far below the rate makes most samples superfluous before it, too.
    """
    stride = max(1, recording.every // 8)
    chosen = np.arange(0, len(recording.force), stride)
    series = ("position", "velocity", "acceleration", "force", "usable", "resting")
    parts = {name: getattr(recording, name)[chosen] for name in series}
    return replace(recording, step=recording.step * stride, **parts), chosen


def run_of(robot: Robot, recording: Prepared, rows: Rows) -> Run:
    """Rows of a recording; samples that the robot cannot reach are left out.

    rows: the regressor along a motion, and what forces have beside it. Raises ParameterError.
    """
    thin, chosen = thinned(recording)
    thin = replace(thin, force=recording.filtered(recording.force)[chosen])
    moving = robot_motion(robot, thin)
    part: ActuatorMotion = (thin.position, thin.velocity, thin.acceleration)
    matrix, remainder = rows(moving, part)
    good = finite(matrix) & thin.usable
    forces, matrix = thin.force, np.where(np.isfinite(matrix), matrix, 0.0)
    matrix = thin.filtered(matrix)
    if remainder.any():
        remainder = thin.filtered(np.where(np.isfinite(remainder), remainder, 0.0))
    # what the filter carries from samples that are none into their neighbours is left out with them
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
    )


def slope(series: np.ndarray, numbers: np.ndarray, step: float) -> np.ndarray:
    """Rates of a series along its first dim at some samples, by differences of the samples beside them."""
    before, after = np.maximum(numbers - 1, 0), np.minimum(numbers + 1, len(series) - 1)
    times = (after - before).reshape(-1, *[1] * (series.ndim - 1)) * step
    return np.asarray((series[after] - series[before]) / times)


def at_samples(motion: ActuatorMotion, numbers: np.ndarray) -> ActuatorMotion:
    """Some samples of a motion of the actuators."""
    position, velocity, acceleration = motion
    return position[numbers], velocity[numbers], acceleration[numbers]
