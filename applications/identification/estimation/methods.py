"""Methods that find base parameters, by name: linear estimators, consistent bodies, separable friction."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

import numpy as np

from applications.identification.estimation import estimators
from applications.identification.estimation.consistent import SIZE, consistent, near_consistent
from applications.identification.estimation.estimators import ESTIMATORS
from applications.identification.estimation.fit_data import FitData
from applications.identification.estimation.separable import separable
from robots.data_classes import dataclass, field
from robots.friction.groups import FrictionGroup
from robots.friction.laws import LAWS
from robots.parameters import Parameter
from tasks.dynamics.inertial_parameters import BODY
from tasks.dynamics.regressor import standard_parameters
from tasks.features.friction.inputs import FrictionInput

FIRST = next(iter(BODY))
"""The first of the parameters of a body."""

RANGE = 1e3
"""Parameters of friction that forces are not linear in are sought from their default over this to their default times
this."""


@dataclass(frozen=True)
class FittedParameters:
    """Result of a method for designs.

    values, deviations (design, parameter): of base parameters, then of the nonlinear ones; condition and noise
    (design,) as in `Estimate`; nonlinear: true values of these by name; friction: that of the robot with the values
    that were found.
    """

    values: np.ndarray
    deviations: np.ndarray
    condition: np.ndarray
    noise: np.ndarray
    nonlinear: Mapping[str, float] = field(default_factory=dict)
    friction: FrictionInput | None = None


@dataclass(frozen=True)
class FitMethod:
    """Method that finds base parameters: of designs together by their columns, or of one by the whole regressor.

    fit raises ValueError where one of the designs has no parameters.
    """

    fit: Callable[[FitData], FittedParameters]
    together: bool


def linear(name: str, data: FitData) -> FittedParameters:
    """Fit the parameters by one of the linear estimators."""
    return FittedParameters(*estimators.estimates(name, data.matrix, data.forces, data.actuators)[:4])


def consistent_bodies(data: FitData) -> FittedParameters:
    """Fit physically consistent body parameters, weighted by actuator; undetermined ones stay near the nominal robot.

    Standard deviations are those of the linear estimate, which knows less. Raises ValueError.
    """
    (matrix,), (forces,), (base,) = data.matrix, data.forces, data.bases
    reduced = base.reduced(matrix)
    free = estimators.estimates("weighted", reduced[None], forces[None], data.actuators)
    residuals = (forces - reduced @ free.values[0]).reshape(-1, data.actuators)
    weights = np.tile(1.0 / np.maximum(residuals.std(axis=0), np.finfo(float).eps), len(residuals))
    standard = standard_parameters(data.options.nominal, friction=data.options.friction, shared=True)
    bodies = [k for k, name in enumerate(base.names) if name.endswith(f".{FIRST}")]
    inertial = len(standard_parameters(data.options.nominal, shared=True))
    nominal = np.array([value if k < inertial else 0.0 for k, value in enumerate(standard.values())])
    for k in bodies:
        nominal[k : k + SIZE] = near_consistent(nominal[k : k + SIZE])
    found = consistent(matrix * weights[:, None], forces * weights, nominal, bodies)
    if not found.converged:
        raise ValueError(f"method: consistent did not converge ({found.status}); use weighted, or other recordings")
    values = base.of(found.values)
    noise = np.std(forces - reduced @ values)
    return FittedParameters(values[None], free.deviations, free.condition, noise[None])


def separable_friction(data: FitData) -> FittedParameters:
    """Fit the nonlinear parameters of friction laws, such as Stribeck velocities, and all others.

    All joints of a group share one value. Raises ValueError for friction without nonlinear parameters.
    """
    friction = data.options.friction
    unknown = [(group, each) for group in friction.groups for each in _nonlinear(group)]
    if not unknown:
        raise ValueError(
            "method: got 'separable' for friction with no parameter that forces are not linear in; expected a law such "
            "as stribeck; use weighted"
        )
    (forces,), (base,) = data.forces, data.bases

    def reduced(trial: np.ndarray) -> np.ndarray:
        return base.reduced(data.with_friction(_replaced(friction, trial), training=True)[0])

    defaults = np.array([each.scalar for _, each in unknown])
    lower = np.maximum([each.lower for _, each in unknown], defaults / RANGE)
    upper = np.minimum([each.upper for _, each in unknown], defaults * RANGE)
    found = separable(reduced, forces, np.sqrt(lower * upper), lower, upper)
    if not found.converged:
        raise ValueError("method: separable did not converge; use weighted, or recordings at more speeds")
    several = len(friction.groups) > 1
    names = [f"{group.name or group.law}.{each.name}" if several else each.name for group, each in unknown]
    return FittedParameters(
        np.concatenate([found.linear.values, found.nonlinear])[None],
        np.concatenate([found.linear.deviations, found.deviations])[None],
        np.array([found.linear.condition]),
        np.array([found.linear.noise]),
        dict(zip(names, friction.values[0][_places(friction)].tolist(), strict=True)),
        _replaced(friction, found.nonlinear),
    )


METHODS: Mapping[str, FitMethod] = {
    **{name: FitMethod(functools.partial(linear, name), together=True) for name in ESTIMATORS},
    "consistent": FitMethod(consistent_bodies, together=False),
    "separable": FitMethod(separable_friction, together=False),
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
