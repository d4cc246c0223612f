"""Describe what is in a store, in rows of text: for `limbsweep info`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pipeline.documents.units import size
from pipeline.monitor.samples import meanings
from storage.places.access import locate
from storage.places.location import LocationLike, refusals

if TYPE_CHECKING:
    from xarray import DataArray, Dataset

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
    """How often each code occurs, for those that do."""
    import xarray

    counts = xarray.Dataset({meaning: (codes == value).sum() for value, meaning in meanings(codes).items()})
    for meaning, number in counts.compute().items():  # one pass over the codes for all counts
        if int(number):
            yield f"{codes.name} {meaning}", f"{int(number)} of {codes.size}"
