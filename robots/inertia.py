"""Inertia of simple solids, as functions of dimensions and density."""

from __future__ import annotations

import math

from robots.model import ZERO, Inertia, Matrix, Number, Vector

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


def point(mass: Number, centre: Vector = ZERO) -> Inertia:
    """A mass without extent."""
    return Inertia(mass, centre, diagonal(0.0, 0.0, 0.0))
