"""Functions on arrays as functions of tensors of PyTorch, which differentiates through them.

    angle = torch.tensor(0.28, dtype=torch.float64, requires_grad=True)
    forces = ls.torch.inverse_dynamics(robot, position=position, parameters={"upper_arm": angle}).force
    forces.square().sum().backward()

Arguments are those of the functions of `limbsweep`, with tensors in the place of numbers and arrays; results are
tensors of doubles on the processor. Derivatives are exact, second ones too, see `limbsweep.differentiate`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from limbsweep.tensors.calls import ALSO, FUNCTIONS, OUTPUTS, TensorCall
from limbsweep.tensors.objectives import DesignProblem, Objective, objective_of, values_and_rates
from robots.arguments import shown
from robots.extras import require_extra
from robots.model import Robot
from tasks.dynamics.directions import Derivatives

require_extra("torch")
import torch  # noqa: E402 - its absence is reported first

from limbsweep.tensors.surrogates import surrogate  # noqa: E402
from limbsweep.tensors.windows import Windows  # noqa: E402

__all__ = [*sorted(FUNCTIONS), "Windows", "objective", "surrogate"]


def _is_tensor(value: object) -> bool:
    return isinstance(value, torch.Tensor)


def _tensor(array: np.ndarray) -> Any:
    """Return an array as a tensor of the same shape."""
    return torch.from_numpy(np.array(array, order="C"))


def _checked(name: str, tensor: Any) -> Any:
    """Return a tensor. Raises ValueError for one in single precision or on another device."""
    if not _is_tensor(tensor):
        raise ValueError(f"{name}: got {shown(tensor)}; expected a tensor, such as that of torch.from_numpy")
    if tensor.dtype != torch.float64:
        advice = "" if tensor.is_complex() else ": convert it with .double()"
        raise ValueError(f"{name}: got a tensor of {tensor.dtype}; expected torch.float64{advice}")
    if tensor.device.type != "cpu":
        raise ValueError(f"{name}: got a tensor on {tensor.device}; expected one on the processor: move it with .cpu()")
    return tensor


class _Function(torch.autograd.Function):
    """A call as PyTorch knows it: values, and derivatives in both directions."""

    @staticmethod
    def forward(call: TensorCall, *tensors: Any) -> Any:
        """Return the results, then the status."""
        derivatives = call.at([tensor.detach().numpy() for tensor in tensors])
        results = [_tensor(derivatives.results[key]) for key in call.outputs]
        call.at_tensors = derivatives
        return (*results, _tensor(derivatives.results["status"]))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keep the tensors from which derivatives are computed."""
        ctx.call, ctx.derivatives = inputs[0], inputs[0].at_tensors
        ctx.save_for_backward(*inputs[1:])
        ctx.mark_non_differentiable(output[-1])

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        """Return the derivatives by all tensors."""
        return (None, *_Cotangents.apply(ctx.call, ctx.derivatives, *ctx.saved_tensors, *cotangents[:-1]))

    @staticmethod
    def jvp(ctx: Any, _: Any, *rates: Any) -> Any:
        """Return the rates of the results."""
        tensors = ctx.call.tensors.values()
        arrays = [np.zeros(t.shape) if r is None else r.detach().numpy() for t, r in zip(tensors, rates, strict=True)]
        outputs = ctx.call.jvp(ctx.derivatives, arrays)
        return (*(_tensor(part) for part in outputs), None)


