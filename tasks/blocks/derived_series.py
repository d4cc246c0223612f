"""Series of a block with their rates along directions, filled part by part, and the record of a quantity with rates.

`tasks.blocks.gradients` runs the stages with their rates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from robots.data_classes import dataclass
from robots.dims import FRICTION
from robots.friction.groups import FrictionGroup
from robots.quantities import QUANTITIES
from robots.status import Status
from tasks.blocks.series import fill_of_stages
from tasks.kernels.keys import Rate, Values
from tasks.stages.parts import OUTCOME
from tasks.stages.request import Request

SETTLED = ("actuation", "reactions")
"""Stages whose samples fail where friction does not settle."""


PARTS = ("design", FRICTION, "trajectory", "actuator", "limb", "joint", "link")
"""Dims along which numbers of a series have sizes of their own."""


def largest(array: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """Return the largest size along some axes, which are kept with length 1; NaN where all numbers are NaN."""
    return np.fmax.reduce(np.abs(array), axis=axes, keepdims=True) if axes else np.abs(array)


@dataclass(frozen=True)
class MetricRates:
    """Values of a metric (design, ..., window), its rates and their sizes (direction, design, ..., window).

    sizes: magnitudes that determine the rounding of rates: the largest rate of all samples, or the sum of magnitudes.

    The dims in between are dims of the metric: friction set and trajectory, or trajectory alone; then actuator, if it
    has one. A series has all of its dims, and one window. Its `axes` are the axes of `values` along which numbers have
    a common size: time and components. `statuses` (design, ..., time, 1 for each later dim) belong to its samples.
    """

    values: np.ndarray
    rates: np.ndarray
    sizes: np.ndarray
    axes: tuple[int, ...] = ()
    statuses: np.ndarray | None = None

    def take(self, designs: slice | np.ndarray) -> MetricRates:
        """Return those of some designs, without statuses."""
        return MetricRates(self.values[designs], self.rates[:, designs], self.sizes[:, designs], self.axes)


class SeriesRates:
    """Values, rates and statuses of some series of a block in the dims of the dataset; `count` directions.

    dims: dims of each series, by name; sizes: lengths of dims.
    """

    def __init__(
        self, dims: Mapping[str, tuple[str, ...]], sizes: Mapping[str, int], groups: Sequence[FrictionGroup], count: int
    ):
        self.names, self.count, self._dims, self._sizes, self._groups = tuple(dims), count, dims, sizes, groups
        shapes = {name: self._shape(row) for name, row in dims.items()}
        self.values = {name: np.full(shape, np.nan) for name, shape in shapes.items()}
        self.rates = {name: np.full((count, *shape), np.nan) for name, shape in shapes.items()}
        self.statuses = {
            name: np.zeros(shapes[name][: dims.index("time") + 1], dtype=np.int8) for name, dims in self._dims.items()
        }

    def _shape(self, dims: Sequence[str]) -> tuple[int, ...]:
        return tuple(self._sizes[dim] for dim in dims)

    @property
    def wanted(self) -> tuple[str, ...]:
        """Names of the series and of the status of samples, for a request."""
        return (*self.names, "status") if self.names else ()

    def store(self, request: Request, values: Values, place: tuple[int, int, slice]) -> None:
        """Store a part of the time from the values of all stages and their rates (design times direction, ...).

        place: numbers of the friction set and of the trajectory, and the times.
        """
        number, trajectory, times = place
        names = [name for name in self.names if number == 0 or FRICTION in self._dims[name]]
        if not names:
            return
        series = self._filled(request, names, values, times)
        moved = self._filled(request, names, {key.of: x for key, x in values.items() if isinstance(key, Rate)}, times)
        for name in names:
            key = OUTCOME if QUANTITIES[name].stage in SETTLED and OUTCOME in values else "status"
            samples = values[key][:, 0, : times.stop - times.start]
            status = np.broadcast_to(samples, (len(series[name]), samples.shape[1]))
            for array in (series[name], moved[name]):
                array[status != Status.OK] = np.nan
            case = (number, trajectory, times) if FRICTION in self._dims[name] else (trajectory, times)
            self.values[name][(slice(None), *case)] = self._by_direction(series[name])[0]
            self.rates[name][(slice(None), slice(None), *case)] = self._by_direction(moved[name])
            self.statuses[name][(slice(None), *case)] = self._by_direction(status)[0]

    def arrays(self) -> dict[str, MetricRates]:
        """Return the series; the sizes of their rates are the largest over time and components of each part."""
        return {name: self._of(name) for name in self.names}

    def _of(self, name: str) -> MetricRates:
        rates, statuses = self.rates[name], self.statuses[name]
        axes = tuple(k for k, dim in enumerate(self._dims[name]) if dim not in PARTS)
        sizes = np.broadcast_to(largest(rates, tuple(axis + 1 for axis in axes)), rates.shape)
        statuses = statuses.reshape(*statuses.shape, *(1,) * (rates.ndim - 1 - statuses.ndim))
        return MetricRates(self.values[name][..., None], rates[..., None], sizes[..., None], axes, statuses)

    def _filled(self, request: Request, names: Sequence[str], values: Values, times: slice) -> dict[str, np.ndarray]:
        """Return series (case, time, ...) from values of the stages."""
        cases, samples = self._sizes["design"] * self.count, times.stop - times.start
        inner = {name: self._dims[name][self._dims[name].index("time") + 1 :] for name in names}
        out = {name: np.full((cases, samples, *self._shape(dims)), np.nan) for name, dims in inner.items()}
        fill_of_stages(out, request, self._groups, values, samples)
        return out

    def _by_direction(self, array: np.ndarray) -> np.ndarray:
        """Return cases (design times direction, ...) as (direction, design, ...)."""
        return np.moveaxis(array.reshape(self._sizes["design"], self.count, *array.shape[1:]), 1, 0)
