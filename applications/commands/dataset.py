"""Body of the command dataset."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict, Unpack

import click

from applications.commands.refusals import Refused
from applications.commands.runs import run
from applications.commands.sweep_inputs import stores_of
from applications.identification import dataset_card
from applications.publishing.publish import check_folder, checked_publication
from applications.publishing.publish import publish as publish_store
from pipeline.errors import size
from pipeline.execution import opening
from pipeline.execution.graph import Granularity
from pipeline.sweep.model import Sweep
from robots.extras import require_extra


class PublishOptions(TypedDict):
    """Options of a publication."""

    licence: str | None
    authors: tuple[str, ...]
    single: bool
    webdataset: bool


def dataset(
    sweep: str,
    subset: str | None,
    store: str | None,
    cluster: Path | None,
    granularity: Granularity | None,
    publish: Path | None,
    **options: Unpack[PublishOptions],
) -> None:
    """Run a sweep with a section measurement or split, write the card of its dataset, and publish it if asked."""
    stores, _ = stores_of(sweep, subset, store)
    _check(publish, options, [parsed for parsed, _ in stores])
    for parsed, _ in stores:
        if parsed.measurement is None and parsed.split is None:
            raise Refused(f"{sweep}: got neither measurement nor split; expected one of them; or use limbsweep run")
    run(sweep, subset, store, cluster, granularity)
    for parsed, place in stores:
        dataset_card.write(place, parsed, opening.open(place, unfinished=True))
        click.echo(f"card in {place}/{dataset_card.FILE}")
        if publish is not None:
            folder = _target(publish, parsed, len(stores))
            files = publish_store(place, folder, sweep=parsed, **options)
            click.echo(f"dataset in {folder}: {len(files)} files, {size(sum(path.stat().st_size for path in files))}")


def _target(folder: Path, sweep: Sweep, count: int) -> Path:
    """Return the folder of a dataset: one for each of several robots."""
    return folder / sweep.robot if count > 1 else folder


def _check(folder: Path | None, options: PublishOptions, sweeps: Sequence[Sweep]) -> None:
    """Refuse options and sweeps that cannot be published, before anything runs."""
    if folder is None:
        if wrong := [name for name, value in options.items() if value]:
            flag = "--author" if wrong[0] == "authors" else f"--{wrong[0]}"
            raise Refused(f"{flag}: got it without --publish; expected both; name the folder of the dataset")
        return
    require_extra("pyarrow")
    for sweep in sweeps:
        check_folder(_target(folder, sweep, len(sweeps)))
        checked_publication(sweep, options["licence"], options["authors"])
