"""Episodes of a dataset: its cases without failed samples, numbered part by part, and their signals."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from applications.identification.batches import case_dims, parted_cases, require_one_length
from pipeline.errors import size
from pipeline.sweep.dataset_split import PARTS
from robots.data_classes import dataclass
from storage.errors import StoreError

if TYPE_CHECKING:
    from xarray import DataArray, Dataset

LOADED = 1 << 26
"""Bytes of signals that are read from a store at once, unless one case has more."""
FAILED = "worst_status"


@dataclass(frozen=True)
class SeriesColumn:
    """Series of a dataset: name, unit, meaning, and the names of its components (one for a scalar)."""

    name: str
    units: str
    text: str
    components: tuple[str, ...]

    @property
    def width(self) -> int:
        """Number of components."""
        return len(self.components)


@dataclass(frozen=True)
class Episode:
    """Case of a dataset: its number among all episodes, its part, its places along the dims of cases."""

    number: int
    part: str
    case: tuple[int, ...]


@dataclass(frozen=True)
class Episodes:
    """Episodes of a store with their signals, training first."""

    data: Dataset
    dims: tuple[str, ...]
    signals: tuple[SeriesColumn, ...]
    rows: tuple[Episode, ...]
    left_out: int
    """Cases with failed samples, which are no episodes."""
    precision: str = "float64"
    """Type of the numbers in files."""

    @property
    def length(self) -> int:
        """Samples of each episode."""
        return int(self.data.sizes["time"])

    @property
    def step(self) -> float:
        """Time between samples [s]."""
        times = self.data["time"].values
        return float(f"{(times[-1] - times[0]) / max(len(times) - 1, 1):.12g}")

    @property
    def bytes(self) -> int:
        """Bytes of the signals of an episode, and of the numbers beside them."""
        return 8 * self.length * (sum(signal.width for signal in self.signals) + len(self.dims) + 5)

    @cached_property
    def counts(self) -> dict[str, int]:
        """Number of episodes of each part that has some."""
        parts = [episode.part for episode in self.rows]
        return {part: parts.count(part) for part in PARTS if part in parts}

    def load(self) -> Iterator[tuple[Episode, Mapping[str, np.ndarray]]]:
        """Yield each episode with its signals (time, component), in the order of the store; parts are mixed."""
        names = [signal.name for signal in self.signals]
        for rows in self._groups():
            lower, upper = np.min([row.case for row in rows], 0), np.max([row.case for row in rows], 0)
            box = {dim: slice(int(a), int(b) + 1) for dim, a, b in zip(self.dims, lower, upper, strict=True)}
            part = self.data[names].isel(box).load(scheduler="synchronous")
            arrays = {name: _cases_first(part[name], self.dims) for name in names}
            for row in rows:
                place = (np.array(row.case) - lower).tolist()
                yield row, {name: _columns(values, varied, place) for name, (values, varied) in arrays.items()}

    def _groups(self) -> Iterator[list[Episode]]:
        """Yield episodes that lie beside each other in the store: trajectories of one design."""
        at = self.dims.index("trajectory")
        apart = int(np.prod([self.data.sizes[dim] for dim in self.dims if dim not in ("design", "trajectory")]))
        count = max(LOADED // (self.bytes * apart), 1)
        groups: dict[tuple[int, int], list[Episode]] = {}
        for row in self.rows:
            groups.setdefault((row.case[0], row.case[at] // count), []).append(row)
        for key in sorted(groups):
            yield sorted(groups[key], key=lambda row: row.number)


def _cases_first(values: DataArray, dims: Sequence[str]) -> tuple[np.ndarray, list[int]]:
    """Return an array (*dims of cases that it has, time, ...), and which of `dims` these are."""
    varied = [k for k, dim in enumerate(dims) if dim in values.dims]
    series = values.variable.transpose(*(dims[k] for k in varied), "time", ...)
    return np.asarray(series.values, dtype=float), varied


def _columns(values: np.ndarray, varied: Sequence[int], place: Sequence[int]) -> np.ndarray:
    """Return the series of one case (time, component)."""
    series = values[tuple(place[k] for k in varied)]
    return series.reshape(len(series), -1)


def episodes_of(data: Dataset, store: str, precision: str = "float64") -> Episodes:
    """Number the cases of a store. Raises StoreError for a store without series, or without a sound case."""
    require_one_length(data, store)
    signals = tuple(_signals(data))
    if not signals:
        raise StoreError(f"{store}: has no series over time; expected outputs such as measured_force; run it with them")
    dims = case_dims(data)
    sound = _sound(data, dims)
    cases = [(part, case) for case, part in parted_cases(data) if sound[case]]
    if not cases:
        raise StoreError(f"{store}: has no case without failed samples; expected one; see limbsweep info {store}")
    cases.sort(key=lambda row: (PARTS.index(row[0]), row[1]))
    rows = tuple(Episode(number, part, case) for number, (part, case) in enumerate(cases))
    return Episodes(data, dims, signals, rows, int(sound.size - len(rows)), precision)


def _sound(data: Dataset, dims: Sequence[str]) -> np.ndarray:
    """Return which cases have no failed sample (*dims)."""
    shape = [data.sizes[dim] for dim in dims]
    if FAILED not in data:
        return np.ones(shape, dtype=bool)
    worst = data[FAILED].load(scheduler="synchronous")
    varied = [dim for dim in dims if dim in worst.dims]
    sound = worst.transpose(*varied).values == 0
    wide = [data.sizes[dim] if dim in varied else 1 for dim in dims]
    return np.broadcast_to(sound.reshape(wide), shape)


def _signals(data: Dataset) -> Iterator[SeriesColumn]:
    """Yield the series of numbers over time, without codes such as `status`."""
    for name, variable in data.data_vars.items():
        if "time" not in variable.dims or variable.dtype.kind != "f":
            continue
        inner = [str(dim) for dim in variable.dims if dim not in ("time", *case_dims(data))]
        labels = [_labels(data, dim) for dim in inner]
        components = ("_".join(labels[k][i] for k, i in enumerate(at)) for at in np.ndindex(*map(len, labels)))
        if inner and not all(labels):
            continue
        text = str(variable.attrs.get("long_name", ""))
        signal = SeriesColumn(str(name), _units(variable), text, tuple(components) if inner else (str(name),))
        if 8 * signal.width * data.sizes["time"] > 1 << 31:
            raise StoreError(
                f"{name}: got {size(8 * signal.width * data.sizes['time'])} in one case; expected below 2 GiB; "
                "shorten the time of the sweep, or leave this output out"
            )
        yield signal


def _labels(data: Dataset, dim: str) -> list[str]:
    values = data[dim].values.tolist() if dim in data.coords else list(range(data.sizes[dim]))
    return [re.sub(r"[^A-Za-z0-9_.-]", "_", str(value)) for value in values]


def _units(variable: DataArray) -> str:
    return str(variable.attrs.get("units", variable.attrs.get("component_units", "1")))
