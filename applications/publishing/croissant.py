"""Metadata of a published dataset as Croissant 1.1 (MLCommons): files with checksums, columns with types and units."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from applications.publishing.card import PublishedDataset
from applications.publishing.frames import INDEX
from applications.publishing.tables import FOLDER, NAMES

FILE = "croissant.json"
PARQUET = "application/x-parquet"


def croissant(folder: Path, published: PublishedDataset) -> dict[str, Any]:
    """Return the metadata of a folder whose files are written."""
    publication = published.publication
    metadata: dict[str, Any] = {
        "@context": json.loads(files("applications.publishing").joinpath("croissant_context.json").read_text("utf-8")),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": published.name,
        "description": published.summary,
        "license": publication.licence_address,
        "version": publication.version,
        "datePublished": published.date,
        "citeAs": published.citation,
        "creator": [{"@type": "sc:Person", "name": name} for name in publication.authors],
        "keywords": ["robotics", "system identification", published.sweep.robot],
        "isLiveDataset": False,
        "distribution": list(_distribution(folder, published)),
        "recordSet": list(_record_sets(folder, published)),
    }
    return metadata | ({"url": publication.address} if publication.address else {})


def _distribution(folder: Path, published: PublishedDataset) -> Iterator[dict[str, Any]]:
    for path in sorted((folder / "data").rglob("*.parquet")):
        yield _file(folder, path)
    for name in published.tables:
        yield _file(folder, folder / FOLDER / f"{name}.parquet")
    yield {
        "@type": "cr:FileSet",
        "@id": "sample-files",
        "name": "sample-files",
        "description": "Samples; a folder is a part of the dataset.",
        "encodingFormat": PARQUET,
        "includes": "data/*/*.parquet",
    }


def _file(folder: Path, path: Path) -> dict[str, Any]:
    place = path.relative_to(folder).as_posix()
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        "@type": "cr:FileObject",
        "@id": place,
        "name": place,
        "contentUrl": place,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": PARQUET,
        "sha256": digest,
    }


def _record_sets(folder: Path, published: PublishedDataset) -> Iterator[dict[str, Any]]:
    files = {"fileSet": {"@id": "sample-files"}}
    yield {
        "@type": "cr:RecordSet",
        "@id": "samples",
        "name": "samples",
        "description": "A row for each sample of each episode.",
        "key": {"@id": "samples/index"},
        "field": [_field("samples", files, *column) for column in _sample_columns(published)],
    }
    for name in published.tables:
        dim = next(dim for dim, table in NAMES.items() if table == name)
        source = {"fileObject": {"@id": f"{FOLDER}/{name}.parquet"}}
        yield {
            "@type": "cr:RecordSet",
            "@id": name,
            "name": name,
            "description": f"A row for each place along {dim}.",
            "key": {"@id": f"{name}/{dim}"},
            "field": [
                _field(name, source, column, kind, 1, text)
                for column, kind, text in _table_columns(folder / FOLDER / f"{name}.parquet", dim)
            ],
        }


def _table_columns(path: Path, dim: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, type and meaning of each column of a small table."""
    import pyarrow.parquet as parquet

    kinds = {"int64": "sc:Integer", "double": "cr:Float64", "string": "sc:Text"}
    for column in parquet.read_schema(path):
        unit = (column.metadata or {}).get(b"unit", b"").decode()
        text = f"{column.name} [{unit}]" if unit else column.name
        text = f"number, as in samples/{dim}" if column.name == dim else text
        yield column.name, kinds.get(str(column.type), "sc:Text"), text


def _sample_columns(published: PublishedDataset) -> Iterator[tuple[str, str, int, str]]:
    """Yield name, type, number of components and meaning of each column of samples."""
    episodes = published.episodes
    kind = "cr:Float64" if episodes.precision == "float64" else "cr:Float32"
    for signal in episodes.signals:
        parts = f"; components {', '.join(signal.components)}" if 1 < signal.width <= 12 else ""
        yield signal.name, kind, signal.width, f"{signal.text} [{signal.units}]{parts}"
    for dim in episodes.dims:
        yield dim, "sc:Integer", 1, f"number of the case along {dim}"
    yield "timestamp", "cr:Float32", 1, "time from the start of the episode [s]"
    for name in INDEX:
        yield name, "sc:Integer", 1, f"{name} as LeRobot defines it"


def _field(record_set: str, source: dict[str, Any], name: str, kind: str, width: int, text: str) -> dict[str, Any]:
    shape = {"isArray": True, "arrayShape": str(width)} if width > 1 else {}
    return {
        "@type": "cr:Field",
        "@id": f"{record_set}/{name}",
        "name": name,
        "description": text,
        "dataType": kind,
        **shape,
        "source": {**source, "extract": {"column": name}},
    }
