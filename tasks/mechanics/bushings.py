"""Wrenches of bushings on bodies, for one sample: six springs and dampers between two frames.

The way x and the rotation vector theta from the second frame to the first are in axes of the second. The energy is half
of x . K x + theta . C theta; forces are its slopes, so that a bushing without damping keeps energy at any displacement:
-(K x + D x') and -J(theta)^-T (C theta + E theta') with theta' = J(theta)^-1 omega. Source: Sola, Deray and Atchuthan
2018, A micro Lie theory for state estimation in robotics, Eqs. (132), (143) to (146).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robots.data_classes import dataclass
from robots.springs import Bushing
from tasks.kernels.expression import Array, Scalar
from tasks.mathematics.algebra import array, atan2, cross, dot, sqrt, where

Velocity = Callable[[], tuple[Array, Array]]

NEAR = 0.1
"""One less the cosine of the angle up to which the ratio of angle and sine is a series."""
TERMS = 14
"""Terms of that series: each is less than a twentieth of the one before."""
OPPOSITE = -0.88
"""Cosine of half a radian from half a turn, beyond which a pose does not tell the way round."""


@dataclass(frozen=True)
class BushingEnd:
    """One end of a bushing in the axes of the base: axes (3, 3), place of the frame, arm from its body's origin."""

    axes: Array
    place: Array
    arm: Array
    velocity: Velocity

    def moving(self) -> tuple[Array, Array]:
        """Return the angular velocity, and the velocity of the frame's origin."""
        omega, of_origin = self.velocity()
        return omega, of_origin + cross(omega, self.arm)


def bushing_wrench(bushing: Bushing, near: BushingEnd, far: BushingEnd) -> tuple[Array, Array]:
    """Return (moment about the origin of the frame of the first end, force) on the body of `near`, axes of the base."""
    first, second = (far, near) if bushing.reacts else (near, far)
    force, moment = _pull(bushing, first, second), _turn(bushing, first, second)
    if not bushing.reacts:
        return moment, force
    return cross(second.place - first.place, force) - moment, -force


def _pull(bushing: Bushing, first: BushingEnd, second: BushingEnd) -> Array:
    gap = first.place - second.place
    pull = array(bushing.stiffness) * (second.axes.T @ gap)
    if bushing.damped:
        (_, velocity), (omega, of_second) = first.moving(), second.moving()
        rate = second.axes.T @ (velocity - of_second - cross(omega, gap))
        pull = pull + array(bushing.damping) * rate
    return array(-(second.axes @ pull))


def _turn(bushing: Bushing, first: BushingEnd, second: BushingEnd) -> Array:
    if not bushing.turning:
        return np.zeros(3)
    theta, beta = rotation_vector(second.axes.T @ first.axes)
    pull = array(bushing.turn_stiffness) * theta
    if bushing.damped:
        omega = second.axes.T @ (first.moving()[0] - second.moving()[0])
        rate = omega - cross(theta, omega) * 0.5 + cross(theta, cross(theta, omega)) * beta
        pull = pull + array(bushing.turn_damping) * rate
    moment = pull + cross(theta, pull) * 0.5 + cross(theta, cross(theta, pull)) * beta
    return array(-(second.axes @ moment))


def rotation_vector(turn: Array) -> tuple[Array, Scalar]:
    """Return the rotation vector (3,) of a matrix and the factor of its double product in J^-1.

    J^-1 = I - [theta] / 2 + beta [theta]^2 with beta = 1 / angle^2 - (1 + cos) / (2 angle sin). NaN within half a
    radian of half a turn.
    """
    sine = array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) * 0.5
    cos = (turn[0, 0] + turn[1, 1] + turn[2, 2] - 1.0) * 0.5
    less = 1.0 - cos
    near = less < NEAR
    small, factors = where(near, less, 0.0), _series()
    ratio_near, excess_near = (_horner(row, small) for row in factors)
    size = sqrt(where(near, 1.0, dot(sine, sine)))
    ratio_far = atan2(size, where(near, 1.0, cos)) / size
    excess_far = (1.0 - ratio_far * (1.0 - less * 0.5)) / where(near, 1.0, less)
    ratio, excess = where(near, ratio_near, ratio_far), where(near, excess_near, excess_far)
    ratio = where(cos > OPPOSITE, ratio, np.nan)
    return sine * ratio, excess / (ratio * ratio * (2.0 - less))


def _series() -> tuple[list[float], list[float]]:
    """Return the coefficients, over x = 1 - cos, of r = angle / sin and of (1 - r (1 - x / 2)) / x.

    The first are 2^n n!^2 / (2 n + 1)!, of arcsin z / (z sqrt(1 - z^2)) at z^2 = x / 2.
    """
    ratio, excess, value = [], [], 1.0
    for n in range(TERMS):
        ratio.append(value)
        excess.append(value / (2.0 * (2 * n + 3)))
        value *= (n + 1) / (2 * n + 3)
    return ratio, excess


def _horner(coefficients: list[float], x: Scalar) -> Scalar:
    result: Scalar = coefficients[-1]
    for value in reversed(coefficients[:-1]):
        result = result * x + value
    return result
