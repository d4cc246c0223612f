"""Functions on arrays as functions of JAX, which differentiates, batches and compiles programs that call them.

    force = jax.jit(lambda arm: ls.jax.inverse_dynamics(robot, position=position, parameters={"upper_arm": arm}).force)
    jax.jacobian(force)(0.28)

Arguments are those of the functions of `limbsweep`, with arrays of JAX in the place of numbers and arrays. The work is
done by our kernels, which JAX calls back. Derivatives are exact, in both directions, see `limbsweep.differentiate`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from limbsweep.labelled.calls import leaves_of
from limbsweep.tensors.calls import ALSO, CORES, FUNCTIONS, TensorCall
from limbsweep.tensors.objectives import DesignProblem, Objective, objective_of, values_and_rates
from robots.extras import require_extra
from robots.model import Robot
from tasks.dynamics.directions import Derivatives
from tasks.dynamics.servo_derivatives import GAINS
from tasks.kernels.kernel import common_batch

require_extra("jax")
import jax  # noqa: E402 - its absence is reported first
import jax.numpy as jnp  # noqa: E402
from jax.extend.core import Primitive  # noqa: E402
from jax.interpreters import ad, batching, mlir  # noqa: E402

__all__ = [*sorted(FUNCTIONS), "objective"]


def _is_tensor(value: object) -> bool:
    return isinstance(value, jax.Array)


def _checked(name: str, array: Any) -> Any:
    """Return an array. Raises ValueError for one that is not of doubles."""
    if array.dtype != np.float64:
        hint = 'call jax.config.update("jax_enable_x64", True) before arrays are made'
        raise ValueError(f"{name}: got an array of {array.dtype}; expected float64: {hint}")
    return array


class _HostCall:
    """A call as JAX knows it: shapes of results by those of the arrays, and the work on the host.

    All arrays have all batch dims, of length one where they had none.
    """

    def __init__(self, call: TensorCall):
        self.call, self.keys = call, tuple(call.tensors)
        self.cores = [CORES.get(key, 0) for key in self.keys]
        parameters = call.arguments.get("parameters") or {}
        samples = {*CORES, *(parameters if call.takes_designs else ())} - {"gravity"}
        shared = {key for key in self.keys if key not in samples or key.startswith(GAINS)}
        self.vectorises = not shared
        """True if each array may differ from sample to sample: numbers of friction and gravity may not."""
        self.shared = {*shared, *parameters}
        leaves = leaves_of(call.arguments)
        batches = {
            key: np.shape(leaves[key])[: -CORES[key] or None] for key in leaves if key in CORES and key != "gravity"
        }
        batches |= {key: np.shape(value) for key, value in parameters.items()}
        self.fixed = common_batch({key: batch for key, batch in batches.items() if key not in self.keys})
        self.results = call.result_shapes()
        call.tensors = dict.fromkeys(self.keys)  # symbols of JAX must not outlive the call

    def batches(self, arrays: Sequence[Any]) -> list[tuple[int, ...]]:
        """Return the batch dims of the arrays."""
        return [tuple(array.shape[: array.ndim - core]) for array, core in zip(arrays, self.cores, strict=True)]

    def padded(self, arrays: Sequence[Any]) -> list[Any]:
        """Return arrays that have all batch dims."""
        batches = self.batches(arrays)
        dims = max(map(len, [self.fixed, *batches]))
        return [x.reshape((1,) * (dims - len(batch)) + x.shape) for x, batch in zip(arrays, batches, strict=True)]

    def shapes(self, arrays: Sequence[Any]) -> list[tuple[tuple[int, ...], Any]]:
        """Return shapes and types of the results and of the status."""
        batch = common_batch({"arrays": np.broadcast_shapes(*self.batches(arrays)), "other arguments": self.fixed})
        return [*(((*batch, *core), np.float64) for core in self.results), (batch, np.int8)]

    def _bare(self, arrays: Sequence[Any]) -> list[np.ndarray]:
        """Return arrays on the host; arrays that all samples share have no batch dims."""
        plain = []
        for key, core, array in zip(self.keys, self.cores, map(np.asarray, arrays), strict=True):
            lead = array.ndim - core
            is_shared = key in self.shared and array.shape[:lead] == (1,) * lead
            plain.append(array.reshape(array.shape[lead:]) if is_shared else array)
        return plain

    def run(self, *arrays: Any) -> tuple[np.ndarray, ...]:
        """Compute the results, then the status."""
        outputs = self.call.at(self._bare(arrays)).results
        shapes = self.shapes([np.asarray(array) for array in arrays])
        parts = (*(outputs[key] for key in self.call.outputs), outputs["status"])
        return tuple(np.broadcast_to(part, shape) for part, (shape, _) in zip(parts, shapes, strict=True))

    def run_rates(self, *arrays: Any) -> tuple[np.ndarray, ...]:
        """Compute the rates of the results from arrays, then their rates."""
        count = len(self.keys)
        shapes = self.shapes([np.asarray(array) for array in arrays[:count]])
        outputs = self.call.jvp(self._at(arrays[:count]), self._bare(arrays[count:]))
        return tuple(np.broadcast_to(part, shape) for part, (shape, _) in zip(outputs, shapes, strict=False))

    def run_cotangents(self, *arrays: Any) -> tuple[np.ndarray, ...]:
        """Compute the derivatives of a number by the arrays, from these, then those by the results."""
        count = len(self.keys)
        at = self._at(arrays[:count])
        outputs = self.call.vjp(at, [np.asarray(array) for array in arrays[count:]])
        return tuple(np.reshape(part, np.shape(array)) for part, array in zip(outputs, arrays[:count], strict=True))

    def run_second(self, *arrays: Any) -> tuple[np.ndarray, ...]:
        """Compute the rates of derivatives by the arrays, from these, those by the results, and rates of the arrays."""
        count, last = len(self.keys), len(arrays) - len(self.keys)
        seeds = [np.asarray(array) for array in arrays[count:last]]
        outputs = self.call.hvp(self._at(arrays[:count]), seeds, self._bare(arrays[last:]))
        return tuple(np.reshape(part, np.shape(array)) for part, array in zip(outputs, arrays[:count], strict=True))

    def _at(self, arrays: Sequence[Any]) -> Derivatives:
        return self.call.at(self._bare(arrays))


def _primitive(name: str, work: Callable[..., Any], shapes: Callable[..., Sequence[Any]]) -> Any:
    """Return an operation of JAX that calls the host."""
    primitive = Primitive(name)
    primitive.multiple_results = True

    def on_host(*arrays: Any, host: _HostCall) -> Any:
        wanted = [jax.ShapeDtypeStruct(shape, kind) for shape, kind in shapes(host, *arrays)]
        return jax.pure_callback(lambda *operands: work(host, *operands), wanted, *arrays)

    def abstract(*arrays: Any, host: _HostCall) -> Any:
        return [jax.core.ShapedArray(shape, kind) for shape, kind in shapes(host, *arrays)]

    def batched(arrays: Sequence[Any], dims: Sequence[Any], *, host: _HostCall) -> Any:
        size = next(x.shape[d] for x, d in zip(arrays, dims, strict=True) if d is not None)
        wide = [
            jnp.broadcast_to(x, (size, *x.shape)) if d is None else jnp.moveaxis(x, d, 0)
            for x, d in zip(arrays, dims, strict=True)
        ]
        if host.vectorises:
            outputs = primitive.bind(*wide, host=host)
        else:
            outputs = jax.lax.map(lambda row: tuple(primitive.bind(*row, host=host)), tuple(wide))
        return outputs, [0] * len(outputs)

    primitive.def_impl(on_host)
    primitive.def_abstract_eval(abstract)
    mlir.register_lowering(primitive, mlir.lower_fun(on_host, multiple_results=True))
    batching.primitive_batchers[primitive] = batched
    return primitive


def _shapes_of_results(host: _HostCall, *arrays: Any) -> Sequence[Any]:
    return host.shapes(arrays)


def _shapes_of_rates(host: _HostCall, *arrays: Any) -> Sequence[Any]:
    return host.shapes(arrays[: len(host.keys)])[:-1]


def _shapes_of_cotangents(host: _HostCall, *arrays: Any) -> Sequence[Any]:
    return [(tuple(array.shape), np.float64) for array in arrays[: len(host.keys)]]


_values = _primitive("limbsweep", _HostCall.run, _shapes_of_results)
_rates = _primitive("limbsweep_rates", _HostCall.run_rates, _shapes_of_rates)
_cotangents = _primitive("limbsweep_cotangents", _HostCall.run_cotangents, _shapes_of_cotangents)
_second = _primitive("limbsweep_second", _HostCall.run_second, _shapes_of_cotangents)


def _differentiated(arrays: Sequence[Any], rates: Sequence[Any], *, host: _HostCall) -> Any:
    """Return the results with their rates, the rule for JAX."""
    results = _values.bind(*arrays, host=host)
    outputs = _rates.bind(*arrays, *map(ad.instantiate_zeros, rates), host=host)
    return results, [*outputs, ad.Zero(jax.core.ShapedArray(results[-1].shape, jax.dtypes.float0))]


def _transposed(cotangents: Sequence[Any], *arrays: Any, host: _HostCall) -> Any:
    """Return the derivatives by the rates, in which these are linear, the rule for JAX."""
    count = len(host.keys)
    outputs = _cotangents.bind(*arrays[:count], *map(ad.instantiate_zeros, cotangents), host=host)
    by_rates = [part if ad.is_undefined_primal(x) else None for part, x in zip(outputs, arrays[count:], strict=True)]
    return [*[None] * count, *by_rates]


def _twice_differentiated(arrays: Sequence[Any], rates: Sequence[Any], *, host: _HostCall) -> Any:
    """Return derivatives of a number with their rates, the rule for JAX."""
    count = len(host.keys)
    along, changes = (list(map(ad.instantiate_zeros, part)) for part in (rates[:count], rates[count:]))
    second = _second.bind(*arrays, *along, host=host)
    first = _cotangents.bind(*arrays[:count], *changes, host=host)
    return _cotangents.bind(*arrays, host=host), [jnp.add(*parts) for parts in zip(second, first, strict=True)]


def _transposed_cotangents(rates: Sequence[Any], *arrays: Any, host: _HostCall) -> Any:
    """Return the derivatives by the cotangents, in which derivatives are linear, the rule for JAX."""
    count = len(host.keys)
    outputs = _rates.bind(*arrays[:count], *map(ad.instantiate_zeros, rates), host=host)
    by_seeds = [part if ad.is_undefined_primal(x) else None for part, x in zip(outputs, arrays[count:], strict=True)]
    return [*[None] * count, *by_seeds]


def _transposed_second(rates: Sequence[Any], *arrays: Any, host: _HostCall) -> Any:
    """Return the derivatives by the last arrays, the rule for JAX; second derivatives are symmetric."""
    known = arrays[: len(arrays) - len(host.keys)]
    outputs = _second.bind(*known, *map(ad.instantiate_zeros, rates), host=host)
    last = arrays[len(known) :]
    return [
        *[None] * len(known),
        *(p if ad.is_undefined_primal(x) else None for p, x in zip(outputs, last, strict=True)),
    ]


ad.primitive_jvps[_values] = _differentiated
ad.primitive_jvps[_cotangents] = _twice_differentiated
ad.primitive_transposes[_rates] = _transposed
ad.primitive_transposes[_cotangents] = _transposed_cotangents
ad.primitive_transposes[_second] = _transposed_second


def _on_arrays(name: str) -> Callable[..., Any]:
    """Return a function on arrays as one of arrays of JAX."""

    def function(robot: Robot, /, **arguments: Any) -> Any:
        call = TensorCall.of(name, robot, arguments, _is_tensor)
        arrays = [_checked(key, array) for key, array in call.tensors.items()]
        kind = call.result_type

        def moved(results: Sequence[Any]) -> Sequence[Any]:
            *first, status = results
            return [*(jnp.moveaxis(part, -2, 0) for part in first), status] if call.is_simulation else results

        if not arrays:
            outputs = call.at([]).results
            return kind(*moved([jnp.asarray(outputs[key]) for key in kind._fields]))
        host = _HostCall(call)
        return kind(*moved(_values.bind(*host.padded(arrays), host=host)))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Run `limbsweep.{name}` on arrays of JAX, so that programs that call it can be transformed.

    Arguments by name, as there, with arrays of JAX in the place of numbers and arrays; `parameters`: values of
    parameters of the robot by name. {ALSO.get(name, "")}Returns arrays.
    Raises ValueError for arrays in single precision, and the errors of `limbsweep.{name}`.
    """
    return function


