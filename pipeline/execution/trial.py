"""Compute a few designs of a plan on a few trajectories in this process before a run, to find failures early.

The ends of both axes and of all parameters that are swept, and some places between them, drawn from a fixed seed;
without friction, nothing is stored. Constraint singularities are looked for, whatever the sweep asks for. `check` and
`new` try a sweep in this way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import Problem
from pipeline.execution import work
from pipeline.execution.blocks import block_of
from pipeline.monitor.samples import FAILED, WORST, FailedSamples, count_failed
from pipeline.plan.plan import plan
from pipeline.sweep.axes.kinds import Axis, ExplicitValues, Listed
from pipeline.sweep.friction_sets import NO_FRICTION
from pipeline.sweep.model import Sweep
from pipeline.sweep.simulated.axes import SimulationAxes
from robots.criteria.selection import EVERYTHING
from robots.data_classes import dataclass, replace
from robots.derivatives import NO_DERIVATIVES
from robots.requested import QuantityNames
from robots.status import Status
from robots.trajectories.kinds import is_grid
from robots.trajectories.time_grid import TimeGrid
from robots.types import TWIST

SAMPLES = 20_000
"""Samples that are tried, about; they take a moment once the kernels are there."""

DESIGNS, TRAJECTORIES = 12, 6
LOOKED_AT = 10_000
"""Designs among which the ends of swept parameters are looked for."""
SEED = 1

SIMULATED, INSTANTS = 3, 100
"""Values of each axis of simulations that are tried, and steps of each."""
ERRORS = "integration_error", "integration_error_share"
LEAST, COARSE = 1e-6, 0.05
"""Integration error [m or rad] and its share of the motion beyond which a step is reported as too long."""


@dataclass(frozen=True)
class Trial:
    """Result of a trial: numbers of designs and trajectories tried, and failures at places of the whole sweep.

    coarse: the largest integration error, as a share of the motion, of simulations whose step is too long, else 0.
    """

    designs: int
    trajectories: int
    result: FailedSamples
    coarse: float = 0.0

    def problems(self, name: str, sweep: Sweep) -> Iterator[Problem]:
        """Yield problems of the sweep file `name` whose motions cannot be made; none if nothing failed."""
        for status in self.result.statuses:
            trajectory = sweep.trajectories[status.first[0][-1]].name
            got = f"{status.samples:,} of {self.result.samples:,} samples that were tried with {status.name}"
            hint = f"{status.advice[:1].upper()}{status.advice[1:]}".rstrip(".") + "."
            yield Problem(name, 0, 0, f"trajectories.{trajectory}", got, "a motion that the robot can make", hint)

    def lines(self) -> Iterator[str]:
        """Yield the warnings; none if nothing failed and steps of simulations are short enough."""
        if self.result.failed:
            head, *rest = self.result.lines()
            yield f"tried {self.designs} designs on {self.trajectories} trajectories: {head}"
            yield from rest
        if self.coarse:
            yield (
                f"with half the step of the simulation, positions differ by {self.coarse:.2g} of the motion: "
                "choose a shorter simulation.step, or a simulation.tolerance [m or rad], for which steps are divided"
            )


def trial(sweep: Sweep) -> Trial:
    """Compute some cases of a sweep; of simulations the first instants, with gains and states at the ends of axes."""
    if sweep.simulation is not None:
        return _simulated(sweep, sweep.simulation)
    designs, trajectories = _chosen(sweep)
    plain = sweep.with_sections(friction=NO_FRICTION, measurement=None, split=None, selection=EVERYTHING)
    small = replace(
        plain.with_sections(derivatives=NO_DERIVATIVES),
        design=part_of(sweep.design, designs),
        trajectories=tuple(sweep.trajectories[k] for k in trajectories),
        quantities=QuantityNames(("actuator_force",), _looked_for(sweep)),
        user_metrics=(),
    ).with_grids(_shortened(sweep, len(designs) * len(trajectories)))
    sizes = (len(designs), 1, len(trajectories))
    counts, worst = np.zeros(sizes, np.int64), np.zeros(sizes, np.int64)
    small_plan = plan(small)
    for index in range(small_plan.blocks):
        bounds = small_plan.layout.grid.bounds(index)
        arrays = work.computed(block_of(small_plan, index))
        place = bounds["design"], slice(None), bounds["trajectory"]
        counts[place] = _case(arrays[FAILED])
        worst[place] = _case(arrays[WORST])
    names = {int(status): status.name for status in Status}
    samples = len(designs) * sum(grid.samples for grid in small.grids)
    failures = count_failed(counts, worst, names, samples, (designs, np.zeros(1, np.int64), trajectories))
    return Trial(len(designs), len(trajectories), failures)


def _looked_for(sweep: Sweep) -> tuple[str, ...]:
    """Return the metric with which constraint singularities have a status, of robots whose limbs hold a platform."""
    mechanism = sweep.family.reference
    held = not mechanism.is_chain and len(mechanism.platform.mobility) < len(TWIST)
    return ("least_constraint_regularity",) if held else ()


def _simulated(sweep: Sweep, axes: SimulationAxes) -> Trial:
    """Simulate some cases: the first friction set, few designs and trajectories, for a part of the time."""
    designs, trajectories = _places(sweep.design.size, SIMULATED), _places(len(sweep.trajectories), SIMULATED)
    gains, states = (_places(axis.size, SIMULATED) for axis in (axes.gains, axes.state))
    friction = replace(sweep.friction, axis=part_of(sweep.friction.axis, np.zeros(1, dtype=np.int64)))
    simulation = replace(axes, gains=part_of(axes.gains, gains), state=part_of(axes.state, states))
    small = replace(
        sweep.with_sections(
            friction=friction, split=None, selection=EVERYTHING, simulation=simulation, derivatives=NO_DERIVATIVES
        ),
        design=part_of(sweep.design, designs),
        trajectories=tuple(sweep.trajectories[k] for k in trajectories),
        quantities=QuantityNames((), ("peak_force", *(ERRORS if not axes.simulation.tolerance else ()))),
        user_metrics=(),
    ).with_grids(lambda grid: replace(grid, samples=min(grid.samples, 2 + INSTANTS // axes.simulation.every)))
    small_plan = plan(small)
    failed, codes = (small_plan.layout.variables[name] for name in (FAILED, WORST))
    sizes = failed.dims
    counts, worst = np.zeros(failed.shape, np.int64), np.zeros(failed.shape, np.int64)
    coarse = 0.0
    for index in range(small_plan.blocks):
        arrays = work.computed(block_of(small_plan, index))
        counts[failed.region(index)] = arrays[FAILED]
        worst[codes.region(index)] = arrays[WORST]
        coarse = max(coarse, _coarse(arrays))
    places = {"design": designs, "friction": np.zeros(1, np.int64), "trajectory": trajectories}
    places |= {"gains": gains, "state": states}
    names = {int(status): status.name for status in Status}
    samples = math.prod(failed.shape) // len(trajectories) * sum(grid.samples for grid in small.grids)
    failures = count_failed(counts, worst, names, samples, [places[dim] for dim in sizes], sizes)
    return Trial(len(designs), len(trajectories), failures, coarse)


def _coarse(arrays: Mapping[str, np.ndarray]) -> float:
    """Return the largest integration error of a block as a share of the motion, 0 if all errors are small."""
    if not {*ERRORS} <= {*arrays}:
        return 0.0
    error, share = (arrays[name] for name in ERRORS)
    return float(share.max(where=(error > LEAST) & (share > COARSE), initial=0.0))


def _case(values: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the counts of a block as (design, friction, trajectory), for one friction set."""
    return values.reshape(values.shape[0], 1, values.shape[-1])


