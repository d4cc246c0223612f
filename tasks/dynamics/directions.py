"""Interface of the derivatives of a call, forward and reverse, and checks of their arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import ArrayLike

from robots.arguments import real_numbers, shown
from robots.labels import in_order_of
from robots.model import Robot
from robots.parameter_errors import ParameterError, nearest

Array = np.ndarray


class Derivatives(ABC):
    """Results of a function on arrays at some arguments, and their derivatives in both directions.

    Inputs have names: all fields of the motion, also absent ones, `load`, `gravity`, the `parameters` of the call, and
    numbers of friction, such as "friction.coulomb", or "friction[0].coulomb" with several groups. A rotation counts as
    nine numbers; its rate along a motion gives the derivative along that motion.
    """

    results: Mapping[str, Array]
    """Results by name (*batch, ...), `status` among them; samples that are not OK hold NaN."""

    @property
    @abstractmethod
    def inputs(self) -> Collection[str]:
        """Names of the inputs that derivatives are taken by."""

    @abstractmethod
    def jvp(self, rates: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Return the rates of the results, by name, where inputs change at these rates (*batch, ...) and others do not.

        Samples that are not OK hold NaN. Raises ValueError for other names and for shapes that do not fit.
        """

    @abstractmethod
    def vjp(self, cotangents: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Return the derivatives of a number by all inputs, from cotangents of results (*batch, ...), absent: zero.

        Each has the shape of its input; for an input that many samples share it is the sum over these samples. A sample
        that is not OK gives NaN, or zero if its cotangents are zero. Raises ValueError as `jvp`.
        """

    @abstractmethod
    def hvp(self, cotangents: Mapping[str, ArrayLike], rates: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Return the rates of the results of `vjp` for fixed cotangents, where inputs change at these rates.

        This is the exact product of the second derivatives of a number with a vector, in the shapes of `vjp`. Raises
        ValueError as `jvp`.
        """


def designs(robot: Robot, parameters: Mapping[str, ArrayLike]) -> dict[str, Array]:
    """Return parameters of designs as arrays. Raises ParameterError for names and values that the robot cannot have."""
    table = {parameter.name: parameter for parameter in robot.family.parameters}
    result = {}
    for name, value in parameters.items():
        if name not in table:
            raise ParameterError(f"{robot.name} has no parameter {name!r}; {nearest(name, table)}")
        try:
            result[name] = real_numbers(value)
        except (TypeError, ValueError):
            raise ParameterError(f"{robot.name}: {name}: got {shown(value)}; expected {table[name].bounds}") from None
        for number in result[name].flat:
            if problem := table[name].problem(float(number)):
                raise ParameterError(
                    f"{robot.name}: {name} = {float(number)!r} {problem}; expected {table[name].bounds}"
                )
    return result


def check_names(what: str, names: Collection[str], available: Collection[str]) -> None:
    """Refuse names of rates or cotangents that there are not, by ValueError."""
    for name in names:
        if name not in available:
            raise ValueError(f"{what}: got {name}; {nearest(name, available)}")


def spread(name: str, value: ArrayLike, core: tuple[int, ...], batch: tuple[int, ...]) -> Array:
    """Return an array (*batch, *core). Raises ValueError."""
    value = in_order_of((), name, value) if core else value
    try:
        return np.broadcast_to(real_numbers(value), (*batch, *core))
    except (TypeError, ValueError):
        got = f"{name}: got an array of shape {np.shape(value)}"
        raise ValueError(f"{got}; expected {(*batch, *core)}, or a shape that is broadcast to it") from None


def summed(per_sample: Array, batch: tuple[int, ...], core: int) -> Array:
    """Return the sum over the dims that an input of a batch does not have, or has with length one."""
    lead = per_sample.ndim - core - len(batch)
    per_sample = per_sample.sum(axis=tuple(range(lead)))
    short = tuple(k for k, size in enumerate(batch) if size == 1 and per_sample.shape[k] != 1)
    return per_sample.sum(axis=short, keepdims=True)


def times(matrix: Array, vector: Array) -> Array:
    """Return products (*batch, row) of matrices with vectors (*batch, column)."""
    return np.asarray((matrix @ vector[..., None])[..., 0])


def zero_for_nan(array: Array) -> Array:
    """Return an array with zeros in the place of NaN."""
    return np.nan_to_num(array, nan=0.0)
