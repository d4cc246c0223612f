"""Processor time and peak memory of each command for stores of many designs, beside those for fewer.

A program: `python -m benchmarks.runs.scale [--designs 100000 1000000] [--times 10] [--only NAME ...] [--root DIR]
[--keep DIR]`. A five-bar on a grid of two lengths, ten times along a circle, one metric; of a hundred times and more
forces and motions over time are stored too, also as sensors tell them, and `identify` estimates the robots of the
first designs. Bounds are rows as well: `plain bytes` reads all files of the store, `plain Zarr` all its arrays, by
Zarr alone, and behind each other row is its processor time over that of `plain Zarr`. With `--root` the commands of
another checkout follow, on the same store; `run` makes one in each. `--keep` leaves the store of one number of designs
in a folder, and finds it there; it takes some 50 bytes for each design and time from a hundred times on. Each command
is a process of its own, so its memory holds the interpreter and the libraries. The row `run` computes in threads of
the coordinator's process, with the memory of its blocks; `run, its coordinator` has one worker, whose memory is left
out. A command is flat where its memory does not grow with the designs. Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from benchmarks.campaigns.lines import print_lines
from benchmarks.processes import COMMAND, environment

SWEEP = """\
limbsweep: 1
robot: five_bar
design:
  grid:
    proximal_length: {{start: 0.5, stop: 0.56, num: {rows}}}
    distal_length: {{start: 0.72, stop: 0.80, num: {columns}}}
trajectories: {{circle: {{kind: circle, radius: 0.05, normal: [0, 1, 0], period: 1.0}}}}
time: {{stop: 1.0, samples: {times}}}
metrics: [peak_force]
"""
SERIES = """\
outputs: [actuator_position, actuator_force, platform_position, measured_position, measured_force]
measurement: {encoder_step: 2.0e-5, force_noise: 0.05, cutoff: 30.0}
seed: 1
"""
LONG = 100
"""Times from which series are stored."""
IDENTIFIED = 200
"""Designs that are identified."""

LENGTHS = ("proximal_length", "distal_length")

THREADS = "limbsweep: {cluster: {kind: threads}}\n"

OPEN = """\
import limbsweep as ls
results = ls.open("run.zarr")
"""
BYTES = """\
import pathlib
for path in sorted(pathlib.Path("run.zarr").rglob("*")):
    if path.is_file():
        with path.open("rb") as file:
            while file.read(1 << 20):
                pass
"""
PLAIN = """\
import zarr
for _, array in zarr.open_group("run.zarr", mode="r").arrays():
    step = (array.shards or array.chunks)[0] if array.ndim else 1
    for start in range(0, array.shape[0] if array.ndim else 0, step):
        array[start:start + step]
"""
"""Read all arrays of a store by plain Zarr, one row of shards after another."""
LARGEST = "largest of a series"
BOUND = "plain Zarr"
SCRIPTS: Mapping[str, str] = {
    "plain bytes": BYTES,
    BOUND: PLAIN,
    "open": OPEN + 'print(results.sizes["design"])',
    "select by coordinate": OPEN
    + """\
