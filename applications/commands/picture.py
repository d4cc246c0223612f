"""Body of the command show."""

from __future__ import annotations

from pathlib import Path

import click

from applications.commands.refusals import Refused
from applications.commands.terminal import forced, setting
from applications.report.data import sketch
from pipeline.documents.outputs import check_output
from pipeline.errors import InputError
from pipeline.robot_files.reader import Draft, find_family, read_draft
from robots import catalog
from robots.model import Family, Robot


def show(name: str, settings: tuple[str, ...], output: Path | None, labels: bool) -> None:
    """Draw a robot at its reference pose; for a faulty file, the readable part and the faults."""
    draft = read_draft(name) if catalog.is_file(name) else Draft(None, ())
    robot = Robot.of(_family(name, draft), dict(setting(text) for text in settings))
    path = output or Path(f"{robot.name}.png")
    if path.suffix.lower() != ".png":
        raise Refused(f"--output: got {str(path)!r}; expected a file name that ends in .png")
    check_output(path, force=forced())
    sketch.save(robot, path, labels=labels or bool(draft.problems), force=forced())
    click.echo(f"wrote {path}{', a sketch of the file as it stands' if draft.problems else ''}")
    if draft.problems:
        raise InputError(draft.problems)


def _family(name: str, draft: Draft) -> Family:
    """Return the family to draw. Raises InputError for a file of which none can be read."""
    if draft.description is not None:
        return draft.description.family
    if draft.problems:
        raise InputError(draft.problems)
    return find_family(name)
