"""Memory of a worker of one thread against its plan, for sweeps of many shapes and kinds.

Each shape has a cluster of one worker, a process of its own with the environment of workers, that computes blocks.
Compared is the resident size of that process at its peak, as the system counts it, interpreter and compiler included:
it finds no machine code on the disk. Linux only. A program:
`python -m benchmarks.runs.shapes [NAME ...]` prints a line for each shape.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.figures import Figure, Size, require
from pipeline.cluster.connection import connect
from pipeline.cluster.file import ClusterConfig
from pipeline.execution.contents import create_store
from pipeline.execution.executors import choose_granularity
from pipeline.execution.graph import block_graph
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from pipeline.sweep.user_metrics import with_metrics
from storage.places.access import locate
from storage.store import StoreWriter
from tasks.kernels.stored import VARIABLE

if TYPE_CHECKING:
    from distributed import Client

BOUNDS = 0.85, 1.15
"""Resident size relative to the plan."""

BLOCKS, SECONDS = 3, 20.0
"""Blocks of a shape that are computed, one after another, and the time after which no other is begun."""

HEAD = "limbsweep: 1\nrobot: {robot}\n"
CIRCLE = "trajectories: {c: {kind: circle, radius: 0.05}}\n"
MANY = "trajectories: {{r: {{kind: random_fourier, count: {count}, seed: 1, position: 0.03}}}}\n"
DELTA = HEAD.format(robot="delta_3rr2rrr")
STACK = "trajectories: {r: {kind: random_fourier, count: 800, seed: 1, position: 0.02}}\n"
ARM = (
    HEAD.format(robot="planar_3r")
    + "design: {grid: {length_1: {start: 0.4, stop: 0.6, num: 2000}}}\n"
    + "trajectories: {s: {kind: harmonic, centre: [-1.2, 0.6, 0.3], amplitude: [0.5, 0.4, 0.6], period: 1.5}}\n"
)


def _designs(count: int) -> str:
    return f"design: {{grid: {{upper_arm: {{start: 0.2, stop: 0.3, num: {count}}}}}}}\n"


def _friction(count: int, rest: str) -> str:
    return f"friction: {{law: coulomb_viscous, {rest}, grid: {{coulomb: {{start: 0, stop: 1, num: {count}}}}}}}\n"


def _time(samples: int) -> str:
    return f"time: {{stop: 1.0, samples: {samples}}}\n"


def _simulation(settings: str, *, gains: int = 0, states: int = 0) -> str:
    controller = "controller: {kind: pd_gravity, parameters: {kd: 5.0, force_limit: 150.0}}"
    text = f"simulation:\n  {controller}\n  gains: {{grid: {{kp: {{start: 100, stop: 400, num: {max(2, gains)}}}}}}}\n"
    if states:
        text += f"  state: {{grid: {{joint_1: {{start: 0.0, stop: 0.1, num: {states}}}}}}}\n"
    return f"{text}  {settings}\n"


METRICS = "metrics: [peak_force, rms_force]\n"
EVERYTHING = (
    "outputs: [actuator_force, actuator_position, actuator_velocity, joint_position, joint_velocity, joint_reaction]\n"
    "metrics: [peak_force, rms_force, peak_power, energy, condition, peak_reaction]\n"
)
SENSED = (
    "seed: 1\noutputs: [actuator_position, actuator_force, measured_position, measured_force]\n"
    "measurement: {force_noise: 0.1, encoder_step: 1.0e-6, cutoff: 60}\n"
)
SHAPES: Mapping[str, str] = {
    "1e7 designs x 3 times": DELTA + _designs(10**7) + CIRCLE + _time(3) + METRICS,
    "1e7 designs x 3 times, series": DELTA + _designs(10**7) + CIRCLE + _time(3) + "outputs: [actuator_force]\n",
    "1e6 designs x 8 times": DELTA + _designs(10**6) + CIRCLE + _time(8) + METRICS,
    "1e5 designs x 101 times": DELTA + _designs(10**5) + CIRCLE + _time(101) + METRICS,
    "1e5 times, reactions and masses": DELTA
    + _designs(8)
    + CIRCLE
    + _time(10**5 + 1)
    + "outputs: [actuator_force, joint_reaction, mass_matrix]\n",
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
    "friction series of all joints": DELTA
    + _designs(400)
    + _friction(4, "joints: all")
    + CIRCLE
    + _time(1001)
    + "outputs: [joint_friction]\n",
    "reactions": DELTA
    + _designs(10**4)
    + CIRCLE
    + _time(101)
    + "outputs: [joint_reaction]\nmetrics: [peak_reaction]\n",
    "peaks of reactions": DELTA + _designs(10**5) + CIRCLE + _time(101) + "metrics: [peak_reaction]\n",
    "all outputs": DELTA + _designs(3000) + CIRCLE + _time(501) + EVERYTHING,
    "linear equations": DELTA + _designs(2000) + CIRCLE + _time(501) + "outputs: [state_matrix, input_matrix]\n",
    "sensors": DELTA + _designs(2000) + CIRCLE + _time(1001) + SENSED,
    "own metric": DELTA + _designs(2000) + CIRCLE + _time(1001) + "metrics: [peak_force]\n",
    "hexapod, 800 trajectories": HEAD.format(robot="hexapod_6rrrprr") + STACK + _time(501) + METRICS,
    "platform of six legs, series": HEAD.format(robot="gough_stewart")
    + MANY.format(count=400)
    + _time(1001)
    + "outputs: [actuator_force, joint_position]\n",
    "arm, series": ARM + _time(1001) + "outputs: [actuator_force, joint_reaction]\n",
    "simulation, series": DELTA
    + _designs(64)
    + CIRCLE
    + _simulation("step: 0.001", gains=8)
    + "time: {stop: 0.2, step: 0.001}\noutputs: [actuator_force, tracking_error]\n",
    "simulation, metrics": DELTA
    + _designs(2048)
    + CIRCLE
    + _simulation("step: 0.001")
    + "time: {stop: 0.05, step: 0.01}\nmetrics: [rms_tracking_error, peak_force, settling_time]\n",
    "simulation, reactions": DELTA
    + _designs(256)
    + CIRCLE
    + _simulation("step: 0.001")
    + "time: {stop: 0.1, step: 0.001}\noutputs: [joint_reaction]\nmetrics: [peak_reaction]\n",
    "simulation, adaptive": DELTA
    + _designs(256)
    + CIRCLE
    + "simulation:\n  controller: {kind: pd_gravity, parameters: {kp: 100.0, kd: 5.0}}\n  step: 0.001\n"
    + "  tolerance: 1.0e-5\ntime: {stop: 0.1, step: 0.001}\noutputs: [actuator_force]\nmetrics: [integration_error]\n",
    "simulation, sensors": DELTA
    + _designs(256)
    + CIRCLE
    + _simulation("step: 0.001")
    + "time: {stop: 0.1, step: 0.001}\n"
    + SENSED,
    "simulation, 1e7 designs": DELTA
    + _designs(10**7)
    + CIRCLE
    + _simulation("step: 0.001")
    + "time: {stop: 0.02, step: 0.01}\nmetrics: [peak_force]\n",
    "simulation, one design of 1e4 steps": DELTA
    + CIRCLE
    + _simulation("step: 0.0001", gains=2)
    + "time: {stop: 1.0, step: 0.0001}\noutputs: [actuator_force, joint_position]\n",
}


def _spread(actuator_velocity: Any) -> float:
    """Return the standard deviation of all actuator velocities of a case."""
    return float(np.std(actuator_velocity))


OWN: Mapping[str, Mapping[str, Callable[..., float]]] = {"own metric": {"spread": _spread}}
"""Metrics of a user's own of shapes that have some."""

