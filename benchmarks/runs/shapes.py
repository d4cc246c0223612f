"""Memory of one block against what its plan says, for sweeps of many shapes; each in a process of its own.

What NumPy and Python allocate while the tasks of the block run in threads, kernels warm and nothing kept from before,
so that neither the load of the machine nor the allocator of the system counts. Beside it, what the process grows by,
with the environment of a worker.
A program: `python -m benchmarks.runs.shapes FILE` prints one JSON object for the sweep in FILE.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.figures import Figure, Size, require
from pipeline.cluster.settings import KEEP_MEMORY

if TYPE_CHECKING:
    from pipeline.plan.model import Plan
    from storage.store import StoreWriter

BOUNDS = 0.85, 1.15
"""Of what is measured, relative to the plan."""

LEAST = 20 << 20
"""Bytes of a plan below which its own constants count for more than its shapes."""

HEAD = "limbsweep: 1\nrobot: {robot}\n"
CIRCLE = "trajectories: {c: {kind: circle, radius: 0.05}}\n"
MANY = "trajectories: {{r: {{kind: random_fourier, count: {count}, seed: 1, position: 0.03}}}}\n"
DELTA = HEAD.format(robot="delta_3rr2rrr")
STACK = "trajectories: {r: {kind: random_fourier, count: 800, seed: 1, position: 0.02}}\n"


def _designs(count: int) -> str:
    return f"design: {{grid: {{upper_arm: {{start: 0.2, stop: 0.3, num: {count}}}}}}}\n"


def _friction(count: int, rest: str) -> str:
    return f"friction: {{law: coulomb_viscous, {rest}, grid: {{coulomb: {{start: 0, stop: 1, num: {count}}}}}}}\n"


def _time(samples: int) -> str:
    return f"time: {{stop: 1.0, samples: {samples}}}\n"


METRICS = "metrics: [peak_force, rms_force]\n"
EVERYTHING = (
    "outputs: [actuator_force, actuator_position, actuator_velocity, joint_position, joint_velocity, joint_reaction]\n"
    "metrics: [peak_force, rms_force, peak_power, energy, condition, peak_reaction]\n"
)
SHAPES: Mapping[str, str] = {
    "1e7 designs x 3 times": DELTA + _designs(10**7) + CIRCLE + _time(3) + METRICS,
    "1e7 designs x 3 times, series": DELTA + _designs(10**7) + CIRCLE + _time(3) + "outputs: [actuator_force]\n",
    "1e6 designs x 8 times": DELTA + _designs(10**6) + CIRCLE + _time(8) + METRICS,
    "1e5 designs x 101 times": DELTA + _designs(10**5) + CIRCLE + _time(101) + METRICS,
    "1 design x 1e6 times": DELTA + CIRCLE + _time(10**6 + 1) + METRICS,
    "3 designs x 1e6 times, series": DELTA + _designs(3) + CIRCLE + _time(10**6 + 1) + "outputs: [actuator_force]\n",
    "5000 trajectories": DELTA + _designs(10) + MANY.format(count=5000) + _time(101) + METRICS,
    "200 friction sets, series": DELTA
    + _designs(40)
    + _friction(200, "joints: actuated")
    + CIRCLE
    + _time(1001)
    + "outputs: [actuator_force]\n",
    "20 friction sets, reactions": DELTA
    + _designs(1000)
    + _friction(20, "joints: all, load: reaction")
    + CIRCLE
    + _time(101)
    + METRICS,
    "reactions": DELTA
    + _designs(10**4)
    + CIRCLE
    + _time(101)
    + "outputs: [joint_reaction]\nmetrics: [peak_reaction]\n",
    "all outputs": DELTA + _designs(3000) + CIRCLE + _time(501) + EVERYTHING,
    "hexapod, 800 trajectories": HEAD.format(robot="hexapod_6rrrprr") + STACK + _time(501) + METRICS,
}

QUICKEST = "reactions"
"""Of SHAPES the one whose programs are traced in seconds, and that allocates arrays of every kind."""


def shapes(size: Size) -> Iterator[Figure]:
    """What a block takes, relative to its plan. Raises CheckError beyond BOUNDS."""
    for name, text in SHAPES.items():
        if not size.full and name != QUICKEST:
            continue
        measured = in_own_process(text)
        plan, peak = measured["plan"], measured["peak"]
        low, high = BOUNDS
        fits = peak <= high * plan and (plan < LEAST or peak >= low * plan)
        require(fits, f"{name}: a block takes {peak / 2**20:.0f} MiB, its plan says {plan / 2**20:.0f} MiB")
        yield Figure(name, peak / plan, "of the plan", f"{peak / 2**20:.0f} of {plan / 2**20:.0f} MiB")
        if resident := measured["resident"]:
            yield Figure(f"{name}, resident", resident / plan, "of the plan", "as the system counts, pages and all")


def in_own_process(text: str) -> dict[str, float]:
    """Bytes that a block of a sweep takes at its `peak`, and what its `plan` says."""
    root = str(Path(__file__).parents[2])
    known = os.environ.get("PYTHONPATH")
    environment = {**os.environ, **KEEP_MEMORY, "PYTHONPATH": os.pathsep.join([root, known] if known else [root])}
    with tempfile.TemporaryDirectory(prefix="limbsweep-bench-") as folder:
        file = Path(folder) / "sweep.yaml"
        file.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "benchmarks.runs.shapes", str(file)]
        done = subprocess.run(command, env=environment, cwd=folder, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout))


def measure(file: Path) -> dict[str, float]:
    """The same in this process, for the sweep in a file; the store is made beside it."""
    from dask.threaded import get

    from pipeline.execution.contents import create_store
    from pipeline.execution.graph import block_graph
    from pipeline.execution.trial import trial
    from pipeline.plan.plan import plan
    from pipeline.sweep.model import Sweep
    from storage.places.access import locate
    from storage.store import StoreWriter
    from tasks.blocks import block

    block.keep(0)
    sweep = Sweep.from_yaml(file)
    trial(sweep)
    whole, store = plan(sweep), file.with_suffix(".zarr")
    create_store(whole, locate(store))
    peaks = []
    for number in range(2):  # kernels are traced and compiled in the first
        gc.collect()
        tracemalloc.start()
        graph, key = block_graph(whole, 0, StoreWriter(store), str(number))
        get(graph, key, num_workers=len(whole.limbs) + 1)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        del graph
    return {"plan": whole.block_memory, "peak": peaks[-1], "resident": _resident(whole, StoreWriter(store))}


def _resident(plan: Plan, writer: StoreWriter) -> int:
    """Bytes of memory that a block adds to the process at its peak, as the system counts; 0 where it does not say."""
    from dask.threaded import get

    from pipeline.execution.graph import block_graph

    gc.collect()
    graph, key = block_graph(plan, 0, writer, "resident")
    try:
        ctypes.CDLL(None).malloc_trim(0)  # what the allocator has kept from before would hide what is taken
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins here
    except (OSError, AttributeError):
        return 0
    before = _status("VmRSS")
    get(graph, key, num_workers=len(plan.limbs) + 1)
    return _status("VmHWM") - before


def _status(name: str) -> int:
    """A size of this process in /proc [bytes]."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(f"{name}:"))


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
