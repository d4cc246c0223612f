"""The robot of a sweep where it is none of the catalogue: a robot file, or the content of one in the sweep itself.

A store keeps the text of its sweep; so that it can be read again without the robot file, `inline` writes the robot into
that text.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.documents.report import Got, Report
from pipeline.errors import InputError
from pipeline.robot_files.reader import beside, describe, is_file
from robots.catalog import FAMILIES
from robots.formats import writing
from robots.formats.description import Description
from robots.model import Family


def take_description(report: Report, file: dict[str, Any], folder: Path) -> Description | None:
    """The description that the key `robot` gives or names; `file` then has the robot's name there, or nothing."""
    given, document = file.get("robot"), report.document
    if given is not None and not isinstance(given, str | dict):
        report(("robot",), given, "the name of a robot, or the content of a robot file")
        report.missing.append("robot")
        file["robot"] = None
    if not (isinstance(given, dict) or (isinstance(given, str) and is_file(given))):
        return None
    file["robot"] = None
    if "robots" in file and file["robots"] is not None:
        hint = "Make a sweep of its own for a robot file."
        report.problems.append(document.problem(("robots",), "robots beside a robot file", "one robot", hint, key=True))
    try:
        made = describe(document.below("robot")) if isinstance(given, dict) else beside(given, folder, document.name)
    except InputError as error:
        report.take(error.problems)
        report.missing.append("robot")
        return None
    file["robot"] = made.name
    return made


def families(description: Description | None) -> Mapping[str, Family]:
    """Families by the names that a sweep with this description may use."""
    return FAMILIES if description is None else {description.name: description.family}


def inline(report: Report, description: Description | None) -> str:
    """The text of the sweep with its robot in it."""
    document = report.document
    given = document.data.get("robot")
    if description is None or not isinstance(given, str):
        return document.text
    lines = document.text.split("\n")
    line, column = document.where(("robot",))
    before, rest = lines[line - 1][: column - 1], lines[line - 1][column - 1 :]
    for quote in ("'", '"', ""):
        if rest.startswith(written := f"{quote}{given}{quote}"):
            lines[line - 1] = before + writing.flow(description) + rest.removeprefix(written)
            return "\n".join(lines)
    report(("robot",), Got("a name in a spelling of its own"), "the name of the file in one line", "Write it plainly.")
    return document.text
