"""Lazy sequences of the values along an axis, so that an axis of any length takes no memory."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, overload

from pipeline.sweep.axes.kinds import Array, Axis

if TYPE_CHECKING:
    from pipeline.sweep.dataset_split import DatasetSplit


class LazyColumn(Sequence[Any]):
    """A sequence of `size` values that are computed when they are read."""

    def __init__(self, size: int) -> None:
        self._size = size

    @abstractmethod
    def part(self, start: int, stop: int) -> Any:
        """Compute the values from `start` up to before `stop`."""

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> Any: ...

    def __getitem__(self, index: int | slice) -> Any:
        """Return one value, or the values of a slice with step 1."""
        if isinstance(index, slice):
            start, stop, step = index.indices(self._size)
            if step != 1:
                raise IndexError(f"a column got a slice with step {step}; expected neighbours, step 1")
            return self.part(start, max(start, stop))
        if not -self._size <= index < self._size:
            raise IndexError(f"a column of {self._size} values got index {index}")
        return self.part(index % self._size, index % self._size + 1)[0]


LABEL = "label of the design"
"""The long name of coordinates of designs that are no parameters."""


class AxisColumn(LazyColumn):
    """The values of one parameter along an axis, from its function of all values in a range."""

    def __init__(self, values: Callable[[int, int], Mapping[str, Array]], name: str, size: int) -> None:
        super().__init__(size)
        self._values, self._name = values, name

    def part(self, start: int, stop: int) -> Array:
        """Compute the values from `start` up to before `stop`."""
        return self._values(start, stop)[self._name]


class TextColumn(LazyColumn):
    """Texts along an axis, by the places among them that another column has."""

    def __init__(self, places: LazyColumn, texts: Sequence[str]) -> None:
        super().__init__(len(places))
        self._places, self._texts = places, texts

    def part(self, start: int, stop: int) -> list[str]:
        """Compute the values from `start` up to before `stop`."""
        return [self._texts[int(place)] for place in self._places.part(start, stop)]


class PartColumn(LazyColumn):
    """The part of a dataset (train, validation, test) of each of `count` designs or trajectories belongs to."""

    def __init__(self, parts: DatasetSplit, count: int) -> None:
        super().__init__(count)
        self._parts = parts

    def part(self, start: int, stop: int) -> list[str]:
        """Compute the values from `start` up to before `stop`."""
        return self._parts.of(start, stop)


def columns(axis: Axis) -> dict[str, LazyColumn]:
    """Return the lazy sequences of the values of each parameter along an axis, by name."""
    values = lru_cache(maxsize=1)(axis.values)  # columns are read part by part in turn
    plain, texts = {name: AxisColumn(values, name, axis.size) for name in axis.names}, axis.texts
    return {name: TextColumn(column, texts[name]) if name in texts else column for name, column in plain.items()}
