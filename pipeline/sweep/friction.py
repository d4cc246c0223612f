"""The friction section of a sweep file: joints, laws, and the axis of the swept parameters.

One group of joints is written in the section itself, several under `groups`; then the parameters of a group carry its
name in front: `motors_viscous`. Swept and fixed parameters may be of any group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Self

from pydantic import Field

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.validation import Number, OneOrMore, Section, Text
from pipeline.sweep.axes.reader import AxisReader, check_fixed
from pipeline.sweep.friction_sets import NO_FRICTION, FrictionAxis
from pipeline.sweep.reading import SectionContent, SweepReading, optional
from pipeline.sweep.sections import AxesSection, GroupName
from pipeline.sweep.side_files import SideFiles
from robots.data_classes import dataclass, replace
from robots.friction.groups import LOADS, FrictionGroup, group_parameters, select
from robots.friction.laws import FORCE, LAWS
from robots.limits import JointPlace
from robots.model import Mechanism
from robots.parameter_errors import ParameterError
from robots.parameters import Parameter

KEY = "friction"
PATH = (KEY,)


class FrictionGroupSection(Section):
    """A friction law and the joints that it acts in."""

    law: Text | None = None
    """name of a friction law"""
    joints: Annotated[tuple[Text, ...], Field(min_length=1, max_length=1000), OneOrMore] = ("actuated",)
    """`actuated`, `passive`, `all`, or names and patterns such as `limb_1.*`"""
    load: Text = "constant"
    """normal load: `constant`, `preload`, or `reaction` of the joint"""
    parameters: dict[Text, Number] = Field(default_factory=dict)
    """parameters that are not swept"""


class FrictionSection(FrictionGroupSection, AxesSection):
    """Friction sets: a law and its joints, or several groups of them, and swept parameters."""

    groups: Annotated[dict[GroupName, FrictionGroupSection], Field(min_length=1, max_length=100)] | None = None
    """several laws, each under a name that stands before its parameters: `motors_viscous`"""


class FrictionContent(SectionContent[FrictionAxis, FrictionSection | None]):
    """Friction sets: laws, joints, and the axis of the swept parameters."""

    key = KEY
    field = optional(FrictionSection, "friction sets; default: no friction")

    @classmethod
    def read(cls, reading: SweepReading) -> Self | None:
        """Read the friction sets; None where the section has a wrong key."""
        file = reading.file
        if KEY not in file.model_fields_set:
            return None
        return cls(read_friction(reading.report, reading.said(cls), reading.mechanism, file.seed, reading.files))

    def describe(self) -> dict[str, Any]:
        """Describe the sets, also where there is no friction."""
        return {KEY: self.value.describe()}

    def block_inputs(self, places: Mapping[str, slice]) -> dict[str, Any]:
        """Return the groups, and the parameters of the friction sets of a block (set, parameter)."""
        sets = places[KEY]
        return {"groups": self.value.groups, KEY: self.value.table(sets.start, sets.stop)}


@dataclass(frozen=True)
class _Entry:
    """A group as written: its place, its name, its content."""

    path: KeyPath
    name: str
    section: FrictionGroupSection

    @property
    def law(self) -> str:
        """Name of its law."""
        return str(self.section.law)

    def prefixed(self, name: str) -> str:
        """Return the name of one of its parameters in the axes."""
        return f"{self.name}_{name}" if self.name else name

    def table(self) -> dict[str, Parameter]:
        """Return the parameters of the law and of the load, by their names in the axes."""
        law, load = LAWS[self.law], self.section.load
        of_law = (*law.parameters, *law.options)
        if load in ("preload", "reaction"):  # a factor of a load is no force
            of_law = tuple(replace(p, unit="1") if p.unit == FORCE else p for p in of_law)
        return {self.prefixed(p.name): p for p in (*of_law, *LOADS[load])}


def read_friction(
    report: Report,
    section: FrictionSection | None,
    mechanism: Mechanism | None,
    seed: int | None,
    files: SideFiles | None = None,
) -> FrictionAxis:
    """Return the friction sets of a section; without a mechanism, joints are not looked up. Problems go to `report`."""
    if section is None:
        return NO_FRICTION
    before = len(report.problems)
    entries = [entry for entry in _entries(report, section) if _known(report, entry)]
    table = {name: parameter for entry in entries for name, parameter in entry.table().items()}
    fixed: dict[str, float] = {}
    for entry in entries:
        values = {entry.prefixed(name): value for name, value in entry.section.parameters.items()}
        keys = {entry.prefixed(name): name for name in entry.section.parameters}
        fixed |= check_fixed(report, entry.table(), values, (*entry.path, "parameters"), keys)
    if len(report.problems) > before and not table:
        return NO_FRICTION
    axis = AxisReader(report, table, fixed, seed, files).axis(section, PATH)
    groups, places = [], [_places(report, entry, mechanism) for entry in entries]
    _check_once(report, entries, places)
    parameters: dict[str, Parameter] = {}
    for entry, joints in zip(entries, places, strict=True):
        options = [p.name for p in LAWS[entry.law].options if entry.prefixed(p.name) in (*fixed, *axis.names)]
        names = [p.name for p in group_parameters(entry.law, entry.section.load, options)]
        groups.append(FrictionGroup(entry.name, entry.law, entry.section.load, joints, tuple(names)))
        parameters |= {entry.prefixed(name): table[entry.prefixed(name)] for name in names}
    rest = {name: fixed.get(name, p.scalar) for name, p in parameters.items() if name not in axis.names}
    return FrictionAxis(tuple(groups), tuple(entry.section.joints for entry in entries), axis, rest, parameters)


def _entries(report: Report, section: FrictionSection) -> Iterator[_Entry]:
    if section.groups is None:
        if section.law is None:
            report(PATH, Got("no law"), "law, or groups that have one", f"Known: {', '.join(LAWS)}.")
        else:
            yield _Entry(PATH, "", section)
        return
    for key in section.model_fields_set & {"law", "joints", "load", "parameters"}:
        report((*PATH, key), Got(f"{key} beside groups"), "it inside each group", "Move it there.")
    for name, group in section.groups.items():
        if group.law is None:
            report((*PATH, "groups", name), Got("no law"), "law", f"Known: {', '.join(LAWS)}.")
        else:
            yield _Entry((*PATH, "groups", name), name, group)


def _known(report: Report, group: _Entry) -> bool:
    law, load = str(group.section.law), group.section.load
    is_law = report.require_known((*group.path, "law"), law, LAWS, "a friction law")
    return report.require_known((*group.path, "load"), load, LOADS, "where the normal load comes from") and is_law


def _places(report: Report, group: _Entry, mechanism: Mechanism | None) -> tuple[JointPlace, ...]:
    if mechanism is None:
        return ()
    try:
        joints = group.section.joints
        found = select(mechanism, joints[0] if len(joints) == 1 else joints, group.section.load)
    except ParameterError as error:
        report((*group.path, "joints"), list(group.section.joints), "joints of the robot", sentence(str(error)))
        return ()
    if not found:
        got = Got(f"{' '.join(joints)} of a robot without such joints that have one variable")
        report((*group.path, "joints"), got, "joints that friction can be in", "Name others, or leave friction out.")
    return found


def _check_once(report: Report, groups: list[_Entry], places: list[tuple[JointPlace, ...]]) -> None:
    owners: dict[JointPlace, str] = {}
    for group, joints in zip(groups, places, strict=True):
        if shared := [owners[place] for place in joints if place in owners]:
            hint = f"They are in group {shared[0]} too. Name joints one by one, or by patterns."
            report((*group.path, "joints"), list(group.section.joints), "joints of no other group", hint)
        owners |= dict.fromkeys(joints, group.name)
