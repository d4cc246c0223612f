"""Common parts of the commands: refusals and their exit statuses, shared arguments, tables and files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.documents.outputs import check_output
from pipeline.errors import InputError, RunCancelledError, RunStoppedError, visible
from pipeline.stores.names import check_place
from robots.extras import MissingExtraError
from robots.parameters import ParameterError, nearest
from storage.errors import StoreError

if TYPE_CHECKING:
    from pipeline.cluster.file import ClusterConfig
    from pipeline.sweep.model import Sweep


BAD_INPUT = (InputError, MissingExtraError, ParameterError, StoreError)


SWEEP = click.argument("sweep", type=click.Path(path_type=Path))


SUBSET = click.option("--subset", metavar="NAME", help="A named subset of the file (section subsets).")


def _named(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse what no file or store can be called, whatever is there."""
    if value is not None:
        check_place(value, param.opts[0] if param.opts[0].startswith("-") else param.name.upper())
    return value


def _all_named(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the same of several."""
    for value in values:
        check_place(value, "STORE")
    return values


SOURCE = click.argument("sweep", callback=_named)


STORE = click.argument("store", callback=_named)

STORES = click.argument("stores", metavar="STORE...", nargs=-1, required=True, callback=_all_named)


CLUSTER = click.option("--cluster", type=click.Path(path_type=Path), help="Cluster file; default: this machine.")


GRANULARITY = click.option(
    "--granularity",
    type=click.Choice(["limb", "block"]),
    help="One task for each limb, or one for each block; the same results. Default: by the load of the cluster.",
)


DEVICE = click.option(
    "--device",
    type=click.Choice(["cpu", "gpu"]),
    help="Processors or graphics cards; the same results. Default: the cluster file's, else processors.",
)


class Refused(click.ClickException):
    """Misuse or bad input: the message as it stands, exit status 2."""

    exit_code = 2

    def show(self, file: object = None) -> None:
        """Print the message without a traceback."""
        with suppress(OSError):  # of a terminal that has gone
            click.echo(visible(self.message), err=True)


class Interrupted(Refused):
    """Ctrl-C, or a signal of the system: exit status 128 and its number."""

    exit_code = 130


class Incomplete(Refused):
    """A run that ended before its sweep did: exit status 1."""

    exit_code = 1


class CommandTable(MutableMapping[str, click.Command]):
    """Commands by name, each loaded from its module on first use: `homes` has `module:name` for each."""

    def __init__(self, homes: Mapping[str, str]) -> None:
        self._homes = dict(homes)
        self._loaded: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        """Return a command. Raises KeyError."""
        if name not in self._loaded:
            module, _, attribute = self._homes[name].partition(":")
            self._loaded[name] = getattr(import_module(module), attribute)
        return self._loaded[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        """Add a command that is there already."""
        self._homes[name], self._loaded[name] = "", command

    def __delitem__(self, name: str) -> None:
        """Take a command out. Raises KeyError."""
        del self._homes[name]
        self._loaded.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._homes)

    def __len__(self) -> int:
        """Count the commands."""
        return len(self._homes)


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
        except KeyboardInterrupt as error:
            raise interrupted(error) from None
        except BrokenPipeError:
            # Whoever read the output has gone; Python would complain once more when it flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise click.exceptions.Exit(141) from None


TARGET = click.option(
    "--store", callback=_named, help="Folder or URL of the store; default: SWEEP with .zarr, or the STORE given."
)


def interrupted(error: KeyboardInterrupt, again: str = "") -> Interrupted:
    """The end of a command that Ctrl-C or another signal has interrupted."""
    from pipeline.execution.processes.signals import exit_status

    end = Interrupted((str(error) or "interrupted") + (f"; go on with: {again}" if again else ""))
    end.exit_code = exit_status(error)  # type: ignore[misc]  # of this one, not of its class
    return end


def stopped(error: RunStoppedError, again: str = "") -> Refused:
    """The end of a command whose run has stopped."""
    kind = Interrupted if isinstance(error, RunCancelledError) else Incomplete
    return kind(f"{error}" + (f"\ngo on with: {again}" if again else ""))


def sweeps_in(path: Path, subset: str | None) -> tuple[Sweep, ...]:
    """Read the sweeps in a file, one for each of its robots; their warnings go to standard error."""
    from pipeline.sweep.doors import read_sweeps

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
        if "_" in value:
            raise ValueError(value)  # Python reads it as a number, other programs do not
        return name, float(value)
    except ValueError:
        raise Refused(f"--set: got {text!r}; expected NAME=VALUE with a number, such as upper_arm=0.3") from None


_FORCE, _FORCED = "limbsweep.force", "forced"


def forced() -> bool:
    """Return whether the command may replace existing files."""
    return bool(click.get_current_context().meta.get(_FORCE))


def _set_forced(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    ctx.meta[_FORCE] = value


def _checked(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:
    """Refuse a file that may not be written, before anything is computed."""
    if value is not None:
        flag = next(option.opts[0] for option in ctx.command.params if option.name == _FORCED)
        check_output(value, force=forced(), option=param.opts[0], flag=flag)
    return value


def _force(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    text = "Replace a file there."
    return click.option(name, _FORCED, is_flag=True, is_eager=True, expose_value=False, callback=_set_forced, help=text)


def output_option(
    name: str = "--output", variable: str = "output", force: str = "--force", **attributes: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the option for a file that a command writes, and `force`, which lets it replace one of another kind."""

    def added(command: Callable[..., None]) -> Callable[..., None]:
        path = click.Path(path_type=Path)
        if _FORCED not in [option.name for option in getattr(command, "__click_params__", ())]:
            command = _force(force)(command)
        return click.option(name, variable, type=path, callback=_checked, **attributes)(command)

    return added


def print_rows(table: Iterable[Sequence[str]]) -> None:
    """Print rows in columns; the last cell of a row has no padding."""
    lines = [tuple(map(visible, row)) for row in table]
    widths = [max(len(row[i]) for row in lines if i < len(row)) for i in range(max(map(len, lines), default=0))]
    for row in lines:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip())
