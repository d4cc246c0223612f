"""Parameters and metrics of a dataset as columns, one number for each design; objectives and conditions on them.

A metric has further dims: friction sets, trajectories, actuators. Its name alone means the worst over all of them: the
largest, or the least where large is good. `NAME_mean`, `NAME_sum`, `NAME_min`, `NAME_max` say otherwise. Objectives and
conditions are expressions over these names, in the language of the `where` key of sweep files.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.documents.report import sentence
from pipeline.errors import InputError, Problem
from robots.expressions.expression import Expression, ExpressionError, Kind, parse
from robots.parameters import nearest
from robots.quantities import QUANTITIES

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Direction = Literal["min", "max"]

LARGE_IS_GOOD = frozenset(
    (
        *("dexterity", "manipulability", "least_effective_mass"),
        *("usable_share", "reachable_share", "usable_volume", "reachable_volume"),
        *("limit_margin", "velocity_margin", "actuator_margin"),
        *("platform_singularity_margin", "limb_singularity_margin", "singularity_margin"),
        "least_regularity",
        *("least_stiffness", "largest_stiffness", "least_turning_stiffness", "lowest_frequency", "clearance"),
    )
)
"""Metrics whose worst value is the least."""

JOINTS = ("limb", "joint")

REDUCTIONS: Mapping[str, Callable[[Array], Array]] = {
    "max": lambda x: x.max(axis=1),
    "min": lambda x: x.min(axis=1),
    "mean": lambda x: x.mean(axis=1),
    "sum": lambda x: x.sum(axis=1),
}
"""How the other dims of a metric are reduced, from (design, others) to (design,). NaN stays."""


def refuse(field: str, got: str, expected: str, hint: str = "") -> InputError:
    """The error for a name or an expression of a study that cannot be used."""
    return InputError([Problem("study", 0, 0, field, got, expected, hint)])


@dataclass(frozen=True)
class Objective:
    """What is to be small (`min`) or large (`max`): an expression over columns."""

    text: str
    direction: Direction
    expression: Expression


def objective(text: str) -> Objective:
    """The objective in a text such as `peak_force`, `max dexterity` or `min friction_loss_sum / energy_sum`.

    Without `min` or `max`, a single metric that is good when large is to be large, all else small. Raises InputError.

        >>> ls.study.objective("max dexterity").direction
        'max'
    """
    first, _, rest = text.strip().partition(" ")
    named = first in ("min", "max") and not rest.lstrip().startswith(("+", "-", "*", "/", "("))
    expression = _parsed(rest if named else text, "number", "objective")
    direction: Direction = "max" if base_of(expression.text)[0] in LARGE_IS_GOOD else "min"
    return Objective(expression.text, ("max" if first == "max" else "min") if named else direction, expression)


def column(ds: xr.Dataset, name: str) -> Array:
    """One number for each design (design,): a swept parameter, or a metric. Raises InputError.

    >>> ls.study.column(ls.open("out.zarr"), "peak_force").shape  # (design,)
    (33,)
    """
    if name in ds.coords and ds[name].dims == ("design",):
        return np.asarray(ds[name].values, dtype=float)
    base, how = base_of(name, {*QUANTITIES, *ds.data_vars})
    if base not in ds or "design" not in ds[base].dims or "time" in ds[base].dims:
        known = names(ds)
        raise refuse(name, "no such column", "a swept parameter or a stored metric", sentence(nearest(name, known)))
    values = ds[base].transpose("design", ...)
    return reduced(values.values, how, joints=values.dims[-2:] == JOINTS)


def reduced(values: Array, how: str, *, joints: bool) -> Array:
    """A metric (design, ...) as one number for each design (design,); with `joints` its last dims are (limb, joint)."""
    flat = values.reshape(len(values), -1)
    if joints:
        flat = values[..., joints_there(values)].reshape(len(values), -1)
    return np.asarray(REDUCTIONS[how](flat), dtype=float)


def joints_there(values: Array) -> Mask:
    """Which of (limb, joint), the last dims, are there: a limb with fewer joints than another has NaN for all cases.

    All of them where nothing else is there either.
    """
    there = ~np.asarray(np.isnan(values).all(axis=tuple(range(values.ndim - 2))))
    return there if there.any() else ~there


def names(ds: xr.Dataset) -> list[str]:
    """Names of all columns, reductions other than the worst left out."""
    swept = [str(name) for name, value in ds.coords.items() if value.dims == ("design",) and name != "design"]
    metrics = [str(name) for name in ds.data_vars if name not in QUANTITIES or QUANTITIES[str(name)].kind == "metric"]
    return swept + metrics


def swept(ds: xr.Dataset) -> list[str]:
    """Names of the parameters that differ between designs."""
    numbers = [name for name in names(ds) if name in ds.coords and ds[name].dtype.kind == "f"]
    return [name for name in numbers if np.ptp(ds[name].values) > 0]


def base_of(name: str, known: Container[Any] = QUANTITIES) -> tuple[str, str]:
    """A metric and its reduction from the name of a column; `known` are names that there are."""
    if name not in known:
        base, _, how = name.rpartition("_")
        if how in REDUCTIONS and base in known:
            return base, how
    return name, "min" if name in LARGE_IS_GOOD else "max"


def unit(ds: xr.Dataset, name: str) -> str:
    """The unit of a column, empty where it has none."""
    source = name if name in ds.coords else base_of(name, {*QUANTITIES, *ds.data_vars})[0]
    return str(ds[source].attrs.get("units", "")) if source in ds.variables else ""


def value_of(ds: xr.Dataset, wanted: Objective | str) -> Array:
    """The value of an objective, or of the text of one, for each design (design,).

    >>> ls.study.value_of(ls.open("out.zarr"), "peak_force / upper_arm").shape  # (design,)
    (33,)
    """
    return _evaluated(ds, (objective(wanted) if isinstance(wanted, str) else wanted).expression)


def costs(ds: xr.Dataset, objectives: Sequence[Objective | str]) -> Array:
    """Objectives as numbers that are to be small, (design, objective): those to be large with their sign changed."""
    wanted = [objective(entry) if isinstance(entry, str) else entry for entry in objectives]
    values = [value_of(ds, entry) for entry in wanted]
    signs = [-1.0 if entry.direction == "max" else 1.0 for entry in wanted]
    return np.stack(values, axis=1) * signs


def feasible(ds: xr.Dataset, conditions: Sequence[str] = ()) -> Mask:
    """Whether each design meets all conditions and none of its samples failed, (design,) of booleans.

    A condition is a text such as `condition < 5 and peak_force <= 40`. What is NaN meets no comparison.

        >>> int(ls.study.feasible(ls.open("out.zarr"), ["upper_arm < 0.25"]).sum())
        15
    """
    result = np.ones(ds.sizes["design"], dtype=bool)
    if "failed_samples" in ds and not any("usable_share" in text or "failed_samples" in text for text in conditions):
        result &= column(ds, "failed_samples") == 0
    for text in conditions:
        result &= np.asarray(_evaluated(ds, _parsed(text, "condition", "where")), dtype=bool)
    return result


def _evaluated(ds: xr.Dataset, expression: Expression) -> Array:
    values = expression({name: column(ds, name) for name in expression.names})
    return np.broadcast_to(values, (ds.sizes["design"],))


def _parsed(text: str, kind: Kind, field: str) -> Expression:
    try:
        return parse(text, kind)
    except ExpressionError as error:
        raise refuse(field, error.got, error.expected, error.hint) from None
