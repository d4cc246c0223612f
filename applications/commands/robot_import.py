"""Body of the command import."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Literal

import click

from applications.commands.refusals import Refused
from applications.commands.schemas import write_with_schema
from applications.commands.terminal import print_warnings, with_record
from pipeline.robot_files.importing import import_robot
from robots.data_classes import dataclass
from robots.formats.effects import KINDS


@dataclass(frozen=True)
class ImportOptions:
    """Options of the command import."""

    file: Path
    loops: Path | None
    base: Literal["fixed", "floating"]
    strict_inertia: bool
    numbers: bool
    expand_macros: bool
    arguments: tuple[str, ...]
    packages: tuple[str, ...]
    leave_out: tuple[str, ...]
    output: Path


@with_record(ImportOptions)
def import_file(options: ImportOptions) -> None:
    """Make a robot file of a file in another format."""
    imported = import_robot(
        options.file,
        options.loops,
        base=options.base,
        repair=not options.strict_inertia,
        parameters=not options.numbers,
        macros=_pairs("--arg", ":=", options.arguments) or options.expand_macros,
        packages=_pairs("--package", "=", options.packages),
        leave_out=_kinds(options.leave_out),
    )
    print_warnings(imported.warnings)
    write_with_schema("robot", options.output, imported.text)
    click.echo(f"wrote {options.output}; next: {shlex.join(['limbsweep', 'show', str(options.output)])}")


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
    for name in names:
        if name not in KINDS:
            raise Refused(f"--leave-out: got {name!r}; expected one of {', '.join(KINDS)}.")
    return names
