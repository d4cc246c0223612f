"""Compute blocks of a store once more to compare bits, without storing them; describe a store for `limbsweep info`."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.documents.files import size
from pipeline.execution.contents import SWEEP_FINGERPRINT
from pipeline.execution.executor import Executor, failure, results
from pipeline.execution.graph import block_graph
from pipeline.execution.user_warnings import ReceiptWithWarnings
from pipeline.monitor.samples import meanings
from pipeline.monitor.status import failed_cases
from pipeline.plan.model import Plan
from pipeline.sweep.model import Sweep
from pipeline.sweep.side_files import stored_files
from pipeline.sweep.user_metric import PreparedMetric
from storage.encoding.checksums import Hashing
from storage.errors import StoreError
from storage.later import later_text
from storage.ledger import Receipt
from storage.manifest import Manifest
from storage.places.access import locate
from storage.places.location import LocationLike, refusals
from storage.schema import SPLIT
from storage.writer import Comparer

if TYPE_CHECKING:
    from xarray import DataArray, Dataset


def stored_sweep(
    store: LocationLike, folder: str | Path = ".", user_metrics: tuple[PreparedMetric, ...] = (), *, plain: bool = False
) -> Sweep:
    """The sweep that a store was made from, with the files that it names; those that are lost are taken from `folder`.

    `plain` leaves out user metrics. Raises InputError where the text cannot be read any more, StoreError where it does
    not mean the same, for a store of a later version, and for one with user metrics where their functions are not in
    `user_metrics`.
    """
    place = locate(store)
    manifest = Manifest.load(place)
    if manifest.layout.later:
        raise StoreError(f"{place}: {later_text(manifest.layout)}")
    if manifest.layout.own and not user_metrics and not plain:
        names = ", ".join(variable.name for variable in manifest.layout.own)
        raise StoreError(
            f"{place}: holds metrics of functions that it does not keep ({names}); expected these functions beside its "
            "sweep; call pipeline.run with the same metrics"
        )
    sweep = Sweep.from_text(manifest.sweep, name=f"{place} (its stored sweep)", folder=stored_files(place, folder))
    sweep = replace(sweep, user_metrics=user_metrics if manifest.layout.own else ())
    expected = manifest.fingerprint
    if plain:
        expected = str(manifest.attributes.get(SWEEP_FINGERPRINT, expected))
    if sweep.fingerprint != expected:
        raise StoreError(
            f"{place}: its sweep has fingerprint {sweep.fingerprint}; expected {expected}; a file that it "
            f"names in {str(folder)!r} has changed, or this is another version of limbsweep than the one that wrote it"
        )
    return sweep


def differing(
    plan: Plan, receipts: Mapping[int, Receipt], executor: Executor, hashing: Hashing
) -> Iterator[tuple[int, str]]:
    """Compute blocks again and return those with other bits than their receipts, and the differences.

    Raises ClusterLostError.
    """
    run, comparer = uuid.uuid4().hex[:8], Comparer(plan.layout, hashing)
    graphs = (block_graph(plan, index, comparer, run) for index in receipts)
    with closing(executor):
        for result in results(graphs, executor):
            index, value = result.key[1], result.value
            if isinstance(value, BaseException):
                yield index, f"cannot be computed again: {failure(value).reason}"
                continue
            computed = value.receipt if isinstance(value, ReceiptWithWarnings) else value
            if computed != receipts[index]:
                yield index, f"computed again it has other bits in {', '.join(_other(receipts[index], computed))}"


def _other(stored: Receipt, computed: Receipt) -> list[str]:
    return [name for name, value in computed.checksums.items() if stored.checksums.get(name) != value]


def uncomputable(store: LocationLike, plan: Plan) -> set[int]:
    """Blocks with cases that no attempt could compute: another attempt would tell nothing of their bits."""
    layout = plan.layout
    cases = ((case.design, case.friction, case.trajectory) for case in failed_cases(store))
    lost = {tuple(at // layout.block[dim] for dim, at in zip(SPLIT, case, strict=True)) for case in cases}
    inner = [range(count) for count in layout.grid[len(SPLIT) :]]  # of which gains a case was is not noted
    return {layout.index((*place, *rest)) for place in lost for rest in product(*inner)}


HIDDEN = ("sweep", "finished")
"""Attributes without a row: the text of the sweep is too long, the state has a row of its own."""


def rows(dataset: Dataset, store: LocationLike) -> Iterator[tuple[str, ...]]:
    """Rows for a dataset and the store that it comes from: state, size, attributes, dims, variables, statuses."""
    yield "state", "finished" if dataset.attrs.get("finished", True) else "not finished"
    if "written" in dataset.coords:
        written = dataset["written"]
        yield "written", f"{int(written.sum())} of {written.size} pairs of design and trajectory"
    place = locate(store)
    with refusals(place):
        used = place.used()
    yield "on disk", size(used)
    for name, value in dataset.attrs.items():
        if name not in HIDDEN:
            yield name, _text(value)
    yield "dims", ", ".join(f"{name} {length}" for name, length in dataset.sizes.items())
    for name, variable in dataset.data_vars.items():
        dims = ", ".join(map(str, variable.dims))
        yield str(name), f"({dims}) [{variable.attrs.get('units', '-')}] {variable.attrs.get('long_name', '')}".rstrip()
    for variable in dataset.data_vars.values():
        if "flag_meanings" in variable.attrs:
            yield from _flags(variable)


def _text(value: object) -> str:
    return ", ".join(f"{key} {entry}" for key, entry in value.items()) if isinstance(value, dict) else str(value)


def _flags(codes: DataArray) -> Iterator[tuple[str, ...]]:
    """Yield each code that occurs with its number of occurrences."""
    import xarray

    counts = xarray.Dataset({meaning: (codes == value).sum() for value, meaning in meanings(codes).items()})
    for meaning, number in counts.compute().items():  # one pass over the codes for all counts
        if int(number):
            yield f"{codes.name} {meaning}", f"{int(number)} of {codes.size}"
