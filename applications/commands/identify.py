"""Body of the command identify: from a store, or from recordings of a machine.

Errors in the options are reported before the estimation modules are imported, which takes seconds.
"""

from __future__ import annotations

from pathlib import Path

from applications.commands.identify_options import IdentifyOptions
from applications.commands.refusals import Refused
from applications.commands.terminal import with_record
from applications.identification.machines.description_keys import check_keys
from pipeline.documents.outputs import check_output
from pipeline.documents.tables.reader import is_recording_name


@with_record(IdentifyOptions)
def identify(options: IdentifyOptions) -> None:
    """Estimate base parameters of the robots in a store, or of a machine from its recordings."""
    for option, path in options.written:
        if path is not None:
            check_output(path, option=option, flag="")
    _refuse_tables(options.source)
    is_described = bool(options.roles) or options.source.lower().endswith((".yaml", ".yml"))
    if is_described and options.described.suffix.lower() in (".yaml", ".yml"):
        check_keys(options.described)
    from applications.commands import identify_recordings, identify_store  # scipy and all that computes

    if is_described or identify_recordings.is_recorded(options.source):
        identify_recordings.identify(options)
    else:
        identify_store.identify(options)


def _refuse_tables(source: str) -> None:
    """Raise Refused for a file of signals in the place of a description of its columns."""
    if is_recording_name(source) and Path(source).is_file():
        raise Refused(
            f"{source}: got a file of signals alone; expected a recording description, which names its robot and "
            f"columns. Write one, or limbsweep identify ROBOT {source} --columns DESCRIPTION"
        )
