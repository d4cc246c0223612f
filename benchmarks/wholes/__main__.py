"""Whole sweeps from the start of a process to the finished store: limbsweep beside scripts around other engines.

    python -m benchmarks.wholes [--scale 1.0] [--rounds 2] [--only ENGINE ...]

Three sweeps: 1e7 samples of an arm of 7 joints, with metrics alone and with all forces stored, and 1e6 samples of a
Delta, whose loops are closed. Each contestant is a process of its own, by turns. Times are the least of its rounds;
imports, the start of a cluster and files count. Results are compared with those of limbsweep first. `--scale` makes the
sweeps smaller. Slow scripts compute a tenth of the designs, and rates are told. Needs the extra `peers`; MJX needs the
package `mujoco-mjx` as well, and runs only if it is named by `--only`, because it takes minutes.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import zarr

from benchmarks.figures import heading, number, require, surroundings
from benchmarks.processes import COMMAND, environment
from benchmarks.wholes.jobs import Job, jobs
from benchmarks.wholes.scripts import SCRIPTS, run

OURS = "limbsweep"
SLOW = {"MuJoCo, Dask, Zarr": 0.1, "MJX, Zarr": 0.002, "NumPy, Dask, Zarr": 0.1}
"""Share of the designs that slow scripts compute."""
NEEDS = {"Pinocchio": "pinocchio", "MuJoCo": "mujoco", "MJX": "mujoco.mjx", "NumPy": "numpy"}
"""Packages by the first word of a contestant."""
CLOSE = 1e-9
"""Largest difference of metrics, relative to the largest value."""


@dataclass(frozen=True)
class Time:
    """Time of a contestant: samples computed, wall and processor time [s]."""

    samples: int
    wall: float
    processor: float

    @property
    def rate(self) -> float:
        """Samples a second of wall time."""
        return self.samples / self.wall


def command(job: Job, name: str, folder: Path) -> list[str]:
    """Return the command of a contestant, which writes a store into a folder."""
    store = os.fspath(folder / "store.zarr")
    if name == OURS:
        sweep = folder / "sweep.yaml"
        sweep.write_text(json.dumps(job.sweep), "utf-8")
        return [*COMMAND, "run", os.fspath(sweep), "--store", store]
    return [sys.executable, "-m", "benchmarks.wholes", "--script", name, "--job", json.dumps(asdict(job)), store]


def timed(job: Job, name: str, folder: Path) -> Time:
    """Run a contestant as a process. Raises CheckError where it fails."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command(job, name, folder), env=environment(), capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    require(done.returncode == 0, f"{name}: {done.stderr[-2000:]}")
    return Time(job.count, wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def metrics(folder: Path) -> dict[str, np.ndarray]:
    """Read the metrics of a store: (design, trajectory, actuator) by name."""
    group = zarr.open_group(folder / "store.zarr", mode="r")
    found = {}
    for name in ("peak_force", "rms_force"):
        values = np.asarray(group[name])
        found[name] = values.reshape(len(values), -1, values.shape[-1])
    return found


def contest(job: Job, names: list[str], rounds: int) -> dict[str, Time]:
    """Return the best time of each contestant of a sweep, whose metrics are those of limbsweep."""
    best: dict[str, Time] = {}
    expected: dict[str, np.ndarray] = {}
    for _ in range(rounds):
        for name in names:
            own = replace(job, designs=max(2, round(job.designs * SLOW.get(name, 1.0))))
            own = replace(own, high=float(job.values[own.designs - 1]))
            with tempfile.TemporaryDirectory() as place:
                spent = timed(own, name, Path(place))
                found = metrics(Path(place))
            expected = expected or found
            for metric, values in found.items():
                wanted = expected[metric][: len(values)]
                off = np.abs(values - wanted).max() / np.abs(wanted).max()
                require(off < CLOSE, f"{name}: {metric} differs by {off:.1e} of the largest")
            if name not in best or spent.wall < best[name].wall:
                best[name] = spent
    return best


def lines(scale: float, rounds: int, only: list[str]) -> Iterator[str]:
    """Yield the tables of all sweeps."""
    names, absent = [OURS], list[str]()
    for name in SCRIPTS:
        package = NEEDS[name.split()[0].rstrip(",")]
        if not any(word.lower() in name.lower() for word in only or ("dask",)):
            continue
        (names if _is_there(package) else absent).append(name)
    yield heading(surroundings())
    for job in jobs(scale):
        what = "all forces stored, peaks and root mean squares" if job.series else "peaks and root mean squares"
        yield ""
        yield f"{job.robot}, {job.designs} designs x {job.trajectories} trajectories x {job.samples} times, {what}"
        yield ""
        yield "| contestant | samples | wall time, s | processor time, s | samples a second | limbsweep over it |"
        yield "|---|---|---|---|---|---|"
        found = contest(job, [name for name in names if job.is_chain or "MJX" not in name], rounds)
        for name, spent in found.items():
            ratio = found[OURS].rate / spent.rate
            cells = (spent.samples, spent.wall, spent.processor, spent.rate, ratio)
            yield f"| {name} | {' | '.join(number(float(cell)) for cell in cells)} |"
    if absent:
        yield ""
        yield f"Not installed: {', '.join(absent)}."


def _is_there(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def main(arguments: list[str] | None = None) -> None:
    """Print the tables, or run one script."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wholes", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the designs")
    parser.add_argument("--rounds", type=int, default=2, help="times that each contestant runs")
    parser.add_argument("--only", nargs="*", default=[], metavar="ENGINE", help="these engines beside limbsweep")
    parser.add_argument("--script", help=argparse.SUPPRESS)
    parser.add_argument("--job", help=argparse.SUPPRESS)
    parser.add_argument("store", nargs="?", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.script:
        run(Job(**json.loads(options.job)), options.script, options.store)
        return
    for line in lines(options.scale, options.rounds, options.only):
        print(line, flush=True)


if __name__ == "__main__":
    main()
