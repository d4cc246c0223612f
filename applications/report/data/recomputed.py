"""Compute the designs that a report shows in detail again, each under one friction set, with all outputs.

A store seldom holds joint motion and reactions, and need not: they are those of a small sweep of a few designs, made
from the text of the sweep and run in this process by the same tasks. Times are thinned where there are many; the
points of a workspace are no times and all stay. A design of a simulation is one of the robot with one set of gains from
one initial state, see `applications.studies.axes`; it is simulated again, and its joints have no reactions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from applications.report.data.case import ACTUATORS, MOST_TIMES, MOST_TRAJECTORIES, DesignCase
from applications.report.data.results import Results
from applications.studies.axes import by_design
from applications.studies.columns import refuse
from pipeline.cluster.connection import ClusterConfig
from pipeline.documents.files import FileSource
from pipeline.errors import refused
from pipeline.execution.conventions import files_of
from pipeline.execution.run import run
from pipeline.sweep.axes.derived import Sliced
from pipeline.sweep.axes.kinds import Array, Axis, Indices
from pipeline.sweep.friction_sets import NO_FRICTION
from pipeline.sweep.model import Sweep
from pipeline.sweep.question.question import NO_QUESTION, StudyQuestion
from pipeline.sweep.question.reader import stored_question
from pipeline.sweep.side_files import stored_files
from pipeline.sweep.simulated.axes import SimulationAxes
from pipeline.sweep.stored import SWEEP_FINGERPRINT
from robots.criteria.selection import EVERYTHING
from robots.data_classes import dataclass, replace
from robots.derivatives import NO_DERIVATIVES
from robots.dims import GAINS, STATE
from robots.friction.laws import LAWS
from robots.model import Robot
from robots.requested import QuantityNames
from robots.trajectories.kinds import is_grid
from robots.trajectories.time_grid import TimeGrid

if TYPE_CHECKING:
    from xarray import Dataset

MOST_POINTS = 50_000
"""Points of a workspace up to which they are computed again."""

FEWEST_TIMES, LONGEST_TIMES = 50, 4001
"""Approximate number of times that short trajectories keep, within the limit for the longest trajectory."""

TOGETHER = 1 << 22
"""Numbers of joint reactions that are in memory at a time."""

JOINTS = ("joint_position", "joint_reaction", "joint_friction")
PLATFORM = ("platform_position", "platform_rotation")
SIMULATED = ("actuator_force", "actuator_position", "actuator_velocity", "joint_position")
"""Series of the lists above that simulations provide."""


@dataclass(frozen=True)
class Taken(Axis):
    """Sets of an axis chosen by number."""

    base: Axis
    numbers: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of chosen sets."""
        return len(self.numbers)

    def take(self, indices: Indices) -> dict[str, Array]:
        """Return the values of the sets at these indices."""
        return self.base.take(np.asarray(self.numbers, np.int64)[indices])

    def describe(self) -> dict[str, Any]:
        """Return the axis, and their numbers on it."""
        return {"taken": self.base.describe(), "numbers": list(self.numbers)}


def read_sweep(attributes: Mapping[str, object], files: Path | FileSource | None) -> Sweep:
    """Read the sweep in the attributes of a store; files that it names are in `files`: a folder, a store.

    Raises InputError where it cannot be read, as when a file of points is missing or was changed.
    """
    name = "the sweep in the store"
    if "sweep" not in attributes:
        rule = "a dataset with the attribute 'sweep', as limbsweep.open gives it"
        raise refused("dataset", "no sweep", rule)
    sweep = Sweep.from_text(str(attributes["sweep"]), name, files or Path())
    if sweep.fingerprint != attributes.get(SWEEP_FINGERPRINT, attributes.get("fingerprint")):
        hint = "Files that it names have changed, or limbsweep has; run the sweep again."
        raise refused(name, "another sweep", "the sweep that the store was made from", hint)
    if has_workspace(sweep) and sweep.grid.samples > MOST_POINTS:
        rule = f"at most {MOST_POINTS:,} to compute again"
        raise refused(name, f"a workspace of {sweep.grid.samples:,} points", rule, key="time")
    return sweep


