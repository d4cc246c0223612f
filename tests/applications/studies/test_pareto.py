"""Fronts against brute force, and against test problems whose fronts are known in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from applications.studies.pareto import front, layers


def brute(points: np.ndarray) -> np.ndarray:
    beaten = (points[None] <= points[:, None]).all(axis=2) & (points[None] < points[:, None]).any(axis=2)
    return ~beaten.any(axis=1) & ~np.isnan(points).any(axis=1)


NUMBERS = st.one_of(st.integers(-3, 3).map(float), st.sampled_from([np.nan, np.inf, -np.inf, 0.5]))


@settings(deadline=None)
@given(st.tuples(st.integers(0, 60), st.integers(1, 5)).flatmap(lambda shape: arrays(float, shape, elements=NUMBERS)))
def test_against_brute_force(points: np.ndarray) -> None:
    usable = points.copy()
    usable[np.isnan(points).any(axis=1)] = np.nan
    np.testing.assert_array_equal(front(points), brute(usable))


@pytest.mark.parametrize("objectives", [2, 3, 5])
def test_many_points_against_brute_force(objectives: int) -> None:
    """Compare fronts of more than one chunk of points, some of them equal."""
    points = np.round(np.random.default_rng(0).uniform(size=(1500, objectives)), 2)
    np.testing.assert_array_equal(front(points), brute(points))


def test_zdt1() -> None:
    """f2 = 1 - sqrt(f1) where g = 1, and above it elsewhere. Zitzler, Deb and Thiele, 2000."""
    rng = np.random.default_rng(1)
    x, g = rng.uniform(size=2000), np.where(np.arange(2000) % 2, 1.0, rng.uniform(1.01, 5.0, size=2000))
    points = np.stack([x, g * (1.0 - np.sqrt(x / g))], axis=1)
    optimal = g == 1.0
    got = front(points)
    assert got[optimal].all()
    reached = np.abs(points[got, 1] - (1.0 - np.sqrt(points[got, 0])))
    assert reached[optimal[got]].max() < 1e-15
    assert not got[~optimal & (x > x[optimal].min()) & (g > 1.2)].any()


def test_dtlz2() -> None:
    """Three objectives: the front is the unit sphere. Deb, Thiele, Laumanns and Zitzler, 2002."""
    rng = np.random.default_rng(2)
    a, b = rng.uniform(0.01, np.pi / 2 - 0.01, size=(2, 3000))
    radius = np.where(np.arange(3000) % 3, 1.5, 1.0)
    points = radius[:, None] * np.stack([np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), np.sin(a)], axis=1)
    got = front(points)
    assert got[radius == 1.0].all()
    assert got[radius > 1.0].mean() < 0.2  # only those at the rim, which no point of the sphere covers


def test_layers_are_fronts_of_what_is_left() -> None:
    points = np.array([[0.0, 3.0], [1.0, 1.0], [2.0, 2.0], [1.0, 4.0], [np.nan, 0.0], [3.0, 3.0]])
    assert layers(points, 3).tolist() == [0, 0, 1, 1, -1, 2]
    assert layers(points, 1).tolist() == [0, 0, -1, -1, -1, -1]


def test_a_wrong_shape_is_refused() -> None:
    with pytest.raises(ValueError, match=r"points: got an array of shape \(3,\); expected \(n, objectives\)"):
        front(np.zeros(3))
