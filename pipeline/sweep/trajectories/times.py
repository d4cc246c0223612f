"""Time grids of a sweep file: the grid of the key `time`, and the own grids of trajectories.

    trajectories:
      pick: {kind: quintic, end: [0.1, 0, 0], duration: {values: [0.3, 0.5]}, time: {stop: duration, samples: 101}}

A name in place of a number is that of a number of the motion. The dim `time` is as long as the trajectory with the most
samples; others end before, and their later samples are no numbers, with the status ENDED.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.validation import validate_section
from pipeline.sweep.sections import TimeSection
from pipeline.sweep.trajectories.values import Mover
from robots.parameter_errors import nearest
from robots.trajectories.time_grid import TimeGrid, longest
from robots.trajectories.trajectory import Trajectory

KEY = "time"
"""Key of the section, in a sweep file and in a trajectory."""

MAX_TIMES = 10**7
"""Points of a time grid: a trajectory is never cut along time, so a block holds all of them."""

NO_GRID = TimeGrid(1.0, 1)
"""Grid in the place of one that is wrong, which has been reported."""


def read_grid(report: Report, time: TimeSection, path: KeyPath = (KEY,)) -> TimeGrid:
    """Return the grid of a section at `path`. Problems go to `report`."""
    if (time.step is None) == (time.samples is None):
        got = "neither step nor samples" if time.step is None else "both step and samples"
        report(path, Got(got), "one of step and samples", "Both ends of the time are included.")
        return NO_GRID
    intervals = time.stop / time.step if time.step else (time.samples or 0) - 1
    if intervals + 1 > MAX_TIMES:
        report(path, Got(f"{intervals + 1:.4g} points of time"), f"at most {MAX_TIMES}", "Take a longer step.")
        return NO_GRID
    if intervals < 1:
        report((*path, "step"), time.step, f"at most stop, {time.stop!r}", "A step in seconds.")
    elif abs(intervals - round(intervals)) > 1e-9 * intervals:
        hint = f"Stop at {round(intervals) * (time.step or 0):.10g}, or give samples instead of step."
        report((*path, "step"), time.step, f"a divisor of stop, {time.stop!r}", hint)
    samples = round(intervals) + 1
    return TimeGrid(time.step or time.stop / intervals, samples)


def own_grid(report: Report, section: Mapping[str, Any], path: KeyPath, mover: Mover) -> TimeGrid | None:
    """Return the grid of a trajectory's own; None without one, or where it is wrong, which is reported."""
    if KEY not in section:
        return None
    content, path = section[KEY], (*path, KEY)
    if not isinstance(content, Mapping):
        hint = "Such as time: {stop: 0.5, samples: 101}."
        report(path, content, "a mapping with stop, and with step or samples", hint)
        return None
    numbers = _numbers(section, mover)
    resolved = {key: numbers.get(x, x) if isinstance(x, str) else x for key, x in content.items()}
    for key, value in resolved.items():
        if isinstance(value, str):
            hint = sentence(nearest(value, numbers)) if numbers else ""
            report((*path, key), value, "a number, or the name of a number of the motion", hint)
            return None
    time = validate_section(report, TimeSection, resolved, path)
    return None if time is None else read_grid(report, time, path)


def _numbers(section: Mapping[str, Any], mover: Mover) -> dict[str, float]:
    """Return the numbers of a motion by name, with the defaults of its kind."""
    motion = mover.motions.get(str(section.get("kind")))
    rows = motion.parameters if motion else ()
    defaults = {row.name: row.default for row in rows if isinstance(row.default, int | float)}
    return defaults | {key: x for key, x in section.items() if isinstance(x, int | float) and not isinstance(x, bool)}


def with_grids(grid: TimeGrid, trajectories: tuple[Trajectory, ...]) -> tuple[TimeGrid, tuple[Trajectory, ...]]:
    """Return the grid of a sweep and its trajectories: with a grid of their own only where these differ."""
    grids = [trajectory.grid or grid for trajectory in trajectories]
    if len({*grids}) < 2:
        common = grids[0] if grids else grid
        return common, tuple(replace(one, grid=None) if one.grid else one for one in trajectories)
    timed = (replace(one, grid=times) for one, times in zip(trajectories, grids, strict=True))
    return longest(grids), tuple(timed)
