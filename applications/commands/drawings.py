"""Commands that draw results: report, figure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from applications.commands.study_tables import CASES, OBJECTIVES, WHERE
from applications.commands.terminal import STORE, STORES, forced, output_option


def _looked_into(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of commands that show one design of a store."""
    help_files = "Folder of the files that the sweep names, such as points; to draw the robot."
    folder = click.Path(exists=True, file_okay=False, path_type=Path)
    command = click.option("--files", type=folder, metavar="DIR", help=help_files)(command)
    command = click.option("--friction", type=int, metavar="N", help="Friction set; default: the most demanding.")(
        command
    )
    return click.option("--design", type=int, metavar="N", help="Design shown in detail; default: the best.")(command)


@click.command()
@STORES
@output_option(default="report.html", help="The .html file; default: report.html.")
@_looked_into
@OBJECTIVES
@WHERE
@CASES
def report(
    stores: tuple[str, ...],
    output: Path,
    design: int | None,
    friction: int | None,
    files: Path | None,
    texts: tuple[str, ...],
    conditions: tuple[str, ...],
    cases: tuple[str, ...],
) -> None:
    """Write a page with the answer to the question of STORE first: one HTML file that needs no network.

    Several stores are compared: robots on the same task, or runs against each other.
    """
    from applications.report import write_report

    page = write_report(
        stores,
        output,
        design=design,
        friction=friction,
        files=files,
        force=forced(),
        objectives=texts,
        where=conditions,
        cases=cases,
    )
    click.echo(f"wrote {page}")


@click.command()
@STORE
@click.argument("kind")
@output_option(help="A .png, .svg or .pdf file; default: KIND.png.")
@_looked_into
def figure(
    store: str, kind: str, output: Path | None, design: int | None, friction: int | None, files: Path | None
) -> None:
    """Draw a figure of STORE: series, friction, parallel, front, sensitivity, workspace, status or mechanism."""
    from applications.report.data.results import results_of
    from applications.report.figures import case

    path = output or Path(f"{kind}.png")
    case.check(kind, path, force=forced())
    case.save(results_of(store, design, friction, files), kind, path, force=forced())
    click.echo(f"wrote {path}")
