"""The command line `limbsweep`. Every command is a few lines over the Python interface, which can do the same.

Exit status: 0 done, 1 finished with failed blocks or without a single result, 2 misuse or bad input, 130 interrupted
and resumable (143 by SIGTERM, 129 by SIGHUP). `declared` has the commands, which import their bodies when they are
called, so that a command that computes nothing starts at once.
"""

from __future__ import annotations

import atexit
import os

import click

from applications.commands.declared.identification import IDENTIFICATION
from applications.commands.declared.options import argument, command, option
from applications.commands.declared.robots import ROBOTS
from applications.commands.declared.stores import DRAWINGS, STORED
from applications.commands.declared.studies import STUDY
from applications.commands.declared.sweeps import CLUSTERS, PLANNING, RUNS
from applications.commands.refusals import CommandGroup
from pipeline.execution.processes.garbage import collect_rarely, keep_all

BENCH = command(
    "bench",
    "bench",
    "Run the benchmark cases NAMES, or all of them.",
    argument("names", nargs=-1),
    option("--json", "as_json", is_flag=True, help="One JSON object per line instead of a table."),
    option("--quick", is_flag=True, help="Check results on small work; times mean nothing."),
    option("--record", is_flag=True, help="Keep the figures and report deviations from earlier runs."),
    option("--against", metavar="REV", help="Take turns with another commit; print ratios and regressions."),
    option("--turns", type=click.IntRange(3), default=5, show_default=True, help="Runs of each commit."),
)

COMMANDS = (*ROBOTS, *PLANNING, *RUNS, *STORED, *IDENTIFICATION, *DRAWINGS, *CLUSTERS, STUDY, BENCH)


@click.group(
    "limbsweep",
    cls=CommandGroup,
    commands={command.name: command for command in COMMANDS if command.name},
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="limbsweep", message="%(prog)s %(version)s")
def cli() -> None:
    """Sweep over geometry, friction and trajectories of parallel robots: dynamics into a Zarr store."""


def main() -> None:
    """Run the command line, as entry point of the script."""
    # matrices are small here: threads of BLAS wait for each other longer than they compute. Read when NumPy is imported
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    collect_rarely()
    atexit.register(keep_all)  # nothing is looked through at the end
    cli(prog_name="limbsweep")