QUICKEST = "reactions"
"""Name of the one of SHAPES whose programs are traced in seconds, and that allocates arrays of every kind."""


def shapes(size: Size) -> Iterator[Figure]:
    """Measure the resident size of a worker relative to its plan. Raises CheckError beyond BOUNDS."""
    for name in SHAPES if size.full else (QUICKEST,):
        planned, resident = measure(name)
        low, high = BOUNDS
        text = f"{resident / 2**20:.0f} MiB, its plan says {planned / 2**20:.0f} MiB"
        require(low * planned <= resident <= high * planned, f"{name}: a worker takes {text}")
        yield Figure(name, resident / planned, "of the plan", f"{resident / 2**20:.0f} of {planned / 2**20:.0f} MiB")


def sweep(name: str) -> Sweep:
    """Return the sweep of a shape."""
    made = Sweep.from_text(SHAPES[name])
    return with_metrics(made, OWN[name]) if name in OWN else made


def measure(name: str) -> tuple[int, int]:
    """Return the bytes that the plan of a shape says that a worker needs, and its resident size at the peak."""
    made = plan(sweep(name))
    one = ClusterConfig.of("local", n_workers=1, threads_per_worker=1)
    with tempfile.TemporaryDirectory(prefix="limbsweep-bench-") as folder, _no_code(folder), connect(one) as client:
        assert client is not None
        store = locate(Path(folder) / "run.zarr")
        create_store(made, store)
        start = time.perf_counter()
        for index in range(min(BLOCKS, made.blocks)):
            if time.perf_counter() - start > SECONDS:
                break
            granularity = choose_granularity(made, sum(client.nthreads().values()))
            graph, key = block_graph(made, index, StoreWriter(store), "shapes", granularity)
            client.get(graph, key)
        return made.worker_memory, _peak(client)


@contextmanager
def _no_code(folder: str) -> Iterator[None]:
    """Let processes that start meanwhile keep machine code in an empty folder."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = str(Path(folder, "code"))
    try:
        yield
    finally:
        os.environ.pop(VARIABLE)
        os.environ |= {} if before is None else {VARIABLE: before}


def _peak(client: Client) -> int:
    """Return the peak resident size of the one worker [bytes]."""
    status = next(iter(client.run(Path.read_text, Path("/proc/self/status"), encoding="ascii").values()))
    return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM:"))


if __name__ == "__main__":
    for chosen in sys.argv[1:] or SHAPES:
        said, found = measure(chosen)
        print(f"{chosen:36s} {said >> 20:5d} MiB planned {found >> 20:5d} resident {found / said:5.2f}", flush=True)
