"""Time of a sweep, measured: a few of its cases are computed as a run does, and the others are in proportion.

The first small call compiles and is counted once. Then more and more designs are run in memory, or steps of
simulations computed, until a call is long enough to be measured. The difference of two calls is the time of their
cases; the rest is that of opening a run, or of the steps of a block of simulations. Times are those of the processor,
so that other work on the machine does not count.
"""

from __future__ import annotations

import math
import os
import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pipeline.cluster.connection import ClusterConfig
from pipeline.execution import work
from pipeline.execution.blocks import block_of
from pipeline.execution.run import run
from pipeline.execution.trial import part_of
from pipeline.plan.cost import STORED, TASK, duration
from pipeline.plan.plan import plan
from pipeline.sweep.axes.derived import Sliced
from pipeline.sweep.axes.kinds import Axis
from pipeline.sweep.model import Sweep
from pipeline.sweep.simulated.axes import SimulationAxes
from robots.criteria.selection import EVERYTHING
from robots.trajectories.kinds import is_grid

LEAST, MOST = 0.6, 4.0
"""Seconds of a call that is long enough, and of all calls together, about."""
GROWTH = 4
"""Factor by which calls grow."""
SAMPLES = 100_000
"""Samples of a design that are computed, at most; of longer motions and more trajectories the first."""
TRAJECTORIES, SETS, CASES = 6, 16, 24
"""Trajectories and friction sets of given motions, and cases of simulations, that are computed, at most."""
OPENING = 0.15
"""Seconds of a run beside its blocks."""
STEPS = 50
"""Steps of the first call of simulations."""


