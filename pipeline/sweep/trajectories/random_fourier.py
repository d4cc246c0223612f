"""Random excitation as trajectories of a sweep: Fourier series that start and end at rest, within limits.

`{kind: random_fourier, count: 10, seed: 1, position: 0.2, velocity: 1.0, turn: {...}}` stands for `count`
trajectories of the kind `fourier`. Better ones than random: `limbsweep excite`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.documents.report import Report
from pipeline.documents.yaml import KeyPath as Path
from pipeline.documents.yaml import parse_yaml
from pipeline.sweep.trajectories.reader import Trajectory
from pipeline.sweep.trajectories.turns import ROTATION, may_turn, orientation_of
from robots.fourier import FREE, Series
from robots.model import Mechanism
from robots.motions import Turn
from robots.types import TRANSLATION, Matrix

KIND = "random_fourier"
AXES = 3
MOST = 10_000
BIG = 1e9
"""What stands for a limit that is not given."""
TURN = "turn"
KEYS = ("kind", "count", "seed", "centre", "period", "position", "velocity", "acceleration", TURN)
TURN_KEYS = ("orientation", "centre", "position", "velocity", "acceleration")
OF_MOTION = ("period", "velocity", "acceleration")
"""Keys that poses at rest do without."""


@dataclass(frozen=True)
class Limits:
    """Where a random motion has its centre, and what it keeps: largest distance, velocity, acceleration (coordinate,).

    A coordinate along which the robot is not free has no motion.
    """

    centre: np.ndarray
    most: tuple[np.ndarray, ...]
    free: np.ndarray

    def joined(self, other: Limits) -> Limits:
        """Of the coordinates of both."""
        most = (np.concatenate(pair) for pair in zip(self.most, other.most, strict=True))
        centre, free = (np.concatenate(pair) for pair in ((self.centre, other.centre), (self.free, other.free)))
        return Limits(centre, tuple(most), free)


@dataclass(frozen=True)
class Entry:
    """One entry of this kind, checked: how many motions, their seed and period, limits, the turn of a platform.

    `orientation` is None where a platform does not turn, and for chains; else `limits` has six coordinates.
    """

    count: int
    seed: int
    period: float
    limits: Limits
    orientation: Matrix | None = None

    def free(self, number: int) -> np.ndarray:
        """Free numbers (coordinate, FREE) of a motion."""
        random = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(number,)))
        return random.normal(size=(len(self.limits.free), FREE)) * self.limits.free[:, None]

    def series(self, free: np.ndarray) -> Series:
        """The series of free numbers, within limits."""
        return Series.within(free, self.limits.centre, self.period, self.limits.most)

    def trajectory(self, name: str, series: Series) -> Trajectory:
        """A series as a trajectory of the kind `fourier`."""
        if self.orientation is None:
            return Trajectory(name, "fourier", series.values)
        turn = Turn("fourier", series.part(slice(AXES, None)).values, self.orientation)
        return Trajectory(name, "fourier", series.part(slice(AXES)).values, turn=turn)


def trajectories(
    report: Report,
    name: str,
    given: Mapping[str, Any],
    path: Path,
    joints: Sequence[str],
    mobility: Sequence[str] = (),
) -> Iterator[Trajectory]:
    """The motions of one entry; what is wrong goes to `report`."""
    entry = read(report, given, path, joints, mobility)
    if entry is not None:
        for number in range(entry.count):
            yield entry.trajectory(f"{name}_{number}", entry.series(entry.free(number)))


def entries(text: str, mechanism: Mechanism) -> dict[str, Entry]:
    """All entries of this kind in the text of a sweep file that has been checked, by name."""
    document = parse_yaml(text, "sweep")
    joints = mechanism.freedoms if mechanism.is_chain else ()
    found = {}
    trajectories = document.data["trajectories"]
    assert isinstance(trajectories, dict), "the text of a sweep that was read"
    for name, given in trajectories.items():
        if isinstance(given, dict) and given.get("kind") == KIND:
            entry = read(Report(document), given, ("trajectories", name), joints, mechanism.platform.mobility)
            assert entry is not None, "a sweep that was read has sound entries"
            found[name] = entry
    return found


def read(
    report: Report,
    given: Mapping[str, Any],
    path: Path,
    joints: Sequence[str],
    mobility: Sequence[str] = (),
    still: bool = False,
) -> Entry | None:
    """One entry for the joints of a chain, or a platform with this mobility; None where something is wrong.

    `centre`, and the largest distance from it, `velocity` and `acceleration`: one number, or one for each joint of a
    chain or axis of a platform [rad or m]. `turn` has the same keys for roll, pitch and yaw [rad], and `orientation`.
    Poses at rest, `still`, have none of OF_MOTION.
    """
    before = len(report.problems)
    _check_keys(report, given, path, [key for key in KEYS if key != TURN or not joints], still)
    count, seed, period = given.get("count", 1), given.get("seed"), given.get("period", 10.0)
    if not _whole(count) or not 0 < count <= MOST:
        report((*path, "count"), count, f"a whole number from 1 to {MOST}")
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        report((*path, "seed") if seed is not None else path, seed, "seed, a whole number, so that it can be repeated")
    if not _number(period) or period <= 0:
        report((*path, "period"), period, "a time above zero [s]")
    limits = _limits(report, given, path, _are_free(TRANSLATION, mobility) if not joints else np.ones(len(joints)))
    orientation = None
    if TURN in given and not joints:
        turned = _read_turn(report, given[TURN], (*path, TURN), mobility, still)
        if turned is not None:
            limits, orientation = limits.joined(turned[0]), turned[1]
    if len(report.problems) > before:
        return None
    return Entry(count, int(seed or 0), float(period), limits, orientation)


def _check_keys(report: Report, given: Mapping[str, Any], path: Path, keys: Sequence[str], still: bool) -> None:
    known = [key for key in keys if not still or key not in OF_MOTION]
    for key in given:
        if key not in known:
            report.unknown((*path, key), known)


def _read_turn(
    report: Report, given: Any, path: Path, mobility: Sequence[str], still: bool
) -> tuple[Limits, Matrix] | None:
    if not may_turn(report, path, mobility):
        return None
    if not isinstance(given, Mapping):
        report(path, given, "a mapping with position, the largest angle")
        return None
    _check_keys(report, given, path, TURN_KEYS, still)
    return _limits(report, given, path, _are_free(ROTATION, mobility)), orientation_of(report, given, path)


def _are_free(names: Sequence[str], mobility: Sequence[str]) -> np.ndarray:
    return np.array([float(name in mobility or not mobility) for name in names])


def _limits(report: Report, given: Mapping[str, Any], path: Path, free: np.ndarray) -> Limits:
    size = len(free)
    if "position" not in given:
        report(path, given.get("position"), "position, the largest distance from the centre")
    most = tuple(_vector(report, given, key, path, size, BIG) for key in ("position", "velocity", "acceleration"))
    return Limits(_vector(report, given, "centre", path, size, 0.0), most, free)


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