def _chosen(sweep: Sweep) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of designs and trajectories to try."""
    pairs = max(4, SAMPLES // sweep.grid.samples)
    trajectories = _places(len(sweep.trajectories), min(TRAJECTORIES, pairs // 2))
    most = min(DESIGNS, max(2, pairs // len(trajectories)))
    between = _places(sweep.design.size, most).tolist()
    chosen = dict.fromkeys([between[0], between[-1], *_ends(sweep), *between])
    return np.sort(np.array(list(chosen)[:most], dtype=np.int64)), trajectories


def _ends(sweep: Sweep) -> Iterator[int]:
    """Yield the designs at the ends of each swept parameter."""
    for values in sweep.designs(0, min(sweep.design.size, LOOKED_AT)).values():
        if np.ptp(values):
            yield from (int(np.argmin(values)), int(np.argmax(values)))


def _places(size: int, most: int) -> NDArray[np.int64]:
    """Return at most `most` numbers below a size: both ends, and some between them."""
    if size <= most:
        return np.arange(size, dtype=np.int64)
    inner = np.random.default_rng(SEED).integers(1, size - 1, max(0, most - 2))
    return np.unique(np.concatenate([[0, size - 1], inner])).astype(np.int64)


def part_of(axis: Axis, indices: NDArray[np.int64]) -> Axis:
    """Return the sets of an axis at some places."""
    values = axis.take(indices)
    columns = tuple(ExplicitValues(tuple(map(float, values[name]))) for name in axis.names)
    return Listed(axis.names, columns) if columns else axis


def _shortened(sweep: Sweep, cases: int) -> Callable[[TimeGrid], TimeGrid]:
    """Return a function that gives the first of very many times: a solution begins with that of the time before."""
    whole = any(is_grid(trajectory.kind) for trajectory in sweep.trajectories)
    most = max(2, SAMPLES // cases)
    return lambda grid: grid if whole else replace(grid, samples=min(grid.samples, most))
