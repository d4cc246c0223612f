"""Keys of the arrays that programs take and give: a name, one of several arrays of a name, or the rate of either."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")


class Indexed(NamedTuple):
    """One of several arrays of the same name, such as the `wrench` of limb number 2 of a robot."""

    name: str
    number: int

    def __str__(self) -> str:
        return f"{self.name} of {self.number}"


class Rate(NamedTuple):
    """The derivative of an array along a direction; see `tasks.kernels.pushforward`."""

    of: str | Indexed | Rate

    def __str__(self) -> str:
        return f"rate of {self.of}"


Key = str | Indexed | Rate
Shape = tuple[int, ...]
Shapes = Mapping[Any, Shape]
"""Shapes by Key. A mapping is invariant in its keys, so one by names alone would be no Mapping[Key, ...]."""
Arrays = Mapping[Any, NDArray[np.float64]]
"""Arrays by Key."""
Values = dict[Any, NDArray[np.float64]]
"""Arrays by Key, to which more are added."""


def indexed(number: int, items: Mapping[str, T]) -> dict[Any, T]:
    """What is known by name of one limb, say, by its keys among those of all limbs."""
    return {Indexed(name, number): item for name, item in items.items()}


def arguments(arrays: Mapping[Key, T]) -> dict[str, T | dict[int, T]]:
    """Arrays as keyword arguments: those with an index as one mapping from index to array for each name."""
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
