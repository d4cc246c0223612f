"""Gravity of a sweep: the components of a vector of the world, which designs may sweep."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.documents.dataset_names import GRAVITY
from robots.parameters import Parameter

LARGEST = 1e6
"""Size of a component of gravity [m/s^2]."""


def gravity_parameters(gravity: Sequence[float]) -> dict[str, Parameter]:
    """Return the gravity components as parameters, which designs may sweep: mounting or location of a robot."""
    rows = zip(GRAVITY, gravity, "xyz", strict=True)
    return {
        name: Parameter(name, "m/s^2", float(value), -LARGEST, LARGEST, f"gravity along {axis}")
        for name, value, axis in rows
    }
