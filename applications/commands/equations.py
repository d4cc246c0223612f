"""Body of the command code."""

from __future__ import annotations

from pathlib import Path

import click

from applications.commands.refusals import Refused
from applications.commands.terminal import forced, setting
from applications.export.code.c_source import c_code
from applications.export.code.functions import FUNCTIONS
from pipeline.documents.outputs import check_output, write_text
from pipeline.robot_files.reader import find_family
from robots.model import Robot
from tasks.dynamics.records import GRAVITY


def code(
    name: str,
    functions: tuple[str, ...],
    settings: tuple[str, ...],
    gravity: tuple[float, float, float] | None,
    parameters: tuple[str, ...],
    output: Path | None,
) -> None:
    """Write the equations of a robot as C, with a header."""
    robot = Robot.of(find_family(name), dict(setting(text) for text in settings))
    if output is not None and output.suffix != ".c":
        raise Refused(f"--output: got {str(output)!r}; expected a file name that ends in .c")
    stem = None if output is None else output.stem
    try:
        names = functions or tuple(FUNCTIONS)
        written = c_code(robot, names, gravity=gravity or GRAVITY, parameters=parameters, name=stem)
    except ValueError as error:
        raise Refused(str(error)) from None
    path = output or Path(f"{written.name}.c")
    for place in (path, path.with_suffix(".h")):
        check_output(place, force=forced())
    write_text(path, written.source, force=forced())
    write_text(path.with_suffix(".h"), written.header, force=forced())
    click.echo(f"wrote {path} and {path.with_suffix('.h')}")
