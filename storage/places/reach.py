"""Reach of a location: data by which a process on another machine finds the same folder or prefix and writes there.

A folder is known by a mark, an empty file with a name of its own: another machine may have a folder of the same path,
even a copy of the same store.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from robots.data_classes import dataclass
from storage.errors import StoreError
from storage.places.location import DRAFT, Location


@dataclass(frozen=True)
class Mark:
    """Location with the files of which one has to be there; no files for object storage."""

    location: Location
    files: tuple[str, ...] = ()

    @property
    def is_folder(self) -> bool:
        """Return whether the location is a folder, which machines may not share."""
        return bool(self.files)

    def fault(self) -> str:
        """Return in words why this process cannot use the location; empty where it can."""
        if not self.is_folder:
            try:
                self.location.exists()
            except StoreError as error:
                return str(error)
            return ""
        seen = next((file for file in self.files if os.path.exists(file)), None)
        if seen is None:
            return f"a machine that does not see the folder of {self.location}"
        folder = os.path.dirname(seen)
        return "" if os.access(folder, os.W_OK) else f"a machine that may not write to {folder}"

    def enter(self) -> None:
        """Move the mark into the folder, once the store is made and its lock is held.

        There it has the name of a draft, which the next holder of the lock removes if this process is killed.
        """
        if self.is_folder:
            beside, inside = self.files
            with suppress(OSError):  # of a folder that cannot be written to: the first block tells that
                Path(inside).touch()
            Path(beside).unlink(missing_ok=True)


@contextmanager
def marked(location: Location) -> Iterator[Mark]:
    """Mark a location for other processes while the block runs: by an empty file in the folder, or beside it."""
    folder = location.folder()
    if folder is None:
        yield Mark(location)
        return
    name = uuid.uuid4().hex[:8]
    files = _nearest(folder.parent) / f".limbsweep-{name}", folder / f".run.{name}{DRAFT}"
    with suppress(OSError):  # `create` reports a store that cannot be made
        files[folder.is_dir()].touch(exist_ok=False)
    try:
        yield Mark(location, (str(files[0]), str(files[1])))
    finally:
        for file in files:
            with suppress(OSError):
                file.unlink(missing_ok=True)


def _nearest(folder: Path) -> Path:
    """Return a folder, or the nearest one above that is there."""
    return next((each for each in (folder, *folder.parents) if each.is_dir()), folder)
