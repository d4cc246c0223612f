"""The sweep of a store: read again from its text and the files that it names, and held to its fingerprint."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pipeline.sweep.model import Sweep
from pipeline.sweep.side_files import stored_files
from pipeline.sweep.user_metric import PreparedMetric
from storage.errors import StoreError
from storage.later import later_text
from storage.layout import Layout
from storage.manifest import Manifest
from storage.places.access import locate
from storage.places.location import LocationLike

SWEEP_FINGERPRINT = "sweep_fingerprint"
"""Attribute of a store with metrics of a user's own: the fingerprint of its sweep without them."""


def stored_sweep(
    store: LocationLike, folder: str | Path = ".", user_metrics: tuple[PreparedMetric, ...] = (), *, plain: bool = False
) -> Sweep:
    """Return the sweep from which a store was made, with the files that it names; lost ones come from `folder`.

    `plain` leaves out user metrics. Raises InputError where the text cannot be read any more, StoreError where it does
    not mean the same, for a store of a later version, and for one with user metrics where their functions are not in
    `user_metrics`.
    """
    place = locate(store)
    manifest = Manifest.load(place)
    if manifest.layout.later:
        raise StoreError(f"{place}: {later_text(manifest.layout)}")
    sweep = Sweep.from_text(manifest.sweep, name=f"{place} (its stored sweep)", folder=stored_files(place, folder))
    functions = functions_of(manifest.layout, sweep)
    if functions and not user_metrics and not plain:
        names = ", ".join(functions)
        raise StoreError(
            f"{place}: holds metrics of functions that it does not keep ({names}); expected these functions beside its "
            "sweep; call pipeline.run with the same metrics"
        )
    sweep = replace(sweep, user_metrics=user_metrics if functions else ())
    expected = manifest.fingerprint
    if plain:
        expected = str(manifest.attributes.values.get(SWEEP_FINGERPRINT, expected))
    if sweep.fingerprint != expected:
        raise StoreError(
            f"{place}: its sweep has fingerprint {sweep.fingerprint}; expected {expected}; a file that it "
            f"names in {str(folder)!r} has changed, or this is another version of limbsweep than the one that wrote it"
        )
    return sweep


def functions_of(layout: Layout, sweep: Sweep) -> tuple[str, ...]:
    """Return the variables of a store that functions of a user's own computed, which its sweep does not have."""
    return tuple(row.name for row in layout.own if row.name not in sweep.derivatives.names)
