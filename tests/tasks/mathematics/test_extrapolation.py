"""Extrapolated differences: smooth functions, kinks here and near, and noise."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from tasks.mathematics.extrapolation import DISTANCES, Extrapolated


def quotients(function: Callable[[float], float], sign: float) -> np.ndarray:
    """Return difference quotients of a function of one number at 1, to one side."""
    return np.array([[(function(1.0 + sign * h) - function(1.0)) / (sign * h)] for h in DISTANCES])


def central(function: Callable[[float], float]) -> Extrapolated:
    """Return the derivative from both sides."""
    return Extrapolated.of(0.5 * (quotients(function, 1.0) + quotients(function, -1.0)), 2)


@pytest.mark.parametrize(
    ("function", "slope"), [(np.exp, math.e), (lambda x: 3.0 * x, 3.0), (lambda x: 1.0 / x, -1.0), (np.sqrt, 0.5)]
)
def test_smooth_functions(function: Callable[[float], float], slope: float) -> None:
    both = central(function)
    assert both.values[0] == pytest.approx(slope, rel=1e-11)
    assert both.errors[0] < 1e-9
    for sign in (1.0, -1.0):
        assert Extrapolated.of(quotients(function, sign), 1).values[0] == pytest.approx(slope, rel=1e-8)


@pytest.mark.parametrize("kink", [1.0 + 1e-3, 1.0 - 3e-4])
def test_a_kink_nearby_leaves_the_shorter_distances(kink: float) -> None:
    both = central(lambda x: float(np.exp(x) + 5.0 * abs(x - kink)))
    assert both.values[0] == pytest.approx(math.e + 5.0 * np.sign(1.0 - kink), rel=1e-7)


def test_a_kink_here_has_two_sides() -> None:
    sides = [Extrapolated.of(quotients(lambda x: float(np.exp(x) + abs(x - 1.0)), sign), 1) for sign in (-1.0, 1.0)]
    assert [side.values[0] for side in sides] == pytest.approx([math.e - 1.0, math.e + 1.0], rel=1e-8)


def test_noise_is_told() -> None:
    rng = np.random.default_rng(1)
    both = central(lambda x: float(np.exp(x) + 1e-6 * rng.uniform(-1.0, 1.0)))
    assert abs(both.values[0] - math.e) < 20.0 * both.errors[0]
    assert both.errors[0] > 1e-6


def test_points_that_are_no_numbers_are_left_out() -> None:
    both = central(lambda x: float(np.exp(x)) if x < 1.005 else np.nan)
    assert both.values[0] == pytest.approx(math.e, rel=1e-10)
    alone = Extrapolated.of(np.full((4, 1), np.nan), 2)
    assert np.isinf(alone.errors[0])
