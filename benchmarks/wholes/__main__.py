"""Whole sweeps from the start of a process to the finished store: limbsweep beside scripts around other engines.

    python -m benchmarks.wholes [--scale 1.0] [--rounds 2] [--only ENGINE ...]

Four sweeps: 1e7 samples of an arm of 7 joints, with metrics alone and with all forces stored, 1e6 samples of a Delta,
whose loops are closed, and 2e5 steps of simulations of Deltas. Each contestant is a process of its own, by turns. Times
are the least of its rounds; imports, the start of a cluster and files count. Results are compared with those of
limbsweep first. `--scale` makes the sweeps smaller. Slow scripts compute a part of the designs, and rates are told.
Needs the extra `peers`; MJX needs the package `mujoco-mjx` as well, and runs only if it is named by `--only`, because
it takes minutes.
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
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import zarr

from benchmarks.figures import heading, number, require, surroundings
from benchmarks.processes import COMMAND, environment
from benchmarks.wholes.jobs import Job, Release, job_of, jobs
from benchmarks.wholes.scripts import run, scripts_of

OURS = "limbsweep"
NEEDS = {"Pinocchio": "pinocchio", "MuJoCo": "mujoco", "MJX": "mujoco.mjx", "NumPy": "numpy", "Kamino": "newton"}
"""Packages by the first word of a contestant."""
CLOSE = 1e-9
"""Largest difference of results, relative to the largest value."""
CLOSE_OF_SIMULATIONS = {"MuJoCo": 1e-6, "Kamino": 2e-3}
"""The same of simulations: constraints of MuJoCo are springs, and Kamino's steps are Euler's in single precision."""


@dataclass(frozen=True)
class Time:
    """Time of a contestant: samples computed, wall and processor time [s], largest difference from limbsweep."""

    samples: int
    wall: float
    processor: float
    apart: float = 0.0

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
    return [sys.executable, "-m", "benchmarks.wholes", "--script", name, "--job", json.dumps(job.numbers), store]


def timed(job: Job, name: str, folder: Path) -> Time:
    """Run a contestant as a process. Raises CheckError where it fails."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command(job, name, folder), env=environment(), capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    require(done.returncode == 0, f"{name}: {done.stderr[-2000:]}")
    return Time(job.count, wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def results(job: Job, folder: Path) -> dict[str, np.ndarray]:
    """Read what is compared from a store: (design, trajectory, actuator or axis) by name."""
    return job.compared(zarr.open_group(folder / "store.zarr", mode="r"))


def contest(job: Job, names: list[str], rounds: int) -> dict[str, Time]:
    """Return the best time of each contestant of a sweep, whose results are those of limbsweep."""
    best: dict[str, Time] = {}
    expected: dict[str, np.ndarray] = {}
    for _ in range(rounds):
        for name in names:
            own = replace(job, designs=max(2, round(job.designs * job.shares.get(_engine(name), 1.0))))
            own = replace(own, high=float(job.values[own.designs - 1]))
            with tempfile.TemporaryDirectory() as place:
                spent = timed(own, name, Path(place))
                found = results(own, Path(place))
            expected = expected or found
            close = CLOSE_OF_SIMULATIONS.get(_engine(name), CLOSE) if isinstance(job, Release) else CLOSE
            for variable, values in found.items():
                wanted = expected[variable][: len(values)]
                off = float(np.abs(values - wanted).max() / np.abs(wanted).max())
                require(off < close, f"{name}: {variable} differs by {off:.1e} of the largest")
                spent = replace(spent, apart=max(spent.apart, off))
            if name not in best or spent.wall < best[name].wall:
                best[name] = spent
    return best


def lines(scale: float, rounds: int, only: list[str]) -> Iterator[str]:
    """Yield the tables of all sweeps."""
    absent: dict[str, None] = {}
    yield heading(surroundings())
    for job in jobs(scale):
        names = [OURS]
        for name in scripts_of(job):
            if not any(word.lower() in name.lower() for word in only or ("dask",)):
                continue
            if not _is_there(NEEDS[_engine(name)]):
                absent[name] = None
            elif job.is_chain or _engine(name) != "MJX":
                names.append(name)
        yield from table(job, contest(job, names, rounds))
    if absent:
        yield ""
        yield f"Not installed: {', '.join(absent)}."


def table(job: Job, found: dict[str, Time]) -> Iterator[str]:
    """Yield the table of a sweep."""
    counted = "steps" if isinstance(job, Release) else "samples"
    yield ""
    yield job.title
    yield ""
    yield f"| contestant | {counted} | wall time, s | processor time, s | {counted} a second | limbsweep over it |"
    yield "|---|---|---|---|---|---|"
    for name, spent in found.items():
        ratio = found[OURS].rate / spent.rate
        cells = (spent.samples, spent.wall, spent.processor, spent.rate, ratio)
        yield f"| {name} | {' | '.join(number(float(cell)) for cell in cells)} |"
    others = [f"{name.split(',')[0]} {spent.apart:.1e}" for name, spent in found.items() if name != OURS]
    if others:
        yield ""
        yield f"Largest difference from limbsweep, relative to the largest value: {', '.join(others)}."


def _engine(name: str) -> str:
    return name.split()[0].rstrip(",")


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
        run(job_of(json.loads(options.job)), options.script, options.store)
        return
    for line in lines(options.scale, options.rounds, options.only):
        print(line, flush=True)


if __name__ == "__main__":
    main()
