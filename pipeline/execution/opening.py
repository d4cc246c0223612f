"""Open a store as a dataset that other tools take as it is, by `pipeline.execution.conventions`.

The stored data are not changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.errors import InputError
from pipeline.execution.conventions import with_conventions
from pipeline.sweep.side_files import stored_files
from robots.arguments import check_arguments
from robots.parameters import EITHER
from storage import sources
from storage.errors import StoreError
from storage.manifest import Manifest
from storage.places.access import locate
from storage.places.location import LocationLike
from storage.store import open_results

if TYPE_CHECKING:
    from xarray import Dataset

    from pipeline.sweep.model import Sweep


@check_arguments
def open(store: LocationLike, *, unfinished: bool = False) -> Dataset:
    """Open a store as a lazy dataset, one Dask chunk for each shard; coordinates are in memory.

    dims: design, friction, trajectory, time, actuator, limb, joint, wrench, axis, as far as a variable depends on
    them. An unfinished store is refused unless asked for; its dataset then has the attribute `finished` = 0 and the
    coordinate `written`. Attributes that are structures are JSON text; `units` are those of the robot's own drives, and
    `component_units` where components differ. Raises StoreError for a store that is missing, unfinished or damaged.
    """
    dataset = open_results(store, unfinished=unfinished)
    files = stored_files(store) if sources.ATTRIBUTE in dataset.attrs else None
    return with_conventions(dataset, _stored_sweep(store) if _asks_for_drives(dataset) else None, files)


def _asks_for_drives(dataset: Dataset) -> bool:
    """Return whether a unit depends on the types of joints: which of them turn, and which slide."""
    return any(EITHER in variable.attrs.get("units", "") for variable in dataset.variables.values()) or any(
        {"actuator", "joint"} & {str(dim) for dim in variable.dims} for variable in dataset.data_vars.values()
    )


def _stored_sweep(store: LocationLike) -> Sweep | None:
    """Return the sweep of a store; None where this version cannot read it."""
    from pipeline.sweep.model import Sweep

    place = locate(store)
    manifest = Manifest.load(place)
    try:
        return Sweep.from_text(manifest.sweep, name=f"{place} (its stored sweep)", folder=stored_files(place, "."))
    except (InputError, StoreError):
        return None
