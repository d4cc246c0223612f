"""`simulate` and `servo` with DataArrays: motions over time as a Dataset, references with names of their dims.

motion = simulate(robot, q=q, force=force, step=1e-3, steps=1000)  # (design, freedom) -> (design, time, freedom)
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike

from limbsweep.labelled.calls import PlainFunction, is_labelled, labelled_results
from limbsweep.labelled.table import ARGUMENTS, CHAIN_MOTION, PLATFORM_MOTION, TIME, Dims, FunctionResult
from robots.model import Robot
from tasks.dynamics import servo as controllers
from tasks.dynamics import simulate as direct
from tasks.dynamics.servo import Servo

if TYPE_CHECKING:
    import xarray as xr

    from limbsweep.labelled.functions import Arguments, OnDataArrays, Parameters, Value_co
    from tasks.dynamics.chains import ChainMotion
    from tasks.dynamics.free_motion import Simulation

ALSO = """With DataArrays among the arguments, or designs as `parameters`, the result is a Dataset with the dim `time`,
    whose coordinate is in seconds; other dims are batch dims and meet by name. Forces over time are functions, see
    `profile`."""


_motion = cast("Callable[..., Simulation | ChainMotion]", direct.simulate)
"""The function with arguments of any type, which it checks itself."""


@functools.wraps(direct.simulate)
def _simulate(robot: Robot, *, parameters: Parameters | None = None, **arguments: object) -> object:
    if not parameters and not any(map(is_labelled, arguments.values())):
        return _motion(robot, **arguments)
    values = {**(parameters or {}), **arguments}
    for name, value in values.items():
        if is_labelled(value) and "time" in value.dims:
            raise ValueError(f"simulate: {name}: got a DataArray with the dim time; expected batch dims, and what goes "
                             "along with time as a function; make one with profile")  # fmt: skip
    moving = {key: value for key, value in arguments.items() if key in ARGUMENTS and _is_array(value)}
    rest = {key: value for key, value in arguments.items() if key not in moving}
    if wrong := [key for key, value in rest.items() if is_labelled(value)]:
        raise ValueError(
            f"simulate: {wrong[0]} is a DataArray; expected numbers or an array, DataArrays for motion and forces"
        )
    if parameters and isinstance(arguments.get("force"), Servo):
        raise ValueError(
            "simulate: parameters: got designs with a servo, whose model is of one robot; expected forces, or a sweep "
            "with a section simulation, whose controllers know each design"
        )
    results = {name: dims if name == "status" else (*TIME, *dims) for name, dims in _results(robot, arguments).items()}
    step, every = cast("float", arguments["step"]), cast("int", arguments.get("every", 1))
    kept = cast("int", arguments["steps"]) // every + 1
    row = FunctionResult("tasks.dynamics.simulate", results)
    plain = PlainFunction(functools.partial(_over_time, results), row, robot, name="simulate")
    motion = labelled_results(plain, dict(parameters or {}), moving, rest, results, {"steps": every}, {"time": kept})
    instants = cast("float", arguments.get("start") or 0.0) + step * every * np.arange(kept)
    return motion.assign_coords(time=("time", instants, {"units": "s", "long_name": "time"}))


def _is_array(value: object) -> bool:
    return value is not None and not callable(value) and not isinstance(value, Servo)


def _results(robot: Robot, arguments: Mapping[str, object]) -> Mapping[str, Dims]:
    """Return the results of `simulate`, with the dims of each.

    A parallel robot without friction and similar options has no losses and no work.
    """
    if robot.mechanism.is_chain:
        return CHAIN_MOTION
    options = ("friction", "memory", "method", "start", "base_rotation", "base_twist", "base_acceleration")
    whole = isinstance(arguments["force"], Servo) or any(arguments.get(name) is not None for name in options)
    whole |= bool(robot.family.signals)
    always = ("position", "rotation", "twist", "drift", "gap", "status")
    return PLATFORM_MOTION if whole else {name: PLATFORM_MOTION[name] for name in always}


def _over_time(results: Mapping[str, Dims], robot: Robot, **arguments: object) -> tuple[np.ndarray, ...]:
    """Simulate a case (*batch) and return the results of `simulate`, (*batch, time, ...) each."""
    motion = _motion(robot, **arguments)
    values = ((np.asarray(getattr(motion, name)), len(dims)) for name, dims in results.items())
    return tuple(np.moveaxis(value, 0, value.ndim - core) if core else value for value, core in values)


@functools.wraps(controllers.servo)
def _servo(
    robot: Robot, kind: str, *, reference: Mapping[str, ArrayLike | xr.DataArray], step: float,
    space: str = "actuator", **parameters: float,
) -> Servo:  # fmt: skip
    plain = {name: _along_time(name, value, step) for name, value in reference.items()}
    return controllers.servo(robot, kind, reference=plain, step=step, space=space, **parameters)


def _along_time(name: str, value: ArrayLike | xr.DataArray, step: float) -> ArrayLike:
    """A part of a reference (instant, ...), from a DataArray in the order of its dims by name. Raises ValueError."""
    if not is_labelled(value):
        return value
    wanted = ARGUMENTS.get(name, ())
    core = wanted if {*wanted} <= {*value.dims} else tuple(map(str, value.dims))[-len(wanted) :] if wanted else ()
    batch = [str(dim) for dim in value.dims if dim not in core]
    if len(batch) != 1:
        raise ValueError(f"reference: {name}: got dims {value.dims}; expected one of instants, and {', '.join(core)}")
    if batch[0] in value.coords:
        instants = np.asarray(value[batch[0]].values, dtype=float)
        if np.abs(instants - step * np.arange(len(instants))).max() > 1e-6 * step:
            raise ValueError(
                f"reference: {name}: got instants {instants[:3].tolist()} ... along {batch[0]}; expected multiples of "
                f"step, {step!r} s, from 0 on"
            )
    return np.asarray(value.transpose(*batch, *core).values, dtype=float)


if TYPE_CHECKING:

    def _typed(function: Callable[Arguments, Value_co]) -> OnDataArrays[Arguments, Value_co]: ...

    simulate = _typed(direct.simulate)
    servo = _servo
else:
    servo = _servo
    simulate = _simulate
    simulate.__doc__ = f"{direct.simulate.__doc__.rstrip()}\n\n    {ALSO}\n    "
    simulate.__signature__ = inspect.signature(direct.simulate).replace(
        parameters=[
            *inspect.signature(direct.simulate).parameters.values(),
            inspect.Parameter("parameters", inspect.Parameter.KEYWORD_ONLY, default=None),
        ]
    )
