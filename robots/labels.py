"""Names that pandas and xarray keep beside numbers: entries are put into the order of a robot by them, or refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TypeVar

import numpy as np

from robots.geometry import AXES
from robots.model import Mechanism

Value = TypeVar("Value")

WRENCH = tuple(f"{kind}_{axis}" for kind in ("angular", "linear") for axis in "xyz")
"""Names of the entries of twists and wrenches."""
SAME_ROWS = "rows in the same order, such as columns of one DataFrame, or values without an index"
SHOWN = 12
"""Names of entries that a message has at most."""


def names_along(mechanism: Mechanism) -> Mapping[str, Sequence[str]]:
    """Return the names of the entries of arrays by name of their dim."""
    freedoms = mechanism.freedoms if mechanism.is_chain else mechanism.platform.mobility
    limbs = [instance.name for instance in mechanism.instances]
    return {"actuator": mechanism.actuators, "limb": limbs, "freedom": freedoms, "wrench": WRENCH, "axis": AXES}


def in_order_of(labels: Sequence[str], name: str, value: Value) -> Value | np.ndarray:
    """Put numbers into the order of `labels` along their last dim, where the value names its entries.

    The index of a Series names them, the columns of a DataFrame, and a coordinate of a DataArray's last dim. Ascending
    numbers only count them, so that their order is kept. Raises ValueError for other names.
    """
    if isinstance(value, np.ndarray | list | tuple | float):
        return value
    names = names_of_entries(value)
    places = None if names is None else places_of(labels, name, *names)
    return value if places is None else np.asarray(value)[..., places]


def places_of(labels: Sequence[str], name: str, names: Sequence[object], where: str) -> list[int] | None:
    """Return where each of `labels` is among the names of entries; None where their order is right or only counted.

    Raises ValueError for other names.
    """
    texts = [str(label) for label in names]
    if texts == [*labels]:
        return None
    counted = all(isinstance(label, Real) for label in names)
    if counted and (np.diff(np.array(names, dtype=float)) > 0.0).all():
        return None
    if sorted(texts) == sorted(labels):
        return [texts.index(label) for label in labels]
    got = f"[{', '.join(map(repr, names[:SHOWN]))}{', ...' if len(names) > SHOWN else ''}]"
    expected = f"{', '.join(labels)}, in any order" if labels else "numbers without names, such as their values"
    raise ValueError(f"{name}: got {got} along {where}; expected {expected}")


def other_rows(table: Mapping[str, object]) -> str | None:
    """Return the names of two Series or DataFrames whose indexes differ, so that their rows are not the same cases."""
    rows = {name: getattr(value, "index", None) for name, value in table.items() if hasattr(value, "to_numpy")}
    indexes = {name: index for name, index in rows.items() if index is not None}
    first = next(iter(indexes), "")
    return next((f"{first}, {name}" for name, index in indexes.items() if not index.equals(indexes[first])), None)


def names_of_entries(value: object) -> tuple[list[object], str] | None:
    """Return the names of the entries along the last dim of a value of pandas or xarray, and where they are."""
    dims, coords = (getattr(value, key, ()) if hasattr(value, "dtype") else () for key in ("dims", "coords"))
    if dims and dims[-1] in coords:
        return coords[dims[-1]].values.tolist(), str(dims[-1])
    for where in ("columns", "index") if hasattr(value, "to_numpy") and not dims else ():
        names = getattr(value, where, None)
        if names is not None and not callable(names):
            return list(names), f"its {where}"
    return None
