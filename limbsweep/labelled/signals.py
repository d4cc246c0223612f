"""Functions of signals over time, which take DataArrays too: currents, profiles, friction along a velocity.

Dims have the names `time` and `actuator`, or else are the last dims that a function needs; others are batch dims. The
functions are documented in `tasks.dynamics.fed_motors`, `tasks.sources.profiles` and `tasks.features.friction.history`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike

from limbsweep.labelled.calls import in_order, is_labelled
from limbsweep.labelled.units import in_si, number_in_si, parameter_in_si
from robots.arguments import check_arguments
from robots.friction.laws import LAWS
from robots.labels import names_of_entries
from robots.model import Robot
from tasks.dynamics import fed_motors
from tasks.features.friction import history as states
from tasks.sources import profiles

if TYPE_CHECKING:
    from xarray import DataArray, Dataset

    from tasks.dynamics.forces_over_step import Acting
    from tasks.features.friction.history import History
    from tasks.sources.profiles import Between

PROFILED = ("N", "N m", "A", "V", "rad/s", "m/s")
"""Units of SI of the signals of a profile: forces, currents, voltages, speeds."""


@overload
def from_currents(robot: Robot, current: DataArray) -> DataArray: ...
@overload
def from_currents(robot: Robot, current: Acting) -> Acting: ...
@check_arguments
def from_currents(robot: Robot, current: Acting | DataArray) -> Acting | DataArray:
    """Convert motor currents to forces of the actuators of a robot: torque constant times current.

    current (*batch, actuator) [A]: an array, a DataArray, or a function of time or of the state as `simulate` takes it.
    The result has the same shape, dims and coordinates [N m or N], or is such a function. Chunked arrays stay lazy.
    Raises ValueError where an actuator has no motor or the shape is another one, TypeError. Source: Industrial
    manipulators paper, section 3.

        >>> robot = ls.robots.build("irb6")
        >>> current = xr.DataArray(np.ones((4, len(robot.mechanism.actuators))), dims=("time", "actuator"))
        >>> ls.from_currents(robot, current).dims
        ('time', 'actuator')
    """
    actuators = list(robot.mechanism.actuators)
    if not is_labelled(current):
        return fed_motors.from_currents(robot, _ordered(current, robot) if callable(current) else current)
    import xarray as xr

    dim = _dim("current", current, "actuator")
    current = _current(current, dim, robot)
    fed_motors.from_currents(robot, np.zeros(current.sizes[dim]))  # errors are raised now, not when it is computed
    forces: DataArray = xr.apply_ufunc(
        lambda values: fed_motors.from_currents(robot, values),
        current,
        input_core_dims=[[dim]],
        output_core_dims=[[dim]],
        dask="parallelized",
        output_dtypes=[np.float64],
        dask_gufunc_kwargs={"allow_rechunk": True},
    )
    return forces.transpose(*current.dims).assign_coords({dim: actuators}).rename(None)


def _current(current: DataArray, dim: Hashable, robot: Robot) -> DataArray:
    """Return currents [A] in the order of the actuators."""
    return in_si("current", in_order("current", current, dim, robot.mechanism.actuators), dim, robot.mechanism)


def _ordered(current: Callable[..., Any], robot: Robot) -> Callable[..., Any]:
    """Return a function of time or state whose DataArrays are in the order of the actuators [A]."""

    @functools.wraps(current)  # with its arguments, whose names tell that it is a function of the state
    def ordered(*state: Any) -> Any:
        value = current(*state)
        return _current(value, _dim("current", value, "actuator"), robot) if is_labelled(value) else value

    return ordered


@check_arguments
def profile(
    times: ArrayLike | DataArray, values: ArrayLike | DataArray, between: Between = "linear"
) -> Callable[[float], np.ndarray | DataArray]:
    """Make a function of time [s] for simulations from forces or currents at instants.

    times (time,) [s], ascending; values (time, *batch, actuator), or a DataArray with the dims `time` and `actuator` in
    any order. The function gives arrays (*batch, actuator): `between` instants linear, or with "steps" constant up to
    the next one; before the first and after the last they hold. Where the values name actuators, these are DataArrays
    with the names, which simulations put into the order of their robot. Raises ValueError.

        >>> force = ls.profile([0.0, 0.1], [[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
        >>> force(0.05)
        array([0.5, 1. , 1.5])
    """
    if is_labelled(times):
        times = number_in_si("times", times, "s")
    if is_labelled(values):
        values = number_in_si("values", values, *PROFILED)
        first, last = _dim("values", values, "time", 0), _dim("values", values, "actuator")
        if first == last:
            raise ValueError(f"values: got dims {values.dims}; expected time, batch dims, actuator")
        values = values.transpose(first, ..., last)
    names = names_of_entries(values)
    function = profiles.profile(np.asarray(times), np.asarray(values), between)
    return function if names is None else _with_names(function, names[0])


def _with_names(function: Callable[[float], np.ndarray], names: Sequence[object]) -> Callable[[float], DataArray]:
    """Return a function of time whose values (*batch, actuator) have the names of actuators."""
    import xarray as xr

    def named(time: float) -> DataArray:
        values = function(time)
        batch = [f"batch_{number}" for number in range(values.ndim - 1)]
        return xr.DataArray(values, dims=(*batch, "actuator"), coords={"actuator": names})

    return named


@overload
def friction_along(
    law: str,
    *,
    velocity: DataArray,
    times: ArrayLike | DataArray,
    values: Mapping[str, ArrayLike | DataArray],
    load: ArrayLike | DataArray = ...,
    initial: ArrayLike | DataArray = ...,
) -> Dataset: ...
@overload
def friction_along(
    law: str,
    *,
    velocity: ArrayLike,
    times: ArrayLike,
    values: Mapping[str, ArrayLike],
    load: ArrayLike = ...,
    initial: ArrayLike = ...,
) -> History: ...
@check_arguments
def friction_along(
    law: str,
    *,
    velocity: ArrayLike | DataArray,
    times: ArrayLike | DataArray,
    values: Mapping[str, ArrayLike | DataArray],
    load: ArrayLike | DataArray = 1.0,
    initial: ArrayLike | DataArray = 0.0,
) -> History | Dataset:
    """Compute the friction force of a law with a state along given velocities.

    velocity (*batch, time) [rad/s or m/s] at increasing `times` (time,) [s]; values: parameters and options of the law
    by name, each a number or an array (*batch,); load: normal load, a number or (*batch, time); initial: the state at
    the first time (*batch,). Gives `force` [N m or N] and `state` (*batch, time). With a DataArray of velocities the
    others may be DataArrays too, which meet by the names of their dims, and the result is a Dataset with the dims of
    all; chunked ones stay lazy. Raises ValueError for shapes and times that do not fit and for a law without a state,
    ParameterError for parameters. A NaN stays in its sample. See `tasks.features.friction.history`.

        >>> time = np.linspace(0.0, 0.1, 101)
        >>> rates = xr.DataArray(0.1 * np.sin(60.0 * time), dims="time")
        >>> law = {"coulomb": 1.0, "static": 1.5, "stribeck_velocity": 0.01, "sigma0": 1e5}
        >>> float(ls.friction_along("lugre", velocity=rates, times=time, values=law)["force"].max().round(1))
        1.2
    """
    if not is_labelled(velocity):
        for name, value in {"times": times, "load": load, "initial": initial, **values}.items():
            if is_labelled(value):
                raise ValueError(
                    f"{name}: got a DataArray beside a velocity without dims; expected a DataArray of both"
                )
        return states.along(law, velocity=velocity, times=times, values=values, load=load, initial=initial)
    import xarray as xr

    velocity = number_in_si("velocity", velocity, "rad/s", "m/s")
    times = number_in_si("times", times, "s") if is_labelled(times) else times
    load = number_in_si("load", load, "N", "N m") if is_labelled(load) else load
    values = _in_units_of(law, values)
    dim = _dim("velocity", velocity, "time")
    instants = np.asarray(times, dtype=float)
    moving = velocity.assign_coords({dim: instants}) if len(instants) == velocity.sizes[dim] else velocity
    cases = {"initial": initial, **values}
    for name, value in {"load": load, **cases}.items():
        if not is_labelled(value) and np.ndim(value):
            raise ValueError(f"{name}: got an array of shape {np.shape(value)}; expected a number or a DataArray")
    loads = load.assign_coords({dim: instants}) if is_labelled(load) and dim in load.dims else xr.DataArray(load)
    if dim not in loads.dims:
        loads = loads.expand_dims({dim: moving[dim]} if dim in moving.coords else {dim: velocity.sizes[dim]}, -1)

    def along(velocity: np.ndarray, load: np.ndarray, *numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        first, *rest = numbers
        named = dict(zip(values, rest, strict=True))
        history = states.along(law, velocity=velocity, times=instants, values=named, load=load, initial=first)
        return history.force, history.state

    if all(getattr(value, "chunks", None) is None for value in cases.values()):  # errors are raised now, not later
        along(np.zeros(velocity.sizes[dim]), np.ones(len(instants)), *map(_first, cases.values()))
    force, state = xr.apply_ufunc(
        along,
        moving,
        loads,
        *cases.values(),
        input_core_dims=[[dim], [dim], *([] for _ in cases)],
        output_core_dims=[[dim], [dim]],
        dask="parallelized",
        output_dtypes=[np.float64, np.float64],
        dask_gufunc_kwargs={"allow_rechunk": True},
    )
    return xr.Dataset({"force": force, "state": state})


def _in_units_of(law: str, values: Mapping[str, ArrayLike | DataArray]) -> dict[str, ArrayLike | DataArray]:
    """Return parameters of a friction law, DataArrays in the units of the law."""
    numbers = (*LAWS[law].parameters, *LAWS[law].options) if law in LAWS else ()
    units = {number.name: number.unit for number in numbers}
    return {
        name: parameter_in_si(name, value, units[name]) if is_labelled(value) and name in units else value
        for name, value in values.items()
    }


def _dim(argument: str, array: DataArray, name: str, place: int = -1) -> Hashable:
    """Return the dim of this name, or the one at this place. Raises ValueError for an array without dims."""
    if not array.dims:
        raise ValueError(f"{argument}: got a DataArray without dims; expected the dim {name}")
    return name if name in array.dims else array.dims[place]


def _first(value: ArrayLike | DataArray) -> np.ndarray:
    """Return a number, or the first one of an array."""
    return np.asarray(value.isel(dict.fromkeys(value.dims, 0)) if is_labelled(value) else value)
