"""Commands about robots: the catalogue, pictures, their equations as C, first sweep files, imports."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, Literal

import click

from applications.commands.terminal import Refused, forced, output_option, print_rows, setting
from pipeline.documents.outputs import check_output, write_text


@click.command()
@click.argument("name", required=False)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="With --export: other than the default.")
@output_option("--export", "export", metavar="FILE", help="Write a robot file.")
def robots(name: str | None, settings: tuple[str, ...], export: Path | None) -> None:
    """List the catalogue, or the parameters of the robot NAME, which may be a robot file."""
    if export is None and not settings:
        print_rows(_catalogue() if name is None else _parameters(name))
    elif name is None or export is None:
        raise Refused(f"--{'set' if export is None else 'export'}: expected a robot and --export FILE; name both")
    else:
        _export(name, settings, export)


def _export(name: str, settings: tuple[str, ...], path: Path) -> None:
    from pipeline.robot_files import reader
    from robots.formats import description, writing
    from robots.model import Robot

    robot = Robot.of(reader.find_family(name), dict(setting(text) for text in settings))
    try:
        text = writing.text(description.describe(robot))
    except ValueError as error:
        raise Refused(f"--export: got {robot.name}: {error}") from None
    _write_with_schema("robot", path, text, "--export")
    click.echo(f"wrote {path}; next: {shlex.join(['limbsweep', 'robots', str(path)])}")


def _write_with_schema(kind: str, path: Path, text: str, option: str = "--output") -> None:
    """Write a new file whose first line names its JSON Schema, and beside it the schema, where there is none yet."""
    from applications.commands import schemas

    place = path.parent / schemas.file_name(kind)
    write_text(path, f"{schemas.line(place.name)}\n{text}", force=forced(), option=option)
    if not place.exists():
        write_text(place, schemas.text(kind))
        click.echo(f"wrote {place}, by which editors check the file")


def _catalogue() -> Iterator[tuple[str, ...]]:
    from robots import catalog

    yield "name", "dof", "actuators", "title", "source"
    for family in catalog.FAMILIES.values():
        mechanism = catalog.build(family.name).mechanism
        freedom, actuators = len(mechanism.freedoms), len(mechanism.actuators)
        yield family.name, str(freedom), str(actuators), family.title, family.source


def _parameters(name: str) -> Iterator[tuple[str, ...]]:
    from pipeline.robot_files import reader

    family = reader.find_family(name)
    yield "parameter", "default", "unit", "bounds", "meaning", "source"
    for parameter in family.parameters:
        bounds = f"[{parameter.lower:g}, {parameter.upper:g}]"
        yield parameter.name, f"{parameter.default:g}", parameter.unit, bounds, parameter.text, parameter.source


@click.command()
@click.argument("name")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Another value than the default.")
@output_option(help="The PNG file; default NAME.png.")
def show(name: str, settings: tuple[str, ...], output: Path | None) -> None:
    """Draw the robot NAME at its reference pose."""
    from applications.report.data import sketch
    from pipeline.robot_files import reader
    from robots.model import Robot

    robot = Robot.of(reader.find_family(name), dict(setting(text) for text in settings))
    path = output or Path(f"{robot.name}.png")
    if path.suffix.lower() != ".png":
        raise Refused(f"--output: got {str(path)!r}; expected a file name that ends in .png")
    check_output(path, force=forced())
    sketch.save(robot, path, force=forced())
    click.echo(f"wrote {path}")


@click.command()
@click.argument("name")
@click.option("--function", "functions", multiple=True, metavar="FUNCTION", help="One of several; default: all.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Another value than the default.")
@click.option("--gravity", nargs=3, type=float, metavar="X Y Z", help="In m/s^2; default: 0 0 -9.81.")
@output_option(help="The file of C; default NAME.c. Its header is beside it.")
def code(
    name: str,
    functions: tuple[str, ...],
    settings: tuple[str, ...],
    gravity: tuple[float, float, float] | None,
    output: Path | None,
) -> None:
    """Write the equations of the robot NAME as C, with a header."""
    from applications.export.code.c_source import c_code
    from applications.export.code.functions import FUNCTIONS
    from pipeline.robot_files import reader
    from robots.model import Robot
    from tasks.dynamics.records import GRAVITY

    robot = Robot.of(reader.find_family(name), dict(setting(text) for text in settings))
    if output is not None and output.suffix != ".c":
        raise Refused(f"--output: got {str(output)!r}; expected a file name that ends in .c")
    stem = None if output is None else output.stem
    try:
        written = c_code(robot, functions or tuple(FUNCTIONS), gravity=gravity or GRAVITY, name=stem)
    except ValueError as error:
        raise Refused(str(error)) from None
    path = output or Path(f"{written.name}.c")
    for place in (path, path.with_suffix(".h")):
        check_output(place, force=forced())
    write_text(path, written.source, force=forced())
    write_text(path.with_suffix(".h"), written.header, force=forced())
    click.echo(f"wrote {path} and {path.with_suffix('.h')}")


SHARES = (1.0, 0.3, 0.1, 0.03, 0.01)
"""Scale factors of a first motion, tried from large to small until the robot can make the motion."""
SPREADS = (0.1, 0.03, 0.003)
"""Half widths of a first design axis, where no motion serves all designs of a wider one."""


@click.command()
@click.argument("name")
@output_option(default="sweep.yaml", help="Default: sweep.yaml.")
def new(name: str, output: Path) -> None:
    """Write a commented sweep file for the robot NAME."""
    from applications.commands.template import sweep_text
    from pipeline.errors import InputError
    from pipeline.execution.trial import trial
    from pipeline.robot_files import rated, reader
    from pipeline.sweep.model import Sweep

    family, place = reader.find_family(name), reader.name_from(name, output.parent)
    limits = (True, False) if rated.limits(family) else (True,)
    for limited, spread, share in product(limits, SPREADS, SHARES):
        text = sweep_text(family, place, share, spread=spread, limited=limited)
        sweep = Sweep.from_text(text, str(output), output.parent)
        tried = trial(sweep)
        if not tried.result.failed:
            break
    else:
        raise InputError(tried.problems(name, sweep))
    _write_with_schema("sweep", output, text)
    click.echo(f"wrote {output}; next: {shlex.join(['limbsweep', 'check', str(output)])}")


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--loops", type=click.Path(path_type=Path), help="File with joints that close loops and driven joints.")
@click.option("--base", type=click.Choice(["fixed", "floating"]), default="fixed", help="Whether the root moves.")
@click.option("--strict-inertia", is_flag=True, help="Refuse inertias that no body can have, which are repaired else.")
@click.option("--numbers", is_flag=True, help="Write numbers instead of parameters.")
@click.option("--expand-macros", is_flag=True, help="Expand macros of xacro, by an evaluator that runs nothing.")
@click.option("--arg", "arguments", multiple=True, metavar="NAME:=VALUE", help="An argument of the macros; expands.")
@click.option("--package", "packages", multiple=True, metavar="NAME=FOLDER", help="Folder of a ROS package.")
@click.option("--leave-out", multiple=True, metavar="KIND", help="Elements to leave out: springs, gravity, ...")
@output_option(default="robot.yaml", help="Default: robot.yaml.")
def import_(
    file: Path,
    loops: Path | None,
    base: Literal["fixed", "floating"],
    strict_inertia: bool,
    numbers: bool,
    output: Path,
    **options: Any,
) -> None:
    """Make a robot file of FILE: URDF, SDF, xacro, or a model of MuJoCo."""
    from pipeline.robot_files.importing import import_robot

    arguments = _pairs("--arg", ":=", options["arguments"])
    imported = import_robot(
        file,
        loops,
        base=base,
        repair=not strict_inertia,
        parameters=not numbers,
        macros=arguments or options["expand_macros"],
        packages=_pairs("--package", "=", options["packages"]),
        leave_out=_kinds(options["leave_out"]),
    )
    for warning in imported.warnings:
        click.echo(f"warning: {warning}", err=True)
    _write_with_schema("robot", output, imported.text)
    click.echo(f"wrote {output}; next: {shlex.join(['limbsweep', 'show', str(output)])}")


def _pairs(option: str, sign: str, texts: tuple[str, ...]) -> dict[str, str]:
    """Return names and values of an option that may be there several times. Raises Refused."""
    pairs = {}
    for text in texts:
        name, found, value = text.partition(sign)
        if not (found and name.isidentifier()) or name in pairs:
            raise Refused(f"{option}: got {text!r}; expected NAME{sign}VALUE, each name once.")
        pairs[name] = value
    return pairs


def _kinds(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return kinds of effects that are left out. Raises Refused for names of none."""
    from robots.formats.effects import KINDS
    from robots.parameters import nearest

    for name in names:
        if name not in KINDS:
            raise Refused(f"--leave-out: got {name!r}; expected one of {', '.join(KINDS)}. {nearest(name, KINDS)}.")
    return names
