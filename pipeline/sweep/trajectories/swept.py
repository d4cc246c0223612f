"""Parameters of trajectories that are swept: a number in a section may be several, `radius: {values: [0.1, 0.2]}`.

    trajectories:
      turn: {kind: circle, radius: {start: 0.05, stop: 0.15, num: 3}, period: {values: [0.5, 1.0]}}

The section stands for all combinations, the last key fastest: `turn_0` to `turn_5`. A swept key becomes a coordinate
along the dim `trajectory`, such as `trajectory_radius`. For lists of numbers and names of files the coordinate has
their number from 0.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pipeline.documents.dataset_names import COORDINATE
from pipeline.documents.document import KeyPath
from pipeline.documents.report import Got, Report
from robots.data_classes import dataclass
from robots.trajectories.kinds import JOINT_MOTIONS, MOTIONS, TURNS
from robots.trajectories.trajectory import SweptValue

MOST = 10_000
"""Trajectories that a section may stand for."""

RANGE = ("start", "stop", "num")
AXES = ("x", "y", "z")

_UNITS = {"force": "N", "moment": "N m"}


@dataclass(frozen=True)
class TrajectoryVariant:
    """One of the trajectories that a section stands for: its name, its section, its swept values."""

    name: str
    section: Mapping[str, Any]
    swept: tuple[SweptValue, ...] = ()


def variants(report: Report, name: str, section: Mapping[str, Any], path: KeyPath) -> Iterator[TrajectoryVariant]:
    """Yield the combinations of the values in a section; the section if nothing is swept. Problems go to `report`."""
    places = [*_places(section, ())]
    if not places:
        yield TrajectoryVariant(name, section)
        return
    values = [_values(report, entry, (*path, *place)) for place, entry in places]
    if not all(values):
        return
    count = math.prod(map(len, values))
    if count > MOST:
        report(path, Got(f"{count:,} combinations"), f"at most {MOST:,} trajectories", "Take fewer values.")
        return
    for number, chosen in enumerate(itertools.product(*(enumerate(options) for options in values))):
        variant: object = section
        swept = []
        for (place, _), (index, value) in zip(places, chosen, strict=True):
            variant = _with(variant, place, value)
            size = float(value) if isinstance(value, int | float) else float(index)
            swept.append(SweptValue(_coordinate(place), _unit(section, place, value), size))
        assert isinstance(variant, Mapping)
        yield TrajectoryVariant(f"{name}_{number}", variant, tuple(swept))


def _places(value: object, place: KeyPath) -> Iterator[tuple[KeyPath, Mapping[str, Any]]]:
    """Yield the place and content of each entry of a section that stands for several values."""
    if isinstance(value, Mapping):
        if place and ("values" in value or {*RANGE[:2]} <= value.keys()) and value.keys() <= {"values", *RANGE}:
            yield place, value
            return
        for key, inner in value.items():
            yield from _places(inner, (*place, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if isinstance(inner, Mapping):
                yield from _places(inner, (*place, index))


def _values(report: Report, entry: Mapping[str, Any], path: KeyPath) -> Sequence[Any]:
    """Return the values that an entry stands for; none where something is wrong."""
    if "values" in entry:
        listed = entry["values"]
        if more := sorted(entry.keys() - {"values"}):
            report((*path, more[0]), Got(f"{more[0]} beside values"), "either values or start, stop, num", key=True)
            return ()
        if not isinstance(listed, list) or not listed:
            report((*path, "values"), listed, "a list of values", "values: [0.1, 0.2]")
            return ()
        if len(listed) > MOST:
            report((*path, "values"), Got(f"{len(listed):,} values"), f"at most {MOST:,} trajectories", "Take fewer.")
            return ()
        for index, value in enumerate(listed):
            if value in listed[:index]:
                hint = "Equal values are one and the same trajectory, computed twice."
                report((*path, "values", index), Got(f"{value!r} twice"), "values that differ", hint)
                return ()
        return listed
    start, stop, num = (entry.get(key) for key in RANGE)
    numbers = all(isinstance(end, int | float) and not isinstance(end, bool) for end in (start, stop))
    if not numbers or not math.isfinite(start) or not math.isfinite(stop) or start == stop:  # type: ignore[arg-type]
        report(path, Got(f"from {start!r} to {stop!r}"), "start and stop, two numbers that differ")
        return ()
    if not isinstance(num, int) or isinstance(num, bool) or not 2 <= num <= MOST:
        report((*path, "num") if "num" in entry else path, Got(f"num of {num!r}"), f"a whole number of 2 to {MOST:,}")
        return ()
    return np.linspace(start, stop, num).tolist()  # type: ignore[arg-type]


def _with(section: object, place: KeyPath, value: object) -> object:
    """Return a copy of a section with another value at a place."""
    if not place:
        return value
    first, rest = place[0], place[1:]
    if isinstance(section, Mapping):
        return {key: _with(inner, rest, value) if key == first else inner for key, inner in section.items()}
    assert isinstance(section, list)
    return [_with(inner, rest, value) if index == first else inner for index, inner in enumerate(section)]


def _coordinate(place: KeyPath) -> str:
    """Return the name of the coordinate of a place: `trajectory_end_x`."""
    words = [AXES[key] if isinstance(key, int) and key < len(AXES) else str(key) for key in place]
    return COORDINATE + "_".join(words)


def _unit(section: Mapping[str, Any], place: KeyPath, value: object) -> str:
    """Return the unit of the number at a place; that of a count where it is no number."""
    if not isinstance(value, int | float):
        return "1"
    first, kinds = place[0], (MOTIONS, JOINT_MOTIONS)
    if first == "time":
        return "1" if place[-1] == "samples" else "s"
    if first == "load":
        return _UNITS.get(str(place[1]) if len(place) > 1 else "", "1")
    if first == "turn" and len(place) > 1:
        section, place, kinds = section["turn"], place[1:], (TURNS, TURNS)
    for table in kinds:
        motion = table.get(str(section.get("kind")))
        for parameter in motion.parameters if motion else ():
            if parameter.name == place[0]:
                return parameter.unit if parameter.unit != "rad or m" else "1"
    return "1"
