"""Count the samples of a store by status, with the designs that have them and advice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.monitor.samples import meanings, occurring
from robots.data_classes import dataclass
from robots.status import ADVICE, Status

if TYPE_CHECKING:
    from xarray import DataArray, Dataset

NAMED_DESIGNS = 8

PART_NUMBERS = 1 << 22
"""Numbers that are counted at a time."""


@dataclass(frozen=True)
class Trouble:
    """A status that occurs: its name, by trajectory how often (trajectory,), in how many designs, the first of them."""

    name: str
    advice: str
    counts: NDArray[np.int64]
    designs: int
    first: tuple[int, ...]

    @property
    def words(self) -> str:
        """The name as a text."""
        return self.name.replace("_", " ").lower()

    @property
    def count(self) -> int:
        """Number of times that the status occurs."""
        return int(self.counts.sum())

    def with_later(self, later: Trouble) -> Trouble:
        """Return the status in these and in later designs."""
        first = (*self.first, *later.first)[:NAMED_DESIGNS]
        return Trouble(self.name, self.advice, self.counts + later.counts, self.designs + later.designs, first)


@dataclass(frozen=True)
class Troubles:
    """Counts of the statuses that occur, with OK; `what` names the counted items; their `total`; trajectory names."""

    what: str
    total: int
    trajectories: tuple[str, ...]
    statuses: tuple[Trouble, ...]

    @property
    def bad(self) -> tuple[Trouble, ...]:
        """Statuses other than OK."""
        return tuple(status for status in self.statuses if status.name != Status.OK.name)


FLAGS = {
    "unsettled_samples": "their friction and reactions did not settle together within the steps of the iteration: the "
    "numbers are stored, `friction_residual` is their last change; lower the friction or refine the time",
}
"""Variables that count samples which have numbers that are to be taken with care, and advice."""


@dataclass(frozen=True)
class Flagged:
    """Samples that are flagged, not failed: of which variable, how many, in how many designs, the first of them."""

    name: str
    advice: str
    count: int
    designs: int
    first: tuple[int, ...]


def flagged(dataset: Dataset) -> tuple[Flagged, ...]:
    """Count the flagged samples of a dataset."""
    return tuple(flag for name in FLAGS if name in dataset and (flag := _flagged(name, dataset[name])).count)


def _flagged(name: str, counts: DataArray) -> Flagged:
    total, designs, first = 0, 0, list[int]()
    for start, part in _parts(counts, 1):
        by_design = part.sum([dim for dim in part.dims if dim != "design"]).values
        hit = np.flatnonzero(by_design)
        total, designs = total + int(by_design.sum()), designs + len(hit)
        first += [start + int(design) for design in hit[:NAMED_DESIGNS]]
    return Flagged(name, FLAGS[name], total, designs, tuple(first[:NAMED_DESIGNS]))


def _parts(values: DataArray, numbers: int) -> Iterator[tuple[int, DataArray]]:
    """Yield an array in parts along its designs, each with its first design, for a number of values per design."""
    step = max(1, PART_NUMBERS // numbers)
    for start in range(0, values.sizes["design"], step):
        yield start, values.isel(design=slice(start, start + step))


def troubles(dataset: Dataset) -> Troubles | None:
    """Count the statuses of a dataset: of samples where it has them, else the worst of each case."""
    for name, what in (
        ("status", "samples"),
        ("worst_status", "cases (by their worst sample)"),
    ):
        if name in dataset:
            return _troubles(dataset[name], what)
    return None


def _troubles(codes: DataArray, what: str) -> Troubles:
    counted: dict[str, Trouble] = {}
    for start, part in _parts(codes, max(1, codes.size // max(1, codes.sizes["design"]))):
        for trouble in _troubles_of(part, start):
            before = counted.get(trouble.name)
            counted[trouble.name] = trouble if before is None else before.with_later(trouble)
    order = [name for name in meanings(codes).values() if name in counted]
    # trajectories that are over have no sample there
    ended = counted[Status.ENDED.name].count if Status.ENDED.name in counted else 0
    names = tuple(str(name) for name in codes["trajectory"].values)
    statuses = tuple(counted[name] for name in order if name != Status.ENDED.name)
    return Troubles(what, int(codes.size) - ended, names, statuses)


def _troubles_of(codes: DataArray, start: int) -> Iterator[Trouble]:
    """Yield the statuses that occur in a part of the designs, the first of which has the number `start`."""
    values = codes.transpose("design", "trajectory", ...).values
    here = occurring(values)
    for value, name in meanings(codes).items():
        if value in here:  # samples that are not written yet have no code
            by_design = (values == value).sum(axis=tuple(range(2, values.ndim)))
            hit = np.flatnonzero(by_design.any(axis=1))
            first = tuple(start + int(design) for design in hit[:NAMED_DESIGNS])
            yield Trouble(name, _advice(name), by_design.sum(axis=0), len(hit), first)


def _advice(name: str) -> str:
    return ADVICE[Status[name]] if name in Status.__members__ else ""
