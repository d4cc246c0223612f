"""The command line `limbsweep`. Every body is a few lines over the Python interface, so nothing can be done only here.

Exit status: 0 done, 1 finished with failed blocks, 2 misuse or bad input, 130 interrupted and resumable. Bodies import
what they need, so that a command that computes nothing starts at once.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.errors import InputError, RunCancelledError, RunStoppedError
from pipeline.study_commands import study
from robots.parameters import ParameterError, nearest
from storage.errors import StoreError

if TYPE_CHECKING:
    from pipeline.graph import Granularity
    from pipeline.sweep import Sweep

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
        click.echo(self.message, err=True)


class Interrupted(Refused):
    """Ctrl-C: exit status 130."""

    exit_code = 130


class Incomplete(Refused):
    """A run that ended before its sweep did: exit status 1."""

    exit_code = 1


class Program(click.Group):
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
            raise _stopped(error) from None
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None
        except BrokenPipeError:
            # Whoever read the output has gone; Python would complain once more when it flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise click.exceptions.Exit(141) from None


@click.group("limbsweep", cls=Program, no_args_is_help=False, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="limbsweep", message="%(prog)s %(version)s")
def cli() -> None:
    """Sweeps over geometry, friction and trajectories of parallel robots: dynamics into a Zarr store."""


@cli.command()
@click.argument("name", required=False)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="With --export: other than the default.")
@click.option("--export", type=click.Path(path_type=Path), metavar="FILE", help="Write a robot file.")
def robots(name: str | None, settings: tuple[str, ...], export: Path | None) -> None:
    """List the catalogue, or the parameters of the robot NAME, which may be a robot file."""
    if export is None and not settings:
        _print(_catalogue() if name is None else _parameters(name))
    elif name is None or export is None:
        raise Refused(f"--{'set' if export is None else 'export'}: expected a robot and --export FILE; name both")
    else:
        _export(name, settings, export)


def _export(name: str, settings: tuple[str, ...], path: Path) -> None:
    from pipeline import robot_file
    from robots.formats import description, writing
    from robots.model import Robot

    robot = Robot.of(robot_file.find(name), dict(_setting(text) for text in settings))
    try:
        text = writing.text(description.describe(robot))
    except ValueError as error:
        raise Refused(f"--export: got {robot.name}: {error}") from None
    _write(path, text)
    click.echo(f"wrote {path}; next: {shlex.join(['limbsweep', 'robots', str(path)])}")


def _catalogue() -> Iterator[tuple[str, ...]]:
    from robots import catalog

    yield "name", "dof", "actuators", "title", "source"
    for family in catalog.FAMILIES.values():
        mechanism = catalog.build(family.name).mechanism
        freedom, actuators = len(mechanism.freedoms), len(mechanism.actuators)
        yield family.name, str(freedom), str(actuators), family.title, family.source


def _parameters(name: str) -> Iterator[tuple[str, ...]]:
    from pipeline import robot_file

    family = robot_file.find(name)
    yield "parameter", "default", "unit", "bounds", "meaning", "source"
    for each in family.parameters:
        bounds = f"[{each.lower:g}, {each.upper:g}]"
        yield each.name, f"{each.default:g}", each.unit, bounds, each.text, each.source


@cli.command()
@click.argument("name")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Another value than the default.")
@click.option("--output", type=click.Path(path_type=Path), help="The PNG file; default NAME.png.")
def show(name: str, settings: tuple[str, ...], output: Path | None) -> None:
    """Draw the robot NAME at its reference pose."""
    from pipeline import picture, robot_file
    from robots.model import Robot

    robot = Robot.of(robot_file.find(name), dict(_setting(text) for text in settings))
    path = output or Path(f"{robot.name}.png")
    if path.suffix.lower() != ".png":
        raise Refused(f"--output: got {str(path)!r}; expected a file name that ends in .png")
    with _writing(path):
        picture.save(robot, path)
    click.echo(f"wrote {path}")


@cli.command()
@click.argument("name")
@click.option("--output", type=click.Path(path_type=Path), default="sweep.yaml", help="Default: sweep.yaml.")
def new(name: str, output: Path) -> None:
    """Write a commented sweep file for the robot NAME."""
    from pipeline import robot_file
    from pipeline.template import sweep_text

    family = robot_file.find(name)
    _write(output, sweep_text(family, robot_file.seen_from(name, output.parent)))
    click.echo(f"wrote {output}; next: {shlex.join(['limbsweep', 'check', str(output)])}")


@cli.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--loops", type=click.Path(path_type=Path), help="Joints that close loops, and which are driven.")
@click.option("--output", type=click.Path(path_type=Path), default="robot.yaml", help="Default: robot.yaml.")
def import_(file: Path, loops: Path | None, output: Path) -> None:
    """Make a robot file of the URDF file FILE."""
    from pipeline.robot_import import import_urdf

    made = import_urdf(file, loops)
    for warning in made.warnings:
        click.echo(f"warning: {warning}", err=True)
    _write(output, made.text)
    click.echo(f"wrote {output}; next: {shlex.join(['limbsweep', 'show', str(output)])}")


@cli.command()
@SWEEP
@SUBSET
def check(sweep: Path, subset: str | None) -> None:
    """Validate the sweep file SWEEP and print the plan, without computing anything."""
    from pipeline.plan import plan

    for number, made in enumerate([plan(each) for each in _sweeps(sweep, subset)]):
        if number:
            click.echo()
        _print(made.rows())


TARGET = click.option("--store", help="Where to, a folder or a URL; default: SWEEP with .zarr, or the STORE given.")


@cli.command()
@SOURCE
@SUBSET
@TARGET
@CLUSTER
@GRANULARITY
def run(sweep: str, subset: str | None, store: str | None, cluster: Path | None, granularity: Granularity) -> None:
    """Run the sweep file SWEEP into a store; go on with a store that is not finished.

    A file with several robots makes a folder with a store for each. SWEEP may be a store: its own sweep then goes on in
    it, or is repeated in the one that --store names.
    """
    from pipeline.status import failed_cases

    stores, whole = _stores(sweep, subset, store)
    again = _command("run", sweep, whole, cluster, granularity, subset)
    blocks = cases = 0
    for each, place in stores:
        blocks += _run("run", each, place, cluster, granularity, again)
        cases += len(failed_cases(place))
        click.echo(f"results in {place}")
    _end(whole, blocks, cases, again)


@cli.command()
@SOURCE
@SUBSET
@TARGET
@CLUSTER
@GRANULARITY
def submit(sweep: str, subset: str | None, store: str | None, cluster: Path | None, granularity: Granularity) -> None:
    """Start a run of SWEEP that goes on without this terminal, and on a lasting cluster without this machine."""
    from pipeline.cluster_file import ClusterConfig
    from pipeline.submit import submit as begin

    config = ClusterConfig.from_yaml(cluster) if cluster else None
    for each, place in _stores(sweep, subset, store)[0]:
        made = begin(each, place, config, granularity)
        click.echo(f"process {made.pid} on {made.host} runs {sweep} into {place}; it prints to {made.output} there")
        for command in ("status", "attach", "cancel"):
            click.echo(f"  {shlex.join(['limbsweep', command, place])}")


@cli.command()
@STORE
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
def status(store: str, as_json: bool) -> None:
    """Say how far the run of STORE is, who runs it, and what has failed."""
    import json

    from pipeline.status import status as look

    found = look(store)
    if as_json:
        click.echo(json.dumps(found.as_dict()))
    else:
        _print(found.rows())


@cli.command()
@STORE
def attach(store: str) -> None:
    """Follow the run of STORE until it ends; the exit status is that of the run."""
    from pipeline.events import Finished, Stopped
    from pipeline.follow import follow
    from pipeline.progress import progress
    from pipeline.status import failed_cases

    with progress() as show_progress:
        for event in follow(store):
            show_progress(event)
    if isinstance(event, Stopped):
        raise _stopped(RunCancelledError(event.reason) if event.cancelled else RunStoppedError(event.reason))
    _end(store, event.failed_blocks if isinstance(event, Finished) else 0, len(failed_cases(store)), "the same command")


@cli.command()
@STORE
def cancel(store: str) -> None:
    """Ask the run of STORE to end, and wait until it has; it can be gone on with."""
    from pipeline.follow import cancel as ask

    ask(store)
    click.echo(f"cancelled; what has been stored stays in {store}, and running the sweep again goes on with it")


@cli.command()
@STORE
@click.argument("sweep", type=click.Path(path_type=Path), required=False)
@SUBSET
@CLUSTER
@GRANULARITY
@click.option("--drop", is_flag=True, help="Give up an append that was interrupted; STORE is what it was.")
def append(
    store: str, sweep: Path | None, subset: str | None, cluster: Path | None, granularity: Granularity, drop: bool
) -> None:
    """Add to STORE the designs or friction sets that SWEEP has more, without computing again what is there."""
    from pipeline.status import failed_cases

    if drop == (sweep is not None):
        raise click.UsageError("append needs a SWEEP, or --drop without one")
    if sweep is None:
        from pipeline.appending import drop as drop_growth

        drop_growth(store)
        click.echo(f"{store} is what it was before")
        return
    again = shlex.join(["limbsweep", "append", store, str(sweep), *_options(subset, cluster, granularity)])
    parsed = _sweeps(sweep, subset)
    blocks = _run("append", _of_robot(parsed, store), store, cluster, granularity, again)
    click.echo(f"results in {store}")
    _end(store, blocks, len(failed_cases(store)), again)


def _of_robot(sweeps: tuple[Sweep, ...], store: str) -> Sweep:
    """The sweep of the store's robot, or any one, which is refused with the difference."""
    from storage.manifest import Manifest

    robot = Manifest.load(store).attributes.get("robot")
    return next((each for each in sweeps if each.robot == robot), sweeps[0])