import numpy as np
lengths = results["proximal_length"]
at = float(lengths[-1])
designs = np.flatnonzero(lengths == at)
print(float(results["peak_force"].isel(design=designs).max()))
""",
    LARGEST: OPEN + 'print(float(results["actuator_force"].max().compute()))',
    "smallest of all": OPEN
    + 'print(int(results["peak_force"].max(["friction", "trajectory", "actuator"]).argmin("design")))',
}
WORDS: Mapping[str, Sequence[str]] = {
    "check --quick": ("check", "--quick", "sweep.yaml"),
    "run": ("run", "sweep.yaml", "--store", "run.zarr", "--cluster", "threads.yaml"),
    "run, finished": ("run", "sweep.yaml", "--store", "run.zarr", "--cluster", "threads.yaml"),
    "status": ("status", "run.zarr"),
    "info": ("info", "run.zarr"),
    "verify": ("verify", "run.zarr"),
    "report": ("report", "run.zarr", "--output", "report.html"),
    "export parquet": ("export", "run.zarr", "--format", "parquet", "--output", "tables"),
    "export csv": ("export", "run.zarr", "--format", "csv", "--output", "tables"),
    "export netcdf": ("export", "run.zarr", "--format", "netcdf", "--output", "tables"),
    "figure": ("figure", "run.zarr", "status"),
    "study rank": ("study", "rank", "run.zarr", "--objective", "peak_force"),
    "study pareto": ("study", "pareto", "run.zarr", "--objective", "peak_force", "--objective", "max proximal_length"),
    "study sensitivity": ("study", "sensitivity", "run.zarr", "--of", "peak_force"),
    "study interaction": ("study", "interaction", "run.zarr", "--of", "peak_force", "--between", *LENGTHS),
    "study surrogate": ("study", "surrogate", "run.zarr", "--of", "peak_force"),
    "identify": ("identify", "run.zarr", *(word for k in range(IDENTIFIED) for word in ("--design", str(k)))),
}
SERIES_ONLY = ("identify", LARGEST)
"""Commands that need series."""
OUTPUTS = ("report.html", "tables", "status.png", "run.surrogate.npz")
"""Files and folders that commands write beside the store, and do not replace."""
ROOT = Path(__file__).parents[2]
COORDINATOR = "run, its coordinator"
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "check --quick": (*COMMAND, *WORDS["check --quick"]),
    "run": (*COMMAND, *WORDS["run"]),
    **{name: (sys.executable, "-c", script) for name, script in SCRIPTS.items()},
    COORDINATOR: (sys.executable, "-m", "benchmarks.runs.footprint", "sweep.yaml", "block"),
    **{name: (*COMMAND, *words) for name, words in WORDS.items()},
}


@dataclass(frozen=True)
class Cost:
    """Processor time [s], peak memory [bytes] and time [s] of a process and the children that it waited for."""

    seconds: float
    memory: int
    wall: float = 0.0

    def __str__(self) -> str:
        after = f", after {self.wall:.1f} s" if self.wall else ""
        return f"{self.seconds:.1f} s, {self.memory / 2**20:.0f} MiB{after}"


def cost(command: Sequence[str], folder: Path, root: Path = ROOT) -> Cost:
    """Run a command of a checkout in a folder and return its cost. Raises AssertionError where it fails."""
    for name in OUTPUTS:
        shutil.rmtree(path) if (path := folder / name).is_dir() else path.unlink(missing_ok=True)
    with (folder / "out").open("w+b") as out:
        start = time.monotonic()
        process = subprocess.Popen(command, cwd=folder, env=environment(PYTHONPATH=str(root)), stdout=out, stderr=out)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode(errors="replace")
    assert process.returncode == 0, f"{' '.join(command[-6:])}: exit status {process.returncode}\n{text[-2000:]}"
    seconds = usage.ru_utime + usage.ru_stime
    if command == COMMANDS[COORDINATOR]:  # of which the worker is another process
        counted = json.loads(next(row for row in text.splitlines() if row.startswith("{")))
        return Cost(seconds, int(counted["coordinator"]), wall)
    return Cost(seconds, usage.ru_maxrss * 1024, wall)


def sweep_of(designs: int, times: int = 10) -> str:
    """Return the sweep file of so many designs and times."""
    columns = max(2, designs // 1000)
    text = SWEEP.format(rows=designs // columns, columns=columns, times=times)
    return text + (SERIES if times >= LONG else "")


def costs(
    designs: int, times: int, names: Sequence[str], folder: Path, roots: Sequence[Path] = (ROOT,)
) -> Iterator[tuple[str, list[Cost]]]:
    """Yield the costs of each command in each checkout for so many designs and times. Raises AssertionError."""
    sweep, file = sweep_of(designs, times), folder / "sweep.yaml"
    is_there = (folder / "run.zarr").is_dir()
    assert not is_there or file.read_text(encoding="utf-8") == sweep, f"{folder}: has the store of another sweep"
    file.write_text(sweep, encoding="utf-8")
    (folder / "threads.yaml").write_text(THREADS, encoding="utf-8")
    for name in names:
        if (name not in SERIES_ONLY or times >= LONG) and not (name == "run" and is_there):
            yield name, [_cost(name, folder, root) for root in reversed(roots)][::-1]


def _cost(name: str, folder: Path, root: Path) -> Cost:
    """Return the cost of a command; the store of a run is made anew, and that of the first checkout is the last."""
    if name == "run":
        shutil.rmtree(folder / "run.zarr", ignore_errors=True)
    return cost(COMMANDS[name], folder, root)


def table(
    designs: Sequence[int], times: int, names: Sequence[str], roots: Sequence[Path], keep: Path | None
) -> Iterator[str]:
    """Yield the lines of the table; those of each number of designs as they come."""
    for count in designs:
        yield f"{count:,} designs, {times:,} times"
        bound = 0.0
        with nullcontext(keep) if keep else tempfile.TemporaryDirectory(prefix="limbsweep-scale-") as folder:
            for name, each in costs(count, times, names, Path(folder), roots):
                bound = each[0].seconds if name == BOUND else bound
                cells = (f"{one!s:34}" + (f"{one.seconds / bound:5.1f} x" if bound else "") for one in each)
                yield f"  {name:20}  {'    '.join(cells)}".rstrip()


def main(words: list[str] | None = None) -> int:
    """Print the table; 1 where a command fails."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.scale", description=__doc__)
    parser.add_argument("--designs", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--only", nargs="+", choices=list(COMMANDS), default=list(COMMANDS))
    parser.add_argument("--root", type=Path, help="another checkout, whose commands follow on the same store")
    parser.add_argument("--keep", type=Path, help="folder that keeps the store, of one number of designs")
    options = parser.parse_args(words)
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    roots = [ROOT, *([options.root.resolve()] if options.root else [])]
    names = [name for name in COMMANDS if name in ("run", *options.only)]
    return print_lines(table(options.designs, options.times, names, roots, options.keep))


if __name__ == "__main__":
    sys.exit(main())
