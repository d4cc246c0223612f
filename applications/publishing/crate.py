"""Provenance of a published dataset as RO-Crate 1.1: the sweep, its files and the program that made the data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from applications.publishing.card import PublishedDataset

FILE = "ro-crate-metadata.json"
FOLDER = "provenance"
SWEEP = "sweep.yaml"


def write_sources(folder: Path, published: PublishedDataset) -> None:
    """Write the sweep and the files that it names, as the store has them."""
    place = folder / FOLDER
    place.mkdir()
    (place / SWEEP).write_text(published.sweep.text, encoding="utf-8")
    for name, content in published.sweep.sources.items():
        path = place / name
        if not path.resolve().is_relative_to(place.resolve()) or path.exists():
            continue  # a name that leads elsewhere was refused when the sweep was read
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def crate(folder: Path, published: PublishedDataset) -> dict[str, Any]:
    """Return the metadata of a folder whose files are written."""
    files = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file()]
    graph = [_descriptor(), _root(published, files), *_people(published), *_origin(published, files)]
    graph += [{"@id": name, "@type": "File", "contentSize": str((folder / name).stat().st_size)} for name in files]
    return {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": graph}


def _descriptor() -> dict[str, Any]:
    return {
        "@id": FILE,
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
    }


def _root(published: PublishedDataset, files: list[str]) -> dict[str, Any]:
    return {
        "@id": "./",
        "@type": "Dataset",
        "name": published.title,
        "description": published.summary,
        "datePublished": published.date,
        "version": published.publication.version,
        "license": {"@id": published.publication.licence_address},
        "author": [{"@id": f"#author-{k}"} for k in range(len(published.publication.authors))],
        "identifier": published.sweep.fingerprint,
        "mentions": {"@id": "#run"},
        "hasPart": [{"@id": name} for name in files],
    }


def _people(published: PublishedDataset) -> Iterator[dict[str, Any]]:
    yield {
        "@id": published.publication.licence_address,
        "@type": "CreativeWork",
        "name": published.publication.licence,
    }
    for k, name in enumerate(published.publication.authors):
        yield {"@id": f"#author-{k}", "@type": "Person", "name": name}


def _origin(published: PublishedDataset, files: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the run, the program with its version, and the packages that it computed with."""
    attributes = published.episodes.data.attrs
    versions = dict(json.loads(str(attributes.get("versions", "{}"))))
    sources = [name for name in files if name.startswith(f"{FOLDER}/")]
    yield {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"limbsweep dataset, fingerprint {published.sweep.fingerprint}",
        "endTime": str(attributes.get("created", published.date)),
        "instrument": {"@id": "#limbsweep"},
        "object": [{"@id": name} for name in sources],
        "result": {"@id": "./"},
    }
    yield {
        "@id": "#limbsweep",
        "@type": "SoftwareApplication",
        "name": "limbsweep",
        "softwareVersion": str(versions.get("limbsweep", "")),
        "softwareRequirements": [{"@id": f"#{name}"} for name in versions if name != "limbsweep"],
    }
    for name, version in versions.items():
        if name != "limbsweep":
            yield {
                "@id": f"#{name}", "@type": "SoftwareApplication", "name": name, "softwareVersion": str(version)
            }  # fmt: skip
