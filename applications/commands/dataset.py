"""Body of the command dataset."""

from __future__ import annotations

from pathlib import Path

import click

from applications.commands.refusals import Refused
from applications.commands.runs import run
from applications.commands.sweep_inputs import stores_of
from applications.identification import dataset_card
from pipeline.execution.graph import Granularity
from storage import open_results


def dataset(
    sweep: str, subset: str | None, store: str | None, cluster: Path | None, granularity: Granularity | None
) -> None:
    """Run a sweep with a section measurement or split, and write the card of its dataset."""
    stores, _ = stores_of(sweep, subset, store)
    for parsed, _ in stores:
        if parsed.measurement is None and parsed.split is None:
            raise Refused(f"{sweep}: got neither measurement nor split; expected one of them; or use limbsweep run")
    run(sweep, subset, store, cluster, granularity)
    for parsed, place in stores:
        dataset_card.write(place, parsed, open_results(place, unfinished=True))
        click.echo(f"card in {place}/{dataset_card.FILE}")
