"""The robot file of a robot of the catalogue, for the command robots."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from applications.commands.refusals import Refused
from applications.commands.schemas import write_with_schema
from applications.commands.terminal import setting
from pipeline.robot_files.reader import find_family
from robots.formats import description, writing
from robots.model import Robot


def export(name: str, settings: tuple[str, ...], path: Path) -> None:
    """Write the robot file of a robot with some parameters set."""
    robot = Robot.of(find_family(name), dict(setting(text) for text in settings))
    try:
        text = writing.text(description.describe(robot))
    except ValueError as error:
        raise Refused(f"--export: got {robot.name}: {error}") from None
    write_with_schema("robot", path, text, "--export")
    click.echo(f"wrote {path}; next: {shlex.join(['limbsweep', 'robots', str(path)])}")
