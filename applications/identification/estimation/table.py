"""Results of identification by column: a table for designs whose base parameters have the same columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from applications.identification.estimation.base import BaseParameters
from applications.identification.estimation.fitted import Fit
from robots.data_classes import dataclass, field

Case = tuple[int, int]
"""Design and friction set."""


@dataclass(frozen=True, eq=False)
class Groupings:
    """Base parameters of several geometries with the same kept columns, without the zeros that all have in common.

    numbers (design,): geometry of each design; mask (kept, column), coefficients (geometry, entry of the mask).
    """

    names: tuple[str, ...]
    independent: tuple[int, ...]
    mask: np.ndarray
    coefficients: np.ndarray
    numbers: np.ndarray

    @classmethod
    def of(cls, bases: Sequence[BaseParameters]) -> Groupings:
        """Return the groupings of the base parameters of designs (design,); those of one geometry are one object."""
        of_geometry = {id(base): base for base in bases}
        places = {key: place for place, key in enumerate(of_geometry)}
        groups = np.stack([base.groups for base in of_geometry.values()])
        mask = (groups != 0.0).any(axis=0)
        numbers = np.array([places[id(base)] for base in bases])
        return cls(bases[0].names, bases[0].independent, mask, groups[:, mask], numbers)

    def of_design(self, row: int) -> tuple[str, ...]:
        """Return the texts of the groupings of a design."""
        groups = np.zeros(self.mask.shape)
        groups[self.mask] = self.coefficients[self.numbers[row]]
        return BaseParameters(self.independent, groups, self.names, np.nan).groupings


@dataclass(frozen=True, eq=False)
class FitTable:
    """Fits of several designs with one friction set, see `Fit`: arrays (design, parameter) and (design,).

    nonlinear: names of the parameters after the base parameters.
    """

    friction: int
    designs: np.ndarray
    groupings: Groupings
    truth: np.ndarray
    values: np.ndarray
    deviations: np.ndarray
    condition: np.ndarray
    noise: np.ndarray
    validation: np.ndarray
    nonlinear: tuple[str, ...] = ()

    @property
    def scores(self) -> np.ndarray:
        """Errors over standard deviations (design, parameter)."""
        return np.asarray((self.values - self.truth) / self.deviations)

    def fit(self, row: int) -> Fit:
        """Return the fit of one of the designs."""
        return Fit(
            (*self.groupings.of_design(row), *self.nonlinear),
            self.truth[row],
            self.values[row],
            self.deviations[row],
            float(self.condition[row]),
            float(self.noise[row]),
            float(self.validation[row]),
        )


@dataclass(frozen=True)
class FoundFits:
    """Fits of the designs of a task as tables, and the errors of those that have none, by number."""

    tables: list[FitTable] = field(default_factory=list)
    failed: dict[int, Exception] = field(default_factory=dict)

    def add(self, other: FoundFits) -> None:
        """Add the fits of other designs."""
        self.tables.extend(other.tables)
        self.failed.update(other.failed)


@dataclass(frozen=True, eq=False)
class Fits(Mapping[Case, Fit]):
    """Fits by design and friction set, made from tables when they are asked for."""

    tables: list[FitTable] = field(default_factory=list)
    places: dict[Case, tuple[FitTable, int]] = field(default_factory=dict)

    def add(self, table: FitTable) -> None:
        """Add the fits of a table."""
        self.tables.append(table)
        for row, design in enumerate(table.designs.tolist()):
            self.places[design, table.friction] = table, row

    def __getitem__(self, case: Case) -> Fit:
        """Return the fit of a design and friction set."""
        table, row = self.places[case]
        return table.fit(row)

    def __iter__(self) -> Iterator[Case]:
        """Iterate over designs and friction sets."""
        yield from sorted(self.places)

    def __len__(self) -> int:
        """Return the number of fits."""
        return len(self.places)
