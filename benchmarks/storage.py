"""A store, written and read by blocks, against plain Zarr with the same shards, chunks and codecs, and plain files.

The data are forces of the Delta, since their compressibility decides the speed. Files go where temporary files go;
no program syncs data to the disk, so all of them meet the same page cache.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import zarr
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec

from benchmarks import delta
from benchmarks.delta import Solver
from benchmarks.figures import Figure, Size, best, require
from storage.encoding.shards import COMPRESSOR, LEVEL
from storage.layout import Layout
from storage.store import StoreWriter, create
from storage.variables import BlockGrid, StoredVariable
from tasks.kernels.kernel import kernel

VARIABLE = "actuator_force"
BLOCKS = 4
ATTRIBUTES = {"fingerprint": "benchmark", "sweep": f"robot: {delta.ROBOT}"}


class Keeper(Protocol):
    """A way to keep the blocks of one variable in files."""

    name: str

    def __init__(self, path: Path, layout: Layout):
        """Make an empty store under `path`."""

    def write(self, index: int, part: np.ndarray) -> None:
        """Store a block."""

    def read(self, index: int) -> np.ndarray:
        """Return the block again."""


class Ours:
    """A store of limbsweep."""

    name = "limbsweep"

    def __init__(self, path: Path, layout: Layout):
        create(path, layout, (), ATTRIBUTES)
        self.writer = StoreWriter(path)

    def write(self, index: int, part: np.ndarray) -> None:
        """Store a block, and look at the file once more, as every run does."""
        self.writer.write(index, {VARIABLE: part})

    def read(self, index: int) -> np.ndarray:
        """Return the block again."""
        return self.writer.read(index)[VARIABLE]


class PlainZarr:
    """The array that a user of Zarr would make for the same data."""

    name = "plain Zarr"

    def __init__(self, path: Path, layout: Layout):
        self.variable = layout.variables[VARIABLE]
        self.array = plain_array(path, self.variable)

    def write(self, index: int, part: np.ndarray) -> None:
        """Store a block."""
        self.array[self.variable.region(index)] = part

    def read(self, index: int) -> np.ndarray:
        """Return the block again."""
        return np.asarray(self.array[self.variable.region(index)])


class PlainFiles:
    """The bytes as they are, a file for each block."""

    name = "plain files"

    def __init__(self, path: Path, layout: Layout):
        path.mkdir()
        self.path, self.variable = path, layout.variables[VARIABLE]

    def write(self, index: int, part: np.ndarray) -> None:
        """Store a block."""
        part.tofile(self.path / str(index))

    def read(self, index: int) -> np.ndarray:
        """Return the block again."""
        return np.fromfile(self.path / str(index)).reshape(self.variable.region_shape(index))


KEEPERS: tuple[type[Keeper], ...] = (Ours, PlainZarr, PlainFiles)


def plain_array(path: Path, variable: StoredVariable) -> Any:
    """Return an empty Zarr array with shards, chunks and codecs of a stored float64 variable."""
    return zarr.create_array(
        path,
        shape=variable.shape,
        shards=variable.shard,
        chunks=variable.chunk,
        dtype="float64",
        fill_value=float("nan"),
        chunk_key_encoding={"name": "default", "separator": "."},
        serializer=BytesCodec(endian="little"),
        compressors=[BloscCodec(cname=COMPRESSOR, clevel=LEVEL, shuffle="shuffle"), Crc32cCodec()],
    )


def store(size: Size) -> Iterator[Figure]:
    """Measure bytes per second, uncompressed, of a process that writes all blocks of a new store and reads them."""
    parts = _parts(size)
    designs, *_, samples, actuators = parts[0].shape
    sizes = {"design": designs * BLOCKS, "friction": 1, "trajectory": 1, "time": samples, "actuator": actuators}
    layout = Layout.of(BlockGrid(sizes, {"design": designs}), (VARIABLE,))
    with tempfile.TemporaryDirectory(prefix="limbsweep-bench-") as folder:
        times = {kind.name: _times(kind, Path(folder), layout, parts, size) for kind in KEEPERS}
    what = f"{BLOCKS} blocks of {parts[0].nbytes / 2**20:.1f} MiB, chunks of {layout.variables[VARIABLE].chunk}"
    for k, name in enumerate(("write", "read")):
        for keeper, seconds in times.items():
            yield Figure(f"{name}, {keeper}", sum(part.nbytes for part in parts) / seconds[k] * 1e-6, "MB/s", what)
        ratio = 100.0 * times[PlainZarr.name][k] / times[Ours.name][k]
        yield Figure(f"{name}, limbsweep of plain Zarr", ratio, "%", "same shards, chunks and codecs")


def _parts(size: Size) -> list[np.ndarray]:
    """Return the forces (design, friction, trajectory, time, actuator) of the blocks."""
    work = delta.work(size.designs, size.samples)
    forces = Solver(work, kernel, 16).all()
    delta.check(forces, "storage")
    return [np.ascontiguousarray(forces.swapaxes(1, 2))[:, None, None]] * BLOCKS


def _times(
    kind: type[Keeper], folder: Path, layout: Layout, parts: list[np.ndarray], size: Size
) -> tuple[float, float]:
    """Return the best times to write and to read everything [s]. Raises CheckError if other numbers come back.

    Every repeat writes new files, because Zarr would read an old shard first.
    """
    repeats, path = 7 if size.full else 1, folder / kind.__name__
    written = float("inf")
    for _ in range(repeats):
        shutil.rmtree(path, ignore_errors=True)
        keeper = kind(path, layout)
        written = min(written, best(partial(_write, keeper, parts), 1))
    for k, part in enumerate(parts):
        require(bool(np.array_equal(keeper.read(k), part)), f"{kind.name}: block {k} differs from the written one")
    return written, best(lambda: [keeper.read(k) for k in range(len(parts))], repeats)


def _write(keeper: Keeper, parts: list[np.ndarray]) -> None:
    for k, part in enumerate(parts):
        keeper.write(k, part)
