"""Identification of a machine from its recordings, for the command identify."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from applications.commands.identify_options import ROLES, IdentifyOptions
from applications.commands.refusals import Refused
from applications.commands.terminal import print_rows, print_warnings, show_stage
from applications.identification.machines import results
from applications.identification.machines.described import RecordingDescription
from applications.identification.machines.description import read_description
from applications.identification.machines.identify import identify_recordings
from applications.identification.machines.page import save_page
from applications.identification.machines.recorded import is_recorded, read_recordings, save_recordings
from pipeline.documents.outputs import checked_suffix, output

__all__ = ["identify", "is_recorded"]


def identify(options: IdentifyOptions) -> None:
    """Estimate parameters of a machine, and write the files that were asked for."""
    _check(options)
    result = identify_recordings(_description(options), show_stage)
    print_rows(result.rows())
    print_warnings(result.warnings)
    if options.store is not None:
        save_recordings(result, options.store)
    writers: tuple[Callable[[Path], None], ...] = (
        partial(results.save_parameters, result),
        partial(results.save_robot, result),
        partial(save_page, result),
        partial(results.save_dataset, result),
    )
    for (option, path), write in zip(options.written, writers, strict=True):
        if path is not None:
            with output(path, option=option) as draft:
                write(draft)


def _check(options: IdentifyOptions) -> None:
    """Raise for recordings without a description or without training, and for files of an unknown format."""
    if options.roles and options.columns is None:
        raise Refused("--columns: got none; expected a recording description, which names the columns of files")
    if options.roles and not any(role == ROLES[0] for _, role in options.roles):
        raise Refused("FILES: got recordings for validation or tests alone; expected at least one for training")
    if options.output is not None:
        checked_suffix(options.output, results.FORMATS)
    if options.robot_file is not None:
        checked_suffix(options.robot_file, results.ROBOTS)


def _description(options: IdentifyOptions) -> RecordingDescription:
    """Return the description of the recordings, from a store of them or from a file."""
    if not options.roles and is_recorded(options.source):
        return read_recordings(options.source, options.method, options.deviations)
    return read_description(
        options.described,
        robot=options.source if options.roles else None,
        files=options.roles,
        folder=options.folder,
        method=options.method,
        deviations=options.deviations,
    )
