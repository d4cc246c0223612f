"""Call the functions of `tasks` with DataArrays; results have the dims of their arguments, and those of the function.

    forces = inverse_dynamics(robot, position=position)  # (design, time, axis) -> (design, time, actuator)

The dims that hold a vector or matrix are those with the names below, or else the last of the array; all others are
batch dims, which are matched by name. Chunked arrays are computed chunk by chunk when they are asked for. `parameters`
are designs: values of parameters of the robot by name, with dims of their own. Calls without DataArrays are those of
`tasks`.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from robots.model import Robot

if TYPE_CHECKING:
    import xarray as xr

AXIS, MATRIX, WRENCH, FREEDOM, ACTUATOR = ("axis",), ("row", "column"), ("wrench",), ("freedom",), ("actuator",)
JOINTS = ("limb", "joint")

ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "position": AXIS,
    "rotation": MATRIX,
    "twist": WRENCH,
    "acceleration": WRENCH,
    "q": FREEDOM,
    "qd": FREEDOM,
    "qdd": FREEDOM,
    "load": WRENCH,
    "force": ACTUATOR,
    "actuator_position": ACTUATOR,
    "base_rotation": MATRIX,
    "base_twist": WRENCH,
    "base_acceleration": WRENCH,
}
"""Arguments that may be DataArrays, and the dims of one sample of each."""


@dataclass(frozen=True)
class FunctionResult:
    """What a function gives: its home, the dims of one sample by name of result, and what it gives with `full`.

    A single result without a name is a DataArray, several are a Dataset.
    """

    home: str
    dims: Mapping[str, tuple[str, ...]]
    full: Mapping[str, tuple[str, ...]] | None = None


STATUS: Mapping[str, tuple[str, ...]] = {"status": ()}
RESULTS: Mapping[str, FunctionResult] = {
    "inverse_dynamics": FunctionResult(
        "tasks.arrays.inverse",
        {"": ACTUATOR},
        {"force": ACTUATOR, "velocity": ACTUATOR, "jacobian": (*ACTUATOR, *FREEDOM), **STATUS},
    ),
    "joint_reactions": FunctionResult(
        "tasks.arrays.inverse", {"": (*JOINTS, *WRENCH)}, {"reaction": (*JOINTS, *WRENCH), **STATUS}
    ),
    "inverse_kinematics": FunctionResult(
        "tasks.arrays.inverse", {"position": JOINTS, "velocity": JOINTS, "acceleration": JOINTS, **STATUS}
    ),
    "forward_kinematics": FunctionResult(
        "tasks.arrays.forward_kinematics", {"position": AXIS, "rotation": MATRIX, **STATUS}
    ),
    "forward_dynamics": FunctionResult("tasks.arrays.equations", {"": FREEDOM}, {"acceleration": FREEDOM, **STATUS}),
    "inertia_matrix": FunctionResult("tasks.arrays.equations", {"": MATRIX}),
    "constraint_forces": FunctionResult(
        "tasks.arrays.bearings",
        {"moment_across": JOINTS, "force_across": JOINTS, "along": JOINTS, "normal": JOINTS, **STATUS},
    ),
    "bias_vector": FunctionResult("tasks.arrays.elements", {"": FREEDOM}),
    "regressor": FunctionResult("tasks.identification.regressor", {"": (*ACTUATOR, "parameter")}),
}
"""The functions of `tasks` that take DataArrays."""


def call(name: str, robot: Robot, /, *, parameters: Mapping[str, Any] | None = None, **arguments: Any) -> Any:
    """Call a function of `tasks` by name; DataArrays among the arguments make the result a DataArray or a Dataset.

    Raises ValueError for a function or argument that takes no DataArrays, and what the function raises.
    """
    row = RESULTS.get(name)
    if row is None:
        raise ValueError(f"{name}: takes no DataArrays; expected one of {', '.join(RESULTS)}")
    function = getattr(importlib.import_module(row.home), name)
    labelled = {key: value for key, value in arguments.items() if _is_labelled(value)}
    if not labelled and not parameters:
        return function(robot, **arguments)
    if unknown := [key for key in labelled if key not in ARGUMENTS]:
        raise ValueError(
            f"{name}: {unknown[0]} is a DataArray; expected numbers or an array, DataArrays for the motion"
        )
    rest = {key: value for key, value in arguments.items() if key not in labelled}
    results = row.full if rest.get("full") and row.full else row.dims
    if rest.get("full") and row.full is None:
        raise ValueError(f"{name}: full=True with DataArrays; expected it to be left out")
    plain = functools.partial(_cases, function, robot, tuple(parameters or ()), tuple(labelled), rest)
    return _applied(plain, robot, dict(parameters or {}), labelled, results)


def _is_labelled(value: object) -> bool:
    return hasattr(value, "dims") and hasattr(value, "coords")


def _applied(
    plain: Callable[..., Any],
    robot: Robot,
    parameters: Mapping[str, Any],
    labelled: Mapping[str, xr.DataArray],
    results: Mapping[str, tuple[str, ...]],
) -> Any:
    import xarray as xr

    arrays = [xr.DataArray(value) for value in parameters.values()]
    cores: list[tuple[str, ...]] = [()] * len(parameters)
    probes = [np.asarray(robot.values.get(name, 0.0)) for name in parameters]
    for name, value in labelled.items():
        array, core = _with_core(name, value)
        arrays.append(array)
        cores.append(core)
        probes.append(np.eye(3) if name.endswith("rotation") else np.zeros([array.sizes[dim] for dim in core]))
    # one sample says how large results are: the number of columns of a regressor is known to nobody else
    shapes = [part.shape for part in plain(*probes)]
    sizes: dict[str, int] = {}
    for dims, shape in zip(results.values(), shapes, strict=True):
        sizes |= zip(dims, shape, strict=True)
    kinds = [np.int8 if name == "status" else np.float64 for name in results]
    made = xr.apply_ufunc(
        plain if len(results) > 1 else lambda *parts: plain(*parts)[0],
        *arrays,
        input_core_dims=cores,
        output_core_dims=list(results.values()),
        dask="parallelized",
        output_dtypes=kinds,
        dask_gufunc_kwargs={"output_sizes": sizes, "allow_rechunk": True},
    )
    labels = _labels(robot, sizes)
    if len(results) == 1:
        return made.assign_coords({dim: labels[dim] for dim in made.dims if dim in labels})
    dataset = xr.Dataset(dict(zip(results, made, strict=True)))
    return dataset.assign_coords({dim: labels[str(dim)] for dim in dataset.dims if dim in labels})


def _with_core(name: str, value: xr.DataArray) -> tuple[xr.DataArray, tuple[str, ...]]:
    """An array with names of its own for the dims of one sample, so that they meet those of no other array."""
    wanted = ARGUMENTS[name]
    dims = wanted if {*wanted} <= {*value.dims} else tuple(map(str, value.dims))[-len(wanted) :]
    if len(dims) < len(wanted):
        raise ValueError(f"{name}: got dims {value.dims}; expected batch dims and then {', '.join(wanted)}")
    core = tuple(f"{name}_{dim}" for dim in wanted)
    bare = value.drop_vars([key for key in value.coords if {*value.coords[key].dims} & {*dims}])
    return bare.rename(dict(zip(dims, core, strict=True))), core


def _labels(robot: Robot, sizes: Mapping[str, int]) -> dict[str, list[str]]:
    """Names along the dims of results, where they fit."""
    mechanism = robot.mechanism
    freedoms = list(mechanism.freedoms if mechanism.is_chain else mechanism.platform.mobility)
    wrench = [f"{kind}_{axis}" for kind in ("angular", "linear") for axis in "xyz"]
    names = {"actuator": list(mechanism.actuators), "limb": [each.name for each in mechanism.instances]}
    names |= {"freedom": freedoms, "wrench": wrench, "axis": ["x", "y", "z"]}
    if sizes.get("freedom") == len(wrench) and not mechanism.is_chain:
        names["freedom"] = wrench
    return {dim: labels for dim, labels in names.items() if sizes.get(dim) == len(labels)}


def _cases(
    function: Callable[..., Any],
    robot: Robot,
    parameters: tuple[str, ...],
    names: tuple[str, ...],
    rest: Mapping[str, Any],
    /,
    *arrays: NDArray[np.float64],
) -> tuple[NDArray[Any], ...]:
    """Call a function once for each design; parameters come first among the arrays."""
    motion = arrays[len(parameters) :]
    if not parameters:
        return _tuple(function(robot, **dict(zip(names, motion, strict=True)), **rest))
    cores = [len(ARGUMENTS[name]) for name in names]
    batches = [array.shape[: array.ndim - core] for array, core in zip(motion, cores, strict=True)]
    values = np.broadcast_arrays(*arrays[: len(parameters)])
    batch = np.broadcast_shapes(values[0].shape, *batches)
    designs = (1,) * (len(batch) - values[0].ndim) + values[0].shape
    outputs: tuple[NDArray[Any], ...] | None = None
    for place in np.ndindex(*designs):
        chosen = {name: float(value.reshape(designs)[place]) for name, value in zip(parameters, values, strict=True)}
        part = tuple(slice(at, at + 1) if size > 1 else slice(None) for at, size in zip(place, designs, strict=True))
        moving = {name: _part(array, core, part) for name, array, core in zip(names, motion, cores, strict=True)}
        results = _tuple(function(Robot.of(robot.family, {**robot.values, **chosen}), **moving, **rest))
        if outputs is None:
            outputs = tuple(np.empty((*batch, *result.shape[len(batch) :]), result.dtype) for result in results)
        for output, result in zip(outputs, results, strict=True):
            output[part] = result
    assert outputs is not None, "there is at least one design"
    return outputs


def _part(array: NDArray[Any], core: int, part: tuple[slice, ...]) -> NDArray[Any]:
    """The part of an array along all batch dims; whole along those where it has length one, or which it lacks."""
    own = array.shape[: array.ndim - core]
    whole = (1,) * (len(part) - len(own)) + own
    places = tuple(slice(None) if size == 1 else at for at, size in zip(part, whole, strict=True))
    return array.reshape(whole + array.shape[array.ndim - core :])[places]


def _tuple(results: NDArray[Any] | tuple[NDArray[Any], ...]) -> tuple[NDArray[Any], ...]:
    return tuple(results) if isinstance(results, tuple) else (results,)


def __getattr__(name: str) -> Callable[..., Any]:
    """A function of `tasks` by its name, for DataArrays."""
    if name not in RESULTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    function = getattr(importlib.import_module(RESULTS[name].home), name)

    @functools.wraps(function)
    def labelled(robot: Robot, **arguments: Any) -> Any:
        return call(name, robot, **arguments)

    return labelled


def __dir__() -> list[str]:
    return [*RESULTS, "call"]
