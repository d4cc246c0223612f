"""Friction laws, for one sample of one joint: force against the motion from velocity and the law's parameters.

Names and parameters are in `robots.friction`. Positive results oppose positive velocity: an actuator has to add them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tasks.algebra import where

Scalar = Any


def none(velocity: Scalar) -> Scalar:
    """No friction."""
    return velocity * 0.0


def coulomb_viscous(velocity: Scalar, coulomb: Scalar, viscous: Scalar) -> Scalar:
    """coulomb * sgn(velocity) + viscous * velocity, with sgn(0) = 0."""
    signed = where(velocity > 0.0, coulomb, where(velocity < 0.0, -coulomb, 0.0))
    return signed + viscous * velocity


LAWS: Mapping[str, Callable[..., Scalar]] = {"none": none, "coulomb_viscous": coulomb_viscous}
