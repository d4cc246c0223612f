"""The friction section of a sweep file: which joints have friction, by which law, and the axis of what is swept.

One group of joints is written in the section itself, several under `groups`; then the parameters of a group carry its
name in front: `motors_viscous`. What is swept and what is fixed may be of any group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.yaml import KeyPath as Path
from pipeline.sweep.axes.kinds import NOTHING, Array, Axis, complete
from pipeline.sweep.axes.reader import AxisReader, check_fixed
from pipeline.sweep.sections import FrictionGroupSection as Section
from pipeline.sweep.sections import FrictionSection as Friction
from robots.friction import CURVES, FORCE, LAWS
from robots.friction_groups import LOADS, FrictionGroup, Place, group_parameters, select
from robots.model import Mechanism
from robots.parameters import Parameter, ParameterError, nearest

PATH = ("friction",)


@dataclass(frozen=True)
class FrictionAxis:
    """Friction sets: groups of joints, the axis of swept parameters, the others as `fixed` (defaults included).

    `joints` says how the file names the joints of each group; `defaults` are all parameters of all groups, in order.
    """

    groups: tuple[FrictionGroup, ...] = ()
    joints: tuple[tuple[str, ...], ...] = ()
    axis: Axis = NOTHING
    fixed: Mapping[str, float] = field(default_factory=dict)
    parameters: Mapping[str, Parameter] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Number of friction sets."""
        return self.axis.size

    def values(self, start: int, stop: int) -> dict[str, Array]:
        """Every parameter of all groups in order, (stop - start,)."""
        order = {name: self.fixed.get(name, 0.0) for name in self.parameters}
        return complete(self.axis, order, start, stop)

    def describe(self) -> dict[str, Any]:
        """What defines the sets, in types of JSON."""
        groups = [
            {"name": group.name, "law": group.law, "load": group.load, "joints": list(joints)}
            for group, joints in zip(self.groups, self.joints, strict=True)
        ]
        return {"groups": groups, "parameters": dict(self.fixed)} | self.axis.describe()


NO_FRICTION = FrictionAxis()


@dataclass(frozen=True)
class _Read:
    """A group as it is written: where, its name, what it says."""

    path: Path
    name: str
    section: Section

    @property
    def law(self) -> str:
        """Name of its law."""
        return str(self.section.law)

    def prefixed(self, name: str) -> str:
        """The name of one of its parameters in the axes."""
        return f"{self.name}_{name}" if self.name else name

    def table(self) -> dict[str, Parameter]:
        """All parameters that it may be given, by their names in the axes."""
        law, load = LAWS[self.law], self.section.load
        own = (*law.parameters, *law.options)
        if load != "constant":  # what is multiplied by a load is no force
            own = tuple(replace(each, unit="1") if each.unit == FORCE else each for each in own)
        return {self.prefixed(each.name): each for each in (*own, *LOADS[load])}


def read_friction(
    report: Report, section: Friction | None, mechanism: Mechanism | None, seed: int | None
) -> FrictionAxis:
    """The friction sets of a section; without a mechanism, joints are not looked up. Problems go to `report`."""
    if section is None:
        return NO_FRICTION
    before = len(report.problems)
    groups = [each for each in _groups(report, section) if _known(report, each)]
    table = {name: parameter for each in groups for name, parameter in each.table().items()}
    fixed: dict[str, float] = {}
    for each in groups:
        own = {each.prefixed(name): value for name, value in each.section.parameters.items()}
        keys = {each.prefixed(name): name for name in each.section.parameters}
        fixed |= check_fixed(report, each.table(), own, (*each.path, "parameters"), keys)
    if len(report.problems) > before and not table:
        return NO_FRICTION
    axis = AxisReader(report, table, fixed, seed).axis(section, PATH)
    made, places = [], [_places(report, each, mechanism) for each in groups]
    _check_once(report, groups, places)
    parameters: dict[str, Parameter] = {}
    for each, found in zip(groups, places, strict=True):
        given = [p.name for p in LAWS[each.law].options if each.prefixed(p.name) in (*fixed, *axis.names)]
        names = [p.name for p in group_parameters(each.law, each.section.load, given)]
        made.append(FrictionGroup(each.name, each.law, each.section.load, found, tuple(names)))
        parameters |= {each.prefixed(name): table[each.prefixed(name)] for name in names}
    rest = {name: fixed.get(name, p.scalar) for name, p in parameters.items() if name not in axis.names}
    return FrictionAxis(tuple(made), tuple(each.section.joints for each in groups), axis, rest, parameters)


def _groups(report: Report, section: Friction) -> Iterator[_Read]:
    if section.groups is None:
        if section.law is None:
            report(PATH, Got("no law"), "law, or groups that have one", f"Known: {', '.join(LAWS)}.")
        else:
            yield _Read(PATH, "", section)
        return
    for key in section.model_fields_set & {"law", "joints", "load", "parameters"}:
        report((*PATH, key), Got(f"{key} beside groups"), "it inside each group", "Move it there.")
    for name, each in section.groups.items():
        if each.law is None:
            report((*PATH, "groups", name), Got("no law"), "law", f"Known: {', '.join(LAWS)}.")
        else:
            yield _Read((*PATH, "groups", name), name, each)


def _known(report: Report, group: _Read) -> bool:
    law, load = str(group.section.law), group.section.load
    if law not in LAWS:
        report((*group.path, "law"), law, "a friction law", sentence(nearest(law, LAWS)))
    if load not in LOADS:
        report((*group.path, "load"), load, "where the normal load comes from", sentence(nearest(load, LOADS)))
    if load == "reaction" and law in LAWS and LAWS[law].state:
        hint = f"With a reaction, {' or '.join(name for name in CURVES if CURVES[name].parameters)} work."
        report((*group.path, "load"), load, f"constant or preload, as {law} has a state", hint)
    return law in LAWS and load in LOADS


def _places(report: Report, group: _Read, mechanism: Mechanism | None) -> tuple[Place, ...]:
    if mechanism is None:
        return ()
    try:
        joints = group.section.joints
        return select(mechanism, joints[0] if len(joints) == 1 else joints, group.section.load)
    except ParameterError as error:
        report((*group.path, "joints"), list(group.section.joints), "joints of the robot", sentence(str(error)))
        return ()


def _check_once(report: Report, groups: list[_Read], places: list[tuple[Place, ...]]) -> None:
    owners: dict[Place, str] = {}
    for group, found in zip(groups, places, strict=True):
        if shared := [owners[place] for place in found if place in owners]:
            hint = f"They are in group {shared[0]} too. Name joints one by one, or by patterns."
            report((*group.path, "joints"), list(group.section.joints), "joints of no other group", hint)
        owners |= dict.fromkeys(found, group.name)
