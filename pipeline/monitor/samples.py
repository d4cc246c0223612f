"""Failed samples of a store: their number, statuses, first places, and advice."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robots.data_classes import dataclass
from robots.status import ADVICE, Status
from storage.errors import StoreError
from storage.times import samples_of

if TYPE_CHECKING:
    from xarray import DataArray, Dataset

FAILED, WORST = "failed_samples", "worst_status"
CASE = ("design", "friction", "trajectory")
IN_SIMULATIONS = ("gains", "state")
"""Dims that cases of simulations may have as well."""
PLACES = 3
"""First cases of a status that are named."""
PART = 1 << 22
"""Cases that are counted at a time."""


@dataclass(frozen=True)
class FailedStatus:
    """Cases whose worst status is this one: how many, their failed samples, places of the first along the dims."""

    name: str
    cases: int
    samples: int
    first: tuple[tuple[int, ...], ...]

    @property
    def advice(self) -> str:
        """Advice for this status; empty if the status is unknown."""
        return ADVICE[Status[self.name]] if self.name in Status.__members__ else ""


@dataclass(frozen=True)
class FailedSamples:
    """Failed samples of a dataset: number of all samples, failures by status (most frequent first), dims of a case."""

    samples: int
    statuses: tuple[FailedStatus, ...]
    dims: tuple[str, ...] = CASE

    @property
    def failed(self) -> int:
        """Samples that failed, whatever their status."""
        return sum(status.samples for status in self.statuses)

    @property
    def all_failed(self) -> bool:
        """Return whether all samples failed, so that there is not one result."""
        return self.samples > 0 and self.failed >= self.samples

    def lines(self) -> Iterator[str]:
        """Yield the lines that a run prints about failed samples; nothing if none failed."""
        if not self.failed:
            return
        what = "all" if self.all_failed else f"{self.failed:,} of"
        share = "" if self.all_failed else f" ({100 * self.failed / self.samples:.2g} %)"
        yield f"{what} {self.samples:,} samples failed{share} and hold NaN:"
        for status in self.statuses:
            places = "; ".join(_place(self.dims, place) for place in status.first)
            yield (
                f"  {status.name}: {status.samples:,} samples in {status.cases:,} cases, first in {places}. "
                f"{status.advice[:1].upper()}{status.advice[1:]}."
            )


def none_failed(parts: Iterable[np.ndarray] | None) -> bool:
    """Return whether no sample failed in the written part of a store, from its variable FAILED; None without one."""
    return parts is None or not any((part > 0).any() for part in parts)


def failed_samples(dataset: Dataset) -> FailedSamples:
    """Count the failed samples of the results of a sweep, as far as written. Raises StoreError for damaged metadata.

    Designs are read in parts, so memory does not grow with their number.
    """
    if FAILED not in dataset or WORST not in dataset:
        return FailedSamples(0, ())
    part, total = dataset[[FAILED, WORST]], dataset.sizes.get("design", 1)
    step = _part_length(part)
    if step >= total:
        return _counted(part, 0, samples_of(dataset))
    starts = range(0, total, step)
    return merged(_counted(part.isel(design=slice(k, k + step)), k, samples_of(dataset)) for k in starts)


def _part_length(dataset: Dataset) -> int:
    """Return the designs of a part: whole chunks, about `PART` cases."""
    cases = math.prod(length for dim, length in dataset.sizes.items() if dim != "design")
    chunk = dataset.chunksizes.get("design", (1,))[0]
    return max(1, PART // (cases * chunk)) * chunk


def _counted(dataset: Dataset, start: int, samples: np.ndarray) -> FailedSamples:
    """Count the failed samples of designs from a number on; `samples` are those of a case of each trajectory."""
    known = (*CASE, *(dim for dim in IN_SIMULATIONS if dim in dataset[FAILED].dims))
    dims = [dim for dim in known if dim in dataset[FAILED].dims or dim in dataset[WORST].dims]
    counts = dataset[FAILED].broadcast_like(dataset[WORST]).transpose(*dims).values
    worst = dataset[WORST].broadcast_like(dataset[FAILED]).transpose(*dims).values
    others = tuple(k for k, dim in enumerate(dims) if dim != "trajectory")
    written = int(((counts >= 0).sum(axis=others) * samples).sum())
    shape = _sizes(counts, dims, known)
    places = [np.arange(length) + (start if dim == "design" else 0) for dim, length in zip(known, shape, strict=True)]
    names = meanings(dataset[WORST])
    return count_failed(counts.reshape(shape), worst.reshape(shape), names, written, places, known)


def merged(parts: Iterable[FailedSamples]) -> FailedSamples:
    """Return the failed samples of all parts of a dataset, in their order."""
    rows: dict[str, FailedStatus] = {}
    samples = 0
    dims: tuple[str, ...] = CASE
    for part in parts:
        samples, dims = samples + part.samples, part.dims
        for row in part.statuses:
            before = rows.get(row.name, FailedStatus(row.name, 0, 0, ()))
            first = (*before.first, *row.first)[:PLACES]
            rows[row.name] = FailedStatus(row.name, before.cases + row.cases, before.samples + row.samples, first)
    return FailedSamples(samples, tuple(sorted(rows.values(), key=lambda row: -row.samples)), dims)


def count_failed(
    counts: np.ndarray,
    worst: np.ndarray,
    names: Mapping[int, str],
    samples: int,
    places: Sequence[np.ndarray],
    dims: tuple[str, ...] = CASE,
) -> FailedSamples:
    """Count failed samples (case,) by the worst status (case,) of each case; `samples` is their number in all.

    Both arrays have the `dims` of a case; `places` are the numbers along each of them.
    """
    rows = []
    for code in np.unique(worst[counts > 0]):
        hit = (worst == code) & (counts > 0)
        flat = np.flatnonzero(hit)
        first = [np.unravel_index(at, hit.shape) for at in flat[:PLACES]]
        named = tuple(tuple(int(along[k]) for along, k in zip(places, at, strict=True)) for at in first)
        rows.append(FailedStatus(names.get(int(code), str(code)), len(flat), int(counts[hit].sum()), named))
    return FailedSamples(samples, tuple(sorted(rows, key=lambda row: -row.samples)), dims)


def _sizes(values: np.ndarray, dims: Sequence[str], known: Sequence[str]) -> list[int]:
    """Return the lengths along the `known` dims of a case, one where an array lacks the dim."""
    lengths = dict(zip(dims, values.shape, strict=True))
    return [lengths.get(dim, 1) for dim in known]


def meanings(codes: DataArray) -> dict[int, str]:
    """Return the names of the codes of a stored status. Raises StoreError where its attributes do not say."""
    try:
        values = [int(value) for value in np.atleast_1d(codes.attrs["flag_values"])]
        names = codes.attrs["flag_meanings"].split()
        return dict(zip(values, names, strict=True))
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        raise StoreError(
            f"{codes.name}: its attributes flag_values and flag_meanings do not fit together; "
            "expected a name for each code. limbsweep verify lists the damage"
        ) from None


def occurring(values: NDArray[np.integer]) -> list[int]:
    """List the codes among values; most parts of a store have one alone, which needs no search for the others."""
    ends = {int(values.min()), int(values.max())} if values.size else set[int]()
    return sorted(ends) if len(ends) < 2 else np.unique(values).tolist()


def _place(dims: Sequence[str], place: tuple[int, ...]) -> str:
    return ", ".join(f"{dim} {number}" for dim, number in zip(dims, place, strict=True))
