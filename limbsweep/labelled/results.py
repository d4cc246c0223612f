"""Results as datasets: dims, labels, units and codes of the status by the rows of the table of functions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from limbsweep.labelled.calls import label_texts, labels_of
from limbsweep.labelled.table import RESULTS, TIME, UNITS, FunctionResult
from limbsweep.labelled.units import COMPONENTS
from robots.model import Robot
from robots.status import flags

if TYPE_CHECKING:
    from xarray import Dataset

_TYPES: dict[type[Any], type[Any]] = {}


def with_dataset(result: Any, name: str, robot: Robot, row: FunctionResult | None = None) -> Any:
    """Return a result that can make a dataset of itself: `to_dataset()`, by the row of its function."""
    kind = type(result)
    if not hasattr(result, "_fields"):
        return result
    if kind not in _TYPES:
        methods = {"to_dataset": _to_dataset, "__reduce__": _reduced, "_replace": _replaced, "__doc__": kind.__doc__}
        _TYPES[kind] = type(kind.__name__, (kind,), methods)
    made = _TYPES[kind](*result)
    made.source = (name, robot, row or RESULTS[name])
    return made


def _reduced(self: Any) -> tuple[Any, ...]:
    """Pickle a result as that of the function, which is made anew."""
    plain: Any = type(self).__base__
    return with_dataset, (plain(*self), *self.source)


def _replaced(self: Any, **values: Any) -> Any:
    """Return a result with other values of fields."""
    plain: Any = type(self).__base__
    return with_dataset(plain(*self)._replace(**values), *self.source)


def _to_dataset(self: Any) -> Dataset:
    """Return the arrays as an xarray Dataset with dims, labels and units; batch dims are batch_0, batch_1 and so on."""
    import xarray as xr

    name, robot, row = self.source
    variables: dict[Hashable, Any] = {}
    for field, dims in row.dims.items():
        values = getattr(self, field)
        values = np.asarray(np.stack([*values.values()], axis=-1) if isinstance(values, Mapping) else values)
        if values.size:
            batch = tuple(f"batch_{number}" for number in range(values.ndim - len(dims)))
            time = dims[:1] if dims[:1] == TIME else ()  # before the batch
            variables[field] = ((*time, *batch, *dims[len(time) :]), values)
    dataset = xr.Dataset(variables)
    labels = labels_of(robot, {str(dim): size for dim, size in dataset.sizes.items()})
    for field, dim in row.labels.items():
        texts = label_texts(getattr(self, field))
        if dim:
            labels[dim] = texts
        else:
            dataset.attrs[field] = " ".join(texts)
    dataset = dataset.assign_coords({dim: texts for dim, texts in labels.items() if dim in dataset.dims})
    return described(dataset, name, robot, row)


def described(dataset: Dataset, name: str, robot: Robot, row: FunctionResult) -> Dataset:
    """Write units of the variables of a result, and codes of its status, into their attributes."""
    for field in row.dims:
        if field not in dataset:
            continue
        if field == "status":
            codes = flags(simulated=True)
            dataset[field].attrs |= {
                "flag_values": np.array([*codes.values()], dtype=np.int8), "flag_meanings": " ".join(codes),
            }  # fmt: skip
        if units := _units(UNITS.get(name, {}).get(field), robot):
            dataset[field].attrs["units"] = units
    return dataset


def _units(key: str | None, robot: Robot) -> str | None:
    """Return the units as text: one if all components have the same, else one for each component."""
    if key is None or key not in COMPONENTS:
        return key
    parts = COMPONENTS[key](robot.mechanism)
    return parts[0] if len({*parts}) == 1 else ", ".join(parts)
