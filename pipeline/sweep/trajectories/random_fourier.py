"""Random excitation as trajectories of a sweep: Fourier series that start and end at rest, within limits.

`{kind: random_fourier, count: 10, seed: 1, position: 0.2, velocity: 1.0, turn: {...}}` stands for `count`
trajectories of the kind `fourier`. Better ones than random: `limbsweep excite`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Report
from pipeline.documents.yaml import parse_yaml
from pipeline.sweep.trajectories.turns import may_turn, orientation_of
from pipeline.sweep.trajectories.values import Mover
from robots.data_classes import dataclass
from robots.model import Mechanism
from robots.trajectories.kinds import Turn
from robots.trajectories.trajectory import FREE, Series, Trajectory
from robots.types import ROTATION, TRANSLATION, Matrix

Numbers = NDArray[np.float64]

KIND = "random_fourier"
AXES = 3
MOST = 10_000
BIG = 1e9
"""Largest value of a limit. It also replaces a limit that is not given."""

SHORTEST_PERIOD, LONGEST_PERIOD = 1e-6, 1e6
"""Seconds, as for other motions."""

TURN = "turn"
KEYS = ("kind", "count", "seed", "centre", "period", "position", "velocity", "acceleration", TURN)
TURN_KEYS = ("orientation", "centre", "position", "velocity", "acceleration")
OF_MOTION = ("period", "velocity", "acceleration")
"""Keys that poses at rest do without."""


@dataclass(frozen=True)
class AmplitudeBounds:
    """Centre and limits of a random motion: largest distance, velocity, acceleration (coordinate,).

    A coordinate along which the robot is not free has no motion.
    """

    centre: Numbers
    most: tuple[Numbers, ...]
    free: Numbers

    def joined(self, other: AmplitudeBounds) -> AmplitudeBounds:
        """Return the bounds of the coordinates of both."""
        most = (np.concatenate(pair) for pair in zip(self.most, other.most, strict=True))
        centre, free = (np.concatenate(pair) for pair in ((self.centre, other.centre), (self.free, other.free)))
        return AmplitudeBounds(centre, tuple(most), free)


@dataclass(frozen=True)
class Entry:
    """One entry of this kind, checked: how many motions, their seed and period, limits, the turn of a platform.

    `orientation` is None where a platform does not turn, and for chains; else `limits` has six coordinates.
    """

    count: int
    seed: int
    period: float
    limits: AmplitudeBounds
    orientation: Matrix | None = None

    def free(self, number: int) -> Numbers:
        """Return the free numbers (coordinate, FREE) of a motion."""
        random = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(number,)))
        return random.normal(size=(len(self.limits.free), FREE)) * self.limits.free[:, None]

    def series(self, free: Numbers) -> Series:
        """Return the series of free numbers, within limits."""
        return Series.within(free, self.limits.centre, self.period, self.limits.most)

    def trajectory(self, name: str, series: Series) -> Trajectory:
        """Return a series as a trajectory of the kind `fourier`."""
        if self.orientation is None:
            return Trajectory("fourier", series.values, name=name)
        turn = Turn("fourier", series.part(slice(AXES, None)).values, self.orientation)
        return Trajectory("fourier", series.part(slice(AXES)).values, turn=turn, name=name)


def trajectories(
    report: Report, name: str, section: Mapping[str, Any], path: KeyPath, mover: Mover
) -> Iterator[Trajectory]:
    """Yield the motions of one entry; problems go to `report`."""
    entry = read(report, section, path, mover)
    if entry is not None:
        for number in range(entry.count):
            yield entry.trajectory(f"{name}_{number}", entry.series(entry.free(number)))


def entries(text: str, mechanism: Mechanism) -> dict[str, Entry]:
    """Return the entries of this kind by name, from the text of a sweep file that has been checked."""
    document = parse_yaml(text, "sweep")
    mover = Mover(mechanism.given if mechanism.is_chain else (), mechanism.platform.mobility)
    result: dict[str, Entry] = {}
    trajectories = document.data["trajectories"]
    assert isinstance(trajectories, dict), "the text of a sweep that was read"
    for name, section in trajectories.items():
        if isinstance(section, dict) and section.get("kind") == KIND:
            entry = read(Report(document), section, ("trajectories", name), mover)
            assert entry is not None, "a sweep that was read has sound entries"
            result[name] = entry
    return result


def read(report: Report, section: Mapping[str, Any], path: KeyPath, mover: Mover, still: bool = False) -> Entry | None:
    """Read one entry for the joints of a chain, or a platform; None after a reported mistake.

    `centre`, and the largest distance from it, `velocity` and `acceleration`: one number, or one for each joint of a
    chain or axis of a platform [rad or m]. `turn` has the same keys for roll, pitch and yaw [rad], and `orientation`.
    Poses at rest, `still`, have none of OF_MOTION.
    """
    before, joints, mobility = len(report.problems), mover.joints, mover.mobility
    _check_keys(report, section, path, [key for key in KEYS if key != TURN or not joints], still)
    count, seed, period = section.get("count", 1), section.get("seed"), section.get("period", 10.0)
    if not _whole(count) or not 0 < count <= MOST:
        report((*path, "count"), count, f"a whole number from 1 to {MOST}")
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= 2**128:
        report((*path, "seed") if seed is not None else path, seed, "seed, a whole number, so that it can be repeated")
    if not _number(period) or not SHORTEST_PERIOD <= period <= LONGEST_PERIOD:
        rule = f"a time above zero [s], from {SHORTEST_PERIOD:g} to {LONGEST_PERIOD:g}"
        report((*path, "period"), period, rule)
    limits = _limits(report, section, path, _are_free(TRANSLATION, mobility) if not joints else np.ones(len(joints)))
    orientation = None
    if TURN in section and not joints:
        turn = _read_turn(report, section[TURN], (*path, TURN), mobility, still)
        if turn is not None:
            limits, orientation = limits.joined(turn[0]), turn[1]
    if len(report.problems) > before:
        return None
    return Entry(count, int(seed or 0), float(period), limits, orientation)


def _check_keys(report: Report, section: Mapping[str, Any], path: KeyPath, keys: Sequence[str], still: bool) -> None:
    known = [key for key in keys if not still or key not in OF_MOTION]
    report.require_known_keys(path, section, known)


def _read_turn(
    report: Report, section: Any, path: KeyPath, mobility: Sequence[str], still: bool
) -> tuple[AmplitudeBounds, Matrix] | None:
    if not may_turn(report, path, mobility):
        return None
    if not isinstance(section, Mapping):
        report(path, section, "a mapping with position, the largest angle")
        return None
    _check_keys(report, section, path, TURN_KEYS, still)
    return _limits(report, section, path, _are_free(ROTATION, mobility)), orientation_of(report, section, path)


def _are_free(names: Sequence[str], mobility: Sequence[str]) -> Numbers:
    return np.array([float(name in mobility or not mobility) for name in names])


def _limits(report: Report, section: Mapping[str, Any], path: KeyPath, free: Numbers) -> AmplitudeBounds:
    size = len(free)
    if "position" not in section:
        report(path, section.get("position"), "position, the largest distance from the centre")
    most = tuple(_vector(report, section, key, path, size, BIG) for key in ("position", "velocity", "acceleration"))
    return AmplitudeBounds(_vector(report, section, "centre", path, size, 0.0), most, free)


def _vector(report: Report, section: Mapping[str, Any], key: str, path: KeyPath, size: int, default: float) -> Numbers:
    value = section.get(key, default)
    numbers = value if isinstance(value, list) else [value] * size
    fits = len(numbers) == size and all(_number(x) and abs(x) <= BIG for x in numbers)
    if not fits or (key != "centre" and min(numbers) <= 0):
        above = "" if key == "centre" else " above zero"
        report((*path, key), value, f"a number{above}, or a list of {size}, of at most {BIG:g} in size")
        return np.full(size, 1.0)
    return np.array(numbers, dtype=float)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
