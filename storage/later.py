"""Variables of a later version: their rows, as the metadata of the group describe them.

A store may hold variables that this version does not know. Their dims, type and texts stand in the metadata of the
group, so their numbers can be read, held against receipts and exported like all others. Their computation is unknown:
each function that needs the sweep of the store refuses such a store.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal, get_args

from robots.quantities import QUANTITIES, Quantity
from storage.encoding.documents import MAX_BYTES, METADATA, parse_json
from storage.errors import StoreError, cause
from storage.layout import Layout
from storage.places.location import Location, refusals
from storage.schema import NAME

_Type = Literal["float64", "int32", "int8"]


def later_rows(location: Location, layout: Mapping[str, Any]) -> tuple[Quantity, ...]:
    """Return the rows of the variables of a layout, as plain data, that are neither known nor a user's own.

    Raises StoreError where the metadata of the group do not describe them.
    """
    described = {*QUANTITIES, *(row["name"] for row in layout.get("own", ()))}
    if not (names := [name for name in layout["variables"] if name not in described]):
        return ()
    if invalid := [name for name in names if not NAME.fullmatch(str(name))]:  # it is the name of a folder
        raise StoreError(f"{location}: there is no variable {invalid[0]!r:.200} to store")
    file = location.at(METADATA)
    try:
        with refusals(file):
            group = parse_json(location.read_within(METADATA, MAX_BYTES))
        arrays = group["consolidated_metadata"]["metadata"]
        return tuple(_row(name, arrays[name], layout["sizes"]) for name in names)
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(
            f"{file}: missing or damaged ({cause(error)}); only it describes {', '.join(map(str, names))!r:.200}, "
            "which this version does not know; restore it from a copy, or open the store with the version that wrote it"
        ) from error


def _row(name: str, described: Mapping[str, Any], sizes: Mapping[str, int]) -> Quantity:
    """Make the row of a variable. Raises ValueError for attributes that no version writes."""
    dims, kind, attributes = described["dimension_names"], described["data_type"], described["attributes"]
    if kind not in get_args(_Type) or not {*dims} <= {*sizes} or len({*dims}) < len(dims):
        raise ValueError(f"{name} of type {kind!r:.80} along {dims!r:.200}")
    units, long_name, frame = (str(attributes.get(key, "")) for key in ("units", "long_name", "frame"))
    return Quantity(name, tuple(dims), units, long_name, "user", frame, dtype=kind)


def warn_of_later(location: Location, layout: Layout) -> None:
    """Warn of variables that this version does not know."""
    if layout.later:
        warnings.warn(f"{location}: {later_text(layout)}", stacklevel=4)


def later_text(layout: Layout) -> str:
    """Describe the variables of a layout that this version does not know."""
    names = ", ".join(row.name for row in layout.later)
    return (
        f"this version does not know {names}, of a later one: read and held against checksums as all others; "
        "computing the store again, repairing and enlarging it need the version that wrote it"
    )
