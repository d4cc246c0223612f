"""Commands of identification: dataset, identify, export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from pipeline.recordings import Source

from pipeline.commands.runs import run, stores_of
from pipeline.commands.terminal import CLUSTER, GRANULARITY, SOURCE, STORE, SUBSET, TARGET, Refused, print_rows, writing


@click.command()
@SOURCE
@SUBSET
@TARGET
@CLUSTER
@GRANULARITY
@click.pass_context
def dataset(ctx: click.Context, sweep: str, store: str | None, **options: Any) -> None:
    """Generate identification data: run SWEEP, which has a section `measurement` or `split`, and write its card."""
    from pipeline import card
    from storage import open_results

    stores, _ = stores_of(sweep, options["subset"], store)
    for each, _ in stores:
        if each.measurement is None and each.split is None:
            raise Refused(f"{sweep}: got neither measurement nor split; expected one of them; or use limbsweep run")
    ctx.invoke(run, sweep=sweep, store=store, **options)
    for each, place in stores:
        card.write(place, each, open_results(place, unfinished=True))
        click.echo(f"card in {place}/{card.FILE}")


@click.command()
@STORE
@click.option(
    "--method",
    default="weighted",
    show_default=True,
    help="least_squares, weighted, reweighted (robust), total_least_squares, consistent, or separable.",
)
@click.option(
    "--motion",
    type=click.Choice(["measured", "commanded"]),
    help="Where motions come from; default: measured by the encoders, commanded with --clean.",
)
@click.option("--clean", is_flag=True, help="Use signals without errors of sensors.")
@click.option("--design", "designs", type=int, multiple=True, help="Number of a design; default: all.")
@click.option("--output", type=click.Path(path_type=Path), help="A new CSV or JSON file for all parameters.")
@CLUSTER
def identify(
    store: str,
    method: str,
    motion: Source | None,
    clean: bool,
    designs: tuple[int, ...],
    output: Path | None,
    cluster: Path | None,
) -> None:
    """Estimate the base parameters of the robots in STORE; exit status 1 where some cannot be."""
    from pipeline.identify import checked_suffix
    from pipeline.identify import identify as estimate

    if output is not None:
        checked_suffix(output)
    if output is not None and output.exists():
        raise Refused(f"{output} exists already; expected a new file. Name another one with --output")
    found = estimate(store, method, clean=clean, motion=motion, designs=designs or None, cluster=cluster)
    print_rows(found.rows())
    if output is not None:
        with writing(output):
            found.save(output)
    if found.failed:
        raise click.exceptions.Exit(1)


@click.command()
@STORE
@click.option("--format", "form", required=True, help="parquet, mat, npz or csv.")
@click.option("--output", type=click.Path(path_type=Path), help="The folder; default: STORE with the format's name.")
def export(store: str, form: str, output: Path | None) -> None:
    """Write STORE as files of another format."""
    from pipeline.export import export as write

    folder = output or Path(f"{store.rstrip('/').removesuffix('.zarr')}-{form}")
    click.echo(f"{len(write(store, folder, form))} files in {folder}")
