"""Make a finished store larger, by designs or friction sets, with the old content readable at every moment.

While it grows, the folder `.append` holds the new manifest and the new metadata, and the new receipts are in a journal
of the next generation. Shards beyond the old shape are invisible to readers of the old content, and a shard at its edge
that is written again holds the old values at the same places. At the end `commit` puts the new metadata in place, the
metadata of the group and the manifest last; it may be interrupted and repeated at any step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from storage.encoding.documents import METADATA
from storage.errors import StoreError
from storage.layout import Layout
from storage.ledger import Receipt, generation_name, line, receipts, require_complete
from storage.manifest import MANIFEST, Manifest
from storage.places.access import locate
from storage.places.location import Journal, Location, LocationLike, Room, refusals
from storage.sources import FOLDER as SOURCES
from storage.variables import SPLIT
from storage.writer import require_form

FOLDER = ".append"


class Growing(Location):
    """The location of a store that is being made larger, with the manifest and metadata that it will have."""

    def __init__(self, store: LocationLike) -> None:
        self.base = locate(store)
        self.name = self.base.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Growing) and self.base == other.base

    def __hash__(self) -> int:
        return hash((FOLDER, self.base))

    def folder(self) -> Path | None:
        """Return the folder of the store."""
        return self.base.folder()

    def exists(self) -> bool:
        """Return whether there is a store."""
        return self.base.exists()

    def is_folder(self) -> bool:
        """Return whether there is a location for keys."""
        return self.base.is_folder()

    def read(self, key: str) -> bytes:
        """Return the bytes under a key; for manifest and metadata, the bytes of the larger store."""
        return self.base.read(_shadow(key))

    def size(self, key: str) -> int:
        """Return the bytes under a key."""
        return self.base.size(_shadow(key))

    def write(self, key: str, parts: Iterable[bytes]) -> None:
        """Put bytes under a key."""
        self.base.write(_shadow(key), parts)

    def holds(self, key: str, parts: list[bytes]) -> bool:
        """Return whether a key holds these bytes, by reading it again."""
        return self.base.holds(_shadow(key), parts)

    def delete(self, key: str) -> None:
        """Remove a key."""
        self.base.delete(_shadow(key))

    def keys(self, folder: str = "") -> Iterator[str]:
        """Yield the keys of the location without change."""
        return self.base.keys(folder)

    def make(self, files: Mapping[str, bytes], last: str) -> None:
        """Return the error for a growth that is already in progress."""
        raise StoreError(f"{self.name}: exists already; a store that grows is not made anew")

    def journal(self, name: str) -> Journal:
        """Return a journal of the location."""
        return self.base.journal(name)

    def lock(self) -> AbstractContextManager[None]:
        """Return the one lock of the location."""
        return self.base.lock()

    def holder(self) -> str | None:
        """Return the holder of the location."""
        return self.base.holder()

    def used(self) -> int:
        """Return the bytes at the location."""
        return self.base.used()

    def tidy(self) -> int:
        """Remove drafts of killed writers from the location and return their number."""
        return self.base.tidy()

    def room(self) -> Room | None:
        """Return the free space at the location."""
        return self.base.room()

    def guard(self, key: str) -> None:
        """Refuse links and other entries that could lead out of the store."""
        self.base.guard(_shadow(key))

    def zarr_store(self) -> Path | str:
        """Return the location, where Zarr finds the old content."""
        return self.base.zarr_store()


def _shadow(key: str) -> str:
    return f"{FOLDER}/{key}" if key in (MANIFEST, METADATA) else key


def settled(store: LocationLike) -> Location:
    """Return the location with the old content, also of a store that is being made larger."""
    location = locate(store)
    return location.base if isinstance(location, Growing) else location


def is_growing(store: LocationLike) -> bool:
    """Return whether a store is being made larger, or an earlier enlargement was interrupted."""
    location = locate(store)
    with refusals(location):
        return location.has(_shadow(MANIFEST))


def manifest_in_force(location: Location) -> Manifest:
    """Return the manifest that describes the metadata as they are.

    That is the new one in the moment of a commit, or after one that was interrupted, when metadata are in place and the
    manifest is not.
    """
    manifest = Manifest.load(location)
    if is_growing(location) and (grown := Manifest.load(Growing(location))).state == "finished":
        try:
            require_form(location, grown.layout)
        except StoreError:
            return manifest
        return grown
    return manifest


def grown(layout: Layout, sizes: Mapping[str, int]) -> Layout:
    """Return the layout with longer dims and blocks where they were."""
    return layout.moved(sizes={**layout.sizes, **{dim: sizes[dim] for dim in SPLIT}})


def begin(store: LocationLike, manifest: Manifest, files: Mapping[str, bytes]) -> None:
    """Prepare a finished store for growth: blocks that do not change keep their receipts.

    The caller holds the coordinator's lock. `manifest` is that of the larger store, of the next generation.
    """
    location = locate(store)
    manifest.layout.require_files()
    old = Manifest.load(location)
    with refusals(location):
        clear(location)
        journal = location.journal(generation_name(manifest.generation))
        journal.open()
        for receipt in _unchanged_receipts(location, old, manifest.layout):
            journal.append(line(receipt))
        journal.sync()
        journal.close()
        require_complete(location, old)
        for key, data in files.items():
            location.write(f"{FOLDER}/{key}", (data,))
        location.write(f"{FOLDER}/{MANIFEST}", (manifest.dump(),))


def _unchanged_receipts(location: Location, old: Manifest, layout: Layout) -> Iterator[Receipt]:
    """Yield the receipts of blocks with the same regions before and after, under their new numbers."""
    for receipt in receipts(location.journal(generation_name(old.generation))):
        if isinstance(receipt, str):
            raise StoreError(f"{location}: its ledger is damaged ({receipt}); first: limbsweep verify --repair")
        before, after = old.layout.grid, layout.grid
        index = after.index(before.unravel(receipt.block))
        if after.bounds(index) == before.bounds(receipt.block):
            yield replace(receipt, block=index)


def commit(store: LocationLike) -> None:
    """Put the new metadata in place, after all blocks are there. Repeating it after an interruption completes it."""
    location = locate(store)
    new = Manifest.load(Growing(location))
    if new.state != "finished":
        raise StoreError(f"{location}: not all blocks of the larger store are there; append the same sweep again")
    with refusals(location):
        for key in sorted(new.files, key=lambda key: key == METADATA):
            location.write(key, (location.read(f"{FOLDER}/{key}"),))
        new.save(location)
        location.journal(generation_name(new.generation - 1)).remove()
        for key in [key for key in location.keys(SOURCES) if key not in new.files]:
            location.delete(key)  # a file that only the sweep of before has named
        clear(location, keep=new.generation)


def abandon(store: LocationLike) -> None:
    """Drop a begun growth and its blocks beyond the old content. The caller has the lock."""
    location = locate(store)
    manifest = Manifest.load(location)
    with refusals(location):
        clear(location)
        for name, variable in manifest.layout.variables.items():
            expected = set(variable.all_keys())
            for key in [key for key in location.keys(name) if key not in expected and key.startswith(f"{name}/c.")]:
                location.delete(key)


def clear(location: Location, keep: int = 0) -> None:
    """Remove the folder of a growth, its manifest first, and journals of generations that are not in force."""
    location.delete(f"{FOLDER}/{MANIFEST}")
    for key in list(location.keys(FOLDER)):
        location.delete(key)
    generation = keep or Manifest.load(location).generation
    location.journal(generation_name(generation + 1)).remove()
