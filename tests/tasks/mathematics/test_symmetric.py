"""Factors of symmetric matrices against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tasks.mathematics.solvers import Factors


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_factors_solve_as_numpy_does(n: int) -> None:
    rng = np.random.default_rng(n)
    root, b = rng.normal(size=(n, n)), rng.normal(size=n)
    matrix = root @ root.T + np.eye(n)
    factors = Factors.of(matrix)
    expected = np.linalg.solve(matrix, b)
    np.testing.assert_allclose(factors.solve(b), expected, rtol=1e-12)
    assert factors.quadratic(b) == pytest.approx(b @ expected, rel=1e-12)
    np.testing.assert_allclose(np.prod(factors.pivots), np.linalg.det(matrix), rtol=1e-12)


def test_a_lost_rank_shows_in_a_pivot() -> None:
    row = np.array([1.0, 2.0, -1.0])
    assert Factors.of(np.outer(row, row) + np.diag([1.0, 0.0, 0.0])).pivots[2] == pytest.approx(0.0, abs=1e-15)
