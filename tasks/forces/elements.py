"""Wrenches that springs and applied forces put on a body, for one sample, in the axes of the base of the robot."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from robots.forces.elements import AppliedWrench, ForceElement, Spring
from tasks.kernels.types import Array, Scalar
from tasks.mathematics.algebra import array, cross, dot, is_zero, reciprocal, sqrt, total, where


@dataclass(frozen=True)
class BodyState:
    """Rotation (3, 3) from a body's axes to those of the base, position of its origin, and its velocities (3,).

    `velocity` gives (angular velocity, velocity of the origin); it is called for elements that damp alone.
    """

    rotation: Array
    position: Array
    velocity: Callable[[], tuple[Array, Array]]


def wrench(elements: Iterable[ForceElement], state: BodyState) -> tuple[Array, Array]:
    """(moment about the body's origin, force) of all elements on a body, axes of the base.

    Where one component is no number none is: a load that only bearings feel is told by the status of its sample too.
    """
    moment, force = np.zeros(3), np.zeros(3)
    for element in elements:
        arm = state.rotation @ array(element.point)
        if isinstance(element, Spring):
            push = _pull(element, state, arm)
        else:
            push = _components(element, state, element.force)
            moment = moment + _components(element, state, element.moment)
        moment, force = moment + cross(arm, push), force + push
    finite = total([*moment, *force]) <= sys.float_info.max
    known = array([where(finite, x, np.nan) for x in (*moment, *force)])
    return known[:3], known[3:]


def _components(element: AppliedWrench, state: BodyState, vector: tuple[Scalar, Scalar, Scalar]) -> Array:
    """A vector of an element in the axes of the base."""
    return state.rotation @ array(vector) if element.turning else array(vector)


def _pull(spring: Spring, state: BodyState, arm: Array) -> Array:
    """Force of a spring on its body.

    Written as a linear spring of no rest length and what is left, so that such springs have no singularity where both
    points coincide. Others have no direction there: the force is not a number.
    """
    gap = state.position + arm - array(spring.anchor)
    direct: Scalar = spring.preload
    if not is_zero(spring.rest_length):
        direct = direct - spring.stiffness * spring.rest_length
    if is_zero(direct) and not spring.damped:
        return -gap * spring.stiffness
    shorter = reciprocal(sqrt(dot(gap, gap)))
    if spring.damped:
        omega, velocity = state.velocity()
        opening = dot(gap, velocity + cross(omega, arm)) * shorter
        direct = direct + where(_vanishes(spring.damping), 0.0, spring.damping * opening)
    return gap * -(where(_vanishes(direct), 0.0, direct * shorter) + spring.stiffness)


def _vanishes(value: Scalar) -> bool:
    """Whether a number, or a symbol, is zero."""
    return abs(value) <= 0.0
