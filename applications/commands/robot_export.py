"""The file of a robot of the catalogue, for the command robots."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from applications.commands.refusals import Refused
from applications.commands.schemas import write_with_schema
from applications.commands.terminal import setting
from pipeline.documents.outputs import write_text
from pipeline.errors import InputError
from pipeline.robot_files.files import text_of
from pipeline.robot_files.reader import find_family
from robots.formats.exporting import WRITERS
from robots.model import Robot


def export(name: str, settings: tuple[str, ...], path: Path) -> None:
    """Write a robot with some parameters set, as the ending of the file says."""
    robot = Robot.of(find_family(name), dict(setting(text) for text in settings))
    try:
        text = text_of(robot, str(path))
    except InputError as error:
        (problem,) = error.problems
        raise Refused(f"--export: got {problem.got}; expected {problem.expected}. {problem.hint}") from None
    other = path.suffix.lower() in WRITERS
    if other:
        write_text(path, text, option="--export")
    else:
        write_with_schema("robot", path, text, "--export")
    click.echo(f"wrote {path}; next: {shlex.join(['limbsweep', 'import' if other else 'robots', str(path)])}")
