"""Common parts of the bodies of commands that import nothing: settings, files that may be replaced, tables."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import TypeVar

import click

from applications.commands.heartbeat import set_stage
from applications.commands.refusals import Refused
from pipeline.errors import visible

FORCE = "limbsweep.force"
"""Key, in the context of a command, of the permission to replace files."""

Options = TypeVar("Options")


def forced() -> bool:
    """Return whether the command may replace existing files."""
    return bool(click.get_current_context().meta.get(FORCE))


def with_record(record: Callable[..., Options]) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """Decorate a body that takes the options of its command as one record with a field for each option."""

    def decorated(body: Callable[[Options], None]) -> Callable[..., None]:
        @wraps(body)
        def called(**options: object) -> None:
            body(record(**options))

        return called

    return decorated


def setting(text: str) -> tuple[str, float]:
    """Parse NAME=VALUE."""
    name, _, value = text.partition("=")
    try:
        if "_" in value:
            raise ValueError(value)  # Python reads it as a number, other programs do not
        return name, float(value)
    except ValueError:
        raise Refused(f"--set: got {text!r}; expected NAME=VALUE with a number, such as upper_arm=0.3") from None


def print_rows(table: Iterable[Sequence[str]]) -> None:
    """Print rows in columns; the last cell of a row has no padding."""
    lines = [tuple(map(visible, row)) for row in table]
    widths = [max(len(row[i]) for row in lines if i < len(row)) for i in range(max(map(len, lines), default=0))]
    for row in lines:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip())


def print_warnings(warnings: Iterable[object]) -> None:
    """Print warnings to standard error, each once."""
    for warning in dict.fromkeys(warnings):
        click.echo(f"warning: {warning}", err=True)


def show_stage(stage: str) -> None:
    """Write the stage of a computation to standard error as it begins, where that is a terminal."""
    set_stage(stage)
    if sys.stderr.isatty():
        click.echo(f"{stage} ...", err=True)
