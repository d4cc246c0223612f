"""Reach of a location: a worker on another machine has to see the same folder or prefix, and to write there."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from storage.errors import StoreError
from storage.places.local import LocalFolder
from storage.places.location import Location


@dataclass(frozen=True)
class Mark:
    """Location with the files of which one has to be there; no files for object storage."""

    location: Location
    files: tuple[str, ...] = ()

    def fault(self) -> str:
        """Return in words why this process cannot use the location; empty where it can."""
        if not self.files:
            try:
                self.location.exists()
            except StoreError as error:
                return str(error)
            return ""
        if not any(map(os.path.exists, self.files)):
            return f"a machine that does not see the folder of {self.location}"
        folder = _nearest(Path(self.files[0]))
        return "" if os.access(folder, os.W_OK) else f"a machine that may not write to {folder}"


@contextmanager
def marked(location: Location, key: str) -> Iterator[Mark]:
    """Mark a location for other processes while the block runs: by an empty file beside the folder.

    From then on the mark is the file of a key, which the store has once it is made.
    """
    if not isinstance(location, LocalFolder):
        yield Mark(location)
        return
    manifest = location.path / key
    mark = _nearest(location.path.parent) / f".limbsweep-{uuid.uuid4().hex[:8]}"
    with suppress(OSError):  # a store that cannot be made is told by what makes it
        if not manifest.exists():
            mark.touch(exist_ok=False)
    try:
        yield Mark(location, (str(manifest), str(mark)))
    finally:
        mark.unlink(missing_ok=True)


def _nearest(folder: Path) -> Path:
    """Return a folder, or the nearest one above that is there."""
    return next((each for each in (folder, *folder.parents) if each.is_dir()), folder)
