"""Keys of the arrays of a program, and the layout of rows of samples.

A key is a name, one of several arrays of a name, or the rate of either. Rows hold whole groups of lanes.
"""

from __future__ import annotations

import contextlib
import math
import mmap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from robots.data_classes import dataclass

T = TypeVar("T")


class Indexed(NamedTuple):
    """One of several arrays of the same name, such as the `wrench` of limb number 2 of a robot."""

    name: str
    number: int

    def __str__(self) -> str:
        return f"{self.name} of {self.number}"


class Rate(NamedTuple):
    """The derivative of an array along a direction; see `tasks.kernels.derivatives`."""

    of: Key

    def __str__(self) -> str:
        return f"rate of {self.of}"


@dataclass(frozen=True)
class Cotangent:
    """The derivatives of one number by an array; see `tasks.kernels.cotangents`. No tuple, to be equal to no rate."""

    of: Key

    def __str__(self) -> str:
        return f"cotangent of {self.of}"


Key = str | Indexed | Rate | Cotangent
Shape = tuple[int, ...]
Shapes = Mapping[Any, Shape]
"""Shapes by Key. A mapping is invariant in its keys, so one by names alone would be no Mapping[Key, ...]."""
Arrays = Mapping[Any, NDArray[np.float64]]
"""Arrays by Key."""
Values = dict[Any, NDArray[np.float64]]
"""Arrays by Key, to which more are added."""


def indexed(number: int, items: Mapping[str, T]) -> dict[Any, T]:
    """Index named items by a number, for example that of a limb: keys become `Indexed(name, number)`."""
    return {Indexed(name, number): item for name, item in items.items()}


def arguments(arrays: Mapping[Key, T]) -> dict[str, T | dict[int, T]]:
    """Return the arrays as keyword arguments; names with an index become one mapping from index to array each."""
    result: dict[str, T | dict[int, T]] = {}
    several: dict[str, dict[int, T]] = {}
    for key, array in arrays.items():
        if isinstance(key, Indexed):
            several.setdefault(key.name, {})[key.number] = array
        elif isinstance(key, str):
            result[key] = array
        else:
            raise TypeError(f"{key} is no argument of a function of one sample")
    return result | several


LANES = 8
SHARING = 128
"""Width of rows, or a multiple of it, at which they compete for cache lines: measured up to four times slower."""


def padded(samples: int) -> int:
    """Return the number of samples rounded up to whole groups of lanes."""
    return -(-samples // LANES) * LANES


def whole_lanes(columns: np.ndarray) -> np.ndarray:
    """Return whole groups of lanes, filled up with the last sample."""
    if not len(columns):
        return columns
    return np.concatenate([columns, np.repeat(columns[-1:], padded(len(columns)) - len(columns))])


def spaced(width: int) -> int:
    """Return the count of numbers from the start of a row to that of the next."""
    return width + LANES if width % SHARING == 0 else width


def empty_rows(shape: tuple[int, ...], empty: Callable[[tuple[int, ...]], np.ndarray] = np.empty) -> np.ndarray:
    """Return an uninitialised array with row starts not multiples of 1 KiB apart: such rows share few cache lines."""
    *outer, width = shape
    return empty((*outer, spaced(width)))[..., :width]


def joined_rows(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return rows of several arrays in one, with starts as those of `empty_rows`."""
    width = parts[0].shape[1]
    return np.concatenate(parts, out=empty_rows((sum(map(len, parts)), width)))


HUGE = 1 << 21
"""Bytes of a huge page."""

SCATTERED = 1 << 18
"""Least size [bytes] of adjacent rows in huge pages. Otherwise each row is in a page of its own, and looking up the
addresses of hundreds of pages took up to a third of the time."""


def huge_pages(size: int) -> NDArray[np.uint8]:
    """Return uninitialised memory in huge pages, if Linux has them and it fills one; it begins with a whole vector."""
    unit = HUGE if size >= HUGE and hasattr(mmap, "MADV_HUGEPAGE") else 8 * LANES
    if unit == HUGE:
        pages = mmap.mmap(-1, size + unit, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # shared ones stay small
        with contextlib.suppress(OSError):  # a kernel without: pages as they are
            pages.madvise(mmap.MADV_HUGEPAGE)
        memory = np.frombuffer(pages, dtype=np.uint8)
    else:
        memory = np.empty(size + unit, dtype=np.uint8)
    start = -memory.__array_interface__["data"][0] % unit
    return memory[start : start + size]


Memory = Callable[[int], NDArray[np.uint8]]
"""Function that gives so many bytes of memory, uninitialised."""


def empty_together(
    shapes: Iterable[tuple[int, ...]], memory: Memory = huge_pages, least: int = HUGE
) -> Iterator[np.ndarray]:
    """Yield uninitialised arrays like `empty_rows`, in one piece of memory of at least `least` bytes."""
    shapes = list(shapes)
    sizes = [8 * math.prod((*outer, spaced(width))) for *outer, width in shapes]
    if sum(sizes) < SCATTERED:
        yield from map(empty_rows, shapes)
        return
    piece, start = memory(max(least, sum(sizes))), 0
    for shape, length in zip(shapes, sizes, strict=True):
        yield empty_rows(shape, piece[start : start + length].view(float).reshape)
        start += length
