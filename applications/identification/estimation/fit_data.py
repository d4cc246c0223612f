"""Data of a fit: designs with their motions, base parameters, and rows of the regressor and of forces."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from applications.identification.estimation.base import BaseParameters
from applications.identification.estimation.recorded import FilteredRows, Filtering, Recordings, of_designs
from applications.identification.estimation.states import Motions
from robots.data_classes import dataclass
from robots.model import Robot
from tasks.dynamics.design_regressor import friction_columns
from tasks.dynamics.designs import RobotDesigns
from tasks.features.friction.inputs import FrictionInput


@dataclass(frozen=True)
class FitOptions:
    """Options of a fit: method, friction with the number of its set, filter of recorded forces, and nominal robot.

    nominal: the robot as the user knows it, whose inertia decides directions that the data leave open.
    """

    method: str
    friction: FrictionInput
    number: int
    filtering: Filtering | None
    nominal: Robot


@dataclass(frozen=True, eq=False)
class FitData:
    """Data of designs whose base parameters have the same columns: motions, recordings, rows for training and others.

    numbers (design,): those of the designs in the sweep; bases: one for each design. The columns of rows are those of
    the base parameters, or all.
    """

    options: FitOptions
    designs: RobotDesigns
    numbers: np.ndarray
    motion: Motions
    recorded: Recordings
    bases: tuple[BaseParameters, ...]
    training: FilteredRows
    unused: FilteredRows

    def __len__(self) -> int:
        """Return the number of designs."""
        return len(self.numbers)

    def taken(self, places: np.ndarray) -> FitData:
        """Return the data of some designs."""
        return FitData(
            self.options,
            self.designs.taken(places),
            self.numbers[places],
            of_designs(self.motion, places),
            self.recorded.taken(places),
            tuple(self.bases[k] for k in places),
            self.training.taken(places),
            self.unused.taken(places),
        )

    @property
    def actuators(self) -> int:
        """Number of actuators."""
        return len(self.options.nominal.mechanism.actuators)

    @cached_property
    def matrix(self) -> np.ndarray:
        """Rows of the regressor for training (design, row, column)."""
        return self.training.rows(self.training.matrix)

    @cached_property
    def forces(self) -> np.ndarray:
        """Forces for training (design, row)."""
        return self.training.rows(self.training.forces)

    def with_friction(self, friction: FrictionInput, *, training: bool) -> np.ndarray:
        """Return rows of the whole regressor (design, row, column) with the columns of friction for other friction."""

        def columns(samples: slice) -> np.ndarray:
            at = {name: values[:, samples] for name, values in self.motion.items()}
            return friction_columns(self.designs, at, friction, base=self.recorded.base_at(samples))

        (friction_part,) = self.recorded.filtered(columns, self.options.filtering, (training,))
        rows = self.training if training else self.unused
        bodies = rows.matrix[..., : rows.matrix.shape[-1] - friction_part.matrix.shape[-1]]
        return rows.rows(np.concatenate([bodies, friction_part.matrix], axis=-1))
