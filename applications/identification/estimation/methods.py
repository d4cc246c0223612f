"""Methods that find base parameters, by name: linear estimators, consistent bodies, separable friction."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

import numpy as np

from applications.identification.estimation import estimators
from applications.identification.estimation.consistent import SIZE, consistent, near_consistent
from applications.identification.estimation.estimators import ESTIMATORS
from applications.identification.estimation.recorded import Data
from applications.identification.estimation.separable import separable
from robots.data_classes import dataclass, field
from robots.friction.groups import FrictionGroup
from robots.friction.laws import LAWS
from robots.parameters import Parameter
from tasks.dynamics.inertial_parameters import BODY
from tasks.dynamics.regressor import friction_parameters, standard_parameters
from tasks.features.friction.inputs import FrictionInput

FIRST = next(iter(BODY))
"""The first of the parameters of a body."""

RANGE = 1e3
"""Parameters of friction that forces are not linear in are sought from their default over this to their default times
this."""


@dataclass(frozen=True)
class FittedParameters:
    """Result of a method.

    values, deviations: of base parameters, then of the nonlinear ones; condition and noise as in `Estimate`;
    nonlinear: true values of the latter by name; friction: friction of the robot with the values that were found.
    """

    values: np.ndarray
    deviations: np.ndarray
    condition: float
    noise: float
    nonlinear: Mapping[str, float] = field(default_factory=dict)
    friction: FrictionInput | None = None


def linear(method: str, data: Data) -> FittedParameters:
    """Fit the parameters by one of the linear estimators."""
    found = estimators.estimate(method, *data.of(data.training), data.actuators)
    return FittedParameters(found.values, found.deviations, found.condition, found.noise)


def consistent_bodies(data: Data) -> FittedParameters:
    """Fit physically consistent body parameters, weighted by actuator; undetermined ones stay near the nominal robot.

    Standard deviations are those of the linear estimate, which knows less. Raises ValueError.
    """
    matrix, forces = data.of(data.training, whole=True)
    free = estimators.weighted(data.base.reduced(matrix), forces, data.actuators)
    residuals = (forces - data.base.reduced(matrix) @ free.values).reshape(-1, data.actuators)
    weights = np.tile(1.0 / np.maximum(residuals.std(axis=0), np.finfo(float).eps), len(residuals))
    standard = standard_parameters(data.nominal, friction=data.friction, shared=True)
    bodies = [k for k, name in enumerate(data.base.names) if name.endswith(f".{FIRST}")]
    inertial = len(standard_parameters(data.nominal, shared=True))
    nominal = np.array([value if k < inertial else 0.0 for k, value in enumerate(standard.values())])
    for k in bodies:
        nominal[k : k + SIZE] = near_consistent(nominal[k : k + SIZE])
    found = consistent(matrix * weights[:, None], forces * weights, nominal, bodies)
    if not found.converged:
        raise ValueError(f"method: consistent did not converge ({found.status}); use weighted, or other recordings")
    values = data.base.of(found.values)
    noise = float(np.std(forces - data.base.reduced(matrix) @ values))
    return FittedParameters(values, free.deviations, free.condition, noise)


def separable_friction(data: Data) -> FittedParameters:
    """Fit the nonlinear parameters of friction laws, such as Stribeck velocities, and all others.

    All joints of a group share one value. Raises ValueError for friction without nonlinear parameters.
    """
    unknown = [(group, each) for group in data.friction.groups for each in _nonlinear(group)]
    if not unknown:
        raise ValueError(
            "method: got 'separable' for friction with no parameter that forces are not linear in; expected a law such "
            "as stribeck; use weighted"
        )
    matrix, forces = data.of(data.training, whole=True)
    inertial = matrix.shape[1] - len(friction_parameters(data.robot, data.friction))

    def given(values: np.ndarray) -> FrictionInput:
        return _replaced(data.friction, values)

    def reduced(trial: np.ndarray) -> np.ndarray:
        return data.base.reduced(np.hstack([matrix[:, :inertial], data.friction_rows(given(trial))]))

    defaults = np.array([each.scalar for _, each in unknown])
    lower = np.maximum([each.lower for _, each in unknown], defaults / RANGE)
    upper = np.minimum([each.upper for _, each in unknown], defaults * RANGE)
    found = separable(reduced, forces, np.sqrt(lower * upper), lower, upper)
    if not found.converged:
        raise ValueError("method: separable did not converge; use weighted, or recordings at more speeds")
    several = len(data.friction.groups) > 1
    names = [f"{group.name or group.law}.{each.name}" if several else each.name for group, each in unknown]
    return FittedParameters(
        np.concatenate([found.linear.values, found.nonlinear]),
        np.concatenate([found.linear.deviations, found.deviations]),
        found.linear.condition,
        found.linear.noise,
        dict(zip(names, data.friction.values[0][_places(data.friction)].tolist(), strict=True)),
        given(found.nonlinear),
    )


METHODS: Mapping[str, Callable[[Data], FittedParameters]] = {
    **{name: functools.partial(linear, name) for name in ESTIMATORS},
    "consistent": consistent_bodies,
    "separable": separable_friction,
}
"""Methods of `limbsweep identify` by name."""


def _nonlinear(group: FrictionGroup) -> tuple[Parameter, ...]:
    """Return the parameters of its law that are neither linear nor options, which describe a situation."""
    law = LAWS[group.law]
    return tuple(each for each in law.parameters if each not in law.linear)


def _places(friction: FrictionInput) -> list[int]:
    """Return the indices of the nonlinear parameters among the numbers of all groups."""
    result, start = [], 0
    for group in friction.groups:
        result += [start + group.parameters.index(each.name) for each in _nonlinear(group)]
        start += len(group.parameters)
    return result


def _replaced(friction: FrictionInput, values: np.ndarray) -> FrictionInput:
    numbers = friction.values.copy()
    numbers[0, _places(friction)] = values
    return FrictionInput(friction.groups, numbers)