actuator_positions = _on_arrays("actuator_positions")
bias_vector = _on_arrays("bias_vector")
cartesian_stiffness = _on_arrays("cartesian_stiffness")
clearance = _on_arrays("clearance")
clearance_error = _on_arrays("clearance_error")
constraint_forces = _on_arrays("constraint_forces")
drive_deflection = _on_arrays("drive_deflection")
equations_of_motion = _on_arrays("equations_of_motion")
forward_dynamics = _on_arrays("forward_dynamics")
forward_kinematics = _on_arrays("forward_kinematics")
inertia_element = _on_arrays("inertia_element")
inertia_matrix = _on_arrays("inertia_matrix")
inverse_dynamics = _on_arrays("inverse_dynamics")
inverse_kinematics = _on_arrays("inverse_kinematics")
joint_reactions = _on_arrays("joint_reactions")
lagrange_coefficients = _on_arrays("lagrange_coefficients")
linearisation = _on_arrays("linearisation")
motor_demand = _on_arrays("motor_demand")
natural_frequencies = _on_arrays("natural_frequencies")
pose_error = _on_arrays("pose_error")
regressor = _on_arrays("regressor")
resolve_redundancy = _on_arrays("resolve_redundancy")
simulate = _on_arrays("simulate")


def objective(problem: DesignProblem, wanted: Objective | str, designs: Any) -> Any:
    """Compute an objective (*batch,) over metrics of designs (*batch, factor) so that JAX can differentiate it.

    problem: a `limbsweep.study.DesignProblem`, whose `names` are the factors; wanted: an expression over metrics, as
    for `limbsweep.study.optimise`. Raises InputError for metrics without derivatives, ValueError for other arrays.
    """
    target = objective_of(problem, wanted)
    factors = len(problem.names)

    def on_host(table: Any) -> tuple[np.ndarray, np.ndarray]:
        return values_and_rates(problem, target, np.asarray(table))

    def both(table: Any) -> Any:
        shapes = [jax.ShapeDtypeStruct(shape, np.float64) for shape in (table.shape[:-1], table.shape)]
        return jax.pure_callback(on_host, shapes, table, vmap_method="broadcast_all")

    @jax.custom_jvp
    def value(table: Any) -> Any:
        return both(table)[0]

    @value.defjvp
    def _(primals: Any, rates: Any) -> Any:
        values, by_design = both(*primals)
        return values, (by_design * rates[0]).sum(axis=-1)

    table = _checked("designs", jnp.asarray(designs))
    if table.shape[-1:] != (factors,):
        raise ValueError(f"designs: got an array of shape {table.shape}; expected (*batch, {factors})")
    return value(table)
