"""Commands of identification: excite, dataset, identify, export."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from pipeline.execution.graph import Granularity
    from pipeline.identification.recordings import MotionSource

from pipeline.commands.runs import run, stores_of
from pipeline.commands.terminal import (
    CLUSTER,
    GRANULARITY,
    SOURCE,
    STORE,
    SUBSET,
    SWEEP,
    TARGET,
    Refused,
    forced,
    output_option,
    print_rows,
)


@click.command()
@SOURCE
@SUBSET
@TARGET
@CLUSTER
@GRANULARITY
@click.pass_context
def dataset(
    ctx: click.Context,
    sweep: str,
    subset: str | None,
    store: str | None,
    cluster: Path | None,
    granularity: Granularity | None,
) -> None:
    """Generate identification data: run SWEEP, which has a section `measurement` or `split`, and write its card."""
    from pipeline.identification import dataset_card
    from storage import open_results

    stores, _ = stores_of(sweep, subset, store)
    for parsed, _ in stores:
        if parsed.measurement is None and parsed.split is None:
            raise Refused(f"{sweep}: got neither measurement nor split; expected one of them; or use limbsweep run")
    ctx.invoke(run, sweep=sweep, subset=subset, store=store, cluster=cluster, granularity=granularity)
    for parsed, place in stores:
        dataset_card.write(place, parsed, open_results(place, unfinished=True))
        click.echo(f"card in {place}/{dataset_card.FILE}")


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
@output_option(help="A CSV or JSON file for all parameters.")
@CLUSTER
def identify(
    store: str,
    method: str,
    motion: MotionSource | None,
    clean: bool,
    designs: tuple[int, ...],
    output: Path | None,
    cluster: Path | None,
) -> None:
    """Estimate the base parameters of the robots in STORE; exit status 1 where some cannot be."""
    from pipeline.identification.identify import checked_suffix
    from pipeline.identification.identify import identify as estimate

    if output is not None:
        checked_suffix(output)
    identified = estimate(store, method, clean=clean, motion=motion, designs=designs or None, cluster=cluster)
    print_rows(identified.rows())
    if output is not None:
        identified.save(output, force=forced())
    if identified.failed:
        raise click.exceptions.Exit(1)


class NumberList(click.ParamType):
    """One number, or several with commas between them."""

    name = "number"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        """Parse the numbers."""
        try:
            return tuple(float(number) for number in str(value).split(","))
        except ValueError:
            self.fail(f"got {value!r}; expected a number, or one for each actuator with commas between", param, ctx)


def _limit(name: str, text: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The option for a limit of the actuators."""
    return click.option(name, type=NumberList(), help=f"{text}; one number, or one for each with commas.")


@click.command()
@SWEEP
@output_option(force="--overwrite", required=True, help="The sweep file to write.")
@click.option("--criterion", default="condition", show_default=True, help="condition or determinant (D-optimality).")
@_limit("--force", "Largest force or torque of actuators [N or N m]")
@_limit("--stroke", "Largest distance of actuators from the centre [rad or m]")
@_limit("--actuator-velocity", "Largest velocity of actuators [rad/s or m/s]")
@_limit("--actuator-acceleration", "Largest acceleration of actuators [rad/s^2 or m/s^2]")
@click.option("--steps", type=click.IntRange(1), default=15, show_default=True, help="Steps of each search.")
@click.option("--samples", type=click.IntRange(16), default=100, show_default=True, help="Samples of a period.")
@click.option("--design", type=int, default=0, show_default=True, help="Number of the design.")
@CLUSTER
def excite(sweep: Path, output: Path, cluster: Path | None, **choices: Any) -> None:
    """Make the random Fourier motions of SWEEP better for identification, and write a sweep with the best.

    Each motion of an entry random_fourier is the start of a search, a task of its own; its limits are kept.
    """
    from pipeline.identification.excite import excite as search
    from pipeline.identification.excite_job import ExcitationOptions
    from pipeline.sweep.model import Sweep

    options = ExcitationOptions(**{name: value for name, value in choices.items() if value is not None})
    excited = search(Sweep.from_yaml(sweep), options, cluster=cluster)
    print_rows(excited.rows())
    excited.save(output, force=forced())
    click.echo(f"wrote {output}")


@click.command()
@STORE
@click.option("--format", "form", required=True, help="parquet, netcdf, mat, npz or csv.")
@click.option("--output", type=click.Path(path_type=Path), help="The folder; default: STORE with the format's name.")
def export(store: str, form: str, output: Path | None) -> None:
    """Write STORE as files of another format."""
    from pipeline.stores.export import export as write

    folder = output or Path(f"{store.rstrip('/').removesuffix('.zarr')}-{form}")
    click.echo(f"{len(write(store, folder, form))} files in {folder}")
