"""Factors of a design space: parameters between bounds, rows of tables, and the factors of a list of designs."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.sweep.axes.samples import Array, between
from robots.data_classes import dataclass

Kind = Literal["free", "category", "derived", "fixed", "case", "tolerance"]

MOST_ROWS = 16
"""Values in a list of designs that may be the rows of a catalogue, even where none is there twice."""


@dataclass(frozen=True)
class Continuous:
    """A parameter between two bounds; as a coordinate of a point from 0 to 1, with `log` evenly by its logarithm."""

    name: str
    low: float
    high: float
    log: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Parameters that it sets."""
        return (self.name,)

    def values(self, coordinate: Array) -> dict[str, Array]:
        """Return the parameter at coordinates (n,)."""
        return {self.name: np.clip(between(self.low, self.high, coordinate, log=self.log), self.low, self.high)}

    def coordinate(self, values: Array) -> Array:
        """Return the coordinates (n,) of values, to rounding."""
        low, high, x = (np.log(v) if self.log else np.asarray(v) for v in (self.low, self.high, values))
        return np.asarray((x - low) / (high - low))


@dataclass(frozen=True, eq=False)
class Choice:
    """Rows of a table (row, parameter), one of which a design has; a coordinate of a point is the number of the row.

    `ordered`: neighbouring rows are alike, as of a grid. Else rows are points in the space of their numbers; rows
    without numbers are bare names. `texts`: columns whose numbers are places of texts.
    """

    names: tuple[str, ...]
    rows: Array
    ordered: bool
    texts: frozenset[str] = frozenset()

    @cached_property
    def features(self) -> Array:
        """Numbers of the rows (row, feature), each from 0 to 1, by their logarithm where that is spread more evenly.

        Columns that are constant, or that order the rows as another one does at the same distances, are left out.
        """
        kept: list[Array] = []
        for name, column in zip(self.names, self.rows.T, strict=True):
            if name not in self.texts and np.ptp(column) > 0.0:
                unit = 0.5 + 0.5 * even(column)
                if not any(np.allclose(unit, other) or np.allclose(1.0 - unit, other) for other in kept):
                    kept.append(unit)
        return np.stack(kept, axis=1) if kept else np.zeros((len(self.rows), 0))

    def values(self, coordinate: Array) -> dict[str, Array]:
        """Return the parameters at numbers of rows (n,)."""
        rows = self.rows[np.asarray(coordinate, dtype=int)]
        return {name: rows[:, k] for k, name in enumerate(self.names)}

    def coordinate(self, columns: Array) -> Array:
        """Return the numbers of the rows that are those of a table (n, parameter). Raises ValueError for other rows."""
        number = {row.tobytes(): k for k, row in reversed(list(enumerate(self.rows + 0.0)))}
        if unknown := [row for row in columns + 0.0 if row.tobytes() not in number]:
            raise ValueError(f"columns: got the row {unknown[0].tolist()}; expected rows of {', '.join(self.names)}")
        return np.array([number[row.tobytes()] for row in columns + 0.0], dtype=float)


def even(x: Array) -> Array:
    """Return values on [-1, 1], by their logarithm where that is spread more evenly."""
    forms = [x, np.log(x)] if (x > 0.0).all() else [x]
    spread = []
    for form in forms:
        low, high = form.min(), form.max()
        unit = np.sort((form - low) / ((high - low) or 1.0))
        spread.append((float(np.abs(unit - np.linspace(0.0, 1.0, len(x))).max()), form))
    form = min(spread, key=lambda pair: pair[0])[1]
    return np.asarray(2.0 * (form - form.min()) / (np.ptp(form) or 1.0) - 1.0)


Variable = Continuous | Choice


@dataclass(frozen=True, eq=False)
class Factor:
    """A factor: the parameters (and labels) that it sets, its values or bounds, and the section that has it.

    section: the dim along which it was swept, `design`, `friction`, or those of gains and initial states.
    """

    name: str
    kind: Kind
    section: str
    members: tuple[str, ...]
    domain: Variable | None = None

    @property
    def is_varied(self) -> bool:
        """Return whether the factor is chosen: free, or the rows of a table."""
        return self.kind in ("free", "category")


def list_factors(columns: Mapping[str, NDArray[Any]], labels: Container[str], section: str) -> list[Factor]:
    """Return the factors of a list of designs, columns (n,) by name: independent ones, and groups that vary together.

    Columns that a label with few texts decides are one factor, the label's; so are columns that name one another. All
    other columns are free. Labels of many texts, such as names of designs, and labels that are numbers are no factors.
    """
    texts = [name for name in columns if name in labels and columns[name].dtype.kind not in "fiu"]
    numeric = [name for name in columns if name not in texts]
    groups: list[tuple[str, ...]] = []
    for label in texts:
        if _few(len(np.unique(columns[label])), len(columns[label])):
            decided = [name for name in numeric if _decides(columns[label], columns[name])]
            groups.append((label, *decided))
            numeric = [name for name in numeric if name not in decided]
    pairs = len(groups)
    for name in numeric:
        alike = (k for k in range(pairs, len(groups)) if go_together([columns[groups[k][0]], columns[name]]))
        if (twins := next(alike, None)) is None:
            groups.append((name,))
        else:
            groups[twins] = (*groups[twins], name)
    groups_shown = [group for k, group in enumerate(groups) if k < pairs or any(name not in labels for name in group)]
    return [table_factor(group, texts, section) for group in groups_shown]


def table_factor(names: Sequence[str], labels: Container[str], section: str) -> Factor:
    """Return the factor of columns that go together, called by their label, or of a column alone."""
    label = next((name for name in names if name in labels), None)
    kind: Kind = "free" if label is None and len(names) == 1 else "category"
    return Factor(label or ", ".join(names), kind, section, tuple(names))


def _decides(label: NDArray[Any], column: NDArray[Any]) -> bool:
    """Return whether all rows with the same text have the same value."""
    pairs = [np.unique(x, return_inverse=True)[1].ravel() for x in (label, column)]
    return len(np.unique(np.stack(pairs), axis=1).T) == int(pairs[0].max()) + 1


def go_together(columns: Sequence[NDArray[Any]]) -> bool:
    """Return whether columns (n,) of numbers or texts name one another: few values, in a one-to-one relation."""
    count = len(np.unique(columns[0]))
    if not _few(count, len(columns[0])) or any(len(np.unique(column)) != count for column in columns[1:]):
        return False  # most columns of samples end here, unsorted
    places = [np.unique(column, return_inverse=True)[1].ravel() for column in columns]
    return len(np.unique(np.stack(places), axis=1).T) == count


def _few(values: int, rows: int) -> bool:
    """Return whether this number of values in rows is that of a catalogue, rather than of names or of a sample."""
    return values <= max(MOST_ROWS, rows // 2)
