"""A row of the table: a published problem, its figures beside ours, and the digits in which both agree."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbsweep.robots import read
from robots.loads.declared import DeclaredLoad
from robots.loads.family import with_loads
from robots.model import Robot

ROBOTS = Path(__file__).parents[2] / "examples" / "published"
REFERENCES = Path(__file__).parent / "references"
MOST_DIGITS = 16.0

Array = NDArray[np.float64]


class RefusedError(RuntimeError):
    """A problem that the program did not solve: a status in place of numbers."""


@dataclass(frozen=True)
class Compared:
    """Numbers of ours beside those of a source, of one kind and unit."""

    what: str
    ours: ArrayLike
    published: ArrayLike
    scale: float | None = None
    """Size to which differences are compared; absent: the largest published number."""

    @property
    def difference(self) -> float:
        """Largest difference over the scale."""
        ours, published = np.asarray(self.ours, dtype=float), np.asarray(self.published, dtype=float)
        scale = self.scale or float(np.abs(published).max())
        worst = float(np.abs(ours - published).max())
        return worst / scale if math.isfinite(worst) else math.inf

    @property
    def digits(self) -> float:
        """Digits in which both agree."""
        return min(MOST_DIGITS, -math.log10(max(self.difference, 10.0**-MOST_DIGITS)))


@dataclass(frozen=True)
class Row:
    """A published problem.

    digits: required digits of agreement with the source, and `because`: the reason why the source has no more. quick:
    whether it takes at most a second or two once kernels are compiled.
    """

    name: str
    title: str
    source: str
    digits: float
    because: str
    compute: Callable[[], Iterable[Compared]]
    quick: bool = False

    def result(self) -> Result:
        """Compute the row; an error becomes a part of the result and is not raised."""
        try:
            parts = tuple(self.compute())
        except Exception as error:
            return Result(self, (), f"{type(error).__name__}: {error}")
        return Result(self, parts)


@dataclass(frozen=True)
class Result:
    """A row with its numbers, or with the reason for missing numbers."""

    row: Row
    parts: Sequence[Compared]
    refusal: str = ""

    @property
    def worst(self) -> Compared | None:
        """The numbers that agree least."""
        return min(self.parts, key=lambda part: part.digits, default=None)

    @property
    def verdict(self) -> str:
        """`right`, `wrong`, or `refused`."""
        if self.worst is None:
            return "refused"
        return "right" if self.worst.digits >= self.row.digits else "wrong"


def published_robot(
    name: str, loads: Mapping[str, DeclaredLoad] | None = None, values: Mapping[str, float] | None = None
) -> Robot:
    """Return a robot of `examples/published`, with loads and values of its parameters."""
    robot = read(ROBOTS / f"{name}.yaml", **(values or {}))
    return with_loads(robot, loads) if loads else robot


def reference(name: str) -> Mapping[str, Array]:
    """Return the columns of a table of published figures by name; those of vectors (time, component) by their stem."""
    lines = [line for line in (REFERENCES / f"{name}.csv").read_text("utf-8").splitlines() if line[:1] != "#"]
    names = lines[0].split(",")
    numbers = np.array([[float(cell) for cell in line.split(",")] for line in lines[1:]])
    columns = dict(zip(names, numbers.T, strict=True))
    stems = dict.fromkeys(
        stem for stem, _, end in (name.rpartition("_") for name in names) if end in "xyz0123" and stem
    )
    vectors = {
        stem: np.stack([column for name, column in columns.items() if name.rpartition("_")[0] == stem], axis=-1)
        for stem in stems
    }
    return {**columns, **vectors}
