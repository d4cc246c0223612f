"""Sweeps that commands read, from files and stores, with the stores that they go into."""

from __future__ import annotations

from pathlib import Path

import click

from applications.commands.terminal import print_warnings
from pipeline.stores.names import check_store_name
from pipeline.sweep.doors import read_sweeps
from pipeline.sweep.model import Sweep
from pipeline.sweep.stored import stored_sweep
from storage.inside import MANIFEST


def sweeps_in(path: Path, subset: str | None) -> tuple[Sweep, ...]:
    """Read the sweeps in a file, one for each of its robots; their warnings go to standard error."""
    sweeps = read_sweeps(path, subset)
    print_warnings(warning for sweep in sweeps for warning in sweep.warnings)
    return sweeps


def stores_of(source: str, subset: str | None, store: str | None) -> tuple[list[tuple[Sweep, str]], str]:
    """List the sweeps of a file, or that of a store, with the store of each, and the place of all of them.

    One store, or one for each of several robots in a folder.
    """
    if _is_store(source):
        if subset:
            raise click.UsageError("--subset chooses a part of a sweep file; in a store the choice is made")
        return [(stored_sweep(source), store or source)], store or source
    sweeps, name = sweeps_in(Path(source), subset), f"{Path(source).stem}-{subset}" if subset else Path(source).stem
    several = len(sweeps) > 1
    whole = store or (name if several else f"{name}.zarr")
    if "://" not in whole:
        check_store_name(Path(whole))
    return [(sweep, f"{whole}/{sweep.robot}.zarr" if several else whole) for sweep in sweeps], whole


def _is_store(text: str) -> bool:
    """Return whether an argument names a store: its folder, or a URL. A sweep is a file."""
    path = Path(text)
    return "://" in text or (path.is_dir() and (path.suffix == ".zarr" or (path / MANIFEST).exists()))


def options(subset: str | None, cluster: Path | None, granularity: str | None) -> list[str]:
    """Write the options that were given, to be given again."""
    words = ["--cluster", str(cluster)] if cluster else []
    words += ["--granularity", granularity] if granularity else []
    return words + (["--subset", subset] if subset else [])
