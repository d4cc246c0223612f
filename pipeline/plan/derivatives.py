"""Variables of a plan that are derivatives, and how the numbers of its blocks move with each parameter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.documents.dataset_names import GRAVITY
from pipeline.sweep.axes.derived import rules_of
from pipeline.sweep.axes.kinds import Axis
from pipeline.sweep.gravity import gravity_parameters
from pipeline.sweep.model import Sweep
from robots.dims import FRICTION
from robots.expressions.rates import NumberWithRates, with_rates
from robots.friction.groups import FrictionGroup, varies
from robots.friction.groups import kinds as joint_kinds
from robots.joint_kinds import JOINT_KINDS
from robots.model import Mechanism
from robots.parameters import EITHER, Parameter
from robots.quantities import QUANTITIES, Quantity, simulated
from robots.simulation import state_parameters
from storage.schema import units as units_of_drives


def derivative_rows(sweep: Sweep) -> tuple[Quantity, ...]:
    """Return the rows of the derivatives that a sweep stores, and of their statuses."""
    requested = sweep.derivatives
    rows: list[Quantity] = []
    mechanism = sweep.family.reference
    for name in (name for name in requested.quantities if name in (*sweep.metrics, *sweep.outputs)):
        row = QUANTITIES[name]
        if sweep.simulation is not None:
            row = simulated(row)
        dims = (
            row.dims
            if sweep.simulation is not None or varies(row, sweep.friction.groups)
            else (d for d in row.dims if d != FRICTION)
        )
        described = Quantity(name, tuple(dims), row.units, row.long_name, row.stage, row.frame)
        units = [_quotient(_unit(row, mechanism), unit) for unit in _parameter_units(sweep)]
        same = len({*units}) == 1
        rows += requested.rows(described, units[0] if same else ", ".join(units))
    return tuple(rows)


def _unit(row: Quantity, mechanism: Mechanism) -> str:
    """Return the unit of a quantity of this robot; both where some drives turn and others slide."""
    turns = {JOINT_KINDS[kind].turns for kind in mechanism.actuator_kinds}
    return units_of_drives(turns).get(row.name, row.units)


def _parameter_units(sweep: Sweep) -> Iterator[str]:
    """Yield the units of the parameters that derivatives are taken by."""
    mechanism = sweep.family.reference
    table: dict[str, Parameter] = {parameter.name: parameter for parameter in sweep.family.parameters}
    if sweep.simulation is not None:
        table |= dict(sweep.simulation.gain_parameters) | state_parameters(mechanism)
    for name in sweep.derivatives.parameters:
        if name in table:
            yield table[name].unit
        elif name in GRAVITY:
            yield gravity_parameters(sweep.gravity)[name].unit
        else:
            yield _friction_unit(sweep.friction.parameters[name].unit, _group_of(sweep, name), mechanism)


def _group_of(sweep: Sweep, name: str) -> FrictionGroup:
    """Return the friction group that a parameter in the axes belongs to."""
    return next(group for group in sweep.friction.groups if name in group.labels)


def _friction_unit(unit: str, group: FrictionGroup, mechanism: Mechanism) -> str:
    """Return the unit of a parameter of friction in the joints of its group."""
    sides = unit.split(EITHER)
    turns = {JOINT_KINDS[kind].turns for kind in joint_kinds(mechanism, group)}
    return sides[0 if turns == {True} else -1] if len(turns) == 1 else unit


def _quotient(unit: str, by: str) -> str:
    """Return the unit of a quotient, such as N m/m.

    >>> _quotient("N m", "N m s/rad"), _quotient("W", "1"), _quotient("1", "m"), _quotient("N m, N", "m")
    ('N m/(N m s/rad)', 'W', '1/m', 'N m/m, N/m')
    """
    for between in (", ", EITHER):
        if between in unit:
            return between.join(_quotient(part, by) for part in unit.split(between))
    if by == "1":
        return unit
    return f"{unit}/({by})" if " " in by or "/" in by else f"{unit}/{by}"


def design_directions(sweep: Sweep, start: int, stop: int) -> NDArray[np.float64]:
    """Return the derivatives of robot parameters, then of gravity, by each parameter (design or 1, of, parameter).

    Parameters that `derive` computes follow the parameters in their formulas.
    """
    of_robot = {parameter.name for parameter in sweep.family.parameters}
    gravity = dict(zip(GRAVITY, sweep.gravity, strict=True))
    fixed = sweep.parameters | {name: value for name, value in gravity.items() if name not in of_robot}
    return _directions(sweep.derivatives.parameters, sweep.design, fixed, slice(start, stop))


def friction_directions(sweep: Sweep, start: int, stop: int) -> NDArray[np.float64]:
    """Return how the numbers of friction move with each parameter (set or 1, of, number), in their order."""
    of_robot = {parameter.name for parameter in sweep.family.parameters}
    names = tuple("" if name in of_robot else name for name in sweep.derivatives.parameters)
    fixed = {name: sweep.friction.fixed.get(name, 0.0) for name in sweep.friction.parameters}
    return _directions(names, sweep.friction.axis, fixed, slice(start, stop))


def gain_directions(sweep: Sweep, rows: slice) -> NDArray[np.float64]:
    """Return how the numbers of the controller move with each parameter (set or 1, of, number), in their order."""
    axes, names = sweep.simulation, sweep.derivatives.parameters
    if axes is None:
        return np.zeros((1, len(names), 0))
    fixed = {name: axes.fixed.get(name, 0.0) for name in axes.gain_parameters}
    return _directions(names, axes.gains, fixed, _bounded(rows, axes.gains))


def start_offsets(sweep: Sweep) -> tuple[str, ...]:
    """Return the names of the offsets of the start: swept ones, then others with derivatives by them."""
    axes = sweep.simulation
    if axes is None:
        return ()
    of_start = state_parameters(sweep.family.reference)
    taken = (name for name in sweep.derivatives.parameters if name in of_start)
    return tuple(dict.fromkeys((*axes.state_parameters, *taken)))


def start_directions(sweep: Sweep, rows: slice) -> NDArray[np.float64]:
    """Return how the offsets of the start, `start_offsets`, move with each parameter (state or 1, of, offset)."""
    axes, names = sweep.simulation, sweep.derivatives.parameters
    if axes is None:
        return np.zeros((1, len(names), 0))
    return _directions(names, axes.state, dict.fromkeys(start_offsets(sweep), 0.0), _bounded(rows, axes.state))


def _bounded(rows: slice, axis: Axis) -> slice:
    """Return the same rows with both ends."""
    return slice(rows.start or 0, axis.size if rows.stop is None else min(rows.stop, axis.size))


def _directions(names: Sequence[str], axis: Axis, fixed: Mapping[str, float], places: slice) -> NDArray[np.float64]:
    """Return the rates of all numbers of an axis, in the order of the fixed ones, by some (set or 1, name, number)."""
    order = list(fixed)
    result = np.array([[float(name == column) for column in order] for name in names]).reshape(
        1, len(names), len(order)
    )
    if not (rules := list(rules_of(axis))):
        return result
    count, swept = places.stop - places.start, axis.values(places.start, places.stop)
    moved = dict[str, NumberWithRates]()
    for column, values in {**fixed, **swept}.items():
        rates = np.array([[float(name == column)] for name in names])
        value = np.broadcast_to(np.asarray(values, dtype=float), (count,))
        moved[column] = NumberWithRates(value, np.broadcast_to(rates, (len(names), count)))
    result = np.repeat(result, count, axis=0)
    for column, rule in rules:
        derived = with_rates(rule, moved)
        rates = np.broadcast_to(derived.rates if derived.rates.ndim == 2 else 0.0, (len(names), count))
        moved[column] = NumberWithRates(np.broadcast_to(derived.value, (count,)), rates)
        if column in order:
            result[:, :, order.index(column)] = rates.T
    return result