@cli.command()
@STORE
@click.option("--recompute", type=click.FloatRange(0, 1), default=0.0, help="Share of the blocks to compute again.")
@click.option("--seed", type=int, help="Which blocks these are; default: others every time.")
@click.option("--repair", is_flag=True, help="Compute damaged blocks, and nothing else.")
@CLUSTER
def verify(store: str, recompute: float, seed: int | None, repair: bool, cluster: Path | None) -> None:
    """Read all of STORE and hold it against its checksums and receipts; exit status 1 where something is wrong."""
    from pipeline.verification import verify

    found = verify(store, recompute, seed, repair=repair, cluster=cluster)
    _print(found.rows())
    if not found.is_sound:
        raise click.exceptions.Exit(1)


def _stores(given: str, subset: str | None, store: str | None) -> tuple[list[tuple[Sweep, str]], str]:
    """The sweeps of a file, or that of a store, with the store of each, and what all of these are in.

    One store, or one for each of several robots in a folder.
    """
    if _is_store(given):
        from pipeline.recompute import stored_sweep

        if subset:
            raise click.UsageError("--subset chooses a part of a sweep file; in a store the choice is made")
        return [(stored_sweep(given), store or given)], store or given
    parsed, name = _sweeps(Path(given), subset), f"{Path(given).stem}-{subset}" if subset else Path(given).stem
    whole = store or (name if len(parsed) > 1 else f"{name}.zarr")
    _check_name(whole)
    return [(each, f"{whole}/{each.robot}.zarr" if len(parsed) > 1 else whole) for each in parsed], whole


