"""Rule that files of a user stay outside of stores.

The module is separate from the manifest, so that commands start quickly.
"""

from __future__ import annotations

import os
from pathlib import Path

from storage.errors import StoreError

MANIFEST = "limbsweep.json"
"""File that makes a folder a store."""


def store_around(path: str | os.PathLike[str]) -> Path | None:
    """Return the store in which a path is, of a file that need not be there; None outside of all."""
    folders = Path(os.path.realpath(path)).parents
    return next((folder for folder in folders if (folder / MANIFEST).is_file()), None)


def require_outside(path: str | os.PathLike[str]) -> None:
    """Refuse a new folder inside a store, whose files it would be taken for. Raises StoreError."""
    if folder := store_around(path):
        raise StoreError(f"{os.fspath(path)}: is inside the store {folder}; choose a place beside it")
