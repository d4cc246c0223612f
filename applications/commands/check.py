"""Body of the command check."""

from __future__ import annotations

from pathlib import Path

import click

from applications.commands.cluster_inputs import cluster_in
from applications.commands.refusals import Incomplete
from applications.commands.sweep_inputs import stores_of
from applications.commands.terminal import print_rows
from pipeline.plan.plan import plan

TIME = "time"
"""Row of a plan that is measured, unless it has to be quick."""


def check(sweep: Path, subset: str | None, quick: bool, cluster: Path | None = None, store: str | None = None) -> None:
    """Validate a sweep file, print the plan, try a few designs, and ask a cluster for its workers."""
    stores, _ = stores_of(str(sweep), subset, store)
    sweeps, config = [parsed for parsed, _ in stores], cluster_in(cluster)
    plans = [(plan(parsed), place) for parsed, place in stores]
    for number, (sweep_plan, _) in enumerate(plans):
        if number:
            click.echo()
        print_rows(row for row in sweep_plan.rows() if quick or row[0] != TIME)
    if quick and config is None:
        return
    # all that computes, which the plan does not wait for
    from pipeline.execution import cluster_check, measured_time, trial

    if config is not None:
        print_rows(row for sweep_plan, place in plans for row in cluster_check.cluster_rows(sweep_plan, config, place))
    if quick:
        return
    for parsed in sweeps:
        rows = [("robot", parsed.robot), (TIME, measured_time.measured_time(parsed).text)]
        print_rows(rows[0 if len(sweeps) > 1 else 1 :])
    all_failed = False
    for parsed in sweeps:
        tried = trial.trial(parsed)
        for line in tried.lines():
            click.echo(line if line.startswith(" ") else f"warning: {parsed.robot}: {line}", err=True)
        all_failed |= tried.result.all_failed
        if tried.result.all_failed and parsed.family.reference.platform.mobility:
            x, y, z = (float(number) for number in parsed.family.reference.platform.home.position)
            click.echo(
                f"  Positions of trajectories count from the reference position, ({x:g}, {y:g}, {z:g}) m.", err=True
            )
    if all_failed:
        raise Incomplete("every sample that was tried failed: the sweep would have no results")
