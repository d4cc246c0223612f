"""The functions on arrays, which take DataArrays of xarray as well and then give a Dataset.

    forces = inverse_dynamics(robot, position=position).force  # (design, time, axis) -> (design, time, actuator)

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
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, overload

from numpy.typing import ArrayLike

from limbsweep.labelled.calls import call
from limbsweep.labelled.results import described, with_dataset
from limbsweep.labelled.table import RESULTS
from robots.model import Robot

if TYPE_CHECKING:
    from xarray import DataArray

Arguments = ParamSpec("Arguments")
Value_co = TypeVar("Value_co", covariant=True)
Parameters = Mapping[str, "ArrayLike | DataArray"]
ALSO = """parameters: designs, numbers or arrays of parameters of the robot by name, broadcast with the batch. With
    DataArrays among these or the arguments, fields of records included, the result is a Dataset with the same names;
    of other results `to_dataset()` makes one, with dims, labels and units."""
DESIGNS = "Mapping[str, ArrayLike | DataArray] | None"


class OnDataArrays(Protocol[Arguments, Value_co]):
    """A function on arrays that takes DataArrays, or designs, too; of these it gives a Dataset."""

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
    def __call__(self, *arguments: Arguments.args, **options: Arguments.kwargs) -> Value_co: ...


def _on_data_arrays(name: str) -> Callable[..., Any]:
    """Return a function of `RESULTS` that takes DataArrays and designs as well."""
    function = getattr(importlib.import_module(RESULTS[name].home), name)

    @functools.wraps(function)
    def labelled(robot: Robot, *places: object, parameters: Parameters | None = None, **arguments: object) -> Any:
        result = call(function, RESULTS[name], robot, *places, parameters=parameters, **arguments)
        if isinstance(result, tuple):
            return with_dataset(result, name, robot)
        return described(result, name, robot, RESULTS[name])

    labelled.__doc__ = f"{(function.__doc__ or '').rstrip()}\n\n    {ALSO}\n    "
    signature = inspect.signature(function)
    option = inspect.Parameter("parameters", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=DESIGNS)
    order = sorted([*signature.parameters.values(), option], key=lambda parameter: parameter.kind)
    labelled.__signature__ = signature.replace(parameters=order)  # type: ignore[attr-defined]
    return labelled


if TYPE_CHECKING:
    from tasks.checks import lagrange
    from tasks.dynamics import bearings, criteria, equations, fastest, inverse, tree_inverse
    from tasks.dynamics import equations as elements
    from tasks.dynamics import forward as forces
    from tasks.dynamics import forward_kinematics as forward
    from tasks.dynamics import regressor as columns

    def _typed(function: Callable[Arguments, Value_co]) -> OnDataArrays[Arguments, Value_co]: ...

    inverse_dynamics = _typed(inverse.inverse_dynamics)
    spanning_tree_dynamics = _typed(tree_inverse.spanning_tree_dynamics)
    joint_reactions = _typed(inverse.joint_reactions)
    inverse_kinematics = _typed(inverse.inverse_kinematics)
    actuator_positions = _typed(inverse.actuator_positions)
    forward_kinematics = _typed(forward.forward_kinematics)
    forward_dynamics = _typed(forces.forward_dynamics)
    equations_of_motion = _typed(equations.equations_of_motion)
    inertia_matrix = _typed(equations.inertia_matrix)
    inertia_element = _typed(elements.inertia_element)
    constraint_forces = _typed(bearings.constraint_forces)
    bias_vector = _typed(elements.bias_vector)
    lagrange_coefficients = _typed(lagrange.lagrange_coefficients)
    regressor = _typed(columns.regressor)
    cartesian_stiffness = _typed(criteria.cartesian_stiffness)
    natural_frequencies = _typed(criteria.natural_frequencies)
    pose_error = _typed(criteria.pose_error)
    clearance = _typed(criteria.clearance)
    fastest_motion = _typed(fastest.fastest_motion)
else:
    _made: dict[str, Callable[..., Any]] = {}

    def __getattr__(name: str) -> Callable[..., Any]:
        """Return a function of `tasks` by its name, wrapped so that it takes DataArrays too."""
        if name not in RESULTS:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        if name not in _made:
            _made[name] = _on_data_arrays(name)
        return _made[name]

    def __dir__() -> list[str]:
        return [*RESULTS]
