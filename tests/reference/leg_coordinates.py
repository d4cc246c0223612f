"""Inverse dynamics of the three-loop leg in planar maximal coordinates: x, y, angle of each body, pins as equations.

Seven bodies have 21 coordinates, ten pins 20 equations, the driven angle one more. Nothing is eliminated: positions by
Newton steps, rates and accelerations from the same matrix, multipliers from its transpose. Source of the numbers: Table
3 of the joint-friction paper, typed a second time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = Any

BODIES = ("1", "2", "3", "4", "1p", "2p", "1pp")
MASS = (2.0, 2.0, 1.0, 1.2, 1.2, 2.0, 1.0)
INERTIA = (0.04, 0.04, 0.01, 0.02, 0.02, 0.04, 0.01)
CENTRE = (
    (0.0369, -0.0338),
    (-0.0451, -0.0217),
    (-0.0187, 0.0124),
    (-0.0229, -0.0153),
    (-0.0039, -0.0272),
    (0.0, 0.0),
    (-0.0034, -0.0222),
)
GROUND = ""

PINS = (
    ("1", GROUND, (0.0, 0.0), "1", (0.0, 0.0)),
    ("2", "1", (0.0737, -0.0676), "2", (0.0, 0.0)),
    ("3", "2", (-0.0451, -0.0217), "3", (0.0, 0.0)),
    ("4", "1", (0.0368, -0.0338), "4", (0.0, 0.0)),
    ("1p", GROUND, (-0.05, 0.0), "1p", (0.0, 0.0)),
    ("2p", "1p", (-0.0079, -0.0544), "2p", (0.0, 0.0)),
    ("1pp", GROUND, (-0.1, 0.0001), "1pp", (0.0, 0.0)),
    ("III", "3", (-0.0375, 0.0249), "4", (-0.0457, -0.0306)),
    ("II", "4", (-0.0457, -0.0306), "2p", (0.049, -0.01)),
    ("I", "2p", (-0.049, 0.01), "1pp", (-0.0069, -0.0445)),
)
"""Name, first body and its point, second body and its point [m]; the force of a pin is that on the second body."""

STEP = 0.05
"""Turn of the driven angle [rad] between solutions on the way from rest, short enough to stay on their branch."""


class Leg(NamedTuple):
    """Angles of all pins, second body relative to the first [rad]; torque of 1'' [N m]; forces of pins (10, 2) [N]."""

    angles: np.ndarray
    torque: float
    forces: np.ndarray


def leg(angle: float, rate: float, acceleration: float, gravity: Array = (0.0, -9.8)) -> Leg:
    """Inverse dynamics for one state of the driven joint 1''. Raises ValueError where the leg does not close."""
    x = _positions(angle)
    matrix = _matrix(x)
    demand = np.zeros(21)
    demand[20] = rate
    speed = np.linalg.solve(matrix, demand)
    demand = -_curvature(x, speed)
    demand[20] = acceleration
    change = np.linalg.solve(matrix, demand)
    mass, acting = _mass(x, speed, np.asarray(gravity, dtype=float))
    multipliers = np.linalg.solve(matrix.T, mass @ change - acting)
    turns = {GROUND: 0.0} | {name: x[3 * k + 2] for k, name in enumerate(BODIES)}
    angles = np.array([turns[second] - turns[first] for _, first, _, second, _ in PINS])
    return Leg(angles, float(multipliers[20]), multipliers[:20].reshape(10, 2))


def _positions(angle: float) -> np.ndarray:
    x = _at_rest()
    for target in np.linspace(0.0, angle, 2 + int(abs(angle) / STEP))[1:]:
        for _ in range(20):
            step = np.linalg.solve(_matrix(x), _gaps(x, target))
            x = x - step
            if np.abs(step).max() < 1e-15:
                break
        if np.abs(_gaps(x, target)).max() > 1e-12:
            raise ValueError(f"the leg does not close at {target} rad")
    return x


def _at_rest() -> np.ndarray:
    at = {GROUND: np.zeros(2)}
    for _, first, point, second, _ in PINS[:7]:
        at[second] = at[first] + point
    return np.concatenate([[*at[name], 0.0] for name in BODIES])


def _arm(x: np.ndarray, body: str, point: Array) -> tuple[int, np.ndarray, np.ndarray]:
    """First coordinate of a body, a point of it relative to its origin, and the derivative of that by the angle."""
    first = 3 * BODIES.index(body)
    c, s = np.cos(x[first + 2]), np.sin(x[first + 2])
    arm = np.array([c * point[0] - s * point[1], s * point[0] + c * point[1]])
    return first, arm, np.array([-arm[1], arm[0]])


def _gaps(x: np.ndarray, angle: float) -> np.ndarray:
    gaps = np.zeros(21)
    for k, pin in enumerate(PINS):
        for body, point, sign in ((pin[1], pin[2], -1.0), (pin[3], pin[4], 1.0)):
            if body == GROUND:
                gaps[2 * k : 2 * k + 2] += sign * np.array(point)
            else:
                first, arm, _ = _arm(x, body, point)
                gaps[2 * k : 2 * k + 2] += sign * (x[first : first + 2] + arm)
    gaps[20] = x[20] - angle
    return gaps


def _matrix(x: np.ndarray) -> np.ndarray:
    matrix = np.zeros((21, 21))
    for k, pin in enumerate(PINS):
        for body, point, sign in ((pin[1], pin[2], -1.0), (pin[3], pin[4], 1.0)):
            if body != GROUND:
                first, _, turned = _arm(x, body, point)
                matrix[2 * k : 2 * k + 2, first : first + 2] += sign * np.eye(2)
                matrix[2 * k : 2 * k + 2, first + 2] += sign * turned
    matrix[20, 20] = 1.0
    return matrix


def _curvature(x: np.ndarray, speed: np.ndarray) -> np.ndarray:
    """The part of the second derivative of the gaps that has no accelerations."""
    result = np.zeros(21)
    for k, pin in enumerate(PINS):
        for body, point, sign in ((pin[1], pin[2], -1.0), (pin[3], pin[4], 1.0)):
            if body != GROUND:
                first, arm, _ = _arm(x, body, point)
                result[2 * k : 2 * k + 2] -= sign * arm * speed[first + 2] ** 2
    return result


def _mass(x: np.ndarray, speed: np.ndarray, gravity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mass matrix about the bodies' origins, and what weight and rotation do."""
    mass, acting = np.zeros((21, 21)), np.zeros(21)
    for k, name in enumerate(BODIES):
        first, arm, turned = _arm(x, name, CENTRE[k])
        own = slice(first, first + 2)
        mass[own, own] = MASS[k] * np.eye(2)
        mass[own, first + 2] = mass[first + 2, own] = MASS[k] * turned
        mass[first + 2, first + 2] = INERTIA[k] + MASS[k] * arm @ arm
        acting[own] = MASS[k] * (gravity + arm * speed[first + 2] ** 2)
        acting[first + 2] = MASS[k] * turned @ gravity
    return mass, acting
