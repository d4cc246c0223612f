"""Body of the command info: state, size, attributes, dims, variables and statuses of a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xarray import DataArray, Dataset

from applications.commands.terminal import print_rows
from pipeline.errors import size
from pipeline.execution import opening
from pipeline.execution.digest import results_digest, slabs
from pipeline.monitor.samples import meanings, occurring
from storage.integrity import require_sound_metadata
from storage.places.access import locate
from storage.places.location import LocationLike, refusals
from storage.schema import DONE
from storage.store import open_results

DIGESTED = 1 << 30
"""Bytes of results, before compression, that are read for their digest without being asked."""

CODES = 1 << 24
"""Bytes of codes that are counted at a time."""

NO_UNITS: Mapping[str, str] = {}

HIDDEN = ("sweep", "finished")
"""Attributes without a row: the text of the sweep is too long, the state has a row of its own."""


def info(store: str, digest: bool) -> None:
    """Describe the content of a store."""
    require_sound_metadata(store)
    units = _units(opening.open(store, unfinished=True))
    print_rows(_rows(open_results(store, unfinished=True), store, digest, units))


def _digest(dataset: Dataset, whole: bool) -> str:
    """Return the digest of the results, or the option that computes it where there is much to read."""
    if dataset.nbytes <= DIGESTED or whole:
        return results_digest(dataset)
    return f"limbsweep info --digest computes it from {size(dataset.nbytes)}"


def _units(dataset: Dataset) -> dict[str, str]:
    """Return the units of results, those of each component where these differ."""
    described = {str(name): variable.attrs for name, variable in dataset.data_vars.items()}
    return {name: str(each.get("units", each.get("component_units", "-"))) for name, each in described.items()}


def _rows(
    dataset: Dataset, store: LocationLike, whole: bool, units: Mapping[str, str] = NO_UNITS
) -> Iterator[tuple[str, ...]]:
    """Yield the rows for a dataset and its store: state, size, attributes, dims, variables, statuses.

    units: replacements of those in the dataset, by the name of a variable.
    """
    yield "state", "finished" if dataset.attrs.get("finished", True) else "not finished"
    if DONE in dataset.coords:
        written = dataset[DONE]
        yield "written", f"{int(written.sum())} of {written.size} pairs of design and trajectory"
    place = locate(store)
    with refusals(place):
        used = place.used()
    yield "on disk", size(used)
    if dataset.attrs.get("finished", True):
        yield "digest", _digest(dataset, whole)
    for name, value in dataset.attrs.items():
        if name not in HIDDEN:
            yield name, _text(value)
    yield "dims", ", ".join(f"{name} {length}" for name, length in dataset.sizes.items())
    for name, variable in dataset.data_vars.items():
        dims = ", ".join(map(str, variable.dims))
        unit = units.get(str(name), str(variable.attrs.get("units", "-")))
        yield str(name), f"({dims}) [{unit}] {variable.attrs.get('long_name', '')}".rstrip()
    for variable in dataset.data_vars.values():
        if "flag_meanings" in variable.attrs:
            yield from _flags(variable)


def _text(value: object) -> str:
    return ", ".join(f"{key} {entry}" for key, entry in value.items()) if isinstance(value, dict) else str(value)


def _flags(codes: DataArray) -> Iterator[tuple[str, ...]]:
    """Yield each code that occurs with its number of occurrences."""
    counts = dict.fromkeys(meanings(codes), 0)
    for part in slabs(codes, CODES):
        for value in {*occurring(part)} & {*counts}:
            counts[value] += int((part == value).sum())
    for value, meaning in meanings(codes).items():
        if counts[value]:
            yield f"{codes.name} {meaning}", f"{counts[value]} of {codes.size}"
