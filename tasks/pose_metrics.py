"""Metrics of a robot's pose: conditioning, manipulability and effective mass, from J_IK and the mass matrix.

J_IK (actuator, freedom) turns rates of the freedoms into rates of the actuators, so its singular values are actuator
rates per platform rate. Where a platform turns as well as moves, rotations count by the way of a point at a
characteristic length from its reference point, so that all freedoms have the same unit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from robots.model import Mechanism
from tasks.mathematics.algebra import array, singular_values, where

Scalar = Any
Array = Any

ANGULAR = ("wx", "wy", "wz")


@dataclass(frozen=True)
class Posture:
    """A robot at one instant: J_IK and mass matrix in common units, whether the sample failed."""

    jacobian: Array
    mass: Array
    failed: Any

    @cached_property
    def rates(self) -> list[Scalar]:
        """Singular values of J_IK."""
        return singular_values(self.jacobian)

    @cached_property
    def masses(self) -> list[Scalar]:
        """Eigenvalues of the mass matrix: it is symmetric and positive, so they are its singular values."""
        return singular_values(self.mass)

    def unless_failed(self, value: Scalar) -> Scalar:
        """The value, NaN for a failed sample."""
        return where(self.failed, np.nan, value)


@dataclass(frozen=True)
class PoseMetric:
    """What is reduced over time, how, and what is made of the result, the samples and the number of freedoms."""

    of: Callable[[Posture], Scalar]
    reduction: str
    finish: Callable[[np.ndarray, int, int], np.ndarray] = lambda value, samples, freedoms: value
    mass: bool = False


def extremes(values: list[Scalar]) -> tuple[Scalar, Scalar]:
    """The least and the largest of some numbers."""
    low = high = values[0]
    for value in values[1:]:
        low, high = where(value < low, value, low), where(value > high, value, high)
    return low, high


def _condition(p: Posture) -> Scalar:
    low, high = extremes(p.rates)
    return high / low


def _product(values: list[Scalar]) -> Scalar:
    result: Scalar = 1.0
    for value in values:
        result = result * value
    return result


POSE_METRICS: Mapping[str, PoseMetric] = {
    "condition": PoseMetric(lambda p: p.unless_failed(_condition(p)), "max"),
    "dexterity": PoseMetric(
        lambda p: where(p.failed, 0.0, 1.0 / _condition(p)), "sum", lambda x, samples, freedoms: x / samples
    ),
    "usable_share": PoseMetric(lambda p: where(p.failed, 0.0, 1.0), "sum", lambda x, samples, freedoms: x / samples),
    # Yoshikawa's measure of the forward Jacobian, its n-th root so that robots can be compared
    "manipulability": PoseMetric(
        lambda p: p.unless_failed(_product(p.rates)), "max", lambda x, samples, freedoms: x ** (-1.0 / freedoms)
    ),
    "least_effective_mass": PoseMetric(lambda p: p.unless_failed(extremes(p.masses)[0]), "min", mass=True),
    "largest_effective_mass": PoseMetric(lambda p: p.unless_failed(extremes(p.masses)[1]), "max", mass=True),
}
"""Metrics of a case that depend on design and trajectory alone.

Dexterity is the mean of 1 / condition over all samples, zero where one failed: over a workspace the global conditioning
index of Gosselin and Angeles (1991) times its usable share. Manipulability is the least over time, in units of platform
rate per actuator rate.
"""


def needs_mass(metrics: tuple[str, ...]) -> bool:
    """Whether any of these metrics needs the mass matrix."""
    return any(POSE_METRICS[name].mass for name in metrics if name in POSE_METRICS)


def characteristic_length(mechanism: Mechanism) -> float:
    """Root mean square of the distances of the platform's joints from its reference point [m]; 1 if they are all there.

    That of the reference robot is taken for all designs, so that designs can be compared.
    """
    squares = []
    for each in mechanism.instances:
        turn, shift = np.array(each.platform.rotation, dtype=float), np.array(each.platform.position, dtype=float)
        for tip in mechanism.limbs[each.limb].tips:
            place = shift + turn @ np.array(tip.frame_b.position, dtype=float)
            squares.append(float(place @ place))
    return float(np.sqrt(np.mean(squares))) if squares and max(squares) > 0 else 1.0


def weights(mechanism: Mechanism) -> np.ndarray:
    """What the freedoms of J_IK are divided by so that all are in m, (freedom,)."""
    length = characteristic_length(mechanism)
    return np.array([length if name in ANGULAR and not mechanism.is_chain else 1.0 for name in mechanism.freedoms])


def posture(mechanism: Mechanism, jacobian: Array, mass: Array, failed: Any) -> Posture:
    """A posture from J_IK (actuator, freedom) and the mass matrix (freedom, freedom) in world units."""
    scale = weights(mechanism)
    return Posture(array(jacobian / scale), array(mass / np.outer(scale, scale)), failed)
