"""Estimates of time of `limbsweep check` beside the time that the same sweeps take, for examples and some variants.

    python -m benchmarks.estimates [NAME ...] [--workers 2] [--threads 1]

Each sweep is estimated first, in a process that has only begun, as `check` does, then run into a store, in another such
process alone, or by worker processes that have begun, each with so many threads. Both are processor time of all
processes together, so that others at work on the machine count as little as may be. Machine code that the estimate
has made is found by the run, as after `check`. Workers that wait spend time as well, so what they spend in a second of
rest is left out for each second of a run, which a busy machine makes long. A ratio above 1 is an estimate that is too
long. Variants are longer or larger, so that they take seconds, and simulations with and without dry friction.
"""

from __future__ import annotations

import importlib
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import dask
from distributed import Client

from pipeline.cluster.arguments import ClusterLike
from pipeline.cluster.connection import ClusterConfig, connect
from pipeline.execution.executors import choose_granularity
from pipeline.execution.measured_time import MeasuredTime, measured_time
from pipeline.execution.run import run_into
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep

Value = TypeVar("Value")

LOADED = "benchmarks.estimates", "pipeline.execution.processes.worker", "numcodecs", "zarr"
"""Modules that processes have from their start, which takes them no time."""
RESTS = 3.0
"""Seconds in which workers rest, after each run."""
RESTARTS = 120
"""Seconds for workers to begin again."""

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
FILES = (
    *("delta", "delta_3r2us", "delta_4rr2rrr", "delta_rl5_1450", "five_bar", "gough_stewart", "hexa", "irb6"),
    *("irsbot2", "linear_delta", "orthoglide", "pick_and_place"),
)
"""Examples as they stand."""
SAMPLED = """
limbsweep: 1
robot: {robot}
design: {{sample: {{method: sobol, count: {count}, seed: 1, parameters: {{payload_mass: {{low: 0, high: 2}}}}}}}}
friction: {friction}
trajectories: {{t: {motion}}}
time: {{stop: 0.5, step: {step}}}
metrics: [{metrics}]
"""
SIMULATED = """
limbsweep: 1
robot: {robot}
design: {{grid: {{payload_mass: {{start: 0, stop: 2, num: {count}}}}}}}
friction: {friction}
trajectories: {{t: {motion}}}
time: {{stop: 0.5, step: 0.01}}
simulation: {{step: 1.0e-3, controller: {{kind: pd_gravity, parameters: {{kp: 200.0, kd: 20.0}}}}}}
metrics: [peak_force, rms_tracking_error]
"""
SMALL = "{kind: circle, radius: 0.05, period: 0.5}"
UPRIGHT = "{kind: circle, radius: 0.05, normal: [0, 1, 0], period: 0.5}"
SWING = "{kind: harmonic, amplitude: 0.2, period: 0.5}"
SMOOTH = "{law: viscous, joints: actuated, parameters: {viscous: 0.1}}"
DRY = "{law: coulomb_viscous, joints: actuated, parameters: {coulomb: 0.5, viscous: 0.1}}"
JOINTS = (
    "{law: coulomb_viscous, joints: passive, load: reaction, parameters: {coulomb: 0.02, viscous: 0, pin_radius: 0.01}}"
)
LEVELS = "{law: coulomb_viscous, joints: actuated, grid: {coulomb: {start: 0, stop: 1, num: 200}, viscous: [0, 0.1]}}"
BRISTLES = (
    "{law: lugre, joints: actuated, parameters: "
    "{sigma0: 1.0e+4, sigma1: 1.0, coulomb: 0.5, static: 0.7, stribeck_velocity: 0.1}}"
)
LIMITS = "limits: {actuators: {all: {velocity: 20, force: 120}}}\n"
GAINS = ", gains: {grid: {kp: {start: 100, stop: 500, num: 10}, kd: {start: 5, stop: 20, num: 10}}}"
SERIES = "outputs: [actuator_force, actuator_velocity, joint_reaction, platform_position]\n"
SLOPES = "outputs: [{derivative: [peak_force, rms_force], of: [upper_arm, rod_length, payload_mass]}]\n"


FREE = """
limbsweep: 1
robot: five_bar
design: {{grid: {{payload_mass: {{start: 0, stop: 2, num: {count}}}}}}}
friction: {{law: viscous, joints: actuated, parameters: {{viscous: 0.1}}}}
time: {{stop: 0.5, step: 0.01}}
simulation: {{step: 1.0e-3, method: spanning_tree, forces: {{push: {{values: [5.0, -4.0]}}}}}}
outputs: [platform_position]
"""


def sampled(
    robot: str, count: int, metrics: str, motion: str = SMALL, friction: str = SMOOTH, step: float = 5e-3
) -> str:
    """Return the text of a sweep of given motions; `metrics` are its names, and lines of sections after them."""
    names, *lines = metrics.split("\n", 1)
    text = SAMPLED.format(robot=robot, count=count, friction=friction, motion=motion, step=step, metrics=names)
    return text + "".join(lines)


