"""Call a function on arrays with DataArrays, chunked or not, and with designs as arrays of parameters."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeGuard, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbsweep.labelled.table import ACTUATOR, Dims, FunctionResult
from limbsweep.labelled.units import OF_ACTUATORS, in_si, parameter_in_si
from robots.arguments import real_numbers, shown
from robots.labels import SAME_ROWS, in_order_of, names_along, other_rows, places_of
from robots.model import Robot
from tasks.dynamics.records import STANDING, Environment, MotionKeywords, Record, State, long_form

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[Any]


def call(
    function: Callable[..., Any],
    row: FunctionResult,
    robot: Robot,
    /,
    *places: object,
    parameters: Mapping[str, Any] | None = None,
    **arguments: object,
) -> Any:
    """Call a function; DataArrays among arguments or `parameters` make the result a Dataset.

    `places` are its arguments by position; records are split into their fields. Without DataArrays `parameters` are
    arrays that are broadcast with the batch of the others, and the result is that of the function. Raises ValueError
    for arguments that cannot be DataArrays and for batch dims without names beside them, ParameterError for designs,
    and the errors of the function.
    """
    if not isinstance(robot, Robot):
        got = repr(robot) if isinstance(robot, str) else f"an object of type {type(robot).__name__}"  # type: ignore[unreachable]
        raise ValueError(f"robot: got {got}; expected a robot, such as that of limbsweep.robots.build")
    parameters = designs_of(function.__name__, parameters, robot)
    given = dict(zip(list(inspect.signature(function).parameters)[1:], places, strict=False)) | arguments
    leaves = ordered(leaves_of(given), row.arguments, parameters, robot)
    labelled = {key: value for key, value in leaves.items() if is_labelled(value)}
    if not labelled and not parameters:
        return function(robot, *places, **arguments)
    inspect.signature(function).bind_partial(robot, *places, **arguments)  # raises for one too many, or given twice
    plain = PlainFunction(on_leaves(function, given), row, robot)
    moving = {key: value for key, value in leaves.items() if key in row.arguments and value is not None}
    if row.single:  # one number for all actuators is no array
        moving = {key: value for key, value in moving.items() if is_labelled(value) or np.ndim(np.asarray(value))}
    rest = {key: value for key, value in leaves.items() if key not in moving}
    if unknown := [key for key in labelled if key in rest]:
        raise ValueError(
            f"{plain.name}: {unknown[0]} is a DataArray; expected numbers or an array, DataArrays for the motion"
        )
    if not labelled and not any(map(is_labelled, (parameters or {}).values())):
        return plain.designs(parameters or {}, moving, rest)
    return labelled_results(plain, dict(parameters or {}), moving, rest, row.dims)


def leaves_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with the fields of records in place of these, by names of their own.

    Raises ValueError for a motion beside fields of one, and for gravity beside an environment.
    """
    leaves = dict(arguments)
    short = {key: arguments[key] for key in MotionKeywords.__annotations__ if key in arguments}
    for name, record in arguments.items():
        if isinstance(record, State):
            still = {key: value for key, value in short.items() if key != "gravity"}
            long_form(record, STANDING, cast(MotionKeywords, still))
        if isinstance(record, Environment):
            long_form(None, record, cast(MotionKeywords, short))
        if isinstance(record, Record):
            leaves |= {prefix + key: value for prefix, part in _parts(record) for key, value in part.present().items()}
            del leaves[name]
    return leaves


def _parts(record: Record) -> list[tuple[str, Record]]:
    """Return the record, or the two of an environment, with the prefix of their field names."""
    if not isinstance(record, Environment) or record.base is None:
        return [(record.prefix, record)]
    return [("", replace(record, base=None)), ("base_", record.base)]


def ordered(
    leaves: Mapping[str, Any], dims: Mapping[str, Dims], parameters: Mapping[str, Any], robot: Robot
) -> dict[str, Any]:
    """Return arguments, those of pandas with entries in the order of the robot. Raises ValueError for other names.

    Rows of DataFrames and of columns of designs have to be the same.
    """
    rows, labels, result = dict(parameters), names_along(robot.mechanism), dict(leaves)
    for name, value in leaves.items():
        core = dims.get(name, ())
        if not hasattr(value, "index") or is_labelled(value) or isinstance(value, list | tuple):
            continue
        if np.ndim(value) > len(core):
            rows[name] = value
        if core:
            result[name] = in_order_of(labels.get(core[-1], ()), name, value)
    if differing := other_rows(rows):
        raise ValueError(f"{differing}: got several indexes; expected {SAME_ROWS}")
    return result


