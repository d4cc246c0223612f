"""Blocks of a store computed once more, without storing them, to see whether they are the same bits."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline.execution.executor import Flight, failure
from pipeline.execution.graph import block_graph
from pipeline.execution.loop import TICK
from pipeline.execution.provenance import SWEEP_FINGERPRINT
from pipeline.execution.user_warnings import Noted
from pipeline.monitor.status import failed_cases
from pipeline.plan.plan import Plan
from pipeline.sweep.model import Sweep
from pipeline.sweep.side_files import stored_files
from pipeline.sweep.user_metric import PreparedMetric
from storage.errors import StoreError
from storage.ledger import Receipt
from storage.manifest import Manifest
from storage.places.access import locate
from storage.places.place import Location
from storage.writer import Comparer


def stored_sweep(
    store: Location, folder: str | Path = ".", own: tuple[PreparedMetric, ...] = (), *, plain: bool = False
) -> Sweep:
    """The sweep that a store was made from, with the files that it names; those that are lost are taken from `folder`.

    Functions are `own`; `plain` leaves out metrics of a user's own. Raises InputError where the text cannot be read any
    more, StoreError where it does not mean the same, and for a store with metrics of a user's own without them.
    """
    place = locate(store)
    manifest = Manifest.load(place)
    if manifest.layout.own and not own and not plain:
        names = ", ".join(each.name for each in manifest.layout.own)
        raise StoreError(
            f"{place}: holds metrics of functions that it does not keep ({names}); expected these functions beside its "
            "sweep; call pipeline.run with the same metrics"
        )
    sweep = Sweep.from_text(manifest.sweep, name=f"{place} (its stored sweep)", folder=stored_files(place, folder))
    sweep = replace(sweep, user_metrics=own if manifest.layout.own else ())
    expected = manifest.fingerprint
    if plain:
        expected = str(manifest.attributes.get(SWEEP_FINGERPRINT, expected))
    if sweep.fingerprint != expected:
        raise StoreError(
            f"{place}: its sweep has fingerprint {sweep.fingerprint}; expected {expected}; a file that it "
            f"names in {str(folder)!r} has changed, or this is another version of limbsweep than the one that wrote it"
        )
    return sweep


def differing(plan: Plan, receipts: Mapping[int, Receipt], flight: Flight) -> Iterator[tuple[int, str]]:
    """Compute blocks again; those whose bits are not those of their receipts, and in what they differ.

    Raises ClusterLostError.
    """
    for index, found in _computed(plan, receipts, flight):
        if isinstance(found, BaseException):
            yield index, f"cannot be computed again: {failure(found).reason}"
        elif found != receipts[index]:
            yield index, f"computed again it has other bits in {', '.join(_other(receipts[index], found))}"


def _computed(plan: Plan, blocks: Iterable[int], flight: Flight) -> Iterator[tuple[int, Any]]:
    """Receipts of blocks, or the errors that they end with, as they come."""
    run, comparer, flying = uuid.uuid4().hex[:8], Comparer(plan.layout), 0
    work = (block_graph(plan, index, comparer, run) for index in blocks)
    with closing(flight):
        while True:
            while flight.room and (next_one := next(work, None)) is not None:
                flight.submit(next_one)
                flying += 1
            if not flying:
                return
            if (result := flight.next(TICK)) is not None:
                flying -= 1
                value = result.value
                yield result.key[1], value.receipt if isinstance(value, Noted) else value


def _other(stored: Receipt, computed: Receipt) -> list[str]:
    return [name for name, value in computed.checksums.items() if stored.checksums.get(name) != value]


def uncomputable(store: Location, plan: Plan) -> set[int]:
    """Blocks with cases that no attempt could compute: another attempt would tell nothing of their bits."""
    block = plan.layout.block
    return {
        plan.layout.index(
            (case.design // block["design"], case.friction // block["friction"], case.trajectory // block["trajectory"])
        )
        for case in failed_cases(store)
    }
