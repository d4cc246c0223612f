"""Cost of friction: a sweep of many sets on one trajectory beside a run without, and loads from reactions."""

from __future__ import annotations

import functools
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import regions
from benchmarks.figures import Figure, Size, best, require
from pipeline.cluster.checks import ClusterSection
from pipeline.cluster.file import ClusterConfig
from pipeline.execution.run import run
from pipeline.sweep.model import Sweep
from robots import catalog
from robots.status import Status
from tasks import inverse_dynamics
from tasks.dynamics.records import Forces

ROBOTS = ("delta_3rr2rrr", "hexapod_6rrrprr")
UNSETTLED = (Status.FRICTION_NOT_CONVERGED, Status.FRICTION_NO_SOLUTION)

TEXT = """\
limbsweep: 1
robot: delta_3rr2rrr
{friction}
trajectories:
  line: {{kind: line_sine, amplitude: [0.2, 0.2, 0.1], period: 1.0}}
time: {{stop: 1.0, samples: 1001}}
metrics: [peak_force, rms_force, energy]
"""

FRICTION = """\
friction:
  law: stribeck
  parameters: {coulomb: 0.3}
  sample:
    method: latin_hypercube
    count: %d
    seed: 1
    parameters: {static: {low: 0.3, high: 0.6}, viscous: {low: 0, high: 0.1}, stribeck_velocity: {low: 0.01, high: 0.1}}
"""


def sets(size: Size) -> Iterator[Figure]:
    """Time a whole run with many friction sets and one without friction, in this process, and the cost of one set."""
    count = 10_000 if size.full else 50
    with_friction, without = (Sweep.from_text(TEXT.format(friction=each)) for each in (FRICTION % count, ""))
    seconds = {}
    for name, sweep in (("one run without friction", without), (f"{count:,} friction sets", with_friction)):
        _run(sweep)  # compiles
        seconds[name] = best(functools.partial(_run, sweep), 3 if size.full else 1)
        yield Figure(name, seconds[name], "s", "1001 samples of one design on one trajectory, metrics only, whole run")
    base, many = seconds.values()
    yield Figure("ratio", many / base, "x", "friction sets over the frictionless run; asked for is 3, writing apart")
    yield Figure(
        "  each set",
        (many - base) / count / 1001 * 1e9,
        "ns/sample",
        "three Stribeck laws, three metrics of three actuators",
    )


def _run(sweep: Sweep) -> None:
    with tempfile.TemporaryDirectory() as folder:
        results = run(sweep, store=Path(folder) / "out.zarr", cluster=ClusterConfig(ClusterSection(kind="synchronous")))
        require(bool(np.isfinite(results.peak_force.values).all()), "peak forces are finite")


def coupled(size: Size) -> Iterator[Figure]:
    """Time inverse dynamics with friction in all joints, with constant load and with loads from joint reactions."""
    count = 20_000 if size.full else 64
    for name in ROBOTS:
        robot = catalog.build(name)
        states: Any = regions.states(robot, count)
        times = {}
        for load, coulomb in (("constant", 0.01), ("reaction", 0.05)):
            friction: Any = {
                "law": "coulomb_viscous",
                "joints": "all",
                "load": load,
                "coulomb": coulomb,
                "viscous": 0.001,
            }
            found = inverse_dynamics(robot, forces=Forces(friction=friction), **states)
            unsettled = int(np.isin(found.status, UNSETTLED).sum())
            require(unsettled <= 1e-3 * count, f"friction settles at {unsettled} of {count} states")
            require(int((found.status != Status.OK).sum()) == unsettled, "forces with friction are finite")
            start = time.perf_counter()
            inverse_dynamics(robot, forces=Forces(friction=friction), **states)
            times[load] = (time.perf_counter() - start) / count
            yield Figure(
                f"{name}, {load} load",
                times[load] * 1e6,
                "us/sample",
                f"all joints, {unsettled} of {count} not settled",
            )
