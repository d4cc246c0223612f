"""Commands of identification: excite, dataset, identify, calibrate, export."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from applications.identification.recordings import MotionSource
    from pipeline.execution.graph import Granularity

from applications.commands.runs import run, stores_of
from applications.commands.terminal import (
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
    from applications.identification import dataset_card
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
@click.argument("source")
@click.argument("files", nargs=-1)
@click.option(
    "--method",
    help="least_squares, weighted (the default), reweighted (robust), total_least_squares, consistent, or separable.",
)
@click.option(
    "--deviations",
    help="Of recordings: largest (the default), hac, autoregressive, white, or bootstrap (of blocks).",
)
@click.option(
    "--motion",
    type=click.Choice(["measured", "commanded"]),
    help="Of a store: source of motions; default: measured by encoders, commanded with --clean.",
)
@click.option("--clean", is_flag=True, help="Of a store: use signals without errors of sensors.")
@click.option("--design", "designs", type=int, multiple=True, help="Of a store: number of a design; default: all.")
@click.option("--columns", type=click.Path(path_type=Path), help="Recording description with the columns of FILES.")
@click.option("--folder", type=click.Path(path_type=Path), help="Where the files of a recording description are.")
@click.option("--validation", multiple=True, metavar="FILE", help="A recording for validation; may be given again.")
@click.option("--test", multiple=True, metavar="FILE", help="A recording for a test; may be given again.")
@click.option("--output", type=click.Path(path_type=Path), help="A new CSV or JSON file for all parameters.")
@click.option(
    "--robot",
    "robot_file",
    type=click.Path(path_type=Path),
    help="New .yaml, .urdf or .xml (MJCF) file of the identified robot.",
)
@click.option("--report", "page", type=click.Path(path_type=Path), help="A new HTML file with curves and parameters.")
@click.option("--dataset", "netcdf", type=click.Path(path_type=Path), help="A new .nc file for the xarray dataset.")
@click.option("--store", help="A new store for recordings, raw and prepared, to identify again from.")
@CLUSTER
def identify(
    source: str,
    files: tuple[str, ...],
    method: str | None,
    deviations: str | None,
    motion: MotionSource | None,
    clean: bool,
    designs: tuple[int, ...],
    columns: Path | None,
    folder: Path | None,
    validation: tuple[str, ...],
    test: tuple[str, ...],
    output: Path | None,
    robot_file: Path | None,
    page: Path | None,
    netcdf: Path | None,
    store: str | None,
    cluster: Path | None,
) -> None:
    """Estimate base parameters: of the robots in a store, or of a machine from its recordings.

    SOURCE is a store, of results or of recordings; or a recording description (.yaml), which names robot and files; or
    a robot, with FILES as recordings for training and --columns for their columns. Exit status 1 where some robots
    cannot be estimated.
    """
    from pipeline.documents import outputs

    for option, path in (("--output", output), ("--robot", robot_file), ("--report", page), ("--dataset", netcdf)):
        if path is not None:
            outputs.check_output(path, option=option)
    _refuse_tables(source)
    is_described = files or validation or test or source.lower().endswith((".yaml", ".yml"))
    if not is_described and not _is_recorded(source):
        if any(option is not None for option in (robot_file, page, netcdf, columns, store, deviations)):
            raise Refused(
                "--robot, --report, --dataset, --columns, --store, --deviations: got a store of results; expected "
                "recordings"
            )
        _identify_store(source, method or "weighted", motion, clean, designs, output, cluster)
        return
    roles = [(path, role) for role, paths in zip(ROLES, (files, validation, test), strict=True) for path in paths]
    _identify_recordings(source, roles, method, deviations, columns, folder, output, robot_file, page, netcdf, store)


def _refuse_tables(source: str) -> None:
    """Raise Refused for a file of signals in the place of what says what its columns are."""
    from pipeline.documents.tables.reader import RECORDINGS

    if Path(source).suffix.lower() in RECORDINGS and Path(source).is_file():
        raise Refused(
            f"{source}: got a file of signals alone; expected a recording description, which names its robot and "
            f"columns. Write one, or limbsweep identify ROBOT {source} --columns DESCRIPTION"
        )


def _is_recorded(source: str) -> bool:
    from applications.identification.machines.recorded import is_recorded

    return is_recorded(source)


ROLES = ("train", "validation", "test")


def _identify_store(
    store: str,
    method: str,
    motion: MotionSource | None,
    clean: bool,
    designs: tuple[int, ...],
    output: Path | None,
    cluster: Path | None,
) -> None:
    from applications.identification.identify import checked_suffix
    from applications.identification.identify import identify as estimate

    if output is not None:
        checked_suffix(output)
    identified = estimate(store, method, clean=clean, motion=motion, designs=designs or None, cluster=cluster)
    print_rows(identified.rows())
    if output is not None:
        identified.save(output, force=forced())
    if identified.failed:
        raise click.exceptions.Exit(1)


def _identify_recordings(
    source: str,
    roles: list[tuple[str, str]],
    method: str | None,
    deviations: str | None,
    columns: Path | None,
    folder: Path | None,
    output: Path | None,
    robot_file: Path | None,
    page: Path | None,
    netcdf: Path | None,
    store: str | None,
) -> None:
    from applications.identification.machines.description_keys import check_keys

    described = columns if roles and columns is not None else Path(source)
    if described.suffix.lower() in (".yaml", ".yml"):
        check_keys(described)
    from applications.identification.machines import recorded, results
    from applications.identification.machines.description import read_description
    from applications.identification.machines.identify import identify_recordings
    from applications.identification.machines.page import save_page
    from pipeline.documents import outputs

    if roles and columns is None:
        raise Refused("--columns: got none; expected a recording description that says what the columns of files are")
    if roles and not any(role == ROLES[0] for _, role in roles):
        raise Refused("FILES: got recordings for validation or tests alone; expected at least one for training")
    if output is not None:
        results.checked_suffix(output, results.FORMATS)
    if robot_file is not None:
        results.checked_suffix(robot_file, results.ROBOTS)
    if not roles and recorded.is_recorded(source):
        description = recorded.read_recordings(source, method, deviations)
    else:
        description = read_description(
            described,
            robot=source if roles else None,
            files=roles,
            folder=folder,
            method=method,
            deviations=deviations,
        )
    result = identify_recordings(description)
    print_rows(result.rows())
    for warning in result.warnings:
        click.echo(f"warning: {warning}", err=True)
    if store is not None:
        recorded.save_recordings(result, store)
    if output is not None:
        with outputs.output(output) as draft:
            results.save_parameters(result, draft)
    if robot_file is not None:
        with outputs.output(robot_file, option="--robot") as draft:
            results.save_robot(result, draft)
    if page is not None:
        with outputs.output(page, option="--report") as draft:
            save_page(result, draft)
    if netcdf is not None:
        with outputs.output(netcdf, option="--dataset") as draft:
            results.save_dataset(result, draft)


@click.command()
@click.argument("description", type=click.Path(path_type=Path))
@click.option("--folder", type=click.Path(path_type=Path), help="Folder of the files of the description.")
@click.option(
    "--output", type=click.Path(path_type=Path), help="A new .csv or .json for all values, or .yaml for the robot."
)
def calibrate(description: Path, folder: Path | None, output: Path | None) -> None:
    """Estimate the geometry of a robot from measured poses or redundant sensors.

    DESCRIPTION (.yaml) names the robot, the files of poses and the meaning of their columns.
    """
    from applications.identification import calibration
    from pipeline.documents import outputs

    if output is not None:
        outputs.check_output(output)
        calibration.checked_suffix(output)
    result = calibration.calibrate_from(calibration.read_calibration(description, folder))
    print_rows(result.rows())
    if output is not None:
        with outputs.output(output) as draft:
            result.save(draft)


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
    """Return the option for a limit of the actuators."""
    return click.option(name, type=NumberList(), help=f"{text}; one number, or one for each with commas.")


@click.command()
@SWEEP
@output_option(force="--overwrite", required=True, help="The sweep file to write.")
@click.option("--criterion", default="condition", show_default=True, help="condition or determinant (D-optimality).")
@_limit("--force", "Largest force or torque of actuators [N or N m]")
@_limit("--stroke", "Largest distance of actuators from the centre [rad or m]")
@_limit("--actuator-velocity", "Largest velocity of actuators [rad/s or m/s]")
@_limit("--actuator-acceleration", "Largest acceleration of actuators [rad/s^2 or m/s^2]")
@click.option("--steps", type=click.IntRange(1), default=60, show_default=True, help="Steps of each search.")
@click.option("--samples", type=click.IntRange(16), default=100, show_default=True, help="Samples of a period.")
@click.option("--design", type=int, default=0, show_default=True, help="Number of the design.")
@click.option(
    "--spheres", type=click.Path(path_type=Path), help="YAML file of spheres around bodies that must stay apart."
)
@CLUSTER
def excite(sweep: Path, output: Path, cluster: Path | None, spheres: Path | None, **choices: Any) -> None:
    """Optimise the random Fourier motions of SWEEP for identification, and write a sweep with the best.

    Each motion of an entry random_fourier is the start of a search, a task of its own; its limits are kept, and those
    of the section limits of SWEEP.
    """
    from applications.identification.excite import excite as search
    from applications.identification.excite_job import ExcitationOptions
    from applications.identification.spheres import read_spheres
    from pipeline.sweep.model import Sweep

    options = ExcitationOptions(**{name: value for name, value in choices.items() if value is not None})
    options = replace(options, spheres=read_spheres(spheres) if spheres is not None else ())
    excited = search(Sweep.from_yaml(sweep), options, cluster=cluster)
    print_rows(excited.rows())
    excited.save(output, force=forced())
    click.echo(f"wrote {output}")


@click.command()
@STORE
@click.option("--format", "form", required=True, help="parquet, netcdf, hdf5, mat, mat_designs, npz or csv.")
@click.option("--output", type=click.Path(path_type=Path), help="The folder; default: STORE with the format's name.")
def export(store: str, form: str, output: Path | None) -> None:
    """Write STORE as files of another format.

    Tables (parquet, csv) are a file with a row for each sample, and metrics.csv or metrics.parquet with a row for each
    design, friction set and trajectory, and a column for each metric and component. npz and mat_designs are a file for
    each design, the others one file with everything. All have designs.csv, friction.csv and trajectories.csv beside.
    """
    from applications.export.tables import export as write

    folder = output or Path(f"{store.rstrip('/').removesuffix('.zarr')}-{form}")
    click.echo(f"{len(write(store, folder, form))} files in {folder}")