def _is_store(text: str) -> bool:
    """Whether an argument names a store: a folder, or a URL; a sweep is a file."""
    return "://" in text or Path(text).is_dir()


def _check_name(store: str) -> None:
    from pipeline.places import check_store_name

    if "://" not in store:
        check_store_name(Path(store))


def _command(
    name: str, sweep: str, store: str, cluster: Path | None, granularity: Granularity, subset: str | None
) -> str:
    """The command line that goes on with a run."""
    words = ["limbsweep", name, sweep, *(["--store", store] if store != sweep else [])]
    return shlex.join(words + _options(subset, cluster, granularity))


def _options(subset: str | None, cluster: Path | None, granularity: str) -> list[str]:
    """Options that were given, to be given again."""
    given = ["--cluster", str(cluster)] if cluster else []
    given += ["--granularity", granularity] if granularity != "limb" else []
    return given + (["--subset", subset] if subset else [])


def _end(store: str, blocks: int, cases: int, again: str) -> None:
    """Exit with 1 where something is missing in a store."""
    if blocks:
        click.echo(f"{blocks} blocks failed; try them again with: {again}", err=True)
    if cases:
        told = shlex.join(["limbsweep", "status", store])
        click.echo(f"{cases} cases cannot be computed and hold NaN; {told} says which and why", err=True)
    if blocks or cases:
        raise click.exceptions.Exit(1)


