"""Body of the command check."""

from __future__ import annotations

from pathlib import Path

import click

from applications.commands.refusals import Incomplete
from applications.commands.sweep_inputs import sweeps_in
from applications.commands.terminal import print_rows
from pipeline.plan.plan import plan

TIME = "time"
"""Row of a plan that is measured, unless it has to be quick."""


def check(sweep: Path, subset: str | None, quick: bool) -> None:
    """Validate a sweep file, print the plan, and try a few designs."""
    sweeps = sweeps_in(sweep, subset)
    for number, sweep_plan in enumerate([plan(parsed) for parsed in sweeps]):
        if number:
            click.echo()
        print_rows(row for row in sweep_plan.rows() if quick or row[0] != TIME)
    if quick:
        return
    # all that computes, which the plan does not wait for
    from pipeline.execution import measured_time, trial

    for parsed in sweeps:
        rows = [("robot", parsed.robot), (TIME, measured_time.measured_time(parsed).text)]
        print_rows(rows[0 if len(sweeps) > 1 else 1 :])
    all_failed = False
    for parsed in sweeps:
        tried = trial.trial(parsed)
        for line in tried.lines():
            click.echo(line if line.startswith(" ") else f"warning: {parsed.robot}: {line}", err=True)
        all_failed |= tried.result.all_failed
    if all_failed:
        raise Incomplete("every sample that was tried failed: the sweep would have no results")
