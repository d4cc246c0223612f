"""Read a published dataset in batches of shuffled windows: arrays of NumPy, for training with any library.

Only the folder is needed, not the store. A pass takes the row groups of all files in a random order, holds a few at
once and mixes their windows, so that files are read in long pieces and no batch is of one file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.sweep.dataset_split import PARTS
from robots.arguments import check_arguments, shown
from robots.data_classes import dataclass
from robots.extras import require_extra
from storage.errors import StoreError

if TYPE_CHECKING:
    from pyarrow import Array

MIXED = 8
"""Row groups that are held in memory and mixed at once."""


@check_arguments
@dataclass(frozen=True)
class WindowReader:
    """Batches of windows of a published dataset, each variable (batch, window, component) or (batch, window).

    window: samples; None: whole episodes; a shorter rest of an episode is dropped. normalised: less the mean of the
    episodes for training, over their standard deviation. Raises StoreError for another folder.
    """

    folder: str | Path
    part: str
    variables: Sequence[str]
    window: int | None = None
    batch: int = 32
    seed: int = 0
    normalised: bool = False
    precision: str = "float32"

    def __post_init__(self) -> None:
        require_extra("pyarrow")
        features, parts = self._information["features"], list(self._information["splits"])
        if self.part not in parts:
            expected = ", ".join(part for part in PARTS if part in parts)
            raise StoreError(f"part: got {shown(self.part)}; expected one of {expected}")
        wrong = [name for name in self.variables if name not in features]
        if wrong or not self.variables:
            got = repr(wrong[0]) if wrong else "none"
            raise StoreError(f"variables: got {got}; expected columns of the dataset: {', '.join(features)}")
        if not 1 <= self.size <= self.length or self.batch < 1:
            raise StoreError(f"window, batch: got {self.window}, {self.batch}; expected 1 to {self.length}, above 0")

    def batches(self, epoch: int = 0, worker: tuple[int, int] = (0, 1)) -> Iterator[dict[str, np.ndarray]]:
        """Iterate over the batches of one pass; the last may be smaller.

        epoch: number of the pass, whose order is its own. worker: number of this reader and of all, which share the
        row groups.
        """
        random = np.random.default_rng([self.seed, epoch])
        units = [self._units[number] for number in random.permutation(len(self._units))[worker[0] :: worker[1]]]
        pool: list[np.ndarray] = []
        for start in range(0, len(units), MIXED):
            read = [self._windows(*unit) for unit in units[start : start + MIXED]]
            fresh = [np.concatenate(columns) for columns in zip(*read, strict=True)]
            order = random.permutation(len(fresh[0]))
            if pool:
                fresh = [np.concatenate(pair) for pair in zip(pool, fresh, strict=True)]
                order = np.concatenate([np.arange(len(pool[0])), len(pool[0]) + order])
            whole = len(order) - len(order) % self.batch
            for first in range(0, whole, self.batch):
                yield self._batch(fresh, order[first : first + self.batch])
            pool = [column[order[whole:]] for column in fresh]
        if pool and len(pool[0]):
            yield self._batch(pool, np.arange(len(pool[0])))

    @property
    def size(self) -> int:
        """Samples of a window."""
        return self.length if self.window is None else self.window

    @cached_property
    def length(self) -> int:
        """Samples of an episode."""
        return int(self._information["total_frames"]) // int(self._information["total_episodes"])

    @cached_property
    def statistics(self) -> dict[str, dict[str, np.ndarray]]:
        """Least, largest, mean and standard deviation of each signal over the episodes for training."""
        content: dict[str, dict[str, Any]] = self._read("meta/stats.json")
        return {name: {kind: np.array(value) for kind, value in kinds.items()} for name, kinds in content.items()}

    @cached_property
    def _information(self) -> dict[str, Any]:
        return self._read("meta/info.json")

    def _read(self, name: str) -> dict[str, Any]:
        path = Path(self.folder) / name
        try:
            content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            hint = "Make one with limbsweep dataset --publish."
            raise StoreError(f"{path}: {error}; expected the folder of a published dataset. {hint}") from None
        return content

    @cached_property
    def _units(self) -> list[tuple[str, int]]:
        """Row groups of the part: file and number."""
        import pyarrow.parquet as parquet

        chunk = list(self._information["splits"]).index(self.part)
        files = sorted((Path(self.folder) / "data" / f"chunk-{chunk:03d}").glob("*.parquet"))
        return [(str(path), group) for path in files for group in range(parquet.read_metadata(path).num_row_groups)]

    def _windows(self, path: str, group: int) -> list[np.ndarray]:
        """Return the windows of a row group by variable (window, sample, ...)."""
        import pyarrow.parquet as parquet

        with parquet.ParquetFile(path) as file:
            table = file.read_row_group(group, columns=list(self.variables))
        return [self._cut(name, table.column(name).combine_chunks(), table.num_rows) for name in self.variables]

    def _cut(self, name: str, column: Array, rows: int) -> np.ndarray:
        """Return the values of a column in windows; those of whole numbers keep their type."""
        width = int(self._information["features"][name]["shape"][0])
        values = (column.flatten() if width > 1 else column).to_numpy(zero_copy_only=False)
        values = values.reshape(rows // self.length, self.length, *([width] if width > 1 else []))
        if values.dtype.kind == "f":
            if self.normalised and name in self.statistics:
                kinds = self.statistics[name]
                spread = np.where(kinds["std"] > 0.0, kinds["std"], 1.0)
                values = (values - kinds["mean"]) / spread if width > 1 else (values - kinds["mean"][0]) / spread[0]
            values = values.astype(self.precision)
        count = self.length // self.size
        return values[:, : count * self.size].reshape(-1, self.size, *values.shape[2:])

    def _batch(self, columns: Sequence[np.ndarray], order: np.ndarray) -> dict[str, np.ndarray]:
        return {name: column[order] for name, column in zip(self.variables, columns, strict=True)}