def _stopped(error: RunStoppedError, again: str = "") -> Refused:
    """The end of a command whose run has stopped."""
    kind = Interrupted if isinstance(error, RunCancelledError) else Incomplete
    return kind(f"{error}" + (f"\ngo on with: {again}" if again else ""))


def _sweeps(path: Path, subset: str | None) -> tuple[Sweep, ...]:
    """The sweeps in a file, one for each of its robots; their warnings go to standard error."""
    from pipeline.sweeps import read_sweeps

    sweeps = read_sweeps(path, subset)
    for warning in dict.fromkeys(warning for sweep in sweeps for warning in sweep.warnings):
        click.echo(f"warning: {warning}", err=True)
    return sweeps


def _run(what: str, sweep: Sweep, store: str, cluster: Path | None, granularity: Granularity, again: str) -> int:
    """Run or append with progress; the number of blocks that were given up."""
    import pipeline
    from pipeline.events import Event, Finished
    from pipeline.progress import progress

    last: deque[Event] = deque(maxlen=1)
    try:
        with progress() as show_progress:
            listeners = (show_progress, last.append)
            action = pipeline.append if what == "append" else pipeline.run
            action(sweep=sweep, store=store, cluster=cluster, listeners=listeners, granularity=granularity)
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted; go on with: {again}") from None
    except RunStoppedError as error:
        raise _stopped(error, again) from None
    return sum(event.failed_blocks for event in last if isinstance(event, Finished))


@cli.command()
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

    stores, _ = _stores(sweep, options["subset"], store)
    for each, _ in stores:
        if each.measurement is None and each.split is None:
            raise Refused(f"{sweep}: got neither measurement nor split; expected one of them; or use limbsweep run")
    ctx.invoke(run, sweep=sweep, store=store, **options)
    for each, place in stores:
        card.write(place, each, open_results(place, unfinished=True))
        click.echo(f"card in {place}/{card.FILE}")


@cli.command()
@STORE
@click.option("--method", default="weighted", show_default=True, help="Estimator.")
@click.option("--clean", is_flag=True, help="Use signals without errors of sensors.")
@click.option("--design", "designs", type=int, multiple=True, help="Number of a design; default: all.")
@click.option("--output", type=click.Path(path_type=Path), help="A CSV file for all parameters.")
@CLUSTER
def identify(
    store: str, method: str, clean: bool, designs: tuple[int, ...], output: Path | None, cluster: Path | None
) -> None:
    """Estimate the base parameters of the robots in STORE; exit status 1 where some cannot be."""
    from pipeline.identify import identify as estimate

    if output is not None and output.exists():
        raise Refused(f"{output} exists already; expected a new file. Name another one with --output")
    found = estimate(store, method, clean=clean, designs=designs or None, cluster=cluster)
    _print(found.rows())
    if output is not None:
        with _writing(output):
            found.save(output)
    if found.failed:
        raise click.exceptions.Exit(1)


@cli.command()
@STORE
@click.option("--format", "form", required=True, help="parquet, mat, npz or csv.")
@click.option("--output", type=click.Path(path_type=Path), help="The folder; default: STORE with the format's name.")
def export(store: str, form: str, output: Path | None) -> None:
    """Write STORE as files of another format."""
    from pipeline.export import export as write

    folder = output or Path(f"{store.rstrip('/').removesuffix('.zarr')}-{form}")
    click.echo(f"{len(write(store, folder, form))} files in {folder}")


