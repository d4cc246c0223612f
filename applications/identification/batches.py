"""Batches of a dataset for machine learning: windows of its time series, shuffled with a seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.documents.dataset_names import part_name
from pipeline.sweep.dataset_split import PARTS, case_part
from robots.arguments import check_arguments, shown
from robots.data_classes import dataclass
from robots.dims import GAINS, STATE
from robots.extras import require_extra
from robots.parameter_errors import ParameterError
from storage.errors import StoreError
from storage.places.location import LocationLike
from storage.store import open_results
from storage.times import has_one_length, samples_of

if TYPE_CHECKING:
    from xarray import Dataset

CASE = ("design", "friction", "trajectory", GAINS, STATE)
"""Names of the numbers of a case, the last two of simulations whose gains or initial states vary."""
MIXED = 64
"""Cases that are held in memory and mixed with each other at once."""


def case_dims(data: Dataset) -> tuple[str, ...]:
    """Return the dims along which a dataset has cases, slowest first."""
    return tuple(dim for dim in CASE if dim in data.sizes)


def parted_cases(data: Dataset) -> Iterator[tuple[tuple[int, ...], str]]:
    """Yield each case, its places along `case_dims`, and its part; a case without parts is for training."""
    dims = case_dims(data)
    named = {at: part_name(dim) for at, dim in enumerate(dims)}
    parts = {at: data[name].values.tolist() for at, name in named.items() if name in data.coords}
    for case in np.ndindex(*(data.sizes[dim] for dim in dims)):
        yield case, case_part(PARTS[0], *(names[case[at]] for at, names in parts.items()))


def require_one_length(data: Dataset, store: object) -> None:
    """Refuse a dataset whose trajectories have times of their own, of which windows differ. Raises StoreError."""
    if not has_one_length(data):
        lengths = ", ".join(map(str, np.unique(samples_of(data))))
        raise StoreError(
            f"{store}: its trajectories have times of their own ({lengths} samples); expected the same times for all; "
            "take those with the same times by a subset, and run it"
        )


@check_arguments
@dataclass(frozen=True)
class Loader:
    """Iterator over batches of the variables, each (batch, window, ...): every window once, in a seeded order.

    The part of a case is that of `pipeline.sweep.dataset_split.case_part`: every case has one, and a case for tests has
    a robot or a motion that was never trained with. `window` absent: whole trajectories. `labels`: batches have the
    numbers `design`, `friction` and `trajectory` (batch,) of each window, of simulations `gains` and `state` too.
    `torch`: tensors instead of arrays. `worker`: number of this one and of all, which share the cases; each window is
    some worker's. Its length is the number of batches; `after` goes on within a pass, `loader[number]` is one window.
    Raises StoreError.

        >>> loader = ls.Loader("out.zarr", "train", ["actuator_force"], batch=8, window=100, seed=1)
        >>> next(iter(loader))["actuator_force"].shape
        (8, 100, 3)
    """

    store: LocationLike
    part: str = "train"
    variables: Sequence[str] = ("measured_position", "measured_velocity", "measured_acceleration", "measured_force")
    batch: int = 32
    window: int | None = None
    seed: int = 0
    torch: bool = False
    labels: bool = False
    worker: tuple[int, int] = (0, 1)

    def __post_init__(self) -> None:
        if self.part not in PARTS:
            raise StoreError(f"part: got {shown(self.part)}; expected one of {', '.join(PARTS)}")
        data = open_results(self.store)
        require_one_length(data, self.store)
        series = [str(name) for name, variable in data.data_vars.items() if "time" in variable.dims]
        if wrong := [name for name in self.variables if name not in series]:
            raise StoreError(f"variables: got {wrong[0]!r}; expected series of the store: {', '.join(series)}")
        if not self.variables:
            raise StoreError(f"variables: got none; expected series of the store: {', '.join(series)}")
        window = data.sizes["time"] if self.window is None else self.window
        if not 1 <= window <= data.sizes["time"] or self.batch < 1:
            raise StoreError(
                f"window, batch: got {self.window}, {self.batch}; expected 1 to {data.sizes['time']}, above 0"
            )

        if not 0 <= self.worker[0] < self.worker[1]:
            raise StoreError(f"worker: got {self.worker}; expected a number from 0 to below that of all workers")
        if next(self._cases_of_part(data), None) is None:
            hint = "Run it with the section split, or with other shares or more cases."
            raise StoreError(f"part: got {shown(self.part)}; expected a part with cases of {self.store}. {hint}")

    def __len__(self) -> int:
        return -(-self.windows // self.batch)

    @property
    def windows(self) -> int:
        """Number of windows of this worker."""
        data = open_results(self.store)
        return len(self._shuffled(data)[0]) * self._windows_of_case(data)

    @check_arguments
    def __getitem__(self, number: int) -> dict[str, Any]:
        """Return one window, the same in each pass: variables (window, ...), labels as numbers. Raises IndexError."""
        data = open_results(self.store)
        cases, count = self._cases(data), self._windows_of_case(data)
        if not 0 <= number < len(cases) * count:
            raise IndexError(f"window {number}: expected a number from 0 to {len(cases) * count - 1}")
        windows = self._windows(data, tuple(cases[number // count]))
        return self._converted({name: values[number % count] for name, values in windows.items()})

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over the batches of one pass; the last may be smaller."""
        return self.after(0)

    @check_arguments
    def after(self, batches: int) -> Iterator[dict[str, Any]]:
        """Iterate over the batches of a pass without the first ones, which are hardly read: to go on exactly.

        Raises ParameterError for a number below zero.
        """
        if batches < 0:
            raise ParameterError(f"batches: got {batches}; expected a whole number, zero or more")
        return self._after(batches)

    def _after(self, batches: int) -> Iterator[dict[str, Any]]:
        data = open_results(self.store)
        (cases, random), count, skipped = self._shuffled(data), self._windows_of_case(data), batches * self.batch
        pool: dict[str, np.ndarray] = {name: np.empty(0) for name in self._names}
        for start in range(0, len(cases), MIXED):
            mixed = cases[start : start + MIXED]
            order = random.permutation(len(mixed) * count)
            remaining = order[min(skipped, len(order)) :]
            skipped = max(skipped - len(order), 0)
            if not len(remaining):
                continue
            fresh = [self._windows(data, tuple(case)) for case in mixed]
            whole = {name: np.concatenate([windows[name] for windows in fresh]) for name in self._names}
            pool = {name: np.concatenate([pool[name], windows[remaining]]) if pool[name].size else windows[remaining]
                    for name, windows in whole.items()}  # fmt: skip
            while len(next(iter(pool.values()))) >= self.batch:
                yield self._converted({name: windows[: self.batch] for name, windows in pool.items()})
                pool = {name: windows[self.batch :] for name, windows in pool.items()}
        if next(iter(pool.values())).size:
            yield self._converted(pool)

    def _windows_of_case(self, data: Dataset) -> int:
        """Return the number of windows of a case."""
        return int(data.sizes["time"] // (self.window or data.sizes["time"]))

    def _shuffled(self, data: Dataset) -> tuple[np.ndarray, np.random.Generator]:
        """Return this worker's cases in the order of a pass, and the random generator that continues from there."""
        random, cases = np.random.default_rng(self.seed), self._cases(data)
        random.shuffle(cases)
        return cases[self.worker[0] :: self.worker[1]], random

    def _cases(self, data: Dataset) -> np.ndarray:
        return np.array([*self._cases_of_part(data)], dtype=int).reshape(-1, len(self._dims))

    def _cases_of_part(self, data: Dataset) -> Iterator[tuple[int, ...]]:
        return (case for case, part in parted_cases(data) if part == self.part)

    @cached_property
    def _dims(self) -> tuple[str, ...]:
        return case_dims(open_results(self.store))

    @property
    def _names(self) -> tuple[str, ...]:
        return (*self.variables, *(self._dims if self.labels else ()))

    def _windows(self, data: Dataset, case: tuple[int, ...]) -> dict[str, np.ndarray]:
        """Cut the series of one case into windows (count, window, ...); drop a shorter rest."""
        series = data[list(self.variables)].isel(dict(zip(self._dims, case, strict=True)))
        series = series.load(scheduler="synchronous")
        size = self.window or data.sizes["time"]
        result = {}
        for name in self.variables:
            values = series[name].values
            count = len(values) // size
            result[name] = values[: count * size].reshape(count, size, *values.shape[1:])
        if self.labels:
            count = len(next(iter(result.values())))
            result |= {name: np.full(count, number) for name, number in zip(self._dims, case, strict=True)}
        return result

    def _converted(self, batch: dict[str, np.ndarray]) -> dict[str, Any]:
        """Return the arrays of a batch, or tensors of them. Raises MissingExtraError."""
        if not self.torch:
            return batch
        require_extra("torch")
        import torch

        return {name: torch.from_numpy(np.ascontiguousarray(values)) for name, values in batch.items()}
