"""Results of identification by column: a table for many designs whose base parameters have the same columns."""

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
    def of(cls, bases: Sequence[BaseParameters], numbers: np.ndarray) -> Groupings:
        """Return the groupings of base parameters."""
        groups = np.stack([base.groups for base in bases])
        mask = (groups != 0.0).any(axis=0)
        return cls(bases[0].names, bases[0].independent, mask, groups[:, mask], numbers)

    def of_design(self, row: int) -> tuple[str, ...]:
        """Return the texts of the groupings of a design."""
        groups = np.zeros(self.mask.shape)
        groups[self.mask] = self.coefficients[self.numbers[row]]
        return BaseParameters(self.independent, groups, self.names, np.nan).groupings


@dataclass(frozen=True, eq=False)
class FitTable:
    """Fits of several designs with one friction set, see `Fit`: arrays (design, parameter) and (design,)."""

    friction: int
    designs: np.ndarray
    groupings: Groupings
    truth: np.ndarray
    values: np.ndarray
    deviations: np.ndarray
    condition: np.ndarray
    noise: np.ndarray
    validation: np.ndarray

    @property
    def scores(self) -> np.ndarray:
        """Errors over standard deviations (design, parameter)."""
        return np.asarray((self.values - self.truth) / self.deviations)

    def fit(self, row: int) -> Fit:
        """Return the fit of one of the designs."""
        return Fit(
            self.groupings.of_design(row),
            self.truth[row],
            self.values[row],
            self.deviations[row],
            float(self.condition[row]),
            float(self.noise[row]),
            float(self.validation[row]),
        )


@dataclass(frozen=True, eq=False)
class Fits(Mapping[Case, Fit]):
    """Fits by design and friction set: of tables, made when they are asked for, and single ones."""

    single: dict[Case, Fit] = field(default_factory=dict)
    tables: list[FitTable] = field(default_factory=list)
    places: dict[Case, tuple[FitTable, int]] = field(default_factory=dict)

    def add(self, table: FitTable) -> None:
        """Add the fits of a table."""
        self.tables.append(table)
        for row, design in enumerate(table.designs.tolist()):
            self.places[design, table.friction] = table, row

    @property
    def parts(self) -> list[Fit | FitTable]:
        """Single fits and tables, which have the same numbers by the same names."""
        return [*self.single.values(), *self.tables]

    def __getitem__(self, case: Case) -> Fit:
        """Return the fit of a design and friction set."""
        if case in self.single:
            return self.single[case]
        table, row = self.places[case]
        return table.fit(row)

    def __iter__(self) -> Iterator[Case]:
        """Iterate over designs and friction sets."""
        yield from sorted((*self.single, *self.places))

    def __len__(self) -> int:
        """Return the number of fits."""
        return len(self.single) + len(self.places)
