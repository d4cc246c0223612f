"""Robots of other formats: a URDF file, with the loops that it cannot say in a file beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pipeline.documents.files import decode, read_bytes, read_text
from pipeline.documents.report import Got, Report, sentence, validate_keys
from pipeline.documents.yaml import MAX_BYTES, parse_yaml
from pipeline.errors import InputError, Problem
from pipeline.robot_files.reader import parse_robot, require_format
from pipeline.robot_files.sections import ClosureSection, LoopsFile
from pipeline.robot_files.values import ValueReader
from robots.formats import checks, urdf, writing
from robots.formats.description import CONSTANTS, Description
from robots.formats.templates import fill
from robots.formats.urdf import Loop, Tree, UrdfError
from robots.formats.xml_tree import MAX_BYTES as MAX_XML
from robots.formats.xml_tree import FormatError
from robots.parameters import nearest


@dataclass(frozen=True)
class Imported:
    """A robot from another format, the text of its robot file, and what was left behind."""

    description: Description
    text: str
    warnings: tuple[Problem, ...]


def import_urdf(path: str | os.PathLike[str], loops: str | os.PathLike[str] | None = None) -> Imported:
    """The robot in a URDF file, with the loops in another file. Raises InputError with all problems."""
    name = os.fspath(path)
    data = read_bytes(name, MAX_XML)
    decode(data, name)  # says what else binary data may be
    tree = parse_urdf(data, name)
    given = _read_loops(os.fspath(loops), tree) if loops is not None else {}
    description = tree.description(**given)
    text = writing.text(description, f"Imported from {os.path.basename(name)}.")
    return Imported(parse_robot(text, name), text, tuple(_problems(name, tree.warnings)))


def parse_urdf(data: bytes, name: str) -> Tree:
    """The tree in the bytes of a URDF file; messages call it `name`. Raises InputError with all problems."""
    try:
        return urdf.read_tree(data)
    except UrdfError as error:
        raise InputError(_problems(name, error.problems)) from None


def _problems(name: str, errors: tuple[FormatError, ...]) -> Iterator[Problem]:
    for each in errors:
        yield Problem(name, each.line, min(each.line, 1), each.place, each.got, each.expected, each.hint)


def _read_loops(name: str, tree: Tree) -> dict[str, Any]:
    """What `Tree.description` takes. Raises InputError."""
    report = Report(parse_yaml(read_text(name, MAX_BYTES), name))
    require_format(report)
    file, problems = validate_keys(LoopsFile, report.document)
    report.take(problems)
    values = ValueReader(report, set(CONSTANTS))
    loops = tuple(_loop(values, tree, each, k) for k, each in enumerate(file.get("loops", ())))
    names = [*tree.joints, *(loop.joint for loop in loops)]
    for k, loop in enumerate(loops):
        if names.count(loop.joint) > 1:
            report(("loops", k, "joint"), Got(f"joint {loop.joint} again"), "a name for each joint", "Rename it.")
    for key in ("actuated", "independent"):
        for k, joint in enumerate(file.get(key) or ()):
            if joint not in tree.joints:
                report((key, k), joint, "a joint of the URDF file that moves", sentence(nearest(joint, tree.joints)))
    report.raise_if_any()
    given = {"loops": loops, "actuated": file["actuated"], "independent": file["independent"]}
    _check_loops(report, tree.description(**given))
    return given


def _loop(values: ValueReader, tree: Tree, section: ClosureSection, index: int) -> Loop:
    path, report = ("loops", index), values.report
    if section.b is None:
        report(path, Got("no key 'b'"), "'b', which is required in loops", "Add it.")
    for key in ("a", "b"):
        name = getattr(section, key)
        if name is not None and name not in tree.bodies:
            report((*path, key), name, "a link of the URDF file", sentence(nearest(name, tree.bodies)))
    frames = [fill(values.frame(getattr(section, key), (*path, key)), CONSTANTS) for key in ("frame_a", "frame_b")]
    pitch = fill(values.pitch(section, path), CONSTANTS)
    return Loop(section.joint, section.kind, section.a, frames[0], section.b or section.a, frames[1], pitch)


def _check_loops(report: Report, description: Description) -> None:
    """Raises InputError for loops that are open at zero joint variables, at their places in the file of loops."""
    for finding in checks.check_loops(description.family.reference):
        report(finding.path[2:], Got(finding.got), finding.expected, "The URDF file's zero is the reference pose.")
    report.raise_if_any()
