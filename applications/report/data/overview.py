"""Summarise the swept and the stored quantities, as rows of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from applications.report.data.display import unit_of
from pipeline.execution.conventions import structure
from robots.catalog import FAMILIES
from storage.schema import DONE

if TYPE_CHECKING:
    from xarray import DataArray, Dataset

TableRow = tuple[str, str]

MOST_NAMES = 6

PART = 1 << 20
"""Number of values of a coordinate that are read together, and of different values that are counted."""


def swept(dataset: Dataset, units: Mapping[str, str]) -> Iterator[TableRow]:
    """Summarise the robot, every axis with its length and parameters, and the stored variables.

    units: replacements of the dataset's units, by the name of a coordinate.
    """
    attributes = dataset.attrs
    robot = str(attributes.get("robot", "unknown"))
    yield "robot", f"{robot}: {FAMILIES[robot].title}" if robot in FAMILIES else robot
    for dim in (str(dim) for dim in dataset.sizes):
        along = [x for name, x in dataset.coords.items() if x.dims == (dim,) and name not in _STRUCTURE]
        if along or dim in _SWEPT:
            labels = (units.get(str(x.name), str(x.attrs.get("units", ""))) for x in along)
            ranges = "; ".join(map(_range, along, labels))
            yield f"{_SWEPT.get(dim, dim)}", f"{dataset.sizes[dim]:,}" + (f": {ranges}" if ranges else "")
    yield "friction law", str(attributes.get("friction_law", "unknown"))
    if "gravity" in attributes:
        yield "gravity", f"{', '.join(f'{x:g}' for x in attributes['gravity'])} m/s² along x, y, z"
    yield "stored", ", ".join(str(name) for name in dataset.data_vars)


_SWEPT = {"design": "designs", "friction": "friction sets", "trajectory": "trajectories", "time": "times"}
_STRUCTURE = ("design", "actuator", "limb", "joint", "axis", "wrench", DONE)


def _range(values: DataArray, units: str) -> str:
    """Summarise the values of a coordinate: `upper arm 200 to 300 mm (11 values)`, or `motor 100 W, 200 W`."""
    name = str(values.name).replace("_", " ")
    if values.dtype.kind not in "fiu":
        names = [str(label) for label in dict.fromkeys(values.values.tolist())]
        shown = ", ".join(names[:MOST_NAMES]) + (", ..." if len(names) > MOST_NAMES else "")
        return shown if (values.name,) == values.dims else f"{name} {shown}"
    parts = [values[start : start + PART] for start in range(0, values.size, PART)]
    unit = unit_of(units, np.asarray(values[:: len(parts)].values, dtype=float))
    different, more = np.unique(parts[0].values), False
    for part in parts[1:]:
        different = np.unique(np.concatenate([different, np.unique(part.values)]))
        if len(different) > PART:  # the ends alone are kept
            different, more = different[[0, -1]], True
    if len(different) == 1:
        return f"{name} {unit.text(float(different[0]))}"
    count = f"more than {PART:,}" if more else f"{len(different):,}"
    return f"{name} {unit.number(float(different[0]))} to {unit.text(float(different[-1]))} ({count} values)"


def fixed(dataset: Dataset) -> Iterator[tuple[str, str, str]]:
    """List the parameters of the robot that were not swept: name, value with unit, meaning."""
    robot = str(dataset.attrs.get("robot", ""))
    table = {parameter.name: parameter for parameter in FAMILIES[robot].parameters} if robot in FAMILIES else {}
    for name, value in structure(dataset.attrs, "parameters").items():
        if name not in dataset.coords:
            unit, text = (table[name].unit, table[name].text) if name in table else ("", "")
            yield name, f"{value:g}" + ("" if unit in ("", "1") else f" {unit}"), text


def provenance(dataset: Dataset) -> Iterator[TableRow]:
    """Return rows with the date and the versions with which the store was made, and the fingerprint of its sweep."""
    attributes = dataset.attrs
    if not attributes.get("finished", True):
        written = dataset[DONE]
        yield "state", f"not finished: {int(written.sum()):,} of {written.size:,} pairs of design and trajectory"
    yield "created", str(attributes.get("created", "unknown"))
    yield "fingerprint of the sweep", str(attributes.get("fingerprint", "unknown"))
    versions = structure(attributes, "versions")
    yield "versions", ", ".join(f"{name} {version}" for name, version in versions.items()) or "unknown"
