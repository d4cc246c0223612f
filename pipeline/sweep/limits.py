"""The limits section of a sweep file: ranges and rates of joints, and what actuators can give.

A key selects joints or actuators, in the words of friction groups; each joint and each actuator is selected once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.units import UNITS, check_unit
from pipeline.documents.yaml import KeyPath
from pipeline.sweep.sections import ActuatorSection, JointSection, LimitSection, RobotSection
from robots.limits import NO_LIMITS, Capacity, JointLimit, Limits, select_actuators, select_joints
from robots.model import Mechanism
from robots.parameters import ParameterError
from robots.types import JointKind
from storage.schema import OF_LIMITS

KEY = "limits"
UNIT: Mapping[JointKind, str] = {"revolute": "rad", "prismatic": "m"}
Place = TypeVar("Place")


def section_of(file: Mapping[str, Any], robot: str | None) -> tuple[LimitSection | None, KeyPath]:
    """The limits of a robot, its own where it is one of several and has some, and where they stand."""
    several: Mapping[str, RobotSection] = file.get("robots") or {}
    if robot is not None and robot in several and several[robot].limits is not None:
        return several[robot].limits, ("robots", robot, KEY)
    return file.get(KEY), (KEY,)


def read_limits(
    report: Report, section: LimitSection | None, mechanism: Mechanism | None, within: KeyPath = ("limits",)
) -> Limits:
    """The limits of a section that stands at `within`; without a mechanism, nothing is looked up.

    Problems go to `report`.
    """
    if section is None or mechanism is None:
        return NO_LIMITS
    if not section.joints and not section.actuators:
        report(within, Got("no limits"), "joints, actuators, or both", "Leave limits out for none.")
    joints: dict[tuple[int, int], JointLimit] = {}
    actuators: dict[int, Capacity] = {}
    for name, joint in section.joints.items():
        path = (*within, "joints", name)
        hits = _selected(report, path, partial(select_joints, mechanism, name))
        limit = _joint(report, joint, path, [each.kind for each in hits])
        _take(report, path, joints, [each.place for each in hits], limit)
    for name, actuator in section.actuators.items():
        path = (*within, "actuators", name)
        numbers = _selected(report, path, partial(select_actuators, mechanism, name))
        _take(report, path, actuators, numbers, _actuator(report, actuator, path))
    return Limits(joints, actuators)


def check_metrics(report: Report, file: Mapping[str, Any], section: LimitSection | None) -> None:
    """Refuse metrics of limits that the section does not set."""
    if section is None and KEY in report.document.data:
        return  # what is wrong with it has been told
    for index, name in enumerate(file.get("metrics", ())):
        if name in OF_LIMITS and not (section and _sets(section, OF_LIMITS[name])):
            kind, key = OF_LIMITS[name]
            hint = f"Add a section limits with {key} of {kind}."
            report(("metrics", index), name, f"a metric of limits that the file sets ({kind}: {key})", hint)


def _sets(section: LimitSection, what: tuple[str, str]) -> bool:
    kind, key = what
    keys = key.split(" or ")
    return any(getattr(each, name) is not None for each in getattr(section, kind).values() for name in keys)


def _selected(report: Report, path: KeyPath, select: Callable[[], Sequence[Any]]) -> Sequence[Any]:
    try:
        return select()
    except ParameterError as error:
        report(path, str(path[-1]), f"{path[-2]} of the robot", sentence(str(error)), key=True)
        return ()


def _take(report: Report, path: KeyPath, found: dict[Place, Any], places: Sequence[Place], limit: Any) -> None:
    """Give a limit to joints or actuators, none of which may have one already."""
    if any(place in found for place in places):
        hint = "Another key selects some of them, too. Name them one by one, or by patterns."
        report(path, str(path[-1]), f"{path[-2]} that no other key selects", hint, key=True)
    found |= dict.fromkeys(places, limit)


def _joint(report: Report, section: JointSection, path: KeyPath, kinds: Sequence[JointKind]) -> JointLimit:
    if section.position is None and section.velocity is None:
        report(path, Got("neither position nor velocity"), "one of them, or both")
    factor = _unit(report, section.unit, path, {UNIT[kind] for kind in kinds})
    low, high = (UNITS[factor].to_si(end) for end in section.position) if section.position else (-math.inf, math.inf)
    if low >= high:
        report((*path, "position"), list(section.position or ()), "[low, high] with low below high", "Exchange them.")
    velocity = math.inf if section.velocity is None else UNITS[factor].to_si(section.velocity)
    return JointLimit(low, high, velocity)


def _unit(report: Report, given: str | None, path: KeyPath, wanted: set[str]) -> str:
    """The unit to convert from; the one of SI where none is given or the given one is refused."""
    if given is None or not wanted:
        return "1"
    mixed = "no unit, as some of these joints turn and others slide", "Name them apart."
    if wrong := check_unit(given, *wanted) if len(wanted) == 1 else mixed:
        report((*path, "unit"), given, *wrong)
        return "1"
    return given


def _actuator(report: Report, section: ActuatorSection, path: KeyPath) -> Capacity:
    given = {name: value for name in ("force", "velocity", "power") if (value := getattr(section, name)) is not None}
    if not given:
        report(path, Got("no limit"), "force, velocity or power")
    return Capacity(**given)


def describe(limits: Limits) -> dict[str, Any]:
    """What defines limits, in types of JSON; infinite numbers are left out."""
    joints = {f"{limb}, {joint}": _finite(each) for (limb, joint), each in sorted(limits.joints.items())}
    return {"joints": joints, "actuators": {str(k): _finite(each) for k, each in sorted(limits.actuators.items())}}


def _finite(limit: JointLimit | Capacity) -> dict[str, float]:
    return {name: value for name, value in vars(limit).items() if math.isfinite(value)}
