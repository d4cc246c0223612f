"""Recordings of one robot as data for its base parameters: rows of the regressor, and forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from applications.identification.estimation.base import BaseParameters
from robots.data_classes import dataclass, field
from robots.model import Robot
from tasks.dynamics.inputs import field_input
from tasks.dynamics.records import Environment, Forces, Motion, Moving
from tasks.dynamics.regressor import friction_columns, regressor
from tasks.features.friction.inputs import FrictionInput
from tasks.mathematics.signals import Settings, filtered

Rows = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Recording:
    """A motion with one batch dim, forces of the actuators along it (samples, actuator), the motion that was planned.

    `planned` absent: the same motion. `base` is the motion of the base meanwhile, None where it stands.
    """

    moving: Moving
    forces: np.ndarray
    commanded: Moving = field(default_factory=lambda: Moving())
    base: Motion | None = None

    @property
    def planned(self) -> Moving:
        """The motion as it was planned, without errors of sensors."""
        return self.commanded or self.moving


@dataclass(frozen=True, eq=False)
class RecordedTracks:
    """Samples of several trajectories, one after another: the span of each, and whether it is for training.

    commanded: poses and rates (1, sample, ...), keywords of `Moving`; step: time between samples [s].
    """

    spans: tuple[slice, ...]
    training: tuple[bool, ...]
    commanded: Mapping[str, np.ndarray]
    step: float


@dataclass(frozen=True)
class Filtering:
    """Filter of recorded forces: parameters of a measurement, time between samples [s].

    The regressor passes the same filter, so that both sides stay equal. Then only as many samples are kept as the
    filter leaves independent; with more samples, standard deviations would be too small. No samples are kept at the
    ends, because a filter does not know the signal before and after. Source: Gautier 1997, parallel filtering.
    """

    values: Settings
    step: float

    @property
    def every(self) -> int:
        """Decimation: one of `every` samples is kept."""
        cutoff = float(np.asarray(self.values["cutoff"]))
        return max(1, round(0.5 / (cutoff * self.step))) if cutoff else 1

    @property
    def ends(self) -> int:
        """Number of samples that are left out at each end."""
        return 4 * self.every if self.values["cutoff"] else 0

    def columns(self, matrix: np.ndarray) -> np.ndarray:
        """Return a regressor (samples, actuator, column), filtered along time."""
        return filtered(self.values, self.step, matrix) if self.values["cutoff"] else matrix

    def kept(self, samples: int) -> slice:
        """Return the slice of the samples that are kept out of `samples`."""
        return slice(self.ends, samples - self.ends, self.every)


@dataclass(frozen=True)
class Data:
    """Data of an estimator: recordings for training, base parameters, and known properties of the robot.

    `nominal` is the assumed robot.
    """

    robot: Robot
    friction: FrictionInput
    training: tuple[Recording, ...]
    base: BaseParameters
    gravity: ArrayLike
    filtering: Filtering | None
    nominal: Robot

    @cached_property
    def actuators(self) -> int:
        """Number of actuators."""
        return len(self.robot.mechanism.actuators)

    def of(self, recordings: Sequence[Recording], friction: FrictionInput | None = None, whole: bool = False) -> Rows:
        """Return rows of the base regressor, or of the `whole` one, and forces; `friction` replaces the robot's own."""
        parts = [self._rows(run, friction or self.friction, whole) for run in recordings]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def friction_rows(self, friction: FrictionInput) -> np.ndarray:
        """Return the rows of the columns of friction alone, of all recordings for training."""
        fields = [field_input(Environment(gravity=self.gravity, base=run.base)) for run in self.training]
        parts = [
            friction_columns(self.robot, friction, run.moving, acting)
            for run, acting in zip(self.training, fields, strict=True)
        ]
        done = [self.filtered(part, run.forces)[0] for part, run in zip(parts, self.training, strict=True)]
        return np.concatenate([part.reshape(-1, part.shape[-1]) for part in done])

    def _rows(self, recording: Recording, friction: FrictionInput, whole: bool) -> Rows:
        """Return the rows of the actuators in turn, without samples that cannot be solved."""
        matrix = regressor(
            self.robot,
            Motion(**recording.moving),
            Forces(friction=friction),
            Environment(gravity=self.gravity, base=recording.base),
            shared=True,
        ).matrix
        matrix, forces = self.filtered(matrix if whole else self.base.reduced(matrix), recording.forces)
        return matrix.reshape(-1, matrix.shape[-1]), forces.ravel()

    def filtered(self, matrix: np.ndarray, forces: np.ndarray, beside: np.ndarray | None = None) -> Rows:
        """Return the filtered rows (samples, actuator, column) and forces, without rows that are not finite.

        beside (samples, actuator): forces outside the matrix, which are subtracted.
        """
        if beside is not None:
            matrix = np.concatenate([matrix, beside[:, :, None]], axis=2)
            matrix, forces = self.filtered(matrix, forces)
            return matrix[:, :, :-1], forces - matrix[:, :, -1]
        if self.filtering is not None:
            # a sample that is no number spreads over the whole recording, which then is left out
            kept = self.filtering.kept(len(forces))
            matrix, forces = self.filtering.columns(matrix)[kept], forces[kept]
        good = np.isfinite(matrix).all(axis=(1, 2)) & np.isfinite(forces).all(axis=1)
        return matrix[good], forces[good]
