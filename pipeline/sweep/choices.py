"""Choose a named subset of the axes of a sweep file, or write the choice into its text.

A choice is a key of the file, `robot:` or `subset:`, so that the text of a sweep says all of it; `choose` adds one.
"""

from __future__ import annotations

from typing import Literal, TypeVar

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Report, sentence
from pipeline.documents.yaml import parse_yaml
from pipeline.errors import InputError, refused
from pipeline.sweep.axes.conditions import RuleReader
from pipeline.sweep.design_axis import DesignAxis
from pipeline.sweep.friction_sets import FrictionAxis
from pipeline.sweep.reading import SweepReading
from pipeline.sweep.sections import SelectionSection, SubsetSection
from robots.data_classes import dataclass, replace
from robots.parameter_errors import nearest
from robots.trajectories.kinds import is_grid
from robots.trajectories.time_grid import TimeGrid
from robots.trajectories.trajectory import Trajectory

Sets = TypeVar("Sets", DesignAxis, FrictionAxis)


@dataclass(frozen=True)
class Swept:
    """Axes that a subset is taken from: designs and friction sets (None where not sound), trajectories, times.

    every: stride of samples of time. precision: of all samples.
    """

    design: DesignAxis | None
    friction: FrictionAxis | None
    trajectories: tuple[Trajectory, ...]
    grid: TimeGrid | None
    precision: Literal["double", "single"]


def choose(text: str, key: str, value: str, name: str) -> str:
    """Add a key at the end of the text of a sweep file. Raises InputError where that is not possible."""
    longer = f"{text.rstrip()}\n{key}: {value}\n"
    try:
        fits = parse_yaml(longer, name).data.get(key) == value
    except InputError:
        fits = False
    if not fits:
        hint = f"Write {key}: {value} into the file yourself."
        raise refused(name, "a choice", "a file to whose end a key can be added", hint, key=key)
    return longer


def take_subset(reading: SweepReading, whole: Swept) -> Swept:
    """Restrict a sweep to the subset that the key `subset` names, if any; checks all subsets of the file."""
    report, file = reading.report, reading.file
    sound, part = not report.problems, whole
    for name, subset in file.subsets.items():
        chosen = name == file.subset
        scan, simulated = sound and chosen, file.simulation is not None
        restricted = _restricted(report, subset, whole, ("subsets", name), sound=sound, scan=scan, simulated=simulated)
        part = restricted if chosen else part
    if file.subset is not None and file.subset not in file.subsets:
        hint = sentence(nearest(file.subset, file.subsets)) if file.subsets else "There is no section subsets."
        report(("subset",), file.subset, "the name of a subset", hint)
    return part


def _restricted(
    report: Report, subset: SubsetSection, whole: Swept, path: KeyPath, *, sound: bool, scan: bool, simulated: bool
) -> Swept:
    def part(sets: Sets, selection: SelectionSection | None, key: str) -> Sets:
        rules = RuleReader(report, sets.parameters, sets.fixed)
        return replace(sets, axis=rules.part(sets.axis, selection, (*path, key), sound=sound, scan=scan))

    trajectories = _named(report, whole.trajectories, subset.trajectories, (*path, "trajectories"))
    times = (*path, "every")
    return Swept(
        whole.design and part(whole.design, subset.design, "design"),
        whole.friction and part(whole.friction, subset.friction, "friction"),
        _with_times(report, trajectories, subset, times, simulated=simulated),
        _sparse(report, whole.grid, subset.every, times),
        subset.precision or whole.precision,
    )


def _sparse(report: Report, grid: TimeGrid | None, every: int, path: KeyPath) -> TimeGrid | None:
    """Return every n-th of some times, with the first."""
    if grid is None or every == 1:
        return grid
    samples = (grid.samples - 1) // every + 1
    if samples < 2:
        report(path, every, f"at most {grid.samples - 1}", f"There are {grid.samples} times, and 2 have to stay.")
        return grid
    return TimeGrid(grid.step * every, samples)


def _with_times(
    report: Report, trajectories: tuple[Trajectory, ...], subset: SubsetSection, path: KeyPath, *, simulated: bool
) -> tuple[Trajectory, ...]:
    """Return trajectories with every n-th of their own times."""
    grids = [trajectory.name for trajectory in trajectories if is_grid(trajectory.kind)]
    if subset.every > 1 and (simulated or grids):
        what = "a simulation, whose steps are all needed" if simulated else f"{grids[0]}, a grid of points"
        report(path, subset.every, "no such key", f"It takes times of given motions, and this is {what}.")
        return trajectories
    return tuple(
        replace(one, grid=_sparse(report, one.grid, subset.every, path)) if one.grid else one for one in trajectories
    )


def _named(
    report: Report, trajectories: tuple[Trajectory, ...], names: tuple[str, ...] | None, path: KeyPath
) -> tuple[Trajectory, ...]:
    """Select trajectories by name; all of them without names."""
    if names is None or not trajectories:
        return trajectories
    known = [trajectory.name for trajectory in trajectories]
    # Entries with problems of their own are no news; in a sound file, one entry may have become several motions.
    if report.problems and isinstance(entries := report.document.data.get("trajectories"), dict):
        known = [*entries, *known]
    for index, name in enumerate(names):
        report.require_known((*path, index), name, known, "a trajectory")
    return tuple(trajectory for trajectory in trajectories if trajectory.name in names)
