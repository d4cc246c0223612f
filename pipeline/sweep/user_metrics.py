"""Add user metrics to a sweep: Python functions on the arrays of one case, pickled by value.

The parameters of a function name its arguments: series of the dataset, in their dims within a case, such as
`actuator_force` (time, actuator); `time`; `parameters` and `friction`, the numbers of the design and of the friction
set. Files cannot name functions: a sweep that somebody sends must not bring code along.

Its byte code, with everything that it refers to, identifies a function. So a change of spelling or of a comment gives
the same function, and a change of a constant in an enclosing scope gives another one.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pipeline.documents.dataset_names import name_conflict
from pipeline.documents.report import sentence
from pipeline.errors import InputError, Problem
from pipeline.sweep.function_hash import of_function
from pipeline.sweep.model import Sweep
from pipeline.sweep.needs import lacking_of
from pipeline.sweep.user_metric import PreparedMetric
from robots.data_classes import dataclass, replace
from robots.metric_function import OF_SIMULATION, VALUES, MetricFunction
from robots.parameter_errors import nearest
from robots.quantities import QUANTITIES, Quantity
from storage.schema import NAME

UserFunction = Callable[..., Any]

DIMS = ("design", "friction", "trajectory")
POSITIONAL = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True)
class UserMetric:
    """A function with its unit, its meaning, and whether it returns a number for each actuator instead of one.

    >>> def mean_force(actuator_force):
    ...     return np.abs(actuator_force).mean(axis=0)
    >>> metrics = {"mean_force": ls.UserMetric(mean_force, "N m", per_actuator=True)}
    >>> ls.compute(ls.Sweep.from_yaml("sweep.yaml"), metrics=metrics)["mean_force"].dims
    ('design', 'friction', 'trajectory', 'actuator')
    """

    function: UserFunction
    units: str = "1"
    long_name: str = ""
    per_actuator: bool = False


def with_metrics(sweep: Sweep, metrics: Mapping[str, UserFunction | UserMetric]) -> Sweep:
    """Add user metrics to a sweep; they are part of its fingerprint. Raises InputError with all problems."""
    problems: list[Problem] = []
    prepared: list[PreparedMetric] = []
    for name, entry in metrics.items():
        metric = entry if isinstance(entry, UserMetric) else UserMetric(entry)
        wrong = [
            *_wrong_name(sweep, name, [earlier.name for earlier in prepared]),
            *_wrong_function(sweep, name, metric.function),
        ]
        if not wrong:
            prepared.append(_prepared(sweep, name, metric))
        problems += wrong
    if problems:
        raise InputError(problems)
    return replace(sweep, user_metrics=tuple(prepared))


def _values(sweep: Sweep) -> tuple[str, ...]:
    """Return the names of values, other than series, that a user metric may take as arguments."""
    return VALUES if sweep.simulation is None else (*VALUES, *OF_SIMULATION)


def _prepared(sweep: Sweep, name: str, metric: UserMetric) -> PreparedMetric:
    asked = list(inspect.signature(metric.function).parameters)
    dims = DIMS if sweep.simulation is None else (*DIMS, *sweep.simulation.sizes)
    dims = (*dims, "actuator") if metric.per_actuator else dims
    text = metric.long_name or name.replace("_", " ")
    variable = Quantity(name, dims, metric.units, text, "user")
    series = tuple(name for name in asked if name in QUANTITIES)
    values = tuple(name for name in asked if name in _values(sweep))
    function = MetricFunction(_by_value(metric.function), series, values)
    return PreparedMetric(variable, function, of_function(metric.function))


def _by_value(function: UserFunction) -> bytes:
    """Pickle a function with the code of its module that it calls, so that no worker needs the module."""
    import cloudpickle

    module = sys.modules.get(getattr(function, "__module__", None) or "")
    if module is None or module.__name__ == "__main__":
        return bytes(cloudpickle.dumps(function))
    cloudpickle.register_pickle_by_value(module)
    try:
        return bytes(cloudpickle.dumps(function))
    finally:
        cloudpickle.unregister_pickle_by_value(module)


def _wrong_name(sweep: Sweep, name: str, others: Sequence[str]) -> list[Problem]:
    taken = {
        *others,
        *(() if sweep.simulation is None else sweep.swept),
        *sweep.sizes,
        *sweep.design.names,
        *sweep.friction.axis.names,
        *sweep.derivatives.names,
        *sweep.derivatives.sizes,
    }
    if not isinstance(name, str) or not NAME.fullmatch(name):
        return [_problem(f"{name}", repr(name), "letters, digits and '_', a letter first", "Rename it.")]
    # Names are folders, also where capitals do not count.
    if name_conflict(name) or name.casefold() in {each.casefold() for each in taken}:
        return [_problem(name, "a name of the dataset", "a name of its own", "Rename it.")]
    return []


def _wrong_function(sweep: Sweep, name: str, function: object) -> list[Problem]:
    if not inspect.isfunction(function):
        got = f"a {type(function).__name__}"
        return [_problem(name, got, "a function written in Python", "Wrap it in one.")]
    known = {*_values(sweep), *_series(sweep)}
    problems = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in POSITIONAL:
            rule = "parameters that have the names of series"
            problems.append(_problem(f"{name}({parameter})", "any number of arguments", rule, "Name them."))
        elif parameter.name not in known:
            hint = sentence(nearest(parameter.name, sorted(known)))
            problems.append(_problem(f"{name}({parameter.name})", "no such series", "one that this sweep has", hint))
    return problems


def _series(sweep: Sweep) -> list[str]:
    """List the series that a sweep has."""
    lacks, measured = lacking_of(sweep.family.reference, sweep.simulation), sweep.measurement is not None
    rows = (row for row in QUANTITIES.values() if "time" in row.dims and not {*row.needs} & {*lacks})
    return [row.name for row in rows if measured or row.stage != "sensors"]


def _problem(field: str, got: str, expected: str, hint: str) -> Problem:
    return Problem("metrics", 0, 0, field, got, expected, hint)
