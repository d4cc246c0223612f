"""Samples of a store that failed: how many, of which status, where the first are, and what would help."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robots.status import ADVICE, Status
from storage.errors import StoreError

if TYPE_CHECKING:
    from xarray import DataArray, Dataset

FAILED, WORST = "failed_samples", "worst_status"
CASE = ("design", "friction", "trajectory")
PLACES = 3
"""First cases of a status that are named."""


@dataclass(frozen=True)
class FailedStatus:
    """Cases whose worst status is this one: how many, their failed samples, places of the first along CASE."""

    name: str
    cases: int
    samples: int
    first: tuple[tuple[int, ...], ...]

    @property
    def advice(self) -> str:
        """What would help."""
        return ADVICE[Status[self.name]] if self.name in Status.__members__ else ""


@dataclass(frozen=True)
class FailedSamples:
    """What failed in a dataset: of how many samples, and by status, the most frequent first."""

    samples: int
    statuses: tuple[FailedStatus, ...]

    @property
    def failed(self) -> int:
        """Samples that failed, whatever their status."""
        return sum(status.samples for status in self.statuses)

    @property
    def all_failed(self) -> bool:
        """Whether there is not one result."""
        return self.samples > 0 and self.failed >= self.samples

    def lines(self) -> Iterator[str]:
        """What a run says of it; nothing where all is well."""
        if not self.failed:
            return
        what = "all" if self.all_failed else f"{self.failed:,} of"
        share = "" if self.all_failed else f" ({100 * self.failed / self.samples:.2g} %)"
        yield f"{what} {self.samples:,} samples failed{share} and hold NaN:"
        for status in self.statuses:
            places = "; ".join(_place(place) for place in status.first)
            yield (
                f"  {status.name}: {status.samples:,} samples in {status.cases:,} cases, first in {places}. "
                f"{status.advice[:1].upper()}{status.advice[1:]}."
            )


def failed_samples(dataset: Dataset) -> FailedSamples:
    """Count what failed in the results of a sweep, where they are written. Raises StoreError for damaged metadata."""
    if FAILED not in dataset or WORST not in dataset:
        return FailedSamples(0, ())
    dims = [dim for dim in CASE if dim in dataset[FAILED].dims or dim in dataset[WORST].dims]
    counts = dataset[FAILED].broadcast_like(dataset[WORST]).transpose(*dims).values
    worst = dataset[WORST].broadcast_like(dataset[FAILED]).transpose(*dims).values
    names = meanings(dataset[WORST])
    rows = [_status(names.get(int(code), str(code)), counts, worst == code, dims) for code in _codes(worst, counts)]
    written = int((counts >= 0).sum()) * int(dataset.sizes.get("time", 1))
    return FailedSamples(written, tuple(sorted(rows, key=lambda row: -row.samples)))


def meanings(codes: DataArray) -> dict[int, str]:
    """Names of the codes of a stored status. Raises StoreError where its attributes do not say."""
    try:
        values = [int(value) for value in np.atleast_1d(codes.attrs["flag_values"])]
        names = codes.attrs["flag_meanings"].split()
        return dict(zip(values, names, strict=True))
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        raise StoreError(
            f"{codes.name}: its attributes flag_values and flag_meanings do not fit together; "
            "expected a name for each code. limbsweep verify says what is damaged"
        ) from None


def _codes(worst: np.ndarray, counts: np.ndarray) -> list[int]:
    return [int(code) for code in np.unique(worst[counts > 0])]


def _status(name: str, counts: np.ndarray, where: np.ndarray, dims: list[str]) -> FailedStatus:
    hit = where & (counts > 0)
    flat = np.flatnonzero(hit)
    places = [np.unravel_index(at, hit.shape) for at in flat[:PLACES]]
    first = tuple(tuple(int(place[dims.index(dim)]) if dim in dims else 0 for dim in CASE) for place in places)
    return FailedStatus(name, len(flat), int(counts[hit].sum()), first)


def _place(place: tuple[int, ...]) -> str:
    return ", ".join(f"{dim} {number}" for dim, number in zip(CASE, place, strict=True))