def has_workspace(sweep: Sweep) -> bool:
    """Return whether any trajectory of a sweep is a grid of points."""
    return any(is_grid(trajectory.kind) for trajectory in sweep.trajectories)


def compute(sweep: Sweep, designs: Sequence[int], friction: int) -> Iterator[DesignCase]:
    """Compute some designs of a sweep under one friction set, all by number; a few designs at a time."""
    if sweep.simulation is not None:
        yield from _simulated(sweep, sweep.simulation, designs, friction)
        return
    mechanism = sweep.family.reference
    joints = sum(len(mechanism.limbs[instance.limb].joints) for instance in mechanism.instances)
    trajectories = min(MOST_TRAJECTORIES, len(sweep.trajectories))
    step = max(1, TOGETHER // (6 * joints * trajectories * len(times(sweep))))
    for start in range(0, len(designs), step):
        yield from _computed(sweep, tuple(designs[start : start + step]), friction)


def _computed(sweep: Sweep, designs: tuple[int, ...], friction: int) -> Iterator[DesignCase]:
    chains = sweep.family.reference.is_chain
    part = replace(
        _with_set(sweep, friction).with_sections(derivatives=NO_DERIVATIVES),
        design=_taken(sweep.design, designs),
        trajectories=sweep.trajectories[:MOST_TRAJECTORIES],
        quantities=QuantityNames((*ACTUATORS, *JOINTS, *(() if chains else PLATFORM))),
    )
    thinned = _thinned(stride(sweep))
    part = replace(part.with_grids(thinned), grid=thinned(sweep.grid))
    results = _run(part)
    results = results.assign_coords(time=times(sweep)) if sweep.has_one_step else results
    force = None
    if any(LAWS[group.law].parameters for group in sweep.friction.groups):
        bare = part.with_sections(friction=NO_FRICTION)
        force = _run(replace(bare, quantities=QuantityNames(("actuator_force",))))["actuator_force"]
    for place, design in enumerate(designs):
        case_results, without = results.isel(design=place), None if force is None else force.isel(design=place)
        yield DesignCase(design, case_results, stride(sweep), _robot(sweep, design), without, part.trajectories)


def _simulated(sweep: Sweep, axes: SimulationAxes, designs: Sequence[int], friction: int) -> Iterator[DesignCase]:
    """Simulate designs again; designs that differ in the robot, the gains or the initial state alone run together."""
    swept = {"design": sweep.design, GAINS: axes.gains, STATE: axes.state}
    sizes = [axis.size for axis in swept.values()]
    places = {number: tuple(int(k) for k in np.unravel_index(number, sizes)) for number in designs}
    one = replace(
        _with_set(sweep, friction),
        trajectories=sweep.trajectories[:MOST_TRAJECTORIES],
        quantities=QuantityNames((*SIMULATED, *(() if sweep.family.reference.is_chain else PLATFORM))),
        user_metrics=(),
    )
    for numbers in min((_alike_but_for(axis, places) for axis in range(len(swept))), key=len):
        axis_values = [sorted({places[number][axis] for number in numbers}) for axis in range(len(swept))]
        taken = {dim: _taken(axis, sets) for (dim, axis), sets in zip(swept.items(), axis_values, strict=True)}
        simulation = replace(axes, gains=taken[GAINS], state=taken[STATE])
        results = _run(replace(one.with_sections(simulation=simulation), design=taken["design"]))
        results = results.isel(trajectory=slice(MOST_TRAJECTORIES), time=slice(None, None, stride(sweep)))
        for number in numbers:
            place = {dim: sets.index(k) for dim, sets, k in zip(swept, axis_values, places[number], strict=True)}
            case_results = results.isel(place, missing_dims="ignore", drop=True)
            yield DesignCase(number, case_results, stride(sweep), _robot(sweep, places[number][0]))


def _alike_but_for(axis: int, places: Mapping[int, tuple[int, ...]]) -> list[list[int]]:
    """Return the numbers of designs in groups whose places on axes are the same on all but one."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, place in places.items():
        groups.setdefault((*place[:axis], *place[axis + 1 :]), []).append(number)
    return list(groups.values())


def _taken(axis: Axis, numbers: Sequence[int]) -> Axis:
    """Return an axis with some of the sets; an axis without parameters has a single one."""
    return Taken(axis.names, axis, tuple(numbers)) if axis.names else axis


def _with_set(sweep: Sweep, friction: int) -> Sweep:
    """Return a sweep with one of its friction sets, whose series are whole and without sensors."""
    axis = sweep.friction.axis
    one = replace(sweep.friction, axis=Sliced(axis.names, axis, friction, friction + 1))
    return sweep.with_sections(friction=one, measurement=None, split=None, selection=EVERYTHING)


def _robot(sweep: Sweep, design: int) -> Robot:
    return Robot(sweep.family, {name: float(x[0]) for name, x in sweep.designs(design, design + 1).items()})


def _run(sweep: Sweep) -> Dataset:
    dataset = run(sweep, cluster=ClusterConfig.of("synchronous"), progress=False)
    return (dataset.isel(friction=0) if "friction" in dataset.dims else dataset).load()


def times(sweep: Sweep) -> Array:
    """Return the times of cases of a sweep [s]."""
    return sweep.grid.values[:: stride(sweep)]


def _thinned(step: int) -> Callable[[TimeGrid], TimeGrid]:
    """Return a function that gives every n-th time of a grid, from the first on."""
    return lambda grid: TimeGrid(grid.step * step, -(-grid.samples // step))


def stride(sweep: Sweep) -> int:
    """Return the stride of the cases' times in the sweep's times: 1 for a workspace, and if friction has memory.

    Trajectories that are much shorter than the longest keep some times.
    """
    if has_workspace(sweep) or any(group.remembers for group in sweep.friction.groups):
        return 1
    longest, shortest = sweep.grid.samples - 1, min(grid.samples for grid in sweep.grids) - 1
    usual, least = -(-longest // (MOST_TIMES - 1)), -(-longest // (LONGEST_TIMES - 1))
    return max(1, least, min(usual, shortest // FEWEST_TIMES))


class ComputedResults(Results):
    """Results whose designs are computed again, with all outputs."""

    def read_sweep(self) -> Sweep:
        """Read the sweep of the store. Raises InputError where it cannot be read again."""
        return read_sweep(self.dataset.attrs, self.stored or self.files)

    def computed(self, sweep: Sweep, designs: Sequence[int]) -> Iterator[DesignCase]:
        """Compute some designs of the sweep again, by number, under the shown friction set."""
        return compute(sweep, designs, self.friction)


def results_of(
    store: str | Path | Dataset,
    design: int | None = None,
    friction: int | None = None,
    files: str | Path | None = None,
    question: StudyQuestion = NO_QUESTION,
) -> Results:
    """Open the results in a store, finished or not, or in a dataset. Raises StoreError, InputError.

    question: replacement of the section `study` of the sweep.
    """
    from xarray import Dataset

    from pipeline.execution import opening

    folder = None if files is None else Path(files)
    if isinstance(store, Dataset):
        if "design" not in store.dims:
            raise refuse("dataset", "no dim design", "a dataset with designs", "Select by a list: isel(design=[3]).")
        dataset, stored = by_design(_with_dims(store)), None if files is not None else files_of(store)
    else:
        dataset, stored = by_design(opening.open(store, unfinished=True)), stored_files(store, folder or ".")
    asked = stored_question(dataset.attrs, dataset.coords)
    asked = asked.with_options(question.objectives, question.where, question.cases)
    return ComputedResults(dataset, design, friction, folder, stored, asked)


def _with_dims(dataset: Dataset) -> Dataset:
    """Return a dataset of which one trajectory, or one time, was selected, with that as a dim again."""
    lost = [dim for dim in ("trajectory", "time") if dim not in dataset.dims]
    lost = [dim for dim in lost if dim == "trajectory" or dim in dataset.coords]
    return dataset.expand_dims(lost).transpose("design", ...) if lost else dataset
