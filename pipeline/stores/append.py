"""Append designs or friction sets to a finished store, without computing its blocks again.

A command of its own, because `run` must go on refusing another sweep: a mistake in a file would otherwise enlarge the
store of last month. How the old content stays readable meanwhile is in `storage.growth`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.cluster.arguments import ClusterLike
from pipeline.cluster.connection import connect
from pipeline.cluster.file import ClusterConfig
from pipeline.errors import InputError
from pipeline.execution.contents import contents, plan_at
from pipeline.execution.conventions import with_conventions
from pipeline.execution.executors import make_executor
from pipeline.execution.graph import Granularity
from pipeline.execution.run import run_into
from pipeline.monitor.log import Listener
from pipeline.plan.model import Plan
from pipeline.stores.recompute import differing, uncomputable
from pipeline.sweep.model import Sweep
from pipeline.sweep.stored import stored_sweep
from storage.errors import StoreError
from storage.growth import Growing, abandon, begin, clear, commit, grown, is_growing
from storage.integrity import receipts_of
from storage.manifest import Manifest
from storage.places.access import coordinator_lock, locate
from storage.places.location import Location, LocationLike
from storage.store import describe, metadata, open_results

if TYPE_CHECKING:
    from xarray import Dataset

    from pipeline.sweep.axes.kinds import Axis

PIECE = 1 << 16
"""Designs that are compared at once."""


def append(
    store: LocationLike,
    sweep: Sweep,
    cluster: ClusterLike = None,
    listeners: Sequence[Listener] = (),
    granularity: Granularity | None = None,
) -> Dataset:
    """Extend a finished store: `sweep` is the sweep of the store with designs or friction sets added at the end.

    Computes new blocks, and blocks at the edge that become longer. The old content stays readable; the same call
    resumes an interrupted one. Raises StoreError with the difference where anything else has changed, where
    the store is not finished, or where this machine does not compute the same bits as the store holds.

        >>> first = ls.sweep("five_bar", time=(1, 0.1), trajectories={"c": {"kind": "circle", "normal": [0, 1, 0]}},
        ...                  design={"proximal_length": [0.5, 0.52]}, metrics="peak_force")
        >>> results = ls.run(first, "growing.zarr", progress=False)
        >>> more = first.to_yaml().replace("0.52]", "0.52, 0.54]")
        >>> ls.append("growing.zarr", ls.Sweep.from_text(more)).sizes["design"]
        3
    """
    sweep = Sweep.checked(sweep)
    append_to(store, sweep, cluster, listeners, granularity)
    return with_conventions(open_results(store), sweep)


def append_to(
    store: LocationLike,
    sweep: Sweep,
    cluster: ClusterLike = None,
    listeners: Sequence[Listener] = (),
    granularity: Granularity | None = None,
) -> None:
    """Append a sweep to a store as `append` does, without opening the store. Raises as `append` does."""
    place = locate(store)
    with coordinator_lock(place):
        if is_growing(place) and Manifest.load(Growing(place)).state == "finished":
            commit(place)
        if Manifest.load(place).fingerprint == sweep.fingerprint:
            _clear(place)
            return
        if begun := not is_growing(place):
            _begin(place, sweep)
        _require_same(place, sweep)
    try:
        run_into(Growing(place), sweep, cluster, listeners, granularity)
    except InputError:  # of the cluster, before anything was computed
        if begun:
            with suppress(StoreError):  # somebody else goes on with it
                drop(place)
        raise
    if Manifest.load(Growing(place)).state == "finished":
        with coordinator_lock(place):
            commit(place)


def clear_append(store: LocationLike) -> None:
    """Remove the unused files of an append whose commit was killed at its very end; any other append stays."""
    place = locate(store)
    with coordinator_lock(place):
        if is_growing(place) and Manifest.load(Growing(place)) == Manifest.load(place):
            commit(place)
        _clear(place)


def _clear(place: Location) -> None:
    if not is_growing(place):
        clear(place)


def drop(store: LocationLike) -> None:
    """Give up an append that was begun: the store is as before. Raises StoreError without such an append."""
    place = locate(store)
    with coordinator_lock(place):
        if not is_growing(place):
            raise StoreError(f"{place}: no append has been begun; there is nothing to drop")
        abandon(place)


def _require_same(place: Location, sweep: Sweep) -> None:
    if Manifest.load(Growing(place)).fingerprint != sweep.fingerprint:
        raise StoreError(
            f"{place}: an append of another sweep has been begun; go on with that one, or drop it first: "
            "limbsweep append --drop"
        )


def _begin(place: Location, sweep: Sweep) -> None:
    """Check everything that can be checked, then prepare the store."""
    manifest = Manifest.load(place)
    if manifest.state != "finished":
        raise StoreError(f"{place}: is not finished; first run its own sweep to the end")
    stored = stored_sweep(place, Path(sweep.name).parent, sweep.user_metrics)
    require_longer(place, stored, sweep)
    old = plan_at(stored, place)
    _require_reproducible(place, old)
    new = replace(old, sweep=sweep, layout=grown(old.layout, sweep.sizes))
    described = contents(new)
    files = metadata(new.layout, **described)
    larger = describe(new.layout, described["attributes"], files, manifest.generation + 1, manifest.hashing)
    begin(place, larger, files)


def require_longer(place: Location, stored: Sweep, sweep: Sweep) -> None:
    """Check that a sweep is the stored one with more designs or friction sets. Raises StoreError with differences."""
    lines = [*_other_content(stored, sweep), *_other_axis("design", stored.design, sweep.design)]
    lines += _other_axis("friction", stored.friction.axis, sweep.friction.axis)
    if lines:
        raise StoreError(
            f"{place}: only designs and friction sets can be appended, at the end of their axes; take back these "
            "changes, or run the sweep into a new store:\n" + "\n".join(lines)
        )


def _other_content(stored: Sweep, sweep: Sweep) -> Iterator[str]:
    """Yield the differences besides the values of the two axes that may grow."""
    for difference in stored.difference(sweep):
        key = difference.partition(":")[0]
        if not any(key.startswith(f"{section}.{kind}") for section, kind in _axis_keys(stored, sweep)):
            yield difference.replace(" here", " in the store").replace(" there", " given")


def _axis_keys(*sweeps: Sweep) -> Iterator[tuple[str, str]]:
    """Yield the sections and keys that hold the values of axes."""
    for sweep in sweeps:
        for section, axis in (("design", sweep.design), ("friction", sweep.friction.axis)):
            yield from ((section, kind) for kind in axis.describe())


def _other_axis(name: str, stored: Axis, longer: Axis) -> Iterator[str]:
    """Yield the differences of an axis that should begin with the stored one: names, length, values bit for bit."""
    if stored.names != longer.names:
        yield f"{name}: axis of {list(stored.names)} in the store, of {list(longer.names)} given"
    elif longer.size < stored.size:
        yield f"{name}: {stored.size} in the store, {longer.size} given"
    else:
        for start in range(0, stored.size, PIECE):
            stop = min(start + PIECE, stored.size)
            if text := _first_other(stored.values(start, stop), longer.values(start, stop), start):
                yield f"{name} {text}"
                return


def _first_other(stored: dict[str, Any], longer: dict[str, Any], start: int) -> str:
    """Return the first place where two tables differ."""
    at = {name: np.flatnonzero(values != longer[name]) for name, values in stored.items()}
    first = min((int(places[0]) for places in at.values() if places.size), default=math.inf)
    for name, places in at.items():
        if places.size and places[0] == first:
            where = int(first)
            return f"{start + where}: {name} {stored[name][where]!s} in the store, {longer[name][where]!s} given"
    return ""


def _require_reproducible(place: Location, old: Plan) -> None:
    """Compute one stored block here: old and new results belong together only where their bits would be the same."""
    skipped = uncomputable(place, old)
    chosen = next((block for block in range(old.blocks) if block not in skipped), 0)
    with connect(ClusterConfig.of("synchronous")) as client:
        executor, hashing = make_executor(client, old), Manifest.load(place).hashing
        differences = list(differing(old, receipts_of(place, (chosen,)), executor, hashing))
    for index, text in differences:
        raise StoreError(
            f"{place}: block {index} {text}; another machine or version computed it: append with that one, "
            "or run the larger sweep into a new store"
        )
