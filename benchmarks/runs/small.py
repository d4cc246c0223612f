"""Small work: a sweep by the command and in a new process, the same again, on a cluster; a large sweep only planned.

A program as well: `python -m benchmarks.runs.small [local]` runs a sweep of 1e5 samples in a new process, or on a
cluster that it starts, and prints its times.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure, Size, best, require
from benchmarks.processes import COMMAND, environment
from benchmarks.runs.sweeps import text

SAMPLES = (10, 10, 1001)
"""Upper arms, base radii and times: 1e5 samples."""

MILLION = 10**6


def small(size: Size) -> Iterator[Figure]:
    """Time small sweeps, by where they are computed. Raises CheckError if results differ."""
    from pipeline.cluster.file import ClusterConfig
    from pipeline.execution.run import compute, run
    from pipeline.sweep.model import Sweep

    repeats, sweep = 5 if size.full else 1, Sweep.from_text(text(*SAMPLES, series=False))
    for words, name in (((), "1e5 samples in a new process"), (("local",), "  and on a cluster that it starts")):
        seconds, told = min((_process(*words) for _ in range(repeats)), key=lambda process: process[0])
        what = f"of which {told['imports']:.2g} s until the sweep is read; processor time {told['cpu']:.2g} s"
        yield Figure(name, seconds, "s", what + (f", and {told['workers']:.2g} s of its worker" if words else ""))
    with tempfile.TemporaryDirectory() as folder:
        seconds = best(lambda: _command(Path(folder), sweep.text), repeats)
    yield Figure("limbsweep run of them into a store", seconds, "s", "from the command to its end")
    expected = compute(sweep)
    yield Figure("again in the same process", best(lambda: compute(sweep), repeats), "s")
    begin = time.perf_counter()
    same = run(sweep, cluster=ClusterConfig.of("local")).drop_attrs().equals(expected.drop_attrs())
    yield Figure("on a cluster of this machine for the run", time.perf_counter() - begin, "s")
    require(same, "a cluster gives other results than this process")
    yield from _million(MILLION if size.full else 1000)


def _process(*words: str) -> tuple[float, dict[str, float]]:
    """Return the seconds of a new process that runs the sweep, and its own report of them."""
    begin, command = time.perf_counter(), [sys.executable, "-m", "benchmarks.runs.small", *words]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    return time.perf_counter() - begin, json.loads(done.stdout)


def _command(folder: Path, sweep: str) -> None:
    """Run a sweep by the command into a store of its own."""
    store = Path(tempfile.mkdtemp(dir=folder)) / "sweep.zarr"
    (file := store.with_suffix(".yaml")).write_text(sweep)
    words = [*COMMAND, "run", str(file), "--store", str(store)]
    subprocess.run(words, env=environment(), capture_output=True, check=True)


def _million(designs: int) -> Iterator[Figure]:
    """Yield a sweep of many designs from a DataFrame, made and planned."""
    import numpy as np
    import pandas as pd

    from pipeline.plan.plan import plan
    from pipeline.sweep.doors import sweep

    rng = np.random.default_rng(1)
    columns = {"upper_arm": rng.uniform(0.2, 0.3, designs), "base_radius": rng.uniform(0.12, 0.18, designs)}
    frame = pd.DataFrame(columns)
    before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    circle = {"circle": {"kind": "circle", "radius": 0.1}}
    made = sweep("delta_3rr2rrr", design=frame, trajectories=circle, time=(1.0, 0.01), metrics=["peak_force"])
    seconds, begin = time.perf_counter() - begin, time.perf_counter()
    blocks = plan(made).blocks
    planned, grown = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    yield Figure(f"{designs:,} designs of a DataFrame, the sweep", seconds, "s", f"fingerprint {made.fingerprint[:8]}")
    what = f"{blocks} blocks; memory grew by {grown / 1024:.0f} MiB at most in both"
    yield Figure(f"{designs:,} designs of a DataFrame, the plan", planned, "s", what)


def main() -> None:
    """Print the times of a run in this process as one line of JSON."""
    begin = time.perf_counter()
    from pipeline import Sweep, run
    from pipeline.cluster.file import ClusterConfig

    sweep = Sweep.from_text(text(*SAMPLES, series=False))
    imports = time.perf_counter() - begin
    run(sweep, cluster=ClusterConfig.of("local") if sys.argv[1:] == ["local"] else None)
    workers = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = {"imports": imports, "cpu": time.process_time(), "workers": workers.ru_utime + workers.ru_stime}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
