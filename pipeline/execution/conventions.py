"""Conventions of datasets: units and attributes that other tools take as they are, netCDF and Zarr, pint, CF readers.

Stores hold structures as attributes, and a unit for all drives of a kind. A dataset has structures as JSON text, which
netCDF keeps as Zarr does; units of the drives that the robot has, spelled for UDUNITS and pint; numbers of designs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.documents.files import FileSource
from pipeline.sweep.side_files import MemoryFiles
from robots.friction.groups import kinds as joint_kinds
from robots.joint_kinds import JOINT_KINDS
from robots.parameters import EITHER
from robots.quantities import QUANTITIES
from robots.types import JointKind

if TYPE_CHECKING:
    from xarray import DataArray, Dataset

    from pipeline.sweep.model import Sweep
    from robots.friction.groups import FrictionGroup
    from robots.model import Mechanism

_SLIDING = {"N m": "N", "rad": "m", "rad/s": "m/s", "rad/s^2": "m/s^2", "m/rad": "1"}
_CELLS = {"max": "time: maximum", "min": "time: minimum"}

FILES = "limbsweep_files"
"""Key of the encoding of a dataset with the files that its sweep names."""

_LAYOUT = {"chunks", "preferred_chunks", "shards", "compressors", "compressor", "filters", "serializer"}
"""Encodings of variables that say how the bytes of a store lie, which those of another store need not do."""


def with_conventions(dataset: Dataset, sweep: Sweep | None, files: FileSource | None = None) -> Dataset:
    """Return a dataset as a store holds it, with attributes and units that other tools read, for this `sweep`.

    files: the files that the sweep names, such as the table of a DataFrame. The dataset keeps them beside its encoding,
    so designs can be computed again from the same dataset or a selection of it.

    Without a sweep, a unit that depends on the kind of a joint is left out and stays in `component_units`. How the
    store is cut into chunks is left out too: who cuts the dataset in another way and writes it would be refused.
    """
    import pandas

    units = dict(joint_units(dataset, sweep))
    if "design" in dataset.dims:
        dataset = dataset.assign_coords(design=pandas.RangeIndex(dataset.sizes["design"]))  # which takes no memory
    for name, variable in dataset.variables.items():
        variable.attrs = _described(str(name), variable.attrs, units.get(str(name), variable.attrs.get("units")))
        variable.encoding = {key: value for key, value in variable.encoding.items() if key not in _LAYOUT}
    if "design" in dataset.coords:
        dataset["design"].attrs = {"long_name": "number of the design, from 0"}
    result = dataset.assign_attrs(_portable(dataset))
    if files is None and sweep is not None and sweep.sources:
        files = MemoryFiles(sweep.sources)
    result.encoding = {**dataset.encoding, **({FILES: files} if files is not None else {})}
    return result


def units_of(attributes: Mapping[Any, Any]) -> str:
    """Return the unit of a variable from its attributes: `N m or N` where those of its components differ."""
    components = str(attributes.get("component_units", "")).split(", ")
    return str(attributes.get("units", EITHER.join(dict.fromkeys(components))))


def files_of(dataset: Dataset) -> FileSource | None:
    """Return the files that the sweep of a dataset names, where it has kept them."""
    files: FileSource | None = dataset.encoding.get(FILES)
    return files


def structure(attributes: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return an attribute that is a mapping: as a store holds it, or as JSON text; empty for a missing attribute."""
    value = attributes.get(name, {})
    return dict(json.loads(value) if isinstance(value, str) else value)


def _portable(dataset: Dataset) -> dict[str, Any]:
    """Return attributes as netCDF can hold them: text, a number, or a list of numbers; other things as JSON."""
    result = dict(dataset.attrs)
    for name, value in dataset.attrs.items():
        if isinstance(value, bool):
            result[name] = int(value)
        elif isinstance(value, dict | list) and not (isinstance(value, list) and _are_numbers(value)):
            result[name] = json.dumps(value)
    return result


def _are_numbers(values: list[Any]) -> bool:
    return all(isinstance(entry, int | float) for entry in values)


def _described(name: str, attributes: Mapping[str, Any], unit: str | None) -> dict[str, Any]:
    described = {key: value for key, value in attributes.items() if key != "units"}
    if "flag_values" in described:
        described["flag_values"] = np.asarray(described["flag_values"], np.int8)
    if unit and (EITHER in unit or "," in unit):
        described = {"component_units": unit, **described}
    elif unit:
        described = {"units": unit, **described}
    if name == "time":
        described |= {"standard_name": "time", "axis": "T"}
    row = QUANTITIES.get(name)
    return described | ({"cell_methods": _CELLS[row.reduction]} if row and row.reduction in _CELLS else {})


def joint_units(dataset: Dataset, sweep: Sweep | None) -> Iterator[tuple[str, str]]:
    """Yield the units of variables that depend on the kinds of joints."""
    if sweep is None:
        return
    mechanism = sweep.family.reference
    for name, coordinate in dataset.coords.items():
        if EITHER in (unit := str(coordinate.attrs.get("units", ""))):
            kinds = {kind for group in _groups(sweep, str(name)) for kind in joint_kinds(mechanism, group)}
            units = {_of_kind(unit, kind) for kind in kinds}
            yield str(name), units.pop() if len(units) == 1 else unit
    for name, variable in dataset.data_vars.items():
        row = QUANTITIES.get(str(name))
        if row is not None and row.units in _SLIDING and (along := _kinds_along(mechanism, variable)):
            yield str(name), _along([{_of_drive(row.units, kind) for kind in kinds} for kinds in along])


def _groups(sweep: Sweep, name: str) -> Iterator[FrictionGroup]:
    """Yield the friction groups that have a parameter of this name in the axes."""
    for group in sweep.friction.groups:
        if name in group.labels:
            yield group


def _kinds_along(mechanism: Mechanism, variable: DataArray) -> list[set[JointKind]]:
    """Return the kinds along the dim of actuators or of joints (over all limbs); empty without such a dim."""
    if "actuator" in variable.dims:
        return [{kind} for kind in mechanism.actuator_kinds]
    if "joint" not in variable.dims:
        return []
    limbs = [mechanism.limbs[instance.limb].joint_kinds for instance in mechanism.instances]
    return [{kinds[k].name for kinds in limbs if k < len(kinds)} for k in range(variable.sizes["joint"])]


def _of_drive(unit: str, kind: JointKind) -> str:
    return unit if JOINT_KINDS[kind].turns else _SLIDING[unit]


def _of_kind(unit: str, kind: JointKind) -> str:
    return unit.split(EITHER)[0 if JOINT_KINDS[kind].turns else 1]


def _along(units: list[set[str]]) -> str:
    """Return one unit if all are the same; else one for each component, or both where limbs differ."""
    distinct = set().union(*units)
    return distinct.pop() if len(distinct) == 1 else ", ".join(EITHER.join(sorted(unit)) for unit in units)
