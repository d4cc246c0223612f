"""The command line `limbsweep`. Every body is a few lines over the Python interface, so nothing can be done only here.

Exit status: 0 done, 1 finished with failed blocks or without a single result, 2 misuse or bad input, 130 interrupted
and resumable (143 by SIGTERM, 129 by SIGHUP). Bodies import what they need, so that a command that computes nothing
starts at once.
"""

from __future__ import annotations

import click

from applications.commands.terminal import CommandGroup, CommandTable
from pipeline.execution.processes.garbage import collect_rarely

HOME = "applications.commands."
COMMANDS = {
    **dict.fromkeys(("robots", "show", "code", "new"), "robots"),
    "import": "robots:import_",
    "schema": "schemas:print_schema",
    **dict.fromkeys(("check", "run", "submit", "status", "attach", "cancel"), "runs"),
    **dict.fromkeys(("append", "verify", "sign", "info"), "stores"),
    **dict.fromkeys(("dataset", "identify", "calibrate", "excite", "export"), "data"),
    **dict.fromkeys(("report", "figure"), "drawings"),
    **dict.fromkeys(("cluster", "certificates"), "clusters"),
    "study": "studies",
}
"""Modules of commands, with the name there where it is another one; a command is loaded when it is called."""


@click.group(
    "limbsweep",
    cls=CommandGroup,
    commands=CommandTable(
        {name: HOME + (home if ":" in home else f"{home}:{name}") for name, home in COMMANDS.items()}
    ),
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="limbsweep", message="%(prog)s %(version)s")
def cli() -> None:
    """Sweeps over geometry, friction and trajectories of parallel robots: dynamics into a Zarr store."""


@cli.command()
@click.argument("names", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line instead of a table.")
@click.option("--quick", is_flag=True, help="Check results on small work; times mean nothing.")
@click.option("--record", is_flag=True, help="Keep the figures and report deviations from earlier runs.")
@click.option("--against", metavar="REV", help="Take turns with another commit; print ratios and what is worse.")
@click.option("--turns", type=click.IntRange(3), default=5, show_default=True, help="Runs of each commit.")
def bench(names: tuple[str, ...], as_json: bool, quick: bool, record: bool, against: str | None, turns: int) -> None:
    """Run the benchmark cases NAMES, or all of them."""
    from benchmarks import cases

    if record and quick:
        raise click.UsageError("--record: got --quick as well, whose times mean nothing; leave one of them out")
    if against is None:
        cases.main(json=as_json, quick=quick, record=record, names=names)
        return
    if as_json or record:
        raise click.UsageError("--against: got --json or --record as well; leave them out, it prints a table of ratios")
    from benchmarks import against as other

    cases.check(names)
    if not other.show(against, names, turns=turns, quick=quick):
        raise click.exceptions.Exit(1)


def main() -> None:
    """Entry point of the script."""
    collect_rarely()
    cli(prog_name="limbsweep")
