"""What a sweep file leaves to choose: one of several robots, and a named part of the axes.

A choice is a key of the file, `robot:` or `subset:`, so that the text of a sweep says all of it; `choose` adds one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.yaml import KeyPath, parse_yaml
from pipeline.errors import InputError, Problem
from pipeline.sweep.axes.conditions import RuleReader
from pipeline.sweep.axes.kinds import Axis
from pipeline.sweep.robot import families
from pipeline.sweep.sections import AxesSection, RobotSection, SubsetSection
from robots.model import Family
from robots.parameters import Parameter, nearest

if TYPE_CHECKING:
    from pipeline.sweep.trajectories.reader import Trajectory


def choose(text: str, key: str, value: str, name: str) -> str:
    """The text of a sweep file with one more key at its end. Raises InputError where it cannot be put there."""
    longer = f"{text.rstrip()}\n{key}: {value}\n"
    try:
        fits = parse_yaml(longer, name).data.get(key) == value
    except InputError:
        fits = False
    if not fits:
        hint = f"Write {key}: {value} into the file yourself."
        raise InputError([Problem(name, 0, 0, key, "a choice", "a file to whose end a key can be added", hint)])
    return longer


def robot_of(
    report: Report, file: Mapping[str, Any], families: Mapping[str, Family]
) -> tuple[str | None, RobotSection]:
    """Name of the robot, one of `families`, and its own sections; None where it is not known, which is reported."""
    several: Mapping[str, RobotSection] | None = file.get("robots")
    robot: str | None = file.get("robot")
    for name in several or {}:
        if name not in families:
            report(("robots", name), name, "a robot of the catalogue", sentence(nearest(name, families)), key=True)
    if robot is None:
        if several is None:
            if "robot" not in report.missing:
                report((), Got("no key 'robot'"), "'robot', which is required", "Add it.")
        elif len(several) > 1:
            hint = "Read it with pipeline.sweep.several, or choose one with the key robot."
            report(("robots",), Got(f"{len(several)} robots"), "one, because this is to be one sweep", hint)
        return next(iter(several or ()), None), RobotSection()
    if several is not None and robot not in several:
        report(("robot",), robot, "one of robots", sentence(nearest(robot, several)))
        return None, RobotSection()
    if several is None and robot not in families:
        report(("robot",), robot, "a robot of the catalogue", sentence(nearest(robot, families)))
    return robot, (several or {}).get(robot) or RobotSection()


def sections_of(file: Mapping[str, Any], robot: str, own: RobotSection) -> dict[str, tuple[Any, KeyPath]]:
    """The sections `parameters` and `design` of a robot, its own or the common ones, and where they stand."""
    empty: dict[str, Any] = {"parameters": {}, "design": None}
    return {
        name: (file.get(name, default), (name,))
        if getattr(own, name) is None
        else (getattr(own, name), ("robots", robot, name))
        for name, default in empty.items()
    }


def take_subset(report: Report, file: Mapping[str, Any], parts: dict[str, Any]) -> None:
    """Restricts the axes and trajectories in `parts` to the chosen subset; all subsets have to be sound."""
    subsets: Mapping[str, SubsetSection] = file.get("subsets", {})
    sound, result = not report.problems, parts
    for name, subset in subsets.items():
        chosen = name == file.get("subset")
        restricted = _restricted(report, subset, parts, ("subsets", name), sound=sound, scan=sound and chosen)
        result = parts | restricted if chosen else result
    parts |= result
    if (given := file.get("subset")) is not None and given not in subsets:
        hint = sentence(nearest(given, subsets)) if subsets else "There is no section subsets."
        report(("subset",), given, "the name of a subset", hint)


def _restricted(
    report: Report, subset: SubsetSection, parts: Mapping[str, Any], path: KeyPath, *, sound: bool, scan: bool
) -> dict[str, Any]:
    def part(axis: Axis, table: Mapping[str, Parameter], fixed: Mapping[str, float], key: str) -> Axis:
        rules = RuleReader(report, table, fixed)
        return rules.part(axis, getattr(subset, key), (*path, key), sound=sound, scan=scan)

    result: dict[str, Any] = {}
    if "design" in parts:
        table = {each.name: each for each in families(parts["description"])[parts["robot"]].parameters}
        result["design"] = part(parts["design"], table, parts["fixed"], "design")
    if friction := parts.get("friction"):
        axis = part(friction.axis, friction.parameters, friction.fixed, "friction")
        result["friction"] = replace(friction, axis=axis)
    known: tuple[Trajectory, ...] = parts.get("trajectories", ())
    if subset.trajectories is not None and known:
        # Entries with problems of their own are no news; in a sound file, one entry may have become several motions.
        names = [*(report.document.data["trajectories"] if report.problems else ()), *(each.name for each in known)]
        for index, name in enumerate(subset.trajectories):
            if name not in names:
                report((*path, "trajectories", index), name, "a trajectory", sentence(nearest(name, names)))
        result["trajectories"] = tuple(each for each in known if each.name in subset.trajectories)
    return result


def is_empty(section: AxesSection | None) -> bool:
    """Whether a section is there and has no axis."""
    return section is not None and section.grid is None and section.listed is None and section.sample is None
