"""Time of a sweep, measured: a few of its cases are computed as a run does, and the others are in proportion.

More and more designs are run into a store, or steps of simulations computed, until a call is long enough to be
measured. The difference of the last call and one of half its cases or less is the time of these; the remaining time is
that of opening a run, or of the steps of a block of simulations. The additional time of the calls before is spent once
in each process: tracing, bytecode of the first samples, reading machine code. The time to compile machine code is left
out, because a run finds the code that `check` has compiled. Where there are more friction sets than are computed, a
call with fewer of them tells the time of a set, as sets share the dynamics. Times are those of the processor, so that
other work on the machine does not count.
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from pipeline.cluster.arguments import cores
from pipeline.cluster.connection import ClusterConfig
from pipeline.execution import work
from pipeline.execution.blocks import block_of
from pipeline.execution.executors import choose_granularity
from pipeline.execution.graph import Granularity
from pipeline.execution.run import near, run_into
from pipeline.execution.trial import part_of
from pipeline.plan.cost import STORED, TASK, duration
from pipeline.plan.plan import plan
from pipeline.sweep.axes.derived import Sliced
from pipeline.sweep.axes.kinds import Axis
from pipeline.sweep.model import Sweep
from pipeline.sweep.simulated.axes import SimulationAxes
from robots.criteria.selection import EVERYTHING
from robots.data_classes import dataclass, replace
from robots.trajectories.kinds import is_grid
from tasks.kernels.kernel import seconds_of_new_code

LEAST, MOST = 0.6, 4.0
"""Seconds of a call that is long enough, and of all calls together, about."""
GROWTH = 4
"""Factor by which calls grow."""
SAMPLES = 100_000
"""Samples of a design that are computed, at most; of longer motions and more trajectories the first."""
TRAJECTORIES = 6
"""Trajectories of given motions that are computed, at most."""
CASES, MOST_CASES = 24, 96
"""Cases of simulations that are computed, and where these are quick, at most."""
SETS, MANY_SETS, QUICK = 16, 256, 0.1
"""Largest number of computed friction sets; a larger one where a design with these takes less than QUICK [s]."""
OPENING = 0.15
"""Seconds of a run beside its blocks."""
BEGINNING = 3.0
"""Seconds until a worker process of this machine has begun."""
COORDINATOR, OF_BLOCK = 0.2, 0.01
"""Seconds of the coordinator of a cluster: of a run, and of each of its blocks with those of scheduler and worker."""
OF_BYTE = 2.7e-9
"""Seconds of the processor for a byte that a worker hands to another one: both ends, copies and TLS."""
STEPS = 50
"""Steps of the first call of simulations."""


@dataclass(frozen=True)
class MeasuredTime:
    """Seconds of one core for a whole sweep, seconds that each process needs once, and the number of blocks.

    `begins`: a run on this machine begins a process, and does not compute in its own. handed: bytes that tasks of
    limbs hand on, of which workers find the share of all others elsewhere.
    """

    seconds: float
    first: float
    blocks: int
    begins: bool = False
    handed: int = 0

    def on(self, workers: int) -> float:
        """Return the seconds of the processor of a run on `workers` started workers, with its coordinator."""
        once = workers * self.first + COORDINATOR + self.blocks * OF_BLOCK
        return self.seconds + once + self._moving(workers)

    def _moving(self, workers: int) -> float:
        """Return the seconds of the processor in which workers hand on what others need."""
        return self.handed * (1.0 - 1.0 / workers) * OF_BYTE

    @property
    def text(self) -> str:
        """Return the row of `limbsweep check`: seconds of one core, and of this machine."""
        busy = min(cores(), self.blocks)
        rounds = -(-self.blocks // busy)  # the last of them may leave cores without a block
        wall = self.first + self.seconds * rounds / self.blocks
        wall += BEGINNING + self._moving(busy) / busy if self.begins else 0.0
        shared = f", {duration(wall)} on {busy} cores of this machine" if busy > 1 else ""
        return f"about {duration(self.first + self.seconds)} of one core{shared}; measured with a few cases"


def measured_time(sweep: Sweep, granularity: Granularity | None = None) -> MeasuredTime:
    """Measure the time of a sweep; `granularity` is that of its run (absent: as on this machine).

    Raises InputError where a plan of a part of it cannot be parts.
    """
    whole = plan(sweep)
    begins, handed = near(whole).cluster.kind == "local", 0
    if sweep.simulation is not None:
        seconds, first = _simulated(sweep, sweep.simulation)
        seconds += whole.stored * STORED + OPENING
    else:
        here = choose_granularity(whole, cores() if begins else None)
        seconds, first = _prescribed(sweep, granularity or here)
        if (granularity or here) == "limb":
            handed = sweep.design.size * sum(whole.memory.pair(grid.samples) for grid in sweep.grids)
    return MeasuredTime(seconds + whole.blocks * TASK, first, whole.blocks, begins, handed)


def _prescribed(sweep: Sweep, granularity: Granularity) -> tuple[float, float]:
    """Return the seconds of a sweep of given motions, and those of each process."""
    small, size = _with_few_cases(sweep, SETS), sweep.design.size
    early, last = ((1, _run_seconds(_with_designs(small, 1), granularity)) for _ in range(2))
    if sweep.friction.axis.size > SETS and last[1] < QUICK:
        small = _with_few_cases(sweep, MANY_SETS)
        last = 1, _run_seconds(_with_designs(small, 1), granularity)
    calls, begun, spent = [last], [early], last[1]
    while calls[-1][1] < LEAST and calls[-1][0] < size and spent + GROWTH * calls[-1][1] <= MOST:
        designs = min(size, GROWTH * calls[-1][0])
        seconds = _run_seconds(_with_designs(small, designs), granularity)
        if seconds > GROWTH * calls[-1][1]:  # more than in proportion: something was made ready
            begun.append((designs, seconds))
            seconds = _run_seconds(_with_designs(small, designs), granularity)
        calls.append((designs, seconds))
        spent += seconds
    far = next((call for call in reversed(calls) if 2 * call[0] <= calls[-1][0]), calls[-1])  # near ones tell no slope
    of_call, of_design = _line([far, calls[-1]])
    opening = [*begun, *(call for call in calls if call[0] < far[0])]
    once = sum(max(seconds - of_call - designs * of_design, 0.0) for designs, seconds in opening)
    of_design += _of_further_sets(sweep, small, *calls[-1], granularity)
    return of_call + _samples(sweep) / _samples(small) * size * of_design, once


def _of_further_sets(sweep: Sweep, small: Sweep, designs: int, seconds: float, granularity: Granularity) -> float:
    """Return the seconds of a design for friction sets that were left out; with the others designs took `seconds`."""
    sets = small.friction.axis.size
    left_out, fewer = sweep.friction.axis.size - sets, sets // GROWTH
    if not left_out:
        return 0.0
    friction = replace(small.friction, axis=_few(small.friction.axis, fewer))
    shorter = _run_seconds(_with_designs(small.with_sections(friction=friction), designs), granularity)
    return left_out * max(seconds - shorter, 0.0) / (sets - fewer) / designs


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
    calls, most = [(1, one)], CASES
    while calls[-1][0] < parts.cases and most <= MOST_CASES and (calls[-1][1] < LEAST or len(calls) < 2):
        several = _with_few_simulations(sweep, axes, _values(sweep, axes, most), count)
        calls.append((plan(several).cases, _seconds(several)))
        most *= GROWTH
    of_call, of_case = _line(calls[-2:])
    longer = _steps(sweep) / _steps(_with_few_simulations(sweep, axes, len(sweep.trajectories), count))
    return (parts.blocks * of_call + parts.cases * of_case) * longer, max(first - one, 0.0)


def _steps(sweep: Sweep) -> float:
    """Return the steps between stored samples, on average over the trajectories."""
    return _samples(sweep) / len(sweep.trajectories) - 1.0


def _values(sweep: Sweep, axes: SimulationAxes, cases: int) -> int:
    """Return numbers of values of each axis of simulations, so that the cases are about `cases` at most."""
    trajectories = len(sweep.trajectories)
    sizes = (sweep.design.size, sweep.friction.axis.size, trajectories, axes.gains.size, axes.state.size)
    fitting = [most for most in range(1, cases + 1) if math.prod(min(size, most) for size in sizes) <= cases]
    return fitting[-1]


def _line(calls: list[tuple[int, float]]) -> tuple[float, float]:
    """Return the seconds of a call and of a case, by one or two calls (cases, seconds)."""
    (few, short), (many, long) = calls[0], calls[-1]
    if many == few:
        return 0.0, long / many
    of_case = max(long - short, 0.0) / (many - few)
    return max(short - few * of_case, 0.0), of_case


def _run_seconds(sweep: Sweep, granularity: Granularity) -> float:
    """Run a sweep into a store that is removed, and return the seconds of the processor, but for new machine code."""
    with TemporaryDirectory(prefix="limbsweep-") as folder:
        start = _clock()
        run_into(Path(folder) / "s.zarr", sweep, ClusterConfig.of("synchronous"), (), granularity)
        return _clock() - start


def _seconds(sweep: Sweep) -> float:
    """Compute the blocks of a sweep, and return the seconds of the processor, but for new machine code."""
    parts, start = plan(sweep), _clock()
    for index in range(parts.blocks):
        work.whole(block_of(parts, index))
    return _clock() - start


def _clock() -> float:
    return time.process_time() - seconds_of_new_code()


def _with_few_cases(sweep: Sweep, most_sets: int) -> Sweep:
    """Return a sweep with few trajectories, times and friction sets, within limits."""
    whole = any(is_grid(trajectory.kind) for trajectory in sweep.trajectories)
    trajectories = _places(len(sweep.trajectories), TRAJECTORIES)
    most = sweep.grid.samples if whole else max(2, SAMPLES // len(trajectories))
    friction = replace(sweep.friction, axis=_few(sweep.friction.axis, most_sets))
    return replace(
        sweep.with_sections(friction=friction, measurement=None, split=None, selection=EVERYTHING),
        trajectories=tuple(sweep.trajectories[k] for k in trajectories),
    ).with_grids(lambda grid: replace(grid, samples=min(grid.samples, most)))


def _samples(sweep: Sweep) -> int:
    """Return the samples of a design on all trajectories."""
    return sum(grid.samples for grid in sweep.grids)


def _with_designs(sweep: Sweep, count: int) -> Sweep:
    """Return a sweep with some of its designs, side by side as in blocks, from the middle."""
    axis = sweep.design
    start = (axis.size - count) // 2
    return replace(sweep, design=Sliced(axis.names, axis, start, start + count)) if axis.names else sweep


def _with_few_simulations(sweep: Sweep, axes: SimulationAxes, most: int, steps: int) -> Sweep:
    """Return a sweep with at most these numbers of values of each axis of simulations, for some steps."""
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
    """Return at most `most` numbers below a size, evenly spaced."""
    return np.unique(np.linspace(0, size - 1, min(size, most)).round()).astype(np.int64)