def on_leaves(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Callable[..., Any]:
    """Return a function of a robot and leaves, which makes records of them as the arguments have them."""
    records = {name: record for name, record in arguments.items() if isinstance(record, Record)}

    @functools.wraps(function)
    def run(robot: Robot, **leaves: Any) -> Any:
        for name, record in records.items():
            leaves[name] = _refilled(record, leaves)
        return function(robot, **leaves)

    return run


def _refilled(record: Record, leaves: dict[str, Any]) -> Record:
    """Return a record with its fields taken out of the leaves."""
    parts = [
        replace(part, **{key: leaves.pop(prefix + key) for key in part.present()})  # type: ignore[type-var]
        for prefix, part in _parts(record)
    ]
    return parts[0] if len(parts) == 1 else replace(parts[0], base=parts[1])  # type: ignore[type-var]


def designs_of(name: str, parameters: object, robot: Robot) -> Mapping[str, Any]:
    """Return parameters by name, DataArrays in the units of the robot; also the columns of a DataFrame.

    Raises ValueError for others.
    """
    if parameters is None or isinstance(parameters, Mapping):
        units = {parameter.name: parameter.unit for parameter in robot.family.parameters}
        return {
            key: parameter_in_si(key, value, units[key]) if is_labelled(value) and key in units else value
            for key, value in (parameters or {}).items()
        }
    columns = getattr(parameters, "columns", None)
    if columns is None or not hasattr(parameters, "to_numpy"):
        got = f"an object of type {type(parameters).__name__}"
        raise ValueError(f"{name}: parameters: got {got}; expected a dict, a DataFrame or a Dataset of parameters")
    if twice := [column for number, column in enumerate(columns) if column in list(columns)[:number]]:
        raise ValueError(f"{name}: parameters: got the column {twice[0]!r} twice; expected every column once")
    return {str(column): values for column, values in zip(columns, parameters.to_numpy().T, strict=True)}


def is_labelled(value: object) -> TypeGuard[xr.DataArray]:
    """Return whether a value is a DataArray."""
    return hasattr(value, "dims") and hasattr(value, "coords") and hasattr(value, "dtype")


def named_numbers(name: str, value: object) -> Array:
    """Return real numbers as an array. Raises ValueError that names the argument."""
    try:
        return real_numbers(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: got {shown(value)}; expected numbers") from None


class PlainFunction:
    """A function for a robot whose parameters may be arrays: once for each design, arrays in and out."""

    def __init__(
        self,
        function: Callable[..., Any],
        row: FunctionResult,
        robot: Robot,
        name: str = "",
    ) -> None:
        self.function, self.row, self.robot = function, row, robot
        self.name = name or function.__name__
        self.result_type: type[Any] = np.ndarray
        self.labels: dict[str, tuple[object, ...]] = {}
        """Fields of the last result that are labels of a dim, or its keys along one."""

    def designs(self, parameters: Mapping[str, Any], moving: Mapping[str, Any], rest: Mapping[str, Any]) -> Any:
        """Return the result of the function, batches and parameters broadcast as NumPy does. Raises ValueError."""
        arrays = [self._numbers(key, value) for key, value in (*parameters.items(), *moving.items())]
        results = self.cases(tuple(parameters), tuple(moving), rest, *arrays)
        if hasattr(self.result_type, "_fields"):
            return self._refilled(results)
        return results if self.result_type is tuple else results[0]

    def _numbers(self, key: str, value: object) -> Array:
        return named_numbers(f"{self.name}: {key}", value)

    def cases(
        self, parameters: tuple[str, ...], names: tuple[str, ...], rest: Mapping[str, Any], /, *arrays: Array
    ) -> tuple[Array, ...]:
        """Return the results for all designs; `arrays` are the values of the parameters and then those of the names."""
        motion = arrays[len(parameters) :]
        if not parameters:
            return self._call({}, dict(zip(names, motion, strict=True)), rest)
        cores = [len(self.row.arguments[name]) for name in names]
        batches = [array.shape[: array.ndim - core] for array, core in zip(motion, cores, strict=True)]
        shapes = [array.shape for array in arrays[: len(parameters)]]
        try:
            shape = np.broadcast_shapes(*shapes)
            batch = np.broadcast_shapes(shape, *batches)
        except ValueError:
            raise ValueError(
                f"{self.name}: parameters: got arrays of shapes {shapes} beside batches of shapes {batches}; "
                "expected shapes that broadcast, such as (design, 1) beside (time,)"
            ) from None
        designs = (1,) * (len(batch) - len(shape)) + shape
        values = [np.broadcast_to(array, designs) for array in arrays[: len(parameters)]]
        outputs: tuple[Array, ...] | None = None
        for place in np.ndindex(*designs):
            chosen = {name: float(value[place]) for name, value in zip(parameters, values, strict=True)}
            part = tuple(
                slice(at, at + 1) if size > 1 else slice(None) for at, size in zip(place, designs, strict=True)
            )
            moving = {name: _part(array, core, part) for name, array, core in zip(names, motion, cores, strict=True)}
            results = self._call(chosen, moving, rest)
            if outputs is None:
                outputs = tuple(np.empty((*batch, *result.shape[len(batch) :]), result.dtype) for result in results)
            for output, result in zip(outputs, results, strict=True):
                output[part] = result
        if outputs is None:
            raise ValueError(f"{self.name}: parameters: got no design; expected at least one")
        return outputs

    def _call(
        self, chosen: Mapping[str, float], moving: Mapping[str, Array], rest: Mapping[str, Any]
    ) -> tuple[Array, ...]:
        robot = Robot.of(self.robot.family, {**self.robot.values, **chosen}) if chosen else self.robot
        if not self.row.single:
            return self._arrays(self.function(robot, **moving, **rest))
        sizes = {name: array.ndim - len(self.row.arguments[name]) for name, array in moving.items()}
        batch = np.broadcast_shapes(*(moving[name].shape[:size] for name, size in sizes.items()))
        wide = {name: np.broadcast_to(moving[name], batch + moving[name].shape[size:]) for name, size in sizes.items()}
        results = [
            self._arrays(self.function(robot, **{name: array[at] for name, array in wide.items()}, **rest))
            for at in np.ndindex(*batch)
        ]
        if not results:
            raise ValueError(f"{self.name}: got no case; expected at least one")
        return tuple(np.stack(parts).reshape(batch + parts[0].shape) for parts in zip(*results, strict=True))

    def _arrays(self, result: object) -> tuple[Array, ...]:
        """Return the arrays of a result, in the order of its fields; its other fields are kept as labels."""
        self.result_type = type(result)
        parts: tuple[Any, ...] = result if isinstance(result, tuple) else (result,)
        arrays: list[Array] = []
        for name, part in zip(getattr(result, "_fields", [""] * len(parts)), parts, strict=True):
            if name in self.row.labels:
                self.labels[name] = tuple(getattr(each, "name", each) for each in part)
                if isinstance(part, Mapping):
                    arrays.append(np.stack([*part.values()], axis=-1))
            elif isinstance(part, np.ndarray | np.generic | float):
                arrays.append(np.asarray(part))
            else:
                raise ValueError(f"{self.name}: {name} is no array; expected a call without parameters")
        return tuple(arrays)

    def _refilled(self, arrays: tuple[Array, ...]) -> Any:
        """Return a result as the function gives it, with these arrays and the labels of the last one."""
        remaining, parts = iter(arrays), list[object]()
        for name in self.result_type._fields:
            if name not in self.row.labels:
                parts.append(next(remaining))
            elif name in self.row.dims:
                parts.append(dict(zip(self.labels[name], np.moveaxis(next(remaining), -1, 0), strict=True)))
            else:
                parts.append(self.labels[name])
        return self.result_type(*parts)


def _part(array: Array, core: int, part: tuple[slice, ...]) -> Array:
    """Return the part of an array along all batch dims; all of it along dims of length one, and missing dims."""
    own = array.shape[: array.ndim - core]
    whole = (1,) * (len(part) - len(own)) + own
    places = tuple(slice(None) if size == 1 else at for at, size in zip(part, whole, strict=True))
    return array.reshape(whole + array.shape[array.ndim - core :])[places]


def labelled_results(
    plain: PlainFunction,
    parameters: Mapping[str, Any],
    moving: Mapping[str, Any],
    rest: Mapping[str, Any],
    results: Mapping[str, Dims],
    probing: Mapping[str, Any] | None = None,
    lengths: Mapping[str, int] | None = None,
) -> xr.Dataset:
    """Return the results as a Dataset.

    One sample is computed first to see how large results are: with the options `probing` in place of those in `rest`;
    `lengths` are of dims that depend on these.
    """
    import xarray as xr

    function = functools.partial(plain.cases, tuple(parameters), tuple(moving), rest)
    probe = functools.partial(plain.cases, tuple(parameters), tuple(moving), {**rest, **(probing or {})})
    arrays = [_design_values(plain.name, name, value) for name, value in parameters.items()]
    probes = [np.asarray(plain.robot.values.get(name, 0.0)) for name in parameters]
    inputs = [_input(plain, name, value) for name, value in moving.items()]
    for name, (array, core) in zip(moving, inputs, strict=True):
        probes.append(_probe(name, tuple(array.sizes[dim] for dim in core), plain.row))
    # one sample gives the size of results, such as the number of columns of a regressor
    with np.errstate(all="ignore"):
        parts = probe(*probes)
    kept = [k for k, part in enumerate(parts) if part.size]  # no empty results, as for joints with friction
    sizes: dict[str, int] = {}
    for dims, part in zip(results.values(), parts, strict=True):
        sizes |= zip(dims, part.shape, strict=True)
    results = {name: dims for k, (name, dims) in enumerate(results.items()) if k in kept}
    sizes = {
        dim: size for dim, size in (sizes | dict(lengths or {})).items() if any(dim in x for x in results.values())
    }
    computed = xr.apply_ufunc(
        lambda *parts: _selected(function(*parts), kept),
        *arrays,
        *(array for array, _ in inputs),
        input_core_dims=[*([()] * len(parameters)), *(core for _, core in inputs)],
        output_core_dims=list(results.values()),
        keep_attrs=False,
        dask="parallelized",
        output_dtypes=[parts[k].dtype for k in kept],
        dask_gufunc_kwargs={"output_sizes": sizes, "allow_rechunk": True},
    )
    dataset = xr.Dataset(dict(zip(results, computed if len(kept) > 1 else [computed], strict=True)))
    return _with_labels(plain, dataset, labels_of(plain.robot, sizes))


def _input(plain: PlainFunction, name: str, value: ArrayLike | xr.DataArray) -> tuple[xr.DataArray, Dims]:
    """Return an argument as a DataArray in the units and axes of the function, and its core dims."""
    dims = plain.row.arguments[name]
    if not is_labelled(value):
        return _with_core(name, value, dims)
    array, core = _with_core(name, in_robot_units(name, value, dims, plain.robot), dims)
    labels = names_along(plain.robot.mechanism)
    for dim, own in zip(dims, core, strict=True):
        if dim in ("axis", "wrench", "actuator") and array.sizes[own] != len(labels[dim]):
            sizes = ", ".join(f"{key} {size}" for key, size in value.sizes.items())
            raise ValueError(
                f"{name}: got a DataArray with dims {sizes}; expected {len(labels[dim])} numbers "
                f"({', '.join(labels[dim])}) along a dim named {dim}, or along the last dim"
            )
    return array, core


def _with_labels(plain: PlainFunction, dataset: xr.Dataset, labels: dict[str, Any]) -> xr.Dataset:
    """Return results with the labels of their dims, and of fields that are no arrays."""
    for field, dim in plain.row.labels.items():
        texts = label_texts(plain.labels[field])
        if dim:
            labels[dim] = texts
        else:
            dataset.attrs[field] = " ".join(texts)
    named: xr.Dataset = dataset.assign_coords({d: labels[d] for d in dataset.dims if d in labels})
    return named


def label_texts(parts: Iterable[object]) -> list[str]:
    """Return the labels of the entries of a field along a dim, as texts: names, or pairs of names."""
    named = (getattr(part, "name", part) for part in parts)
    return [" - ".join(part) if isinstance(part, tuple) else str(part) for part in named]


def _selected(results: Sequence[Array], kept: Sequence[int]) -> Array | tuple[Array, ...]:
    """Return some of the results; a single one is not put into a tuple."""
    chosen = tuple(results[k] for k in kept)
    return chosen if len(chosen) > 1 else chosen[0]


def _probe(name: str, shape: tuple[int, ...], row: FunctionResult) -> Array:
    """Return the values of one case that a function takes without complaint, whatever comes of them."""
    if name.endswith("rotation") and shape == (3, 3):
        return np.broadcast_to(np.eye(3), shape)
    if row.single:
        return np.linspace(0.0, 1e-3, shape[0])[:, None] * np.ones(shape) if len(shape) > 1 else np.ones(shape)
    return np.zeros(shape)


def _design_values(function: str, name: str, value: ArrayLike | xr.DataArray) -> xr.DataArray:
    """Return the values of a parameter with names of their dims. Raises ValueError for an array without."""
    import xarray as xr

    if not is_labelled(value) and np.ndim(value):
        raise ValueError(
            f"{function}: parameters: {name}: got an array of shape {np.shape(value)} beside DataArrays; "
            "expected a number, or a DataArray with names of its dims"
        )
    return xr.DataArray(value)


def _with_core(name: str, value: ArrayLike | xr.DataArray, wanted: Dims) -> tuple[xr.DataArray, Dims]:
    """Return an array with names of its own for the dims of one sample, so that they meet those of no other array."""
    import xarray as xr

    core = tuple(f"{name}_{dim}" for dim in wanted)
    if not is_labelled(value):
        if np.ndim(value) != len(wanted):
            raise ValueError(
                f"{name}: got an array of shape {np.shape(value)} beside DataArrays; expected one sample "
                f"({', '.join(wanted)}), or a DataArray with names of its dims"
            )
        return xr.DataArray(named_numbers(name, value), dims=core), core
    dims = wanted if {*wanted} <= {*value.dims} else tuple(map(str, value.dims))[-len(wanted) :]
    if len(dims) < len(wanted):
        raise ValueError(f"{name}: got dims {value.dims}; expected batch dims and then {', '.join(wanted)}")
    bare = value.drop_vars([key for key in value.coords if {*value.coords[key].dims} & {*dims}])
    return bare.rename(dict(zip(dims, core, strict=True))), core


def in_robot_units(name: str, value: xr.DataArray, wanted: Dims, robot: Robot) -> xr.DataArray:
    """Return an array in SI units; a vector that names its entries is put into the order of the robot."""
    dims = wanted if {*wanted} <= {*value.dims} else tuple(map(str, value.dims))[-len(wanted) :] if wanted else ()
    labels = labels_of(robot, {own: value.sizes[dim] for own, dim in zip(wanted, dims, strict=False)})
    for own, dim in zip(wanted, dims, strict=False):
        if own in labels:
            value = in_order(name, value, dim, labels[own])
    quantity = OF_ACTUATORS.get(name) if wanted == ACTUATOR else None
    return in_si(name, value, dims[-1] if dims else None, robot.mechanism, quantity)


def in_order(name: str, value: xr.DataArray, dim: Hashable, labels: Sequence[str]) -> xr.DataArray:
    """Return an array with these labels along a dim, in this order. Raises ValueError if it has only some of them.

    Without labels, and if no label is among `labels` (ignoring case), the order is kept. Names of actuators or limbs
    must be among them: others are those of another robot.
    """
    found = value[dim].values.tolist() if dim in value.coords else []
    is_met = bool({str(label).casefold() for label in found} & {label.casefold() for label in labels})
    is_named = dim in ("actuator", "limb") and any(isinstance(label, str) for label in found)
    places = places_of(labels, name, found, str(dim)) if is_met or is_named else None
    return value if places is None else value.isel({dim: places})


def labels_of(robot: Robot, sizes: Mapping[str, int]) -> dict[str, list[str]]:
    """Return the names along the dims of results, where they fit."""
    names = {dim: list(labels) for dim, labels in names_along(robot.mechanism).items()}
    names |= dict.fromkeys(("component", "wrench_column"), names["wrench"])
    if sizes.get("freedom") == len(names["wrench"]) and not robot.mechanism.is_chain:
        names["freedom"] = names["wrench"]
    names |= {
        "freedom_column": names["freedom"],
        "freedom_last": names["freedom"],
        "actuator_column": names["actuator"],
    }
    return {dim: labels for dim, labels in names.items() if sizes.get(dim) == len(labels)}
