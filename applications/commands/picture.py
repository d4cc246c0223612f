"""Body of the command show."""

from __future__ import annotations

from pathlib import Path

import click

from applications.commands.refusals import Refused
from applications.commands.terminal import forced, setting
from applications.report.data import sketch
from pipeline.documents.outputs import check_output
from pipeline.robot_files.reader import find_family
from robots.model import Robot


def show(name: str, settings: tuple[str, ...], output: Path | None) -> None:
    """Draw a robot at its reference pose."""
    robot = Robot.of(find_family(name), dict(setting(text) for text in settings))
    path = output or Path(f"{robot.name}.png")
    if path.suffix.lower() != ".png":
        raise Refused(f"--output: got {str(path)!r}; expected a file name that ends in .png")
    check_output(path, force=forced())
    sketch.save(robot, path, force=forced())
    click.echo(f"wrote {path}")
