"""Bricard's linkage of six equal sides and right angles, by its closed form, and its motion under gravity.

Angles of odd joints are a, those of even ones b, with cos a + cos b + cos a cos b = 0. Source: Chen, You and Tarnai
2005, Threefold-symmetric Bricard linkages for deployable structures, Eq. (6) with a twist of 90 degrees. Bodies are
found by going around the loop from one joint to the next; the motion follows from kinetic and potential energy in the
angle of the first joint alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

Array = NDArray[np.float64]

SIGNS = np.array((1.0, 1.0, -1.0, -1.0, -1.0, 1.0))
"""Signs of each joint's angle from the corner of the cube, relative to those of joints 1 and 2."""


def angles(first: Array) -> tuple[Array, Array]:
    """Positions of the joints (6, sample) from the cube, and their rates per rate of the first one."""
    a = 0.5 * np.pi - np.asarray(first, dtype=float)
    cos = -np.cos(a) / (1.0 + np.cos(a))
    b = np.arccos(cos)
    slope = -np.sin(a) / (1.0 + np.cos(a)) ** 2 / np.sqrt(1.0 - cos * cos)  # of b, by a
    turned = np.stack([0.5 * np.pi - a, b - 0.5 * np.pi] * 3)
    return turned * SIGNS[:, None], np.stack([np.ones_like(a), -slope] * 3) * SIGNS[:, None]


def bodies(first: float, points: Array, axes: Array, centre: Array) -> tuple[Array, Array, Array, Array]:
    """Centres (body, 3) of five bodies, angular velocities and velocities of centres per rate of joint 1, rotations."""
    positions, slopes = (each[:, 0] for each in angles(np.array([first])))
    rotation, origin, omega, velocity = np.eye(3), np.array(points[0]), np.zeros(3), np.zeros(3)
    result = []
    for k in range(5):
        if k:
            arm = rotation @ (points[k] - points[k - 1])
            origin, velocity = origin + arm, velocity + np.cross(omega, arm)
        omega = omega + rotation @ axes[k] * slopes[k]
        rotation = rotation @ _turned(axes[k], positions[k])
        arm = rotation @ centre
        result.append((origin + arm, omega, velocity + np.cross(omega, arm), rotation))
    return tuple(np.array(each) for each in zip(*result, strict=True))  # type: ignore[return-value]


def _turned(axis: Array, angle: float) -> Array:
    x, y, z = axis
    across = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * across + (1.0 - np.cos(angle)) * across @ across)


def motion(times: Sequence[float], points: Array, axes: Array, centre: Array, body: tuple[float, Array]) -> Array:
    """Position of the first joint at `times` [s], from rest at the cube under gravity along -z.

    body: mass [kg] and inertia (3, 3) about the centre of mass [kg m^2] of each of the five bodies.
    """
    mass, inertia = body

    def energy(first: float) -> Array:
        centres, omega, velocity, turned = bodies(first, points, axes, centre)
        spin = np.einsum("bji,bj->bi", turned, omega)
        return np.array([mass * (velocity**2).sum() + (spin @ inertia * spin).sum(), 9.81 * mass * centres[:, 2].sum()])

    def rate(_: float, state: Array) -> tuple[float, float]:
        h = 1e-3
        parts = [energy(state[0] + k * h) for k in (-2, -1, 1, 2)]
        slope, pull = (parts[0] - 8.0 * parts[1] + 8.0 * parts[2] - parts[3]) / (12.0 * h)
        return state[1], -(0.5 * slope * state[1] ** 2 + pull) / energy(state[0])[0]

    solved = solve_ivp(rate, (times[0], times[-1]), (0.0, 0.0), "DOP853", times, rtol=1e-10, atol=1e-10)
    return np.asarray(solved.y[0])
