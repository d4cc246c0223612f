"""Inertia of simple solids, as functions of dimensions and density."""

from __future__ import annotations

import math

from robots.geometry import dot, minus
from robots.model import Inertia
from robots.types import ZERO, Matrix, Number, Vector

AXES = ("x", "y", "z")


def diagonal(x: Number, y: Number, z: Number) -> Matrix:
    """Inertia tensor with these principal moments."""
    return ((x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z))


def cylinder(density: Number, length: Number, diameter: Number, axis: str, centre: Vector = ZERO) -> Inertia:
    """Solid cylinder along a coordinate axis, centre of mass at `centre`."""
    radius2 = diameter * diameter * 0.25
    mass = density * math.pi * radius2 * length
    across = mass * (radius2 * 3.0 + length * length) * (1.0 / 12.0)
    moments = [across] * 3
    moments[AXES.index(axis)] = mass * radius2 * 0.5
    return Inertia(mass, centre, diagonal(*moments))


def bar(mass: Number, length: Number, axis: str, centre: Vector = ZERO, diameter: Number = 0.0) -> Inertia:
    """Solid cylinder of a given mass along a coordinate axis, centre at `centre`; slender without a diameter."""
    radius2 = diameter * diameter * 0.25
    moments = [mass * (radius2 * 3.0 + length * length) * (1.0 / 12.0)] * 3
    moments[AXES.index(axis)] = mass * radius2 * 0.5
    return Inertia(mass, centre, diagonal(*moments))


def joined(a: Inertia, b: Inertia) -> Inertia:
    """Two bodies made one, both given in the same axes."""
    mass = a.mass + b.mass
    share = b.mass / mass
    x, y, z = gap = minus(b.centre, a.centre)
    reduced = a.mass * share  # of the masses on both ends of the gap
    square = dot(gap, gap)
    tensor = tuple(
        tuple(
            a.tensor[i][j] + b.tensor[i][j] + reduced * ((square if i == j else 0.0) - gap[i] * gap[j])
            for j in range(3)
        )
        for i in range(3)
    )
    centre = (a.centre[0] + share * x, a.centre[1] + share * y, a.centre[2] + share * z)
    return Inertia(mass, centre, tensor)  # type: ignore[arg-type]


def point(mass: Number, centre: Vector = ZERO) -> Inertia:
    """A mass without extent."""
    return Inertia(mass, centre, diagonal(0.0, 0.0, 0.0))