@dataclass(frozen=True)
class MeasuredTime:
    """Seconds of one core for a whole sweep, those of its first call, which compiles, and its blocks."""

    seconds: float
    first: float
    blocks: int

    @property
    def text(self) -> str:
        """Return the row of `limbsweep check`: seconds of one core, and of this machine."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        busy = min(cores, self.blocks)
        shared = f", {duration(self.first + self.seconds / busy)} on {busy} cores of this machine" if busy > 1 else ""
        return f"about {duration(self.first + self.seconds)} of one core{shared}; measured with a few cases"


def measured_time(sweep: Sweep) -> MeasuredTime:
    """Measure the time of a sweep. Raises InputError where a plan of a part of it cannot be parts."""
    whole = plan(sweep)
    if sweep.simulation is not None:
        seconds, first = _simulated(sweep, sweep.simulation)
        seconds += whole.stored * STORED + OPENING
    else:
        seconds, first = _prescribed(sweep)
    return MeasuredTime(seconds + whole.blocks * TASK, first, whole.blocks)


def _prescribed(sweep: Sweep) -> tuple[float, float]:
    """Return the seconds of a sweep of given motions, and those of the first call."""
    small, share = _with_few_cases(sweep)
    size, spent, designs = sweep.design.size, 0.0, 1
    first = _run_seconds(_with_designs(small, 1))
    calls: list[tuple[int, float]] = []
    while True:
        took = _run_seconds(_with_designs(small, designs))
        calls.append((designs, took))
        spent += took
        if took >= LEAST or designs >= size or spent + GROWTH * took > MOST:
            break
        designs = min(size, designs * GROWTH)
    of_call, of_design = _line(calls[-2:])
    return of_call + share * size * of_design, max(first - calls[0][1], 0.0)


def _simulated(sweep: Sweep, axes: SimulationAxes) -> tuple[float, float]:
    """Return the seconds of a sweep of simulations, and those of the first call."""
    parts, steps = plan(sweep), sweep.grid.samples - 1
    few = max(1, STEPS // axes.simulation.every)
    first, spent, count = _seconds(_with_few_simulations(sweep, axes, 1, few)), 0.0, min(few, steps)
    while True:
        one = _seconds(_with_few_simulations(sweep, axes, 1, count))
        spent += one
        if one >= LEAST or count >= steps or spent + 2.0 * GROWTH * one > MOST:
            break
        count = min(steps, count * GROWTH)
    several = _with_few_simulations(sweep, axes, _values(sweep, axes), count)
    calls = [(1, one)]
    if (cases := plan(several).cases) > 1:
        calls.append((cases, _seconds(several)))
    of_call, of_case = _line(calls)
    longer = _steps(sweep) / _steps(several)
    return (parts.blocks * of_call + parts.cases * of_case) * longer, max(first - one, 0.0)


def _steps(sweep: Sweep) -> float:
    """Return the steps between stored samples, on average over the trajectories."""
    return _samples(sweep) / len(sweep.trajectories) - 1.0


def _values(sweep: Sweep, axes: SimulationAxes) -> int:
    """Return so many values of each axis of simulations that there are about CASES cases."""
    trajectories = len(sweep.trajectories)
    sizes = (sweep.design.size, sweep.friction.axis.size, trajectories, axes.gains.size, axes.state.size)
    fitting = [most for most in range(1, CASES + 1) if math.prod(min(size, most) for size in sizes) <= CASES]
    return fitting[-1]


def _line(calls: list[tuple[int, float]]) -> tuple[float, float]:
    """Return the seconds of a call and of a case, by one or two calls (cases, seconds)."""
    (few, short), (many, long) = calls[0], calls[-1]
    if many == few:
        return 0.0, long / many
    of_case = max(long - short, 0.0) / (many - few)
    return max(short - few * of_case, 0.0), of_case


def _run_seconds(sweep: Sweep) -> float:
    """Run a sweep in memory, and return the seconds of the processor."""
    start = time.process_time()
    run(sweep, cluster=ClusterConfig.of("synchronous"), progress=False)
    return time.process_time() - start


def _seconds(sweep: Sweep) -> float:
    """Compute the blocks of a sweep, and return the seconds of the processor."""
    parts, start = plan(sweep), time.process_time()
    for index in range(parts.blocks):
        work.whole(block_of(parts, index))
    return time.process_time() - start


def _with_few_cases(sweep: Sweep) -> tuple[Sweep, float]:
    """Return a sweep with few trajectories, friction sets and times, and how many times as much the whole is."""
    whole = any(is_grid(trajectory.kind) for trajectory in sweep.trajectories)
    trajectories = _places(len(sweep.trajectories), TRAJECTORIES)
    sets = _places(sweep.friction.axis.size, SETS)
    most = sweep.grid.samples if whole else max(2, SAMPLES // len(trajectories))
    friction = replace(sweep.friction, axis=part_of(sweep.friction.axis, sets))
    small = replace(
        sweep.with_sections(friction=friction, measurement=None, split=None, selection=EVERYTHING),
        trajectories=tuple(sweep.trajectories[k] for k in trajectories),
    ).with_grids(lambda grid: replace(grid, samples=min(grid.samples, most)))
    share = _samples(sweep) / _samples(small) * sweep.friction.axis.size / len(sets)
    return small, share


def _samples(sweep: Sweep) -> int:
    """Return the samples of a design on all trajectories."""
    return sum(grid.samples for grid in sweep.grids)


def _with_designs(sweep: Sweep, count: int) -> Sweep:
    """Return a sweep with some of its designs, side by side as in blocks, from the middle."""
    axis = sweep.design
    start = (axis.size - count) // 2
    return replace(sweep, design=Sliced(axis.names, axis, start, start + count)) if axis.names else sweep


def _with_few_simulations(sweep: Sweep, axes: SimulationAxes, most: int, steps: int) -> Sweep:
    """Return a sweep with so many values of each axis of simulations at most, for some steps."""
    friction = replace(sweep.friction, axis=_few(sweep.friction.axis, most))
    simulation = replace(axes, gains=_few(axes.gains, most), state=_few(axes.state, most))
    return replace(
        sweep.with_sections(friction=friction, split=None, selection=EVERYTHING, simulation=simulation),
        design=_few(sweep.design, most),
        trajectories=tuple(sweep.trajectories[k] for k in _places(len(sweep.trajectories), most)),
    ).with_grids(lambda grid: replace(grid, samples=min(grid.samples, 1 + steps)))


def _few(axis: Axis, most: int) -> Axis:
    return part_of(axis, _places(axis.size, most))


def _places(size: int, most: int) -> NDArray[np.int64]:
    """At most so many numbers below a size, evenly."""
    return np.unique(np.linspace(0, size - 1, min(size, most)).round()).astype(np.int64)
