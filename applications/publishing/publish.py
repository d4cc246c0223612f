"""Publish a store: write a folder that Hugging Face, LeRobot, Croissant, RO-Crate and plain Parquet readers take."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from applications.publishing import card, crate, croissant, lerobot
from applications.publishing.episodes import Episode, episodes_of
from applications.publishing.frames import write_frames
from applications.publishing.statistics import Statistics
from applications.publishing.tables import write_tables
from applications.publishing.webdataset import ShardWriter
from pipeline.execution.opening import open
from pipeline.sweep.model import Sweep
from pipeline.sweep.publication.publication import Publication
from pipeline.sweep.stored import stored_sweep
from robots.arguments import check_arguments
from robots.extras import require_extra
from storage.errors import StoreError
from storage.inside import require_outside
from storage.places.location import LocationLike, refusals


@check_arguments
def publish(
    store: LocationLike,
    folder: str | Path,
    *,
    licence: str | None = None,
    authors: Sequence[str] = (),
    single: bool = False,
    webdataset: bool = False,
    sweep: Sweep | None = None,
) -> list[Path]:
    """Write a finished store as a dataset into a new folder, and return its files.

    licence, authors: instead of those in the section `publication` of the sweep. single: numbers in single precision.
    webdataset: episodes as tar files, too. sweep: a file whose section `publication` counts instead of the store's.
    Raises StoreError without licence or authors, for an unfinished store and for one without series.

    >>> [path.name for path in ls.publish("out.zarr", "dataset", licence="cc-by-4.0", authors=["A. Author"])][:2]
    ['README.md', 'croissant.json']
    """
    require_extra("pyarrow")
    folder, source = Path(folder), sweep or stored_sweep(store)
    publication = checked_publication(source, licence, tuple(authors))
    check_folder(folder)
    episodes = episodes_of(open(store), str(store), "float32" if single else "float64")
    statistics = Statistics.empty(
        {signal.name: signal.width for signal in episodes.signals}, len(episodes.rows), episodes.length
    )
    draft = folder.parent / f".{folder.name}.{uuid.uuid4().hex[:8]}.draft"
    try:
        with refusals(folder):
            draft.mkdir(parents=True)
            shards = ShardWriter(draft, episodes) if webdataset else None

            def listener(episode: Episode, signals: Mapping[str, np.ndarray]) -> None:
                statistics.add(episode.number, signals)
                if shards is not None:
                    shards.write(episode, signals)

            places = write_frames(draft, episodes, listener)
            if shards is not None:
                shards.close()
            lerobot.write_metadata(draft, source.robot, episodes, places, statistics)
            published = card.PublishedDataset(episodes, source, publication, write_tables(draft, episodes, source))
            _write_descriptions(draft, published)
            draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]


def check_folder(folder: Path) -> None:
    """Refuse a folder that exists, or that is inside a store. Raises StoreError."""
    if folder.exists():
        raise StoreError(f"{folder}: exists already; expected a new folder; name another one")
    require_outside(folder)


def checked_publication(sweep: Sweep, licence: str | None, authors: tuple[str, ...]) -> Publication:
    """Return licence, authors and so on of a dataset. Raises StoreError where one of these two is missing."""
    try:
        publication = sweep.publication.with_options(licence, authors)
    except ValueError as error:
        raise StoreError(str(error)) from None
    missing = [name for name in ("licence", "authors") if not getattr(publication, name)]
    if missing:
        raise StoreError(
            f"publication: got no {' and no '.join(missing)}; expected both; say them in the sweep, publication: "
            "{licence: cc-by-4.0, authors: [A. Author]}, or with --licence and --author"
        )
    return publication


def _write_descriptions(folder: Path, published: card.PublishedDataset) -> None:
    """Write the card, and the metadata of Croissant and RO-Crate, which name the other files."""
    crate.write_sources(folder, published)
    lerobot.write_json(folder / croissant.FILE, croissant.croissant(folder, published))
    (folder / "README.md").write_text(card.card(published), encoding="utf-8")
    lerobot.write_json(folder / crate.FILE, crate.crate(folder, published))
