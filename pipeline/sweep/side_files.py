"""Read the files that a sweep names, such as points: from the folder of the sweep file, or from its store.

Whatever is read is kept with the sweep, so that its store can hold it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.documents.document import KeyPath
from pipeline.documents.files import FileSource, read_bytes
from pipeline.documents.report import Report
from pipeline.documents.tables.columns import KEPT, SIDE, Bounds
from pipeline.documents.tables.reader import parse_table
from pipeline.documents.tables.table import Table
from pipeline.errors import InputError, refused
from robots.data_classes import dataclass, field
from storage import sources
from storage.places.access import locate
from storage.places.location import Location, LocationLike


@dataclass(frozen=True)
class Folder:
    """The folder of a sweep file, and the files below it."""

    path: Path

    @property
    def root(self) -> Path:
        """The folder."""
        return self.path

    def holds(self, name: str) -> bool:
        """Return whether a name stays in the folder, links followed."""
        root = self.path.resolve()
        try:
            return "\0" not in name and (root / name).resolve().is_relative_to(root)
        except (OSError, RuntimeError):  # links that lead to themselves
            return False

    def shown(self, name: str) -> str:
        """Return the path of a file."""
        return str(self.path / name)

    def read(self, name: str, limit: int) -> bytes:
        """Return the content of a file. Raises InputError."""
        return read_bytes(self.shown(name), limit)

    def keeps(self, name: str) -> bool:
        """Return False: anybody may write the files of a folder."""
        return False


@dataclass(frozen=True)
class StoredFiles:
    """The files in a store; one that is lost there is read from a folder, if it has the same checksum."""

    place: Location
    attributes: Mapping[str, Any]
    folder: Folder

    @property
    def root(self) -> Path:
        """The folder for files that the store does not have."""
        return self.folder.path

    def keeps(self, name: str) -> bool:
        """Return whether the store has the file."""
        return name in self.attributes.get(sources.ATTRIBUTE, {})

    def holds(self, name: str) -> bool:
        """Return whether the store or the folder may have the file. Stores of older versions have no files."""
        return self.keeps(name) or self.folder.holds(name)

    def shown(self, name: str) -> str:
        """Return the name of a file in messages."""
        return sources.read(self.place, self.attributes, name)[0] if self.keeps(name) else self.folder.shown(name)

    def read(self, name: str, limit: int) -> bytes:
        """Return the content of a file, the same as when the store was made. Raises InputError."""
        if not self.keeps(name):
            return self.folder.read(name, limit)
        shown, hashed, data = sources.read(self.place, self.attributes, name)
        if data is None and self.folder.holds(name) and os.path.exists(self.folder.shown(name)):
            content = self.folder.read(name, limit)
            data = content if sources.digest(content) == hashed else None
        if data is None:
            hint = f"Put that file at {self.folder.shown(name)} as it was, then: limbsweep verify --repair."
            rule = f"the file {name} that the store was made from"
            raise refused(shown, "a file that is missing or damaged", rule, hint)
        return data


@dataclass
class SideFiles:
    """The files of one sweep, read on request; `contents` are those of the files that were read."""

    source: FileSource
    contents: dict[str, bytes] = field(default_factory=dict)

    def read(self, name: str, limit: int) -> bytes:
        """Return the content of a file. Raises InputError."""
        if name not in self.contents:
            self.contents[name] = self.source.read(name, limit)
        return self.contents[name]

    def table(
        self,
        report: Report,
        name: str,
        path: KeyPath,
        bounds: Bounds = SIDE,
        positions: Sequence[str] = (),
        labels: Sequence[str] = (),
    ) -> Table | None:
        """Return the table in a file that the key at `path` names; None where it is not sound, which is reported."""
        if not self.source.holds(name):
            hint = "Copy it there: a sweep reads no files from elsewhere."
            report(path, name, "a file in the folder of the sweep or below", hint)
            return None
        try:
            bounds = KEPT if self.source.keeps(name) else bounds
            return parse_table(self.read(name, bounds.file), name, self.source.shown(name), positions, labels, bounds)
        except InputError as error:
            report.problems += error.problems
            return None


@dataclass(frozen=True)
class MemoryFiles:
    """Files that are in memory, such as the arrays of a sweep made from objects; no others may be named."""

    contents: Mapping[str, bytes] = field(repr=False)
    folder: Folder = Folder(Path())

    @property
    def root(self) -> Path:
        """The folder for robot files."""
        return self.folder.path

    def holds(self, name: str) -> bool:
        """Return whether there is such a file, here or in the folder."""
        return self.keeps(name) or self.folder.holds(name)

    def keeps(self, name: str) -> bool:
        """Return whether the content is in memory."""
        return name in self.contents

    def shown(self, name: str) -> str:
        """Return the name of a file."""
        return name if name in self.contents else self.folder.shown(name)

    def read(self, name: str, limit: int) -> bytes:
        """Return the content of a file; those in memory have no limit. Raises InputError."""
        return self.contents[name] if name in self.contents else self.folder.read(name, limit)


def source_of(place: str | os.PathLike[str] | FileSource) -> FileSource:
    """Return the source of a folder, or the source itself."""
    return Folder(Path(place)) if isinstance(place, str | os.PathLike) else place


def stored_files(store: LocationLike, folder: str | Path = ".") -> StoredFiles:
    """Open the files in a store. Raises StoreError."""
    from storage.manifest import Manifest

    place = locate(store)
    return StoredFiles(place, Manifest.load(place).attributes.values, Folder(Path(folder)))
