"""Random excitation as trajectories of a sweep: Fourier series that start and end at rest, within limits.

`{kind: random_fourier, count: 10, seed: 1, position: 0.2, velocity: 1.0, ...}` stands for `count` trajectories of the
kind `fourier`. Better ones than random: `tasks.identification.excitation`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pipeline.document import Path
from pipeline.sweep_motions import Trajectory
from pipeline.validation import Report
from robots.fourier import FREE, Series

KIND = "random_fourier"
AXES = 3
MOST = 10_000
BIG = 1e9
"""What stands for a limit that is not given."""
KEYS = ("kind", "count", "seed", "centre", "period", "position", "velocity", "acceleration")


def trajectories(
    report: Report, name: str, given: Mapping[str, Any], path: Path, joints: Sequence[str]
) -> Iterator[Trajectory]:
    """The motions of one entry; what is wrong goes to `report`.

    `centre`, and the largest distance from it, `velocity` and `acceleration`: one number, or one for each joint of a
    chain or axis of a platform [rad or m].
    """
    for key in given:
        if key not in KEYS:
            report.unknown((*path, key), KEYS)
    size, before = len(joints) or AXES, len(report.problems)
    count, seed, period = given.get("count", 1), given.get("seed"), given.get("period", 10.0)
    if not _whole(count) or not 0 < count <= MOST:
        report((*path, "count"), count, f"a whole number from 1 to {MOST}")
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        report((*path, "seed") if seed is not None else path, seed, "seed, a whole number, so that it can be repeated")
    if not _number(period) or period <= 0:
        report((*path, "period"), period, "a time above zero [s]")
    limits = [_vector(report, given, key, path, size, BIG) for key in ("position", "velocity", "acceleration")]
    centre = _vector(report, given, "centre", path, size, 0.0)
    if "position" not in given:
        report(path, given.get("position"), "position, the largest distance from the centre")
    if len(report.problems) > before:
        return
    for number in range(count):
        free = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,))).normal(size=(size, FREE))
        series = Series.within(free, centre, float(period), limits)
        yield Trajectory(f"{name}_{number}", "fourier", series.values)


def _vector(report: Report, given: Mapping[str, Any], key: str, path: Path, size: int, default: float) -> np.ndarray:
    value = given.get(key, default)
    numbers = value if isinstance(value, list) else [value] * size
    fits = len(numbers) == size and all(_number(x) for x in numbers)
    if not fits or (key != "centre" and min(numbers) <= 0):
        above = "" if key == "centre" else " above zero"
        report((*path, key), value, f"a number{above}, or a list of {size}")
        return np.full(size, 1.0)
    return np.array(numbers, dtype=float)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
