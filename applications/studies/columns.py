"""Parameters and metrics of a dataset as columns, one number for each design; objectives and conditions on them.

A metric has further dims: friction sets, trajectories, actuators. Its name alone means the worst over all of them: the
largest, or the least where large is good. `NAME_mean`, `NAME_sum`, `NAME_min`, `NAME_max` say otherwise, and
`NAME_on_TRAJECTORY` or `NAME_sum_on_TRAJECTORY` mean one trajectory alone. Objectives and conditions are expressions
over these names, in the language of the `where` key of sweep files.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.documents.dataset_names import CASE
from pipeline.documents.report import sentence
from pipeline.errors import InputError, refused
from pipeline.execution.conventions import units_of
from pipeline.sweep.question.question import WEIGHTED, split_objective, split_tolerances, split_trajectory
from robots.arguments import check_arguments
from robots.data_classes import dataclass
from robots.derivatives import PARAMETER
from robots.dims import FRICTION
from robots.expressions.expression import ExpressionError, Kind, ParsedExpression, parse
from robots.parameter_errors import nearest
from robots.parameters import DEVIATION
from robots.quantities import QUANTITIES, large_is_good

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]
Direction = Literal["min", "max"]

JOINTS = ("limb", "joint")

REDUCTIONS: Mapping[str, Callable[[Array], Array]] = {
    "max": lambda x: x.max(axis=1),
    "min": lambda x: x.min(axis=1),
    "mean": lambda x: x.mean(axis=1),
    "sum": lambda x: x.sum(axis=1),
}
"""Reductions of the other dims of a metric, from (design, others) to (design,). NaN stays."""


def refuse(field: str, got: str, expected: str, hint: str = "") -> InputError:
    """Return the error for a name or an expression of a study that cannot be used."""
    return refused("study", got, expected, hint, key=field)


@dataclass(frozen=True)
class Objective:
    """Objective, to be made small (`min`) or large (`max`): an expression over columns."""

    text: str
    direction: Direction
    expression: ParsedExpression
    over: str = "worst"
    """Reduction over cases: `worst`, `max`, `min`, a `quantile 0.9`, `mean` or `sum`, also `mean weighted by` a text.
    """
    tolerances: str = ""
    """Reduction over deviations within tolerances, such as `worst` or `mean`; empty: treated as other cases."""

    @property
    def sign(self) -> float:
        """1 where small is good, -1 where large is."""
        return -1.0 if self.direction == "max" else 1.0

    def over_cases(self, values: Array, cases: Mapping[str, Array]) -> Array:
        """Return values (design, case) as one number per design (design,); `cases`: their parameters (case,).

        Raises InputError for weights that do not fit these cases.
        """
        if not self.tolerances:
            return self._reduced(values, self.over, cases)
        samples = cases_of_deviations(cases)
        parts = [
            self._reduced(values[:, sample], self.over, {name: column[sample] for name, column in cases.items()})
            for sample in samples
        ]
        return self._reduced(np.stack(parts, axis=1), self.tolerances, {})

    def _reduced(self, values: Array, over: str, cases: Mapping[str, Array]) -> Array:
        how, _, weights = over.partition(WEIGHTED)
        kind, _, share = how.partition(" ")
        if kind == "quantile":
            return np.asarray(np.quantile(values, float(share), axis=1))
        if weights:
            shares = np.broadcast_to(_weights(weights, cases), values.shape[1:])
            return np.asarray(values @ (shares / shares.sum() if kind == "mean" else shares), dtype=float)
        if kind == "deviation":
            return np.asarray(values.std(axis=1), dtype=float)
        worst = "max" if self.direction == "min" else "min"
        return np.asarray(REDUCTIONS[worst if kind == "worst" else kind](values), dtype=float)


def cases_of_deviations(cases: Mapping[str, Array]) -> list[NDArray[np.intp]]:
    """Return the case numbers that have each of the deviations within tolerances. Raises InputError without any."""
    drawn = [column for name, column in cases.items() if name.endswith(DEVIATION)]
    if not drawn:
        raise refuse("objective", "a rule over tolerances", "a sweep with a section tolerances")
    _, number = np.unique(np.stack(drawn, axis=1), axis=0, return_inverse=True)
    return [np.flatnonzero(number.ravel() == k) for k in range(number.max() + 1)]


def _weights(text: str, cases: Mapping[str, Array]) -> Array:
    """Return the weights of cases (case,), or one weight for all. Raises InputError for an invalid expression."""
    expression = _parsed(text, "number", "objective")
    if strange := [name for name in expression.names if name not in cases]:
        rule = f"one of {', '.join(cases)}" if cases else "operating cases"
        raise refuse("objective", f"weights by {strange[0]}, which is no case", rule, "Name it under cases.")
    values = np.asarray(expression(cases), dtype=float)
    if not np.isfinite(values).all() or (values < 0.0).any() or not (values > 0.0).any():
        raise refuse("objective", f"weights {text} of {np.min(values):g} to {np.max(values):g}", "weights above 0")
    return values


@check_arguments
def objective(text: str) -> Objective:
    """Parse an objective such as `peak_force`, `max dexterity` or `min friction_loss_sum / energy_sum`.

    Without `min` or `max`, a single metric that is good when large is to be large, all else small. The rule over cases
    stands at the end, such as `, mean over cases`, `, quantile 0.9 over cases` or `, sum weighted by 1 / (1 +
    payload_mass) over cases`. Raises InputError.

        >>> ls.study.objective("max dexterity").direction
        'max'
    """
    text, tolerances = split_tolerances(text)
    named, text, over = split_objective(text)
    expression = _parsed(text, "number", "objective")
    for how in (over, tolerances):
        if how.startswith("quantile") and not 0.0 <= float(how.split()[1]) <= 1.0:
            raise refuse("objective", how, "a quantile from 0 to 1")
    natural: Direction = "max" if large_is_good(base_of(expression.text)[0]) else "min"
    direction: Direction = natural if not named else "max" if named == "max" else "min"
    return Objective(expression.text, direction, expression, over, tolerances)


def depends_on_friction(ds: xr.Dataset, expression: ParsedExpression) -> bool:
    """Return whether an expression has metrics, or parameters, that differ between friction sets."""
    names = {base_of(name, {*QUANTITIES, *ds.data_vars})[0] for name in expression.names} | {*expression.names}
    return any(name in ds.variables and FRICTION in ds[name].dims for name in names)


@check_arguments
def column(ds: xr.Dataset, name: str) -> Array:
    """Return a number for each design (design,): a swept parameter, or the worst of a metric. Raises InputError.

    >>> ls.study.column(ls.open("out.zarr"), "peak_force").shape  # (design,)
    (33,)
    """
    if name in ds.coords and ds[name].dims == (CASE,):
        raise refuse(name, "an operating case", "a parameter of designs, or a metric", "Take it out of the cases.")
    values = by_case(ds, name)
    if values.shape[1] == 1:
        return values[:, 0]
    return np.asarray(values.min(axis=1) if large_is_good(base_of(name)[0]) else values.max(axis=1))


def by_case(ds: xr.Dataset, name: str) -> Array:
    """Return a column under each case, (design, case), or (design, 1) if cases do not matter. Raises InputError."""
    if name in ds.coords and ds[name].dims in (("design",), (CASE,)) and ds[name].dtype.kind in "fiu":
        parameter = np.asarray(ds[name].values, dtype=float)
        return parameter[:, None] if ds[name].dims == ("design",) else parameter[None, :]
    known = {*QUANTITIES, *ds.data_vars}
    whole, trajectory = split_trajectory(name)
    if trajectory and name not in known and base_of(name, known)[0] in ds:
        return by_case(_of_trajectory(ds, name, trajectory), whole)
    base, how = base_of(name, known)
    if base not in ds or "design" not in ds[base].dims or "time" in ds[base].dims:
        names_of_dataset = names(ds)
        raise refuse(
            name, "no such column", "a swept parameter or a stored metric", sentence(nearest(name, names_of_dataset))
        )
    if PARAMETER in ds[base].dims:
        hint = f'In Python, ds["{base}"].sel(parameter=...) is that by one of them.'
        raise refuse(name, "derivatives, a number for each parameter", "a metric", hint)
    values = ds[base].transpose("design", CASE, ..., missing_dims="ignore")
    joints = values.dims[-2:] == JOINTS
    if CASE not in values.dims:
        return reduced(values.values, how, joints=joints)[:, None]
    shape = values.shape[:2]
    return reduced(values.values.reshape(-1, *values.shape[2:]), how, joints=joints).reshape(shape)


def _of_trajectory(ds: xr.Dataset, name: str, trajectory: str) -> xr.Dataset:
    """Return the results of one trajectory. Raises InputError where the dataset does not have it."""
    if "trajectory" not in ds.dims:
        rule = "a dataset with the dim trajectory"
        raise refuse(name, "trajectories that are operating cases", rule, "Take trajectory out of the cases.")
    names_of_dataset = [str(entry) for entry in ds["trajectory"].values]
    if trajectory not in names_of_dataset:
        raise refuse(
            name, f"no trajectory {trajectory}", "a trajectory", sentence(nearest(trajectory, names_of_dataset))
        )
    return ds.isel(trajectory=[names_of_dataset.index(trajectory)])


def reduced(values: Array, how: str, *, joints: bool) -> Array:
    """Return a metric (design, ...) as one number per design (design,); with `joints`, last dims are (limb, joint)."""
    flat = values.reshape(len(values), -1)
    if joints:
        flat = values[..., joints_there(values)].reshape(len(values), -1)
    return np.asarray(REDUCTIONS[how](flat), dtype=float)


def joints_there(values: Array) -> Mask:
    """Return a mask (limb, joint) of the joints that exist; a limb with fewer joints than another is filled with NaN.

    All True where every value is NaN.
    """
    exists = ~np.asarray(np.isnan(values).all(axis=tuple(range(values.ndim - 2))))
    return exists if exists.any() else ~exists


def names(ds: xr.Dataset) -> list[str]:
    """Return the names of all columns, reductions other than the worst left out."""
    alone = (("design",), (CASE,))
    swept = [str(name) for name, value in ds.coords.items() if value.dims in alone and name != "design"]
    whole = [str(name) for name, value in ds.data_vars.items() if PARAMETER not in value.dims]
    return swept + [name for name in whole if name not in QUANTITIES or QUANTITIES[name].kind == "metric"]


def base_of(name: str, quantities: Container[Any] = QUANTITIES) -> tuple[str, str]:
    """Split the name of a column into metric and reduction; `quantities` are the existing names.

    The trajectory of a column that means one alone is left out, see `split_trajectory`.
    """
    if name not in quantities:
        name = split_trajectory(name)[0]
    if name not in quantities:
        base, _, how = name.rpartition("_")
        if how in REDUCTIONS and base in quantities:
            return base, how
    return name, "min" if large_is_good(name) else "max"


def unit(ds: xr.Dataset, name: str) -> str:
    """Return the unit of a column, each one where those of its components differ; empty where it has none."""
    source = name if name in ds.coords else base_of(name, {*QUANTITIES, *ds.data_vars})[0]
    return units_of(ds[source].attrs) if source in ds.variables else ""


@check_arguments
def value_of(ds: xr.Dataset, wanted: Objective | str) -> Array:
    """Compute the value of an objective, or of its text, for each design (design,), reduced over cases by its rule.

    >>> ls.study.value_of(ls.open("out.zarr"), "peak_force / upper_arm").shape  # (design,)
    (33,)
    """
    target = objective(wanted) if isinstance(wanted, str) else wanted
    values = _evaluated(ds, target.expression)
    return target.over_cases(values, _cases(ds)) if CASE in ds.dims or target.tolerances else values[:, 0]


def _cases(ds: xr.Dataset) -> dict[str, Array]:
    """Return the parameters that depend on the case (case,)."""
    numbers = {name: x for name, x in ds.coords.items() if x.dims == (CASE,) and x.dtype.kind in "fiu"}
    return {str(name): np.asarray(x.values, dtype=float) for name, x in numbers.items()}


def values_by_case(ds: xr.Dataset, target: Objective) -> Array:
    """Return the value of an objective for each design under each case, (design, case)."""
    return np.asarray(_evaluated(ds, target.expression), dtype=float)


def costs(ds: xr.Dataset, objectives: Sequence[Objective | str]) -> Array:
    """Return the objectives as numbers to minimise, (design, objective): those to maximise change their sign."""
    targets = [objective(entry) if isinstance(entry, str) else entry for entry in objectives]
    values = [value_of(ds, entry) for entry in targets]
    signs = [-1.0 if entry.direction == "max" else 1.0 for entry in targets]
    return np.stack(values, axis=1) * signs


@check_arguments
def feasible(ds: xr.Dataset, conditions: Sequence[str] = ()) -> Mask:
    """Return whether each design meets all conditions in every case without failed samples, (design,) of booleans.

    A condition is a text such as `condition < 5 and peak_force <= 40`. NaN meets no comparison.

        >>> int(ls.study.feasible(ls.open("out.zarr"), ["upper_arm < 0.25"]).sum())
        15
    """
    if "design" not in ds.dims:
        raise refuse("ds", f"a dataset with the dims {', '.join(map(str, ds.dims))}", "results with the dim design")
    result = np.ones(ds.sizes["design"], dtype=bool)
    if "failed_samples" in ds and not any(map(judges_failures, conditions)):
        result &= column(ds, "failed_samples") == 0
    for text in conditions:
        result &= np.asarray(_evaluated(ds, condition(text)), dtype=bool).all(axis=1)
    return result


def judges_failures(text: str) -> bool:
    """Return whether a condition itself decides on designs with failed samples."""
    return "usable_share" in text or "failed_samples" in text


def condition(text: str) -> ParsedExpression:
    """Parse a condition on columns. Raises InputError."""
    return _parsed(text, "condition", "where")


def _evaluated(ds: xr.Dataset, expression: ParsedExpression) -> Array:
    """Return the values (design, case), with one case if the dataset has none."""
    values = expression({name: by_case(ds, name) for name in expression.names})
    return np.broadcast_to(values, (ds.sizes["design"], ds.sizes.get(CASE, 1)))


def _parsed(text: str, kind: Kind, field: str) -> ParsedExpression:
    try:
        return parse(text, kind)
    except ExpressionError as error:
        raise refuse(field, error.got, error.expected, error.hint) from None
