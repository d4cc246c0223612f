"""Genes: the numbers by which methods propose points of a space, and the designs that were proposed already.

A continuous variable is one real gene, the values of a grid are whole steps, and a row of a table is as many real genes
as it has different numbers: the design has the row that lies nearest. So methods see that two motors are alike, however
many rows a catalogue has. Rows of names alone, such as the robots of a family, stay names.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from applications.studies.columns import Array
from applications.studies.factors import Choice, Variable
from applications.studies.points import PointSpace
from robots.data_classes import dataclass

MOST_POINTS = 100_000
"""Points of a space of choices alone that are listed, to find the nearest one that was not proposed."""


@dataclass(frozen=True)
class Gene:
    """A number of a method: real from 0 to 1, one of `count` steps in their order, or one of `count` names."""

    variable: int
    kind: Literal["real", "step", "name"]
    count: int = 0


@dataclass(frozen=True, eq=False)
class Genome:
    """Genes of the points of a space; arrays of genes are (n, gene), points (n, variable)."""

    space: PointSpace
    genes: tuple[Gene, ...]

    @classmethod
    def of(cls, space: PointSpace) -> Genome:
        """Return the genes of a space, variable by variable."""
        return cls(space, tuple(gene for k, variable in enumerate(space.variables) for gene in _genes(k, variable)))

    @property
    def is_real(self) -> bool:
        """Return whether all genes are real."""
        return all(gene.kind == "real" for gene in self.genes)

    def places(self, variable: int) -> list[int]:
        """Return the places of the genes of a variable."""
        return [place for place, gene in enumerate(self.genes) if gene.variable == variable]

    def of_points(self, points: Array) -> Array:
        """Return the genes of points; of a row of a table its numbers."""
        parts = []
        for variable, column in zip(self.space.variables, np.asarray(points, dtype=float).T, strict=True):
            if isinstance(variable, Choice) and _by_numbers(variable):
                parts.append(variable.features[column.astype(int)])
            else:
                parts.append(column[:, None])
        return np.concatenate(parts, axis=1)

    def points(self, genes: Array) -> Array:
        """Return the points of genes; of a table the nearest row."""
        table, columns = np.asarray(genes, dtype=float), []
        for k, variable in enumerate(self.space.variables):
            part = table[:, self.places(k)]
            if isinstance(variable, Choice) and _by_numbers(variable):
                away = ((part[:, None] - variable.features) ** 2).sum(axis=2)
                columns.append(away.argmin(axis=1).astype(float))
            else:
                columns.append(part[:, 0])
        return np.stack(columns, axis=1)

    def features(self, points: Array) -> Array:
        """Return numbers from 0 to 1 (n, feature) in which alike designs are near: names as one number each.

        Variables that do not count for a design are in the middle.
        """
        genes, counts, parts = self.of_points(points), self.space.active(points), []
        for gene, column in zip(self.genes, genes.T, strict=True):
            is_active = counts[:, gene.variable]
            if gene.kind == "name":
                part = (column[:, None] == np.arange(gene.count)).astype(float)
            else:
                part = (column / max(gene.count - 1, 1))[:, None]
            parts.append(np.where(is_active[:, None], part, 0.5))
        return np.concatenate(parts, axis=1)

    def every_point(self) -> Array | None:
        """Return all points of a space of choices, rows with the same numbers once; None where there are too many."""
        if self.space.is_conditional or not all(isinstance(variable, Choice) for variable in self.space.variables):
            return None
        rows = [_different_rows(variable) for variable in self.space.variables if isinstance(variable, Choice)]
        if math.prod(map(len, rows)) > MOST_POINTS:
            return None
        return np.array(list(product(*rows)), dtype=float)


def _genes(k: int, variable: Variable) -> Iterator[Gene]:
    if not isinstance(variable, Choice):
        yield Gene(k, "real")
    elif variable.ordered and len(variable.rows) > 1:
        yield Gene(k, "step", len(variable.rows))
    elif _by_numbers(variable):
        yield from (Gene(k, "real") for _ in range(variable.features.shape[1]))
    else:
        yield Gene(k, "name", len(variable.rows))


def _by_numbers(variable: Choice) -> bool:
    """Return whether rows are points in the space of their numbers."""
    return not variable.ordered and variable.features.shape[1] > 0


def _different_rows(variable: Choice) -> NDArray[np.intp]:
    """Return the numbers of rows, of those with the same numbers the first."""
    if not _by_numbers(variable):
        return np.arange(len(variable.rows))
    return np.sort(np.unique(variable.features, axis=0, return_index=True)[1])


class Proposals:
    """Proposed designs: no design is computed twice, and only designs that are robots are computed."""

    def __init__(self, genome: Genome) -> None:
        self.genome, self.seen = genome, set[bytes]()
        every = genome.every_point()
        none = np.zeros((0, len(genome.space.variables)))
        self.every = none if every is None else every[genome.space.computable(every)]
        self.places = {key: place for place, key in enumerate(designs(genome.space, self.every))}
        self.is_left = np.ones(len(self.every), dtype=bool)

    def new(self, points: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Return points none of which was proposed before, and the mask of the points that are new.

        In a space of choices alone the nearest new design takes the place of one that was proposed, or is no robot, as
        long as there is one; elsewhere such a design is left out.
        """
        result, is_new = np.array(points, dtype=float), np.ones(len(points), dtype=bool)
        is_robot = self.genome.space.computable(result)
        for k, key in enumerate(designs(self.genome.space, result)):
            if key not in self.seen and is_robot[k]:
                self._mark(key)
            elif self.is_left.any():
                result[k] = self._nearest(result[k])
                self.add(result[k : k + 1])
            else:
                is_new[k] = False
        return result[is_new], is_new

    def add(self, points: Array) -> None:
        """Count points as proposed."""
        for key in designs(self.genome.space, points):
            self._mark(key)

    def remaining(self) -> Array:
        """Return the points that were not proposed; none where there are too many to list."""
        return self.every[self.is_left]

    def _mark(self, key: bytes) -> None:
        self.seen.add(key)
        if key in self.places:
            self.is_left[self.places[key]] = False

    def _nearest(self, point: Array) -> Array:
        remaining = self.remaining()
        away = ((self.genome.features(remaining) - self.genome.features(point[None])) ** 2).sum(axis=1)
        return np.asarray(remaining[away.argmin()])


def designs(space: PointSpace, points: Array) -> list[bytes]:
    """Return the bits of the coordinates that count, of each point (n, variable)."""
    return [row.tobytes() for row in np.where(space.active(points), points, np.nan) + 0.0]
