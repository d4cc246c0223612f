"""Parquet files of samples: `data/chunk-CCC/file-FFF.parquet`, a chunk for each part of the dataset.

Files are at most `SHARD` bytes before compression, or more where a part would have more than `FILES`; they hold whole
episodes, a row group a few. Names and columns are those of LeRobot 3, and of any program that reads Parquet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from applications.publishing.episodes import Episode, Episodes
from robots.data_classes import dataclass, field

if TYPE_CHECKING:
    from pyarrow import Schema, Table

SHARD = 100 * 2**20
"""Bytes of the signals in one file."""
GROUP = 1 << 14
"""Samples of a row group, unless one episode has more."""
FILES = 1000
"""Files of a chunk: names of more would not sort in the order of their numbers."""
PATH = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
INDEX = ("frame_index", "episode_index", "index", "task_index")
"""Numbers of a sample: in its episode, of the episode, in the dataset, of the task, which is the trajectory."""


@dataclass
class FrameWriter:
    """Writer of the samples of one part; `places` has chunk and file of each episode that was written."""

    folder: Path
    episodes: Episodes
    chunk: int
    shard: int
    """Bytes of a file."""
    file: int = -1
    places: dict[int, tuple[int, int]] = field(default_factory=dict)
    _writer: Any = None
    _bytes: int = 0
    _waiting: list[Any] = field(default_factory=list)
    _rows: int = 0

    def write(self, episode: Episode, signals: Mapping[str, np.ndarray]) -> None:
        """Write an episode into the current file, or a new one."""
        table = frame_table(self.episodes, episode, signals)
        if self._writer is None or self._bytes + table.nbytes > self.shard:
            self._next(table.schema)
        self._bytes += table.nbytes
        self._waiting.append(table)
        self._rows += table.num_rows
        self.places[episode.number] = (self.chunk, self.file)
        if self._rows + table.num_rows > GROUP:
            self._flush()

    def close(self) -> None:
        """Write the pending rows, and close the file."""
        if self._writer is not None:
            self._flush()
            self._writer.close()
            self._writer = None

    def _next(self, schema: Schema) -> None:
        import pyarrow.parquet as parquet

        self.close()
        self.file, self._bytes = self.file + 1, 0
        path = self.folder / PATH.format(chunk_index=self.chunk, file_index=self.file)
        path.parent.mkdir(parents=True, exist_ok=True)
        # noise does not compress, and codecs cost more than disks
        self._writer = parquet.ParquetWriter(path, schema, compression="snappy", use_dictionary=False)

    def _flush(self) -> None:
        import pyarrow

        if self._waiting:
            self._writer.write_table(pyarrow.concat_tables(self._waiting), row_group_size=max(GROUP, self._rows))
        self._waiting, self._rows = [], 0


def frame_table(episodes: Episodes, episode: Episode, signals: Mapping[str, np.ndarray]) -> Table:
    """Return the samples of an episode as a table of Arrow: signals as lists of fixed length, time and numbers."""
    import pyarrow

    count = episodes.length
    columns: dict[str, Any] = {}
    for signal in episodes.signals:
        values = pyarrow.array(np.ascontiguousarray(signals[signal.name].ravel(), dtype=episodes.precision))
        columns[signal.name] = (
            values if signal.width == 1 else pyarrow.FixedSizeListArray.from_arrays(values, signal.width)
        )
    for dim, place in zip(episodes.dims, episode.case, strict=True):
        columns[dim] = np.full(count, place)
    frames = np.arange(count)
    task = episode.case[episodes.dims.index("trajectory")]
    columns["timestamp"] = (frames * episodes.step).astype("float32")
    numbers = (frames, np.full(count, episode.number), episode.number * count + frames, np.full(count, task))
    columns |= dict(zip(INDEX, numbers, strict=True))
    table = pyarrow.table(columns)
    units = {signal.name: signal.units for signal in episodes.signals}
    fields = [part.with_metadata({"unit": units[part.name]}) if part.name in units else part for part in table.schema]
    return table.cast(pyarrow.schema(fields))


def write_frames(
    folder: Path, episodes: Episodes, listener: Callable[[Episode, Mapping[str, np.ndarray]], None]
) -> dict[int, tuple[int, int]]:
    """Write all episodes, and return chunk and file of each by its number; `listener` gets them with their signals."""
    shard = max(SHARD, 2 * episodes.bytes * max(episodes.counts.values()) // FILES)
    writers = {part: FrameWriter(folder, episodes, number, shard) for number, part in enumerate(episodes.counts)}
    try:
        for episode, signals in episodes.load():
            writers[episode.part].write(episode, signals)
            listener(episode, signals)
    finally:
        for writer in writers.values():
            writer.close()
    return {number: place for writer in writers.values() for number, place in writer.places.items()}
