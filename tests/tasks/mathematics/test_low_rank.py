"""Factors of low rank: those of the whole matrix, also where rows depend on each other."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from tasks.kernels.interpreter import interpret
from tasks.kernels.program import trace
from tasks.mathematics.algebra import array
from tasks.mathematics.low_rank import LowRankFactors
from tasks.mathematics.solvers import Factors


def _numbers(rows: int, columns: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return diagonals A and C, and B."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.1, 2.0, rows), rng.normal(size=(rows, columns)), rng.uniform(0.1, 10.0, columns)


def _whole(own: np.ndarray, rows: np.ndarray, inner: np.ndarray) -> np.ndarray:
    return np.asarray(np.diag(own) + rows @ np.diag(inner) @ rows.T)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (4, 6), (12, 3), (42, 6)])
def test_pivots_and_solutions_are_those_of_the_whole_matrix(rows: int, columns: int) -> None:
    own, b, inner = _numbers(rows, columns, rows)
    factors, plain = LowRankFactors.of(own, b, inner), Factors.of(_whole(own, b, inner))
    np.testing.assert_allclose(array(factors.pivots), array(plain.pivots), rtol=1e-12)
    demand = np.arange(1.0, rows + 1.0)
    np.testing.assert_allclose(array(factors.forward(demand)), array(plain.forward(demand)), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(factors.solve(demand), plain.solve(demand), rtol=1e-10, atol=1e-12)
    lower = np.tril(b @ array(factors.gains).T, -1) + np.eye(rows)
    np.testing.assert_allclose(
        lower @ np.diag(array(factors.pivots)) @ lower.T, _whole(own, b, inner), rtol=1e-12, atol=1e-12
    )


def test_what_is_left_is_the_covariance_after_all_measurements() -> None:
    own, b, inner = _numbers(9, 4, 1)
    covariance = np.diag(inner)
    left = covariance - covariance @ b.T @ np.linalg.solve(_whole(own, b, inner), b @ covariance)
    np.testing.assert_allclose(LowRankFactors.of(own, b, inner).covariance, left, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("yield_", [1e-4, 1e-10])
def test_solutions_are_no_less_accurate_than_by_elimination_where_rows_depend_on_each_other(yield_: float) -> None:
    """The accelerations B^T x, which do not depend on how dependent rows share, beside exact ones."""
    errors = []
    for seed in range(20):
        own, b, inner = _numbers(15, 3, seed)
        own = own * yield_
        demand = b @ np.array([1.0, -2.0, 0.5])
        with mpmath.workdps(60):
            whole = mpmath.diag(own.tolist()) + mpmath.matrix(b) * mpmath.diag(inner.tolist()) * mpmath.matrix(b).T
            exact = mpmath.matrix(b).T * mpmath.lu_solve(whole, mpmath.matrix(demand))
            exact = np.array([float(x) for x in exact])
        found = [
            b.T @ each.solve(demand) for each in (LowRankFactors.of(own, b, inner), Factors.of(_whole(own, b, inner)))
        ]
        errors.append([np.abs(x - exact).max() / np.abs(exact).max() for x in found])
    low, dense = np.median(errors, axis=0)
    assert low < 2.0 * dense


def test_a_traced_program_has_the_numbers_of_floats() -> None:
    own, b, inner = _numbers(7, 2, 3)

    def solution(own: np.ndarray, b: np.ndarray, inner: np.ndarray, demand: np.ndarray) -> dict[str, np.ndarray]:
        factors = LowRankFactors.of(own, b, inner)
        return {"x": factors.solve(demand), "covariance": factors.covariance}

    sample = {"own": (7,), "b": (7, 2), "inner": (2,), "demand": (7,)}
    program = trace("low_rank", solution, case={}, sample=sample, fuse=False)
    numbers = {"own": own, "b": b, "inner": inner, "demand": np.arange(7.0)}
    rows = {name: np.repeat(value.reshape(1, -1, 1), 8, axis=2) for name, value in numbers.items()}
    found, expected = interpret(program, rows, 8), solution(**numbers)
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name][0, :, 0], np.asarray(value, dtype=float).ravel())
