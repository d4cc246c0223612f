"""Processor time and peak memory of each command for stores of many designs, beside those for fewer.

A program: `python -m benchmarks.runs.scale [--designs 100000 1000000] [--times 10] [--only NAME ...] [--root DIR]`. A
five-bar on a grid of two lengths, ten times along a circle, one metric; of a hundred times and more forces and motions
over time are stored too, also as sensors tell them, and `identify` estimates the robots of the first designs. The row
`plain Zarr` reads all arrays of the store by Zarr alone. With `--root` the commands of another checkout follow, on the
same store. Each command is a process of its own, so its memory holds the interpreter and the libraries. The row `run`
computes in threads of the coordinator's process, with the memory of its blocks; `run, its coordinator` has one worker,
whose memory is left out. A command is flat where its memory does not grow with the designs. Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
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
IDENTIFIED = 20
"""Designs that are identified."""

THREADS = "limbsweep: {cluster: {kind: threads}}\n"

OPEN = """\
import limbsweep as ls
results = ls.open("run.zarr")
"""
PLAIN = """\
import zarr
for _, array in zarr.open_group("run.zarr", mode="r").arrays():
    step = (array.shards or array.chunks)[0] if array.ndim else 1
    for start in range(0, array.shape[0] if array.ndim else 0, step):
        array[start:start + step]
"""
"""Read all arrays of a store by plain Zarr, one row of shards after another."""
SCRIPTS: Mapping[str, str] = {
    "open": OPEN + 'print(results.sizes["design"])',
    "select by coordinate": OPEN
    + """\
import numpy as np
lengths = results["proximal_length"]
at = float(lengths[-1])
designs = np.flatnonzero(lengths == at)
print(float(results["peak_force"].isel(design=designs).max()))
""",
    "plain Zarr": PLAIN,
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
    "identify": ("identify", "run.zarr", *(word for k in range(IDENTIFIED) for word in ("--design", str(k)))),
}
SERIES_ONLY = ("identify",)
"""Commands that need series."""
OUTPUTS = ("report.html", "tables", "status.png")
"""Files and folders that commands write beside the store, and do not replace."""
ROOT = Path(__file__).parents[2]
COORDINATOR = "run, its coordinator"
COMMANDS: Mapping[str, tuple[str, ...]] = {
    **{name: (*COMMAND, *words) for name, words in WORDS.items()},
    COORDINATOR: (sys.executable, "-m", "benchmarks.runs.footprint", "sweep.yaml", "block"),
    **{name: (sys.executable, "-c", script) for name, script in SCRIPTS.items()},
}


@dataclass(frozen=True)
class Cost:
    """Processor time [s] and peak memory [bytes] of a process and the children that it waited for."""

    seconds: float
    memory: int

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s, {self.memory / 2**20:.0f} MiB"


def cost(command: Sequence[str], folder: Path, root: Path = ROOT) -> Cost:
    """Run a command of a checkout in a folder and return its cost. Raises AssertionError where it fails."""
    for name in OUTPUTS:
        shutil.rmtree(path) if (path := folder / name).is_dir() else path.unlink(missing_ok=True)
    with (folder / "out").open("w+b") as out:
        process = subprocess.Popen(command, cwd=folder, env=environment(PYTHONPATH=str(root)), stdout=out, stderr=out)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode(errors="replace")
    assert process.returncode == 0, f"{' '.join(command[-6:])}: exit status {process.returncode}\n{text[-2000:]}"
    seconds = usage.ru_utime + usage.ru_stime
    if command == COMMANDS[COORDINATOR]:  # of which the worker is another process
        return Cost(
            seconds, int(json.loads(next(row for row in text.splitlines() if row.startswith("{")))["coordinator"])
        )
    return Cost(seconds, usage.ru_maxrss * 1024)


def sweep_of(designs: int, times: int = 10) -> str:
    """Return the sweep file of so many designs and times."""
    columns = max(2, designs // 1000)
    text = SWEEP.format(rows=designs // columns, columns=columns, times=times)
    return text + (SERIES if times >= LONG else "")


def costs(
    designs: int, times: int, names: Sequence[str], folder: Path, roots: Sequence[Path] = (ROOT,)
) -> Iterator[tuple[str, list[Cost]]]:
    """Yield the costs of each command in each checkout for so many designs and times. Raises AssertionError."""
    (folder / "sweep.yaml").write_text(sweep_of(designs, times), encoding="utf-8")
    (folder / "threads.yaml").write_text(THREADS, encoding="utf-8")
    for name in names:
        if name not in SERIES_ONLY or times >= LONG:
            yield name, [cost(COMMANDS[name], folder, root) for root in (roots if name != "run" else roots[:1])]


def table(designs: Sequence[int], times: int, names: Sequence[str], roots: Sequence[Path]) -> Iterator[str]:
    """Yield the lines of the table; those of each number of designs as they come."""
    for count in designs:
        yield f"{count:,} designs, {times:,} times"
        with tempfile.TemporaryDirectory(prefix="limbsweep-scale-") as folder:
            for name, each in costs(count, times, names, Path(folder), roots):
                yield f"  {name:20}  {'    '.join(f'{one!s:18}' for one in each)}".rstrip()


def main(words: list[str] | None = None) -> int:
    """Print the table; 1 where a command fails."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.scale", description=__doc__)
    parser.add_argument("--designs", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--only", nargs="+", choices=list(COMMANDS), default=list(COMMANDS))
    parser.add_argument("--root", type=Path, help="another checkout, whose commands follow on the same store")
    options = parser.parse_args(words)
    roots = [ROOT, *([options.root.resolve()] if options.root else [])]
    names = [name for name in COMMANDS if name in ("run", *options.only)]
    return print_lines(table(options.designs, options.times, names, roots))


if __name__ == "__main__":
    sys.exit(main())