@cli.command()
@STORE
def info(store: str) -> None:
    """Say what is in STORE."""
    from pipeline import describe
    from storage import open_results

    _print(describe.rows(open_results(store, unfinished=True), store))


def _looked_into(command: Callable[..., None]) -> Callable[..., None]:
    """The options of commands that look into one design of a store."""
    help_files = "Folder of the files that the sweep names, such as points; to draw the robot."
    command = click.option("--files", type=click.Path(path_type=Path), metavar="DIR", help=help_files)(command)
    command = click.option("--friction", type=int, metavar="N", help="Friction set; default: the most demanding.")(
        command
    )
    return click.option("--design", type=int, metavar="N", help="Design to look into; default: the best.")(command)


@cli.command()
@STORE
@click.option("--output", type=click.Path(path_type=Path), default="report.html", help="Default: report.html.")
@_looked_into
def report(store: str, output: Path, design: int | None, friction: int | None, files: Path | None) -> None:
    """Write a page about STORE: one HTML file that needs no network."""
    from pipeline.report import write_report

    with _writing(output):
        click.echo(f"wrote {write_report(store, output, design=design, friction=friction, files=files)}")


@cli.command()
@STORE
@click.argument("kind")
@click.option("--output", type=click.Path(path_type=Path), help="A .png, .svg or .pdf file; default: KIND.png.")
@_looked_into
def figure(
    store: str, kind: str, output: Path | None, design: int | None, friction: int | None, files: Path | None
) -> None:
    """Draw a figure of STORE: series, friction, parallel, front, sensitivity, workspace, status or mechanism."""
    from pipeline.report import static
    from pipeline.report.results import results_of

    path = output or Path(f"{kind}.png")
    results = results_of(store, design, friction, files)
    with _writing(path):
        static.save(results, kind, path)
    click.echo(f"wrote {path}")


@cli.command()
@click.argument("file", type=click.Path(path_type=Path))
def cluster(file: Path) -> None:
    """Validate the cluster file FILE and show what it would start: a job script, a pod, the arguments."""
    from pipeline.cluster import ClusterConfig, preview

    click.echo(preview(ClusterConfig.from_yaml(file)), nl=False)


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--days", type=int, default=90, show_default=True, help="How long they are valid.")
def certificates(folder: Path, days: int) -> None:
    """Make TLS files in FOLDER and print the section of a cluster file that names them."""
    from pipeline.certificates import make_certificates

    click.echo(make_certificates(folder, days), nl=False)


@cli.command()
@click.argument("names", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line instead of a table.")
@click.option("--quick", is_flag=True, help="Check the results on little work; the times mean nothing.")
def bench(names: tuple[str, ...], as_json: bool, quick: bool) -> None:
    """Run the benchmark cases NAMES, or all of them."""
    from benchmarks import cases

    cases.main(json=as_json, quick=quick, names=names)


cli.add_command(study)


def _setting(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        return name, float(value)
    except ValueError:
        raise Refused(f"--set: got {text!r}; expected NAME=VALUE with a number, such as upper_arm=0.3") from None


def _write(path: Path, text: str) -> None:
    """Write a new file."""
    with _writing(path), path.open("x", encoding="utf-8") as file:
        file.write(text)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise Refused(f"{path} exists already; expected a new file. Name another one with --output") from None
    except OSError as error:
        raise Refused(f"{path}: cannot be written: {error.strerror}") from None


def _print(table: Iterable[Sequence[str]]) -> None:
    """Print rows in columns; the last cell of a row has no padding."""
    lines = [tuple(row) for row in table]
    widths = [max(len(row[i]) for row in lines if i < len(row)) for i in range(max(map(len, lines), default=0))]
    for row in lines:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip())


def main() -> None:
    """Entry point of the script."""
    cli(prog_name="limbsweep")
