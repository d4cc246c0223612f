"""Count the samples of a store by status, with the designs that have them and advice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.monitor.samples import meanings
from robots.status import ADVICE, Status

if TYPE_CHECKING:
    from xarray import DataArray, Dataset

NAMED_DESIGNS = 8


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


@dataclass(frozen=True)
class Troubles:
    """Counts of the statuses that occur, with OK; `what` is counted, out of `total`; names of the trajectories."""

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
    "numbers are there, `friction_residual` is what they still changed by; lower the friction or refine the time",
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
    by_design = counts.sum([dim for dim in counts.dims if dim != "design"]).values
    hit = np.flatnonzero(by_design)
    first = tuple(int(design) for design in hit[:NAMED_DESIGNS])
    return Flagged(name, FLAGS[name], int(by_design.sum()), len(hit), first)


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
    import xarray

    times = [dim for dim in codes.dims if dim not in ("design", "trajectory")]
    # One pass over the codes for all of them; what nobody has written is no code.
    hits = {name: (codes == value).sum(times) for value, name in meanings(codes).items()}
    counts = xarray.Dataset(hits).compute()
    ended = int(counts[Status.ENDED.name].sum()) if Status.ENDED.name in counts else 0  # of trajectories that are over
    statuses = []
    for name, counted in counts.drop_vars(Status.ENDED.name, errors="ignore").items():
        by_design = counted.transpose("design", "trajectory").values
        if by_design.any():
            hit = np.flatnonzero(by_design.any(axis=1))
            first = tuple(int(design) for design in hit[:NAMED_DESIGNS])
            statuses.append(Trouble(str(name), _advice(str(name)), by_design.sum(axis=0), len(hit), first))
    names = tuple(str(name) for name in codes["trajectory"].values)
    return Troubles(what, int(codes.size) - ended, names, tuple(statuses))


def _advice(name: str) -> str:
    return ADVICE[Status[name]] if name in Status.__members__ else ""
