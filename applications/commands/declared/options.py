"""Make commands of a text, options and the place of a body; arguments and options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from applications.commands.heartbeat import with_heartbeat
from applications.commands.terminal import FORCE, forced
from pipeline.documents.outputs import check_output
from pipeline.stores.names import check_place

BODIES = "applications.commands."
"""Package of the modules that have bodies."""

FILE = click.Path(path_type=Path)


def command(name: str, body: str, text: str, *parameters: click.Parameter) -> click.Command:
    """Return a command with a help text.

    body: module of BODIES with a function of the command's name, or `module:function` where it has another name.
    """
    module, _, function = body.partition(":")
    callback = body_in(BODIES + module, function or name.replace("-", "_"))
    return click.Command(name, callback=with_heartbeat(name, callback), help=text, params=list(parameters))


def body_in(module: str, function: str) -> Callable[..., None]:
    """Return a function of a module that is imported when the function is called: the one import of this kind."""

    def body(**options: object) -> None:
        getattr(import_module(module), function)(**options)

    body.__module__, body.__qualname__ = module, function
    return body


def option(*names: str, **attributes: Any) -> click.Option:
    """Return an option, with the attributes of one of click."""
    return click.Option(names, **attributes)


def argument(name: str, **attributes: Any) -> click.Argument:
    """Return an argument, with the attributes of one of click."""
    return click.Argument((name,), **attributes)


def _named(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse names that no file or store can have."""
    if value is not None:
        check_place(value, param.opts[0] if param.opts[0].startswith("-") else str(param.name).upper())
    return value


def _all_named(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the same of several."""
    for value in values:
        check_place(value, "STORE")
    return values


def _set_forced(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    ctx.meta[FORCE] = value


def _checked(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:
    """Refuse a file that may not be written, before anything is computed."""
    if value is not None:
        flag = next(option.opts[0] for option in ctx.command.params if option.name == _FORCE_NAME)
        check_output(value, force=forced(), option=param.opts[0], flag=flag)
    return value


_FORCE_NAME = "forced"


def force_option(name: str = "--force") -> click.Option:
    """Return the option that lets `output_option` replace a file of another kind."""
    text = "Replace an existing file."
    return option(name, _FORCE_NAME, is_flag=True, is_eager=True, expose_value=False, callback=_set_forced, help=text)


def output_option(name: str = "--output", variable: str = "output", **attributes: Any) -> click.Option:
    """Return the option for a file that a command writes; the command has a `force_option` as well."""
    return option(name, variable, type=FILE, callback=_checked, **attributes)


SWEEP = argument("sweep", type=FILE)
SOURCE = argument("sweep", callback=_named)
STORE = argument("store", callback=_named)
STORES = argument("stores", metavar="STORE...", nargs=-1, required=True, callback=_all_named)
SUBSET = option("--subset", metavar="NAME", help="A named subset of the file (section subsets).")
TARGET = option(
    "--store",
    callback=_named,
    help="Folder or URL of the store; default: SWEEP's name with .zarr in the current folder, or the STORE given.",
)
CLUSTER = option("--cluster", type=FILE, help="Cluster file; default: this machine.")
CLUSTER_CHECKED = option("--cluster", type=FILE, help="Cluster file: check its workers and their way to the store.")
GRANULARITY = option(
    "--granularity",
    type=click.Choice(["limb", "block"]),
    help="One task for each limb, or one for each block; the same results. Default: by the load of the cluster.",
)
DEVICE = option(
    "--device",
    type=click.Choice(["cpu", "gpu"]),
    help="Processors or graphics cards; the same results. Default: the cluster file's, else processors.",
)
FORCED = force_option()

OBJECTIVES = option(
    "--objective",
    "objectives",
    multiple=True,
    metavar="TEXT",
    help="Such as peak_force, 'max dexterity' or 'min friction_loss_sum / energy_sum'; default: those of the sweep.",
)
WHERE = option("--where", multiple=True, metavar="TEXT", help="Such as 'condition < 5'; default: those of the sweep.")
CASES = option(
    "--cases",
    multiple=True,
    metavar="NAME",
    help="A swept parameter that is an operating condition, such as payload_mass; default: those of the sweep.",
)
