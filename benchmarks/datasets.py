"""Samples a second of a published dataset by loaders of others and our own, beside those of the disk.

    python -m benchmarks.datasets [--designs 200] [--folder DIR]

A dataset of Deltas is computed and published (into DIR, which is kept), and read by each loader that is installed
(extras `test-datasets` and `torch`; LeRobot has to be installed apart). The sum of the measured forces that came
through is compared with that of the files. Pages of the files are dropped from memory before each loader where the
system allows it: `disk` is a plain read of the bytes. Loaders that hand out single samples read the first of them
alone. Rates begin with the first piece, so that imports are not counted.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

import limbsweep as ls

SINGLE = 5000
"""Samples that are read of loaders that hand them out one by one."""
BATCH, WINDOW = 64, 100
FORCE = "measured_force"
SIGNALS = (
    "actuator_position", "actuator_velocity", "actuator_acceleration", "actuator_force",
    "measured_position", "measured_velocity", "measured_acceleration", FORCE,
)  # fmt: skip
SWEEP = """\
limbsweep: 1
title: Deltas, for loaders
robot: delta_3rr2rrr
seed: 1
design: {{sample: {{method: sobol, count: {designs}, parameters: {{upper_arm: {{low: 0.2, high: 0.3}}}}}}}}
friction: {{law: coulomb_viscous, joints: actuated, parameters: {{coulomb: 0.2, viscous: 0.05}}}}
trajectories:
  excite: {{kind: random_fourier, count: 4, seed: 1, period: 2.0, position: 0.1, velocity: 2.0, acceleration: 25.0}}
time: {{stop: 2.0, samples: 1000}}
outputs: [{outputs}]
measurement: {{encoder_step: 2.0e-5, force_noise: 0.05, cutoff: 30.0}}
split: {{validation: 0.2, test: 0.2}}
publication: {{licence: cc-by-4.0, authors: [A. Author]}}
"""
Forces = Iterator[np.ndarray]


@dataclass(frozen=True)
class Loader:
    """Loader of a published folder: its name, the package it needs, and the measured forces it yields, in pieces."""

    name: str
    package: str
    forces: Callable[[Path], Forces]
    most: int | None = None


def data_files(folder: Path) -> list[Path]:
    """Return the files of samples of a published folder."""
    return sorted(folder.glob("data/*/*.parquet"))


def _pandas(folder: Path) -> Forces:
    import pandas

    for path in data_files(folder):
        yield np.stack(pandas.read_parquet(path)[FORCE].to_numpy())


def _windows(folder: Path) -> Forces:
    from applications.publishing.windows import WindowReader

    for part in ("train", "validation", "test"):
        reader = WindowReader(folder, part, SIGNALS, window=WINDOW, batch=BATCH, precision="float64")
        yield from (batch[FORCE] for batch in reader.batches())


def _torch(folder: Path) -> Forces:
    for part in ("train", "validation", "test"):
        windows = ls.torch.Windows(folder, part, SIGNALS, window=WINDOW, batch=BATCH, precision="float64")
        yield from (batch[FORCE].numpy() for batch in windows)


def _hugging_face(folder: Path) -> Forces:
    import datasets

    parts = datasets.load_dataset(str(folder)).with_format("numpy")
    for part in parts.values():
        yield from (rows[FORCE] for rows in part.iter(BATCH * WINDOW))


def _croissant(folder: Path) -> Forces:
    import mlcroissant

    dataset = mlcroissant.Dataset(str(folder / "croissant.json"))
    for record in islice(dataset.records("samples"), SINGLE):
        yield np.asarray(record[f"samples/{FORCE}"], dtype=float)[None]


def _lerobot(folder: Path) -> Forces:
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    dataset = LeRobotDataset("local", root=folder)
    for index in range(SINGLE):
        yield dataset[index][FORCE].numpy()[None]


LOADERS = (
    Loader("pandas", "pandas", _pandas),
    Loader("WindowReader", "pyarrow", _windows),
    Loader("ls.torch.Windows", "torch", _torch),
    Loader("datasets.load_dataset", "datasets", _hugging_face),
    Loader("mlcroissant", "mlcroissant", _croissant, SINGLE),
    Loader("LeRobotDataset", "lerobot", _lerobot, SINGLE),
)


def publish(folder: Path, designs: int) -> None:
    """Compute and publish the dataset."""
    with tempfile.TemporaryDirectory() as place:
        store = Path(place) / "deltas.zarr"
        ls.run(ls.Sweep.from_text(SWEEP.format(designs=designs, outputs=", ".join(SIGNALS))), store)
        ls.publish(store, folder)


def drop_pages(folder: Path) -> None:
    """Drop the pages of the files of samples from memory, where the system can."""
    for path in data_files(folder):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def disk(folder: Path) -> tuple[float, int]:
    """Return seconds and bytes of a plain read of the files of samples."""
    drop_pages(folder)
    start = time.perf_counter()
    read = sum(len(path.read_bytes()) for path in data_files(folder))
    return time.perf_counter() - start, read


def table(folder: Path) -> Iterator[str]:
    """Yield a row for each loader; raises AssertionError where other forces come through than the files have."""
    whole = np.concatenate(list(_pandas(folder)))
    seconds, read = disk(folder)
    yield f"| disk | {len(whole)} | {len(whole) / seconds:.3g} | {read / seconds * 1e-6:.0f} MB/s |"
    for loader in LOADERS:
        if importlib.util.find_spec(loader.package) is None:
            yield f"| {loader.name} | | | {loader.package} is not installed |"
            continue
        drop_pages(folder)
        start = time.perf_counter()
        count, total, first, at_first = 0, 0.0, 0.0, 0
        for forces in loader.forces(folder):
            count, total = count + forces.size // whole.shape[1], total + float(forces.sum(dtype=float))
            if not first:
                first, at_first = time.perf_counter() - start, count
        seconds = time.perf_counter() - start - first
        expected = whole[: loader.most]
        assert count == len(expected), f"{loader.name}: {count} samples of {len(expected)}"
        assert np.isclose(total, expected.sum(), rtol=1e-6, atol=1e-3), f"{loader.name}: other forces"
        yield f"| {loader.name} | {count} | {(count - at_first) / seconds:.3g} | the first after {first:.2f} s |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--designs", type=int, default=200)
    parser.add_argument("--folder", type=Path, help="where the dataset is, or will be, published")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HOME": f"{place}/hugging_face"}
        folder = arguments.folder or Path(place) / "deltas"
        if not folder.exists():
            publish(folder, arguments.designs)
        print("| loader | samples | samples a second | |\n|---|---:|---:|---|")
        for line in table(folder):
            print(line, flush=True)


if __name__ == "__main__":
    main()
