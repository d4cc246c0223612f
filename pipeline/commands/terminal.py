"""What commands share: refusals and their exit statuses, arguments that several take, tables and files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.errors import InputError, RunCancelledError, RunStoppedError, visible
from robots.parameters import ParameterError, nearest
from storage.errors import StoreError

if TYPE_CHECKING:
    from pipeline.cluster.file import ClusterConfig
    from pipeline.sweep.model import Sweep


BAD_INPUT = (InputError, ParameterError, StoreError)


SWEEP = click.argument("sweep", type=click.Path(path_type=Path))


SUBSET = click.option("--subset", metavar="NAME", help="Only a part that the file names under subsets.")


SOURCE = click.argument("sweep")


STORE = click.argument("store")


CLUSTER = click.option("--cluster", type=click.Path(path_type=Path), help="Cluster file; default: this machine.")


GRANULARITY = click.option(
    "--granularity",
    type=click.Choice(["limb", "block"]),
    default="limb",
    help="One task for each limb, or one for each block; the same results.",
)


class Refused(click.ClickException):
    """Misuse or bad input: the message as it stands, exit status 2."""

    exit_code = 2

    def show(self, file: object = None) -> None:
        """Print the message without a traceback."""
        click.echo(visible(self.message), err=True)


class Interrupted(Refused):
    """Ctrl-C: exit status 130."""

    exit_code = 130


class Incomplete(Refused):
    """A run that ended before its sweep did: exit status 1."""

    exit_code = 1


class CommandGroup(click.Group):
    """Commands that turn refusals into exit statuses, and know the nearest name of a misspelt command."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; UsageError with the nearest name where there is none."""
        if not args[0].startswith("-") and args[0] not in self.commands:
            raise click.UsageError(f"no command {args[0]!r}; {nearest(args[0], self.commands)}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except BAD_INPUT as error:
            raise Refused(str(error)) from None
        except RunStoppedError as error:
            raise stopped(error) from None
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None
        except BrokenPipeError:
            # Whoever read the output has gone; Python would complain once more when it flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise click.exceptions.Exit(141) from None


TARGET = click.option("--store", help="Where to, a folder or a URL; default: SWEEP with .zarr, or the STORE given.")


def stopped(error: RunStoppedError, again: str = "") -> Refused:
    """The end of a command whose run has stopped."""
    kind = Interrupted if isinstance(error, RunCancelledError) else Incomplete
    return kind(f"{error}" + (f"\ngo on with: {again}" if again else ""))


def sweeps_in(path: Path, subset: str | None) -> tuple[Sweep, ...]:
    """Read the sweeps in a file, one for each of its robots; their warnings go to standard error."""
    from pipeline.sweep.several import read_sweeps

    sweeps = read_sweeps(path, subset)
    for warning in dict.fromkeys(warning for sweep in sweeps for warning in sweep.warnings):
        click.echo(f"warning: {warning}", err=True)
    return sweeps


def cluster_in(path: Path | None) -> ClusterConfig | None:
    """Read a cluster file, None without one; its warnings go to standard error."""
    from pipeline.cluster.file import ClusterConfig

    if path is None:
        return None
    config = ClusterConfig.from_yaml(path)
    for warning in config.warnings:
        click.echo(f"warning: {warning}", err=True)
    return config


def setting(text: str) -> tuple[str, float]:
    """Parse NAME=VALUE."""
    name, _, value = text.partition("=")
    try:
        return name, float(value)
    except ValueError:
        raise Refused(f"--set: got {text!r}; expected NAME=VALUE with a number, such as upper_arm=0.3") from None


def write_text(path: Path, text: str) -> None:
    """Write a new file."""
    with writing(path), path.open("x", encoding="utf-8") as file:
        file.write(text)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn errors of writing a file into refusals."""
    try:
        yield
    except FileExistsError:
        raise Refused(f"{path} exists already; expected a new file. Name another one with --output") from None
    except OSError as error:
        raise Refused(f"{path}: cannot be written: {error.strerror}") from None


def print_rows(table: Iterable[Sequence[str]]) -> None:
    """Print rows in columns; the last cell of a row has no padding."""
    lines = [tuple(map(visible, row)) for row in table]
    widths = [max(len(row[i]) for row in lines if i < len(row)) for i in range(max(map(len, lines), default=0))]
    for row in lines:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip())
