"""Common parts of friction laws, for one sample of one joint: sign of the velocity, load, direction and temperature.

Functions are on floats or traced. An option that is left out, or has its neutral default, costs no operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from tasks.kernels.expression import Scalar
from tasks.mathematics.algebra import exp, is_zero, power, tanh, where

Directed = Callable[[Scalar], Scalar]
"""A magnitude with the sign of the velocity."""
Parts = tuple[Scalar, Scalar]
"""Dry friction at load 1, viscous friction."""

ONSET = 1e-30
"""Speed that stands for the beginning of motion: laws give their value for zero speed there, with a sign."""

_SCALES = frozenset(("negative", "temperature", "coulomb_temperature", "viscous_temperature", "transition_load"))


class Sliding(NamedTuple):
    """Sliding velocity [rad/s or m/s] and normal load of a joint at one instant."""

    velocity: Scalar
    load: Scalar


def sign(velocity: Scalar, width: Scalar = 0.0) -> Directed:
    """Return a function that gives a magnitude the sign of the velocity.

    The sign is sgn with sgn(0) = 0, or tanh(velocity / width).
    """

    def sharp(magnitude: Scalar) -> Scalar:
        return where(velocity > 0.0, magnitude, where(velocity < 0.0, -magnitude, 0.0))

    return sharp if is_zero(width) else lambda magnitude: magnitude * _saturated(velocity, width, sharp(1.0))


def stribeck_magnitude(
    velocity: Scalar, coulomb: Scalar, static: Scalar, stribeck_velocity: Scalar, shape: Scalar = 2.0
) -> Scalar:
    """Return the dry friction of Bo and Pavelescu without its sign: from static at rest to coulomb."""
    return coulomb + (static - coulomb) * exp(-power(abs(velocity) / stribeck_velocity, shape))


def scales(
    velocity: Scalar,
    load: Scalar,
    *,
    negative: Scalar = 1.0,
    temperature: Scalar = 0.0,
    coulomb_temperature: Scalar = 0.0,
    viscous_temperature: Scalar = 0.0,
    transition_load: Scalar = 0.0,
) -> Parts:
    """Return factors of dry, viscous friction: load, direction, temperature; declared here except `transition_load`.

    Dry friction is linear in temperature, and never negative; viscous friction exponential, as the viscosity of oil is
    over some ten kelvin.
    """
    side = where(velocity < 0.0, negative, 1.0)
    linear = coulomb_temperature * temperature + 1.0
    dry = (linear + abs(linear)) * 0.5
    arriving = _saturated(load * 4.0, transition_load, 1.0)
    return side * (load * dry), side * (exp(viscous_temperature * temperature) * arriving)


def scaling(values: Mapping[str, Scalar]) -> tuple[dict[str, Scalar], dict[str, Scalar]]:
    """Return the `values` that `scales` takes, and the others."""
    return {k: v for k, v in values.items() if k in _SCALES}, {k: v for k, v in values.items() if k not in _SCALES}


def _saturated(x: Scalar, scale: Scalar, sharp: Scalar) -> Scalar:
    """Return tanh(x / scale), or `sharp` if the scale is zero."""
    if is_zero(scale):
        return sharp
    smooth = scale > 0.0
    return where(smooth, tanh(x / where(smooth, scale, 1.0)), sharp)