class _Cotangents(torch.autograd.Function):
    """Derivatives of a call by its tensors as PyTorch knows them: a function of tensors and of those by results."""

    @staticmethod
    def forward(call: TensorCall, derivatives: Derivatives, *tensors: Any) -> Any:
        """Return the derivatives by all tensors."""
        seeds = [cotangent.detach().numpy() for cotangent in tensors[len(call.tensors) :]]
        return tuple(_tensor(part) for part in call.vjp(derivatives, seeds))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keep the tensors from which second derivatives are computed."""
        ctx.call, ctx.derivatives = inputs[:2]
        ctx.save_for_backward(*inputs[2 + len(ctx.call.tensors) :])

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *rates: Any) -> Any:
        """Return the derivatives by the tensors, second ones of the call, and by the derivatives by its results."""
        along, seeds = ([x.detach().numpy() for x in row] for row in (rates, ctx.saved_tensors))
        parts = (*ctx.call.hvp(ctx.derivatives, seeds, along), *ctx.call.jvp(ctx.derivatives, along))
        return (None, None, *(_tensor(part) for part in parts))


def _on_tensors(name: str) -> Callable[..., Any]:
    """Return a function on arrays as one of tensors."""

    def function(robot: Robot, /, **arguments: Any) -> Any:
        call = TensorCall.of(name, robot, arguments, _is_tensor)
        tensors = [_checked(key, tensor) for key, tensor in call.tensors.items()]
        *results, status = _Function.apply(call, *tensors)
        if call.is_simulation:
            results = [result.movedim(-2, 0) for result in results]
        return call.result_type(*results, status)

    function.__name__ = function.__qualname__ = name
    outputs = ", ".join(OUTPUTS.get(name, ("position and speed", "of a servo its force")))
    function.__doc__ = f"""Run `limbsweep.{name}` on tensors of doubles, so that its results can be differentiated.

    Arguments by name, as there, with tensors in the place of numbers and arrays; `parameters`: values of parameters of
    the robot by name, which may be tensors. {ALSO.get(name, "")}Returns tensors ({outputs}, status).
    Raises ValueError for tensors in single precision or on another device, and the errors of `limbsweep.{name}`.
    """
    return function


actuator_positions = _on_tensors("actuator_positions")
bias_vector = _on_tensors("bias_vector")
cartesian_stiffness = _on_tensors("cartesian_stiffness")
clearance = _on_tensors("clearance")
clearance_error = _on_tensors("clearance_error")
constraint_forces = _on_tensors("constraint_forces")
drive_deflection = _on_tensors("drive_deflection")
equations_of_motion = _on_tensors("equations_of_motion")
forward_dynamics = _on_tensors("forward_dynamics")
forward_kinematics = _on_tensors("forward_kinematics")
inertia_element = _on_tensors("inertia_element")
inertia_matrix = _on_tensors("inertia_matrix")
inverse_dynamics = _on_tensors("inverse_dynamics")
inverse_kinematics = _on_tensors("inverse_kinematics")
joint_reactions = _on_tensors("joint_reactions")
lagrange_coefficients = _on_tensors("lagrange_coefficients")
linearisation = _on_tensors("linearisation")
motor_demand = _on_tensors("motor_demand")
natural_frequencies = _on_tensors("natural_frequencies")
pose_error = _on_tensors("pose_error")
regressor = _on_tensors("regressor")
resolve_redundancy = _on_tensors("resolve_redundancy")
simulate = _on_tensors("simulate")


class _Objective(torch.autograd.Function):
    """An objective over metrics of designs, with its derivatives by them."""

    @staticmethod
    def forward(ctx: Any, problem: DesignProblem, wanted: Objective, designs: Any) -> Any:
        """Return the objective (*batch,) of designs (*batch, factor)."""
        values, rates = values_and_rates(problem, wanted, designs.detach().numpy())
        ctx.save_for_backward(torch.from_numpy(rates))
        return torch.from_numpy(values)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, cotangent: Any) -> Any:
        """Return the derivatives by the designs."""
        (rates,) = ctx.saved_tensors
        return None, None, cotangent[..., None] * rates


def objective(problem: DesignProblem, wanted: Objective | str, designs: Any) -> Any:
    """Compute an objective (*batch,) over metrics of designs (*batch, factor), a tensor that can be differentiated.

    problem: a `limbsweep.study.DesignProblem`, whose `names` are the factors; wanted: an expression over metrics, as
    for `limbsweep.study.optimise`. Raises InputError for metrics without derivatives, ValueError for other tensors.
    """
    return _Objective.apply(problem, objective_of(problem, wanted), _checked("designs", designs))
