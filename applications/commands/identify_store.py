"""Identification of the robots in a store of results, for the command identify."""

from __future__ import annotations

import click

from applications.commands.identify_options import IdentifyOptions
from applications.commands.refusals import Refused
from applications.commands.terminal import forced, print_rows
from applications.identification.identify import FORMATS
from applications.identification.identify import identify as estimate
from pipeline.documents.outputs import checked_suffix


def identify(options: IdentifyOptions) -> None:
    """Estimate base parameters of the designs of a store."""
    of_recordings = {
        "--robot": options.robot_file, "--report": options.page, "--dataset": options.netcdf,
        "--columns": options.columns, "--store": options.store, "--deviations": options.deviations,
    }  # fmt: skip
    if unfit := [name for name, value in of_recordings.items() if value is not None]:
        raise Refused(f"{', '.join(unfit)}: got a store of simulated results; this option is for recordings")
    if options.output is not None:
        checked_suffix(options.output, FORMATS)
    identified = estimate(
        options.source,
        options.method or "weighted",
        clean=options.clean,
        motion=options.motion,
        designs=options.designs or None,
        cluster=options.cluster,
    )
    print_rows(identified.rows())
    if options.output is not None:
        identified.save(options.output, force=forced())
    if identified.failed:
        raise click.exceptions.Exit(1)
