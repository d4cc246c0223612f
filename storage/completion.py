"""The last step of a run: a store becomes a finished one, if everything is there that it promises."""

from __future__ import annotations

from dataclasses import replace

from storage.errors import StoreError
from storage.layout import Layout
from storage.ledger import Ledger
from storage.manifest import Manifest
from storage.places.access import locate
from storage.places.location import Location, LocationLike, refusals


def finish(store: LocationLike) -> None:
    """Mark the store as finished, after the receipts of all blocks are in its ledger.

    Raises StoreError where one is not, and where the files of a block are not here, though its receipt is: of a worker
    that wrote to a folder of its own machine, say.
    """
    location = locate(store)
    manifest = Manifest.load(location)
    ledger = Ledger.read(location, manifest.layout.blocks)
    if lacking := manifest.layout.blocks - ledger.count:
        raise StoreError(
            f"{location}: {lacking} blocks have no receipt that would outlast a crash; run it again to go on"
        )
    if missing := _first_missing(location, manifest.layout):
        raise StoreError(
            f"{location.at(missing)}: missing, though its block was computed; see that all workers reach the same "
            "store, then: limbsweep verify --repair"
        )
    replace(manifest, state="finished", ledger=ledger.seal).save(location)


def _first_missing(location: Location, layout: Layout) -> str | None:
    """Return a shard that is not there."""
    for variable in layout.variables.values():
        with refusals(location):
            keys = set(location.keys(variable.name))
        if missing := next((key for key in variable.all_keys() if key not in keys), None):
            return missing
    return None
