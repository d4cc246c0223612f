"""Read the limits of a sweep file: ranges and rates of joints, and capacities of actuators.

A key selects joints or actuators, in the words of friction groups; each joint and each actuator is selected once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Self, TypeVar

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.units import UNITS, check_unit
from pipeline.sweep.design_axis import DesignAxis
from pipeline.sweep.formulas import FormulaReader
from pipeline.sweep.reading import SectionContent, SweepReading, optional
from pipeline.sweep.sections import ActuatorSection, JointSection, LimitSection
from robots.formulas import checked, described
from robots.joint_kinds import JOINT_KINDS
from robots.limits import NO_LIMITS, Capacity, JointLimit, Limits, select_actuators, select_joints
from robots.parameter_errors import ParameterError
from robots.quantities import Need
from robots.types import JointKind

KEY = "limits"
SET_BY: Mapping[Need, tuple[str, str]] = {
    "joint ranges": ("joints", "position"),
    "joint rates": ("joints", "velocity"),
    "actuator limits": ("actuators", "force or velocity or power"),
    "path limits": ("actuators", "force or velocity or power"),
    "rated currents": ("actuators", "rated_current"),
}
"""The part of the section, and its keys, that give quantities the limits that they need."""

Selected = TypeVar("Selected")


class LimitsContent(SectionContent[Limits, LimitSection | None]):
    """Limits of joints and actuators, for samples that are not usable and for margins."""

    key = KEY
    is_input = True
    field = optional(LimitSection, "limits of joints and actuators; default: none")

    @classmethod
    def read(cls, reading: SweepReading) -> Self:
        """Read the limits of the robot; refuse metrics of limits that are not set."""
        section = reading.said(cls)
        limits = read_limits(reading.report, section, reading.design)
        if section is not None or KEY not in reading.report.document.data:  # else its errors have been reported
            reading.refuse_metrics(lambda need: _lacks(need, section))
        return cls(limits)

    def describe(self) -> dict[str, Any]:
        """Describe limits that there are."""
        return {KEY: describe_limits(self.value)} if self.value != NO_LIMITS else {}


def read_limits(report: Report, section: LimitSection | None, design: DesignAxis | None) -> Limits:
    """Read a section; without designs of a robot, no limits. Problems go to `report`."""
    if section is None or design is None:
        return NO_LIMITS
    reader, mechanism = FormulaReader(report, design), design.family.reference
    within = (KEY,)
    section = reader.section(section, within)
    if not section.joints and not section.actuators:
        report(within, Got("no limits"), "joints, actuators, or both", "Leave limits out for none.")
    joints: dict[tuple[int, int], JointLimit] = {}
    actuators: dict[int, Capacity] = {}
    for name, joint in section.joints.items():
        path = (*within, "joints", name)
        hits = _selected(report, path, partial(select_joints, mechanism, name))
        limit = _joint(reader, joint, path, [hit.kind for hit in hits])
        places = [hit.place for hit in hits]
        _check_unlimited(report, path, places, joints)
        joints |= dict.fromkeys(places, limit)
    for name, actuator in section.actuators.items():
        path = (*within, "actuators", name)
        numbers = _selected(report, path, partial(select_actuators, mechanism, name))
        _check_unlimited(report, path, numbers, actuators)
        actuators |= dict.fromkeys(numbers, _actuator(report, actuator, path, bool(mechanism.motors)))
    return Limits(joints, actuators)


def _lacks(need: Need, section: LimitSection | None) -> Iterator[tuple[str, str]]:
    """Yield the entries that the section does not set for a need of a metric, with advice."""
    kind, key = SET_BY.get(need, ("", ""))
    if kind and not (section and _sets(section, kind, key)):
        yield f"a metric of limits that the file sets ({kind}: {key})", f"Add a section limits with {key} of {kind}."


def _sets(section: LimitSection, kind: str, key: str) -> bool:
    keys = key.split(" or ")
    return any(getattr(each, name) is not None for each in getattr(section, kind).values() for name in keys)


def _selected(report: Report, path: KeyPath, select: Callable[[], Sequence[Selected]]) -> Sequence[Selected]:
    """Select the joints or actuators of a key; an unknown name is reported and selects none."""
    try:
        return select()
    except ParameterError as error:
        report(path, str(path[-1]), f"{path[-2]} of the robot", sentence(str(error)), key=True)
        return ()


def _check_unlimited(report: Report, path: KeyPath, selected: Sequence[Selected], limited: Container[Selected]) -> None:
    """Refuse to give another limit to joints or actuators that have one."""
    if any(item in limited for item in selected):
        hint = "Another key selects some of them, too. Name them one by one, or by patterns."
        report(path, str(path[-1]), f"{path[-2]} that no other key selects", hint, key=True)


def _joint(reader: FormulaReader, section: JointSection, path: KeyPath, kinds: Sequence[JointKind]) -> JointLimit:
    report = reader.report
    if section.position is None and section.velocity is None:
        report(path, Got("neither position nor velocity"), "one of them, or both")
    factor = _unit(report, section.unit, path, {JOINT_KINDS[kind].units.position for kind in kinds})
    low, high = (UNITS[factor].to_si(end) for end in section.position) if section.position else (-math.inf, math.inf)
    if low >= high:
        report((*path, "position"), list(section.position or ()), "[low, high] with low below high", "Exchange them.")
    elif section.position:
        rule = "low below high for every design"
        high = reader.require(checked(high, high - low), (*path, "position"), rule)
    velocity = math.inf if section.velocity is None else UNITS[factor].to_si(section.velocity)
    return JointLimit(low, high, velocity)


def _unit(report: Report, unit: str | None, path: KeyPath, wanted: set[str]) -> str:
    """Check the unit to convert from; the one of SI where none is given or the given one is refused."""
    if unit is None or not wanted:
        return "1"
    mixed = "no unit, as some of these joints turn and others slide", "Name them apart."
    if wrong := check_unit(unit, *wanted) if len(wanted) == 1 else mixed:
        report((*path, "unit"), unit, *wrong)
        return "1"
    return unit


def _actuator(report: Report, section: ActuatorSection, path: KeyPath, motors: bool) -> Capacity:
    numbers = section.model_dump(exclude_none=True)
    if not numbers:
        got = "force, velocity, power, acceleration, jerk, or of a motor current, voltage or rated_current"
        report(path, Got("no limit"), got)
    for key in ("current", "voltage", "rated_current"):
        if key in numbers and not motors:
            hint = "Its actuators are not all drives with a motor."
            report((*path, key), numbers[key], "other limits of this robot", hint)
    return Capacity(**numbers)


def describe_limits(limits: Limits) -> dict[str, Any]:
    """Describe limits in types of JSON; infinite numbers are left out."""
    joints = {f"{limb}, {joint}": _finite(limit) for (limb, joint), limit in sorted(limits.joints.items())}
    actuators = {str(number): _finite(capacity) for number, capacity in sorted(limits.actuators.items())}
    return {"joints": joints, "actuators": actuators}


def _finite(limit: JointLimit | Capacity) -> dict[str, float | str]:
    return {name: described(value) for name, value in vars(limit).items() if math.isfinite(value)}