def simulated(robot: str, count: int, motion: str, friction: str = SMOOTH, settings: str = "") -> str:
    """Return the text of a sweep of simulations; `settings` are added to its section."""
    text = SIMULATED.format(robot=robot, count=count, friction=friction, motion=motion)
    gains = ", parameters: {kp: 200.0, kd: 20.0}"
    text = text.replace("step: 1.0e-3", f"step: 1.0e-3{settings}")
    return text.replace(gains, "") if "gains" in settings else text


def variants() -> Mapping[str, str]:
    """Return the texts of sweeps that are made larger, by name."""
    delta, bar, arm = "delta_rl5_1450", "five_bar", "ur5e"
    return {
        "many designs": sampled(delta, 200000, "peak_force, condition"),
        "many small designs": sampled(bar, 500000, "peak_force, condition", UPRIGHT, DRY),
        "many small arms": sampled(arm, 100000, "peak_force", SWING, DRY),
        "few long trajectories": sampled(delta, 2, "peak_force, rms_force", step=2.0e-6),
        "reactions": sampled(delta, 20000, "peak_force, peak_reaction"),
        "series": sampled(delta, 2000, "peak_force\n" + SERIES),
        "many friction sets": sampled(bar, 2000, "peak_force", UPRIGHT, LEVELS),
        "friction from reactions": sampled(delta, 5000, "peak_force", friction=JOINTS),
        "bristles": sampled(bar, 300, "peak_force", UPRIGHT, BRISTLES, 1.0e-3),
        "derivatives": sampled(delta, 1000, "peak_force\n" + SLOPES),
        "shortest cycles": sampled(bar, 40, "cycle_time\n" + LIMITS, UPRIGHT),
        "margins": sampled(delta, 50000, "actuator_margin\n" + LIMITS),
        "simulated": simulated(bar, 200, UPRIGHT),
        "simulated, dry": simulated(bar, 40, UPRIGHT, DRY),
        "simulated arm": simulated(arm, 100, SWING),
        "simulated delta": simulated(delta, 60, SMALL),
        "simulated, adaptive": simulated(bar, 50, UPRIGHT, DRY, ", tolerance: 1.0e-8"),
        "simulated, spanning tree": FREE.format(count=20),
        "simulated, gains": simulated(bar, 2, UPRIGHT, SMOOTH, GAINS),
    }


def sweep_of(name: str) -> Sweep:
    """Return an example or a variant by its name."""
    return Sweep.from_yaml(EXAMPLES / f"{name}.yaml") if name in FILES else Sweep.from_text(variants()[name])


def estimated(name: str, workers: int, threads: int) -> tuple[MeasuredTime, float]:
    """Return the estimate of a sweep for so many workers, and the seconds of the processor that it took."""
    start = time.process_time()
    sweep = sweep_of(name)
    chosen = choose_granularity(plan(sweep), None if workers * threads == 1 else workers * threads)
    return measured_time(sweep, chosen), time.process_time() - start


def used_alone(name: str) -> float:
    """Run a sweep into a store in this process, and return the seconds of the processor."""
    return used(name, ClusterConfig.of("synchronous"), time.process_time)


def used(name: str, cluster: ClusterLike, spent: Callable[[], float]) -> float:
    """Run a sweep into a store, and return the increase of `spent` meanwhile."""
    sweep = sweep_of(name)
    with tempfile.TemporaryDirectory() as folder:
        start = spent()
        run_into(Path(folder) / "out.zarr", sweep, cluster)
        return spent() - start


@dataclass(frozen=True)
class Processes:
    """Processes that have only begun whenever they are asked for: single ones, and those of a client for runs."""

    workers: int
    threads: int
    client: Client | None = None

    @classmethod
    @contextmanager
    def begun(cls, workers: int, threads: int) -> Iterator[Processes]:
        """Begin so many worker processes with so many threads each, or none for one thread."""
        multiprocessing.set_forkserver_preload([*LOADED])
        with ExitStack() as stack:
            client = None
            if workers * threads > 1:
                stack.enter_context(dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}))
                cluster = ClusterConfig.of("local", n_workers=workers, threads_per_worker=threads)
                client = stack.enter_context(connect(cluster))
            yield cls(workers, threads, client)

    def estimated(self, name: str) -> tuple[float, float]:
        """Return the estimate for a sweep, and the time of that [s]."""
        estimate, checked = self._fresh(estimated, name, self.workers, self.threads)
        return estimate.seconds + estimate.first if self.client is None else estimate.on(self.workers), checked

    def used(self, name: str) -> float:
        """Return the seconds of all processes together for a sweep."""
        if self.client is None:
            return self._fresh(used_alone, name)
        self.client.restart(timeout=RESTARTS)
        self.client.run(importlib.import_module, LOADED[0])
        begun, seconds = time.monotonic(), used(name, self.client, self._spent)
        passed, before = time.monotonic() - begun, self._spent()
        time.sleep(RESTS)
        return seconds - (self._spent() - before) / RESTS * passed

    def _fresh(self, function: Callable[..., Value], *arguments: object) -> Value:
        with multiprocessing.get_context("forkserver").Pool(1) as pool:
            value = pool.apply(function, arguments)
            pool.close()
            pool.join()  # with its semaphores, which it leaves behind where it is only ended
        return value

    def _spent(self) -> float:
        return time.process_time() + sum(self.client.run(time.process_time).values() if self.client else ())
