"""From recorded motions and forces of one robot to its base parameters: what one task of an identification does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robots.model import Robot
from tasks.friction.given import FrictionInput
from tasks.identification import estimators
from tasks.identification.base import BaseParameters, base_parameters
from tasks.identification.regressor import regressor, standard_parameters
from tasks.identification.signals import filtered
from tasks.inputs import GRAVITY, Moving

Array = Any


@dataclass(frozen=True)
class Recording:
    """A motion with one batch dim, and forces of the actuators along it (samples, actuator)."""

    moving: Moving
    forces: np.ndarray


@dataclass(frozen=True)
class Filtering:
    """How recorded forces were filtered: parameters of a measurement, time between samples [s].

    The regressor goes through the same filter, so that both sides stay equal; then only as many samples are kept as the
    filter leaves independent, or standard deviations would be too small. Source: Gautier 1997, parallel filtering.
    """

    values: Mapping[str, float]
    step: float

    @property
    def every(self) -> int:
        """One of so many samples is kept."""
        cutoff = self.values["cutoff"]
        return max(1, round(0.5 / (cutoff * self.step))) if cutoff else 1

    def columns(self, matrix: np.ndarray) -> np.ndarray:
        """A regressor (samples, actuator, column), filtered along time."""
        return filtered(self.values, self.step, matrix) if self.values["cutoff"] else matrix


@dataclass(frozen=True)
class Fit:
    """Base parameters of a robot, and how well they explain recordings.

    names: their groupings; truth, values, deviations (kept,); condition: of the regressor; noise: of the residuals
    [N m or N]; validation: residuals of recordings that were not used, relative to the forces; NaN without any.
    """

    names: tuple[str, ...]
    truth: np.ndarray
    values: np.ndarray
    deviations: np.ndarray
    condition: float
    noise: float
    validation: float

    @property
    def scores(self) -> np.ndarray:
        """Errors over standard deviations (kept,)."""
        return np.asarray((self.values - self.truth) / self.deviations)


def fit(
    robot: Robot,
    friction: FrictionInput,
    training: Sequence[Recording],
    validation: Sequence[Recording],
    method: str = "weighted",
    gravity: Array = GRAVITY,
    base: BaseParameters | None = None,
    filtering: Filtering | None = None,
) -> Fit:
    """The base parameters of a robot from recordings; limbs that are copies share their parameters.

    Of the robot only the geometry is used, its inertia and friction for `truth` alone. `base` absent: found at random
    states. Raises ValueError for recordings that are not enough, or an unknown method.
    """
    base = base_parameters(robot, friction=friction, shared=True, gravity=gravity) if base is None else base

    def stacked(recordings: Sequence[Recording]) -> tuple[np.ndarray, np.ndarray]:
        parts = [_rows(robot, friction, each, base, gravity, filtering) for each in recordings]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    actuators = len(robot.mechanism.actuators)
    matrix, forces = stacked(training)
    found = estimators.estimate(method, matrix, forces, actuators)
    truth = base.of(list(standard_parameters(robot, friction=friction, shared=True).values()))
    unused = estimators.residual_norm(*stacked(validation), found.values) if validation else np.nan
    return Fit(base.groupings, truth, found.values, found.deviations, found.condition, found.noise, unused)


def _rows(
    robot: Robot,
    friction: FrictionInput,
    recording: Recording,
    base: BaseParameters,
    gravity: Array,
    filtering: Filtering | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the base regressor and forces, in turn of the actuators; samples that cannot be solved are left out."""
    matrix = base.reduced(regressor(robot, gravity=gravity, friction=friction, shared=True, **recording.moving))
    forces = recording.forces
    if filtering is not None:
        matrix, forces = filtering.columns(matrix)[:: filtering.every], forces[:: filtering.every]
    good = np.isfinite(matrix).all(axis=(1, 2)) & np.isfinite(forces).all(axis=1)
    return matrix[good].reshape(-1, base.count), forces[good].ravel()
