"""The load on the platform along a trajectory: the section `load`, a constant wrench or a CSV file over time.

`{kind: circle, ..., load: {force: [0, 0, -20], moment: [0, 0, 1], axes: platform}}`, `load: {file: cutting.csv}`
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Got, Report
from robots.trajectories.trajectory import WRENCH, PlatformLoad
from robots.types import LoadAxes

KEY = "load"
PARTS = ("moment", "force")
KEYS = (*PARTS, "file", "axes")
LARGEST = 1e12
"""Largest component of a load [N or N m]."""

Points = Callable[[Mapping[str, Any], KeyPath, Mapping[str, str]], "NDArray[np.float64] | None"]
"""Reader of the points of a file that a section names; `columns` have their SI units."""

COLUMNS = {"t": "s", **{name: "N m" if name.startswith("m") else "N" for name in WRENCH}}
"""Columns of such a file, and their units."""


def read_load(
    report: Report, trajectory: Mapping[str, Any], path: KeyPath, duration: float, points: Points
) -> PlatformLoad | None:
    """Return the load of a trajectory, None without one. Problems go to `report`."""
    if KEY not in trajectory:
        return None
    section, path = trajectory[KEY], (*path, KEY)
    if not isinstance(section, Mapping) or not section.keys() & {*PARTS, "file"}:
        got = Got("neither force, moment nor file") if isinstance(section, Mapping) else section
        report(path, got, "a mapping with force, moment or both, or with file", "force: [0, 0, -20] pulls down.")
        return None
    report.require_known_keys(path, section, KEYS)
    axes = section.get("axes", "world")
    if not report.require_known((*path, "axes"), axes, get_args(LoadAxes), "'world' or 'platform'"):
        return None
    if "file" not in section:
        moment, force = (_vector(report, section.get(part, (0.0, 0.0, 0.0)), (*path, part)) for part in PARTS)
        return PlatformLoad(np.array([[0.0, *moment, *force]]), axes)
    if both := sorted(section.keys() & {*PARTS}):
        report((*path, both[0]), Got(f"{both[0]} beside a file"), "one of both", "Remove one.", key=True)
        return None
    over_time = points(section, path, COLUMNS)
    if over_time is None:
        return None
    first, last = over_time[0, 0], over_time[-1, 0]
    if first > 0.0 or last < duration * (1.0 - 1e-12):
        rule, hint = f"one for all times of the sweep, 0 s to {duration:g} s", "Repeat its last row later."
        report((*path, "file"), Got(f"a load from {first:g} s to {last:g} s"), rule, hint)
        return None
    return PlatformLoad(over_time, axes)


def _vector(report: Report, value: object, path: KeyPath) -> tuple[float, float, float]:
    """Return three numbers; report anything else, and return zeros for it."""
    numbers = value if isinstance(value, (list, tuple)) and len(value) == 3 else ()
    sound = all(isinstance(x, (int, float)) and not isinstance(x, bool) and abs(x) <= LARGEST for x in numbers)
    if not numbers or not sound or any(math.isnan(x) for x in numbers):
        hint = "In N m for a moment, in N for a force."
        report(path, value, f"three numbers of at most {LARGEST:g}, x, y and z", hint)
        return (0.0, 0.0, 0.0)
    x, y, z = map(float, numbers)
    return x, y, z
