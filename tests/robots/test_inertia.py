"""Inertia of solids against integrals over many small pieces."""

from __future__ import annotations

import math

import numpy as np
import pytest

from robots import geometry


@pytest.mark.parametrize(("axis", "k"), [("x", 0), ("y", 1), ("z", 2)])
def test_cylinder_is_the_sum_of_its_pieces(axis: str, k: int) -> None:
    density, length, diameter = 2700.0, 0.4, 0.1
    made = geometry.cylinder(density, length, diameter, axis, (0.1, 0.2, 0.3))
    # midpoints of equal volumes: rings of equal area, slices of equal height
    n = 200
    radius = 0.5 * diameter * np.sqrt((np.arange(n) + 0.5) / n)
    along = ((np.arange(n) + 0.5) / n - 0.5) * length
    mass = density * math.pi * diameter**2 / 4.0 * length
    polar = mass * (radius**2).mean()
    across = polar / 2.0 + mass * (along**2).mean()
    expected = [across] * 3
    expected[k] = polar
    assert made.mass == pytest.approx(mass)
    assert made.centre == (0.1, 0.2, 0.3)
    np.testing.assert_allclose(made.tensor, np.diag(expected), rtol=1e-4)


def test_a_point_has_mass_alone() -> None:
    made = geometry.point(2.0, (1.0, 0.0, 0.0))
    assert (made.mass, made.centre) == (2.0, (1.0, 0.0, 0.0))
    np.testing.assert_array_equal(made.tensor, np.zeros((3, 3)))


def test_arrays_of_dimensions_give_arrays_of_inertias() -> None:
    lengths = np.array([0.1, 0.4])
    many = geometry.cylinder(1000.0, lengths, 0.05, "z")
    for k, length in enumerate(lengths):
        alone = geometry.cylinder(1000.0, length, 0.05, "z")
        assert many.mass[k] == alone.mass
        assert many.tensor[0][0][k] == alone.tensor[0][0]
