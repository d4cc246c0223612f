"""Commands on stores: append, verify, sign, info, export, report, figure."""

from __future__ import annotations

from pathlib import Path

import click

from applications.commands.declared.options import (
    CASES,
    CLUSTER,
    FILE,
    FORCED,
    GRANULARITY,
    OBJECTIVES,
    STORE,
    STORES,
    SUBSET,
    WHERE,
    argument,
    command,
    option,
    output_option,
)

STORED = (
    command(
        "append",
        "append",
        "Add the further designs or friction sets of SWEEP to STORE, without computing existing blocks again.",
        STORE,
        argument("sweep", type=FILE, required=False),
        SUBSET,
        CLUSTER,
        GRANULARITY,
        option("--drop", is_flag=True, help="Drop an interrupted append; STORE is as before it."),
    ),
    command(
        "verify",
        "verify",
        "Check all of STORE against its checksums and receipts; exit status 1 for any fault.",
        STORE,
        option("--recompute", type=click.FloatRange(0, 1), default=0.0, help="Share of the blocks to compute again."),
        option("--seed", type=click.IntRange(0), help="Seed of the choice of blocks; default: a new one."),
        option("--repair", is_flag=True, help="Compute damaged blocks alone."),
        option("--signed-by", type=FILE, help="Public key of the signature of STORE."),
        CLUSTER,
    ),
    command(
        "sign",
        "signing",
        "Sign STORE with a key of yours: `verify --signed-by` then finds deliberate changes.",
        STORE,
        option("--key", required=True, type=FILE, help="Private key (ed25519)."),
    ),
    command(
        "info",
        "info",
        "Describe the content of STORE, with a digest that is equal for equal results.",
        STORE,
        option("--digest", is_flag=True, help="Compute the digest also of more than 1 GiB of results."),
    ),
    command(
        "export",
        "export",
        """Write STORE as files of another format.

        Tables (parquet, csv) are a file with a row for each sample, and metrics.csv or metrics.parquet with a row for
        each design, friction set and trajectory, and a column for each metric and component. npz and mat_designs are a
        file for each design, the others one file with everything. All have designs.csv, friction.csv and
        trajectories.csv beside.
        """,
        STORE,
        option("--format", "form", required=True, help="parquet, netcdf, hdf5, mat, mat_designs, npz or csv."),
        option("--output", type=FILE, help="The folder; default: STORE with the format's name."),
    ),
)

VIEW = (
    option("--design", type=int, metavar="N", help="Design shown in detail; default: the best."),
    option("--friction", type=int, metavar="N", help="Friction set; default: the most demanding."),
    option(
        "--files",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help="Folder of the files that the sweep names, such as points; to draw the robot.",
    ),
)
"""Options of commands that show one design of a store."""

DRAWINGS = (
    command(
        "report",
        "report",
        """Write a page with the answer to the question of STORE first: one HTML file that needs no network.

        Several stores are compared: robots on the same task, or runs against each other.
        """,
        STORES,
        output_option(default="report.html", help="The .html file; default: report.html."),
        FORCED,
        *VIEW,
        OBJECTIVES,
        WHERE,
        CASES,
    ),
    command(
        "figure",
        "figure",
        "Draw a figure of STORE: series, friction, parallel, front, sensitivity, workspace, status or mechanism.",
        STORE,
        argument("kind"),
        output_option(help="A .png, .svg or .pdf file, of a mechanism also .gif; default: KIND.png."),
        FORCED,
        *VIEW,
    ),
)
