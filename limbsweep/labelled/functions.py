"""The functions on arrays, which take DataArrays of xarray as well and then give DataArrays.

    forces = inverse_dynamics(robot, position=position)  # (design, time, axis) -> (design, time, actuator)

The dims that hold a vector or matrix are those with the names of `limbsweep.labelled.table`, or else the last of the
array; all others are batch dims, which are matched by name. Chunked arrays are computed chunk by chunk when they are
asked for. `parameters` are designs: values of parameters of the robot by name, with dims of their own. A call without
both is one of the function in `tasks`, which it imports on first use.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Protocol, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbsweep.labelled.calls import call
from limbsweep.labelled.table import RESULTS
from robots.model import Robot

if TYPE_CHECKING:
    from xarray import DataArray

Arguments = ParamSpec("Arguments")
Value_co = TypeVar("Value_co", covariant=True)
Full_co = TypeVar("Full_co", covariant=True)
Parameters = Mapping[str, "ArrayLike | DataArray"]
ALSO = """parameters: designs, numbers or arrays of parameters of the robot by name, broadcast with the batch. With
    DataArrays among these or the arguments the result is a DataArray, or a Dataset where there are several."""
DESIGNS = "Mapping[str, ArrayLike | DataArray] | None"


class OnDataArrays(Protocol[Arguments, Value_co, Full_co]):
    """A function on arrays that takes DataArrays, or designs, too; of these it gives a DataArray or a Dataset."""

    @overload
    def __call__(self, robot: Robot, /, *places: object, position: DataArray, **arguments: object) -> Any: ...
    @overload
    def __call__(self, robot: Robot, /, *places: object, twist: DataArray, **arguments: object) -> Any: ...
    @overload
    def __call__(self, robot: Robot, /, *places: object, q: DataArray, **arguments: object) -> Any: ...
    @overload
    def __call__(self, robot: Robot, /, *places: object, actuator_position: DataArray, **arguments: object) -> Any: ...
    @overload
    def __call__(self, robot: Robot, /, *places: object, parameters: Parameters, **arguments: object) -> Any: ...
    @overload
    def __call__(self, robot: Robot, /, *, full: Literal[True], **arguments: object) -> Full_co: ...
    @overload
    def __call__(self, *arguments: Arguments.args, **options: Arguments.kwargs) -> Value_co: ...


def _on_data_arrays(name: str) -> Callable[..., Any]:
    """A function of `RESULTS` that takes DataArrays and designs as well."""
    function = getattr(importlib.import_module(RESULTS[name].home), name)

    @functools.wraps(function)
    def labelled(robot: Robot, *places: object, parameters: Parameters | None = None, **arguments: object) -> Any:
        return call(function, RESULTS[name], robot, *places, parameters=parameters, **arguments)

    labelled.__doc__ = f"{(function.__doc__ or '').rstrip()}\n\n    {ALSO}\n    "
    signature = inspect.signature(function)
    option = inspect.Parameter("parameters", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=DESIGNS)
    labelled.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), option]
    )
    return labelled


if TYPE_CHECKING:
    from tasks.checks import lagrange
    from tasks.dynamics import bearings, criteria, equations, fastest, inverse
    from tasks.dynamics import equations as elements
    from tasks.dynamics import forward as instant
    from tasks.dynamics import forward_kinematics as forward
    from tasks.dynamics import regressor as columns
    from tasks.dynamics.paths import power

    def _typed(
        function: Callable[Arguments, Value_co], full: Callable[..., Full_co]
    ) -> OnDataArrays[Arguments, Value_co, Full_co]: ...

    def _pair() -> tuple[NDArray[np.float64], NDArray[np.int8]]: ...

    inverse_dynamics = _typed(inverse.inverse_dynamics, inverse.InverseDynamics)
    joint_reactions = _typed(inverse.joint_reactions, _pair)
    inverse_kinematics = _typed(inverse.inverse_kinematics, inverse.InverseKinematics)
    actuator_positions = _typed(inverse.actuator_positions, NDArray)
    forward_kinematics = _typed(forward.forward_kinematics, forward.ForwardKinematics)
    accelerate = _typed(instant.accelerate, instant.Acceleration)
    forward_dynamics = _typed(equations.forward_dynamics, _pair)
    equations_of_motion = _typed(equations.equations_of_motion, equations.Equations)
    inertia_matrix = _typed(equations.inertia_matrix, NDArray)
    inertia_element = _typed(elements.inertia_element, NDArray)
    constraint_forces = _typed(bearings.constraint_forces, bearings.ConstraintForces)
    bias_vector = _typed(elements.bias_vector, NDArray)
    lagrange_coefficients = _typed(lagrange.lagrange_coefficients, lagrange.LagrangeCoefficients)
    regressor = _typed(columns.regressor, columns.Regressor)
    cartesian_stiffness = _typed(criteria.cartesian_stiffness, criteria.Stiffness)
    natural_frequencies = _typed(criteria.natural_frequencies, criteria.NaturalFrequencies)
    pose_error = _typed(criteria.pose_error, criteria.PoseError)
    clearance = _typed(criteria.clearance, criteria.Clearance)
    fastest_motion = _typed(fastest.fastest_motion, power.FastestMotion)
else:
    _made: dict[str, Callable[..., Any]] = {}

    def __getattr__(name: str) -> Callable[..., Any]:
        """A function of `tasks` by its name, for DataArrays too."""
        if name not in RESULTS:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        if name not in _made:
            _made[name] = _on_data_arrays(name)
        return _made[name]

    def __dir__() -> list[str]:
        return [*RESULTS]
