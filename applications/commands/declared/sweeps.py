"""Commands that plan, run and follow sweeps, write schemas of the files, and check clusters."""

from __future__ import annotations

import click

from applications.commands.declared.options import (
    CLUSTER,
    CLUSTER_CHECKED,
    DEVICE,
    FILE,
    GRANULARITY,
    SOURCE,
    STORE,
    SUBSET,
    SWEEP,
    TARGET,
    argument,
    command,
    option,
)

SCHEMAS = ("sweep", "robot", "loops", "cluster")
"""Kinds of files that have a schema."""

PLANNING = (
    command(
        "schema",
        "schemas:print_schema",
        "Print the JSON Schema of a KIND of file: sweep (the default), robot, loops or cluster; editors check by it.",
        argument("kind", type=click.Choice(SCHEMAS), default=SCHEMAS[0]),
        option("--output", type=FILE, help="New file for the schema; default: print it."),
    ),
    command(
        "check",
        "check",
        """Validate the sweep file SWEEP, print the plan, and try a few designs: failures are warnings.

        The exit status is 1 if all tried designs fail. With --cluster, each worker of a scheduler that runs is checked
        as for a run, and the command says which workers may compute and who writes the results.
        """,
        SWEEP,
        SUBSET,
        option("--quick", is_flag=True, help="Compute no designs; with --cluster, workers compute one case."),
        CLUSTER_CHECKED,
        TARGET,
    ),
)
RUNS = (
    command(
        "run",
        "runs",
        """Run the sweep file SWEEP into a store; resume an unfinished store.

        A file with several robots makes a folder with a store for each. SWEEP may be a store: its sweep is then resumed
        in it, or is repeated in the one that --store names.
        """,
        SOURCE,
        SUBSET,
        TARGET,
        CLUSTER,
        GRANULARITY,
        DEVICE,
    ),
    command(
        "submit",
        "submitted",
        "Start a run of SWEEP that outlives this terminal, and on a lasting cluster this machine.",
        SOURCE,
        SUBSET,
        TARGET,
        CLUSTER,
        GRANULARITY,
    ),
    command(
        "status",
        "progress",
        "Show the progress of the run of STORE, its process, and its failures.",
        STORE,
        option("--json", "as_json", is_flag=True, help="One JSON object instead of a table."),
        option("--page", type=FILE, help="Write a page of the run (HTML), again and again until the run ends."),
    ),
    command("attach", "attach", "Follow the run of STORE until it ends; the exit status is that of the run.", STORE),
    command(
        "cancel",
        "progress",
        "Ask the run of STORE to end, and wait until it has ended; `limbsweep run` resumes it.",
        STORE,
    ),
)
CLUSTERS = (
    command(
        "cluster",
        "clusters",
        "Validate the cluster file FILE and show the cluster that it would start: job script, pod or arguments.",
        argument("file", type=FILE),
    ),
    command(
        "certificates",
        "clusters",
        "Make TLS files in FOLDER and print the section of a cluster file that names them.",
        argument("folder", type=FILE),
        option("--days", type=int, default=90, show_default=True, help="Days of validity."),
    ),
)
