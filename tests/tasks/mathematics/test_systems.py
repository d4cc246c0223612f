"""Systems of equations: inverse, solution, determinant and singular values, on floats and traced."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tasks.kernels.program import trace
from tasks.mathematics import systems
from tests.tasks.mathematics.test_algebra import traced

SIZES = pytest.mark.parametrize("n", range(1, 7))


def assert_inverse(a: np.ndarray, by: float = 1.0) -> None:
    """Residual within rounding for the condition of the matrix, on floats and traced."""
    for result in (systems.inverse(a), traced(systems.inverse, a)):
        size = np.linalg.norm(a) * np.linalg.norm(result)
        assert np.abs(a @ result - np.eye(len(a))).max() <= 1e-15 * len(a) ** 2 * size * by


@SIZES
def test_inverse_of_random_matrices(n: int) -> None:
    rng = np.random.default_rng(n)
    for scale in (1.0, 1e-6, 1e6):
        for _ in range(10):
            assert_inverse(rng.normal(size=(n, n)) * scale)


@SIZES
def test_inverse_of_symmetric_matrices(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(10):
        a = rng.normal(size=(n, n))
        assert_inverse(a + a.T)
    assert_inverse(np.eye(n)[::-1].copy())  # zeros along the diagonal: elimination without pivoting would fail


@SIZES
@pytest.mark.parametrize("near", [1e-4, 1e-8, 1e-11])
def test_inverse_of_nearly_singular_matrices(n: int, near: float) -> None:
    rng = np.random.default_rng(n)
    for _ in range(5):
        u, v = (np.linalg.qr(rng.normal(size=(n, n)))[0] for _ in range(2))
        a = u @ np.diag([1.0] * (n - 1) + [near]) @ v
        # cofactors are not backward stable: their error is that of the right hand side
        assert_inverse(a, by=10.0)


@SIZES
def test_inverse_of_a_singular_matrix_is_not_finite(n: int) -> None:
    a = np.ones((n, n)) if n > 1 else np.zeros((1, 1))
    if n <= 4:
        assert not np.isfinite(systems.inverse(a)).any()
    assert not np.isfinite(systems.inverse(np.zeros((n, n)))).any()
    assert not np.isfinite(traced(systems.inverse, np.zeros((n, n)))).any()


@pytest.mark.parametrize("n", range(1, 5))
def test_adjugate_over_determinant(n: int) -> None:
    a = np.random.default_rng(n).normal(size=(n, n))
    adjugate, determinant = systems.adjugate(a)
    assert determinant == pytest.approx(np.linalg.det(a), rel=1e-12)
    np.testing.assert_allclose(adjugate, np.linalg.inv(a) * determinant, rtol=1e-11, atol=1e-13)


def test_structural_zeros_leave_the_program() -> None:
    program = trace(
        "diagonal",
        lambda x: {"y": systems.inverse(np.array([[x[0], 0.0], [0.0, x[1]]], dtype=object))},
        case={},
        sample={"x": (2,)},
    )
    assert sum(program.operations().values()) <= 4


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (3, 2), (7, 5)])
def test_solution_of_random_systems(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        a, b = rng.normal(size=shape), rng.normal(size=shape[0])
        found, divisor = systems.solution(a, b)
        expected = np.linalg.lstsq(a, b, rcond=None)[0]
        size = np.linalg.cond(a) * max(1.0, abs(expected).max())
        np.testing.assert_allclose(np.array(found / divisor, dtype=float), expected, atol=1e-14 * size)


@SIZES
def test_determinant_of_random_matrices(n: int) -> None:
    rng = np.random.default_rng(n)
    for a in rng.normal(size=(20, n, n)):
        found = (systems.determinant(a), traced(systems.determinant, a))
        np.testing.assert_allclose(np.array(found, dtype=float), np.linalg.det(a), atol=1e-14 * n**n)


def test_a_system_of_five_needs_no_root_and_no_division() -> None:
    def both(a: np.ndarray, b: np.ndarray) -> dict[str, Any]:
        return {"x": systems.solution(a, b)[0], "determinant": [systems.determinant(a)]}

    counts = trace("five", both, case={}, sample={"a": (5, 5), "b": (5,)}).operations()
    assert not {"div", "sqrt"} & {*counts}
    assert sum(counts.values()) < 200


def test_a_solution_takes_fewer_operations_than_the_inverse() -> None:
    for n in range(2, 7):
        shape = {"a": (n, n), "b": (n,)}
        both = trace("both", lambda a, b: {"x": systems.inverse(a) @ b}, case={}, sample=shape)
        alone = trace("alone", lambda a, b: {"x": systems.solution(a, b)[0]}, case={}, sample=shape)
        assert alone.operations().total() < both.operations().total()


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (6, 6), (2, 1)])
def test_singular_values(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    for _ in range(5):
        a = rng.normal(size=shape)
        expected = np.linalg.svd(a, compute_uv=False)[::-1]
        np.testing.assert_allclose(np.sort(systems.singular_values(a)), expected, rtol=1e-9)
        np.testing.assert_allclose(np.sort(traced(systems.singular_values, a)), expected, rtol=1e-9)
    assert systems.singular_values(np.eye(*shape)) == [1.0] * shape[1]


def nearly_dependent(rows: int, columns: int) -> np.ndarray:
    """Columns of which the last one is the sum of the others to 1e-7."""
    a, apart = np.random.default_rng(rows).normal(size=(2, rows, columns))
    a[:, -1] = a[:, :-1].sum(axis=1) + 1e-7 * apart[:, -1]
    return a


@pytest.mark.parametrize(("rows", "columns"), [(3, 3), (5, 3), (30, 6)])
def test_a_root_of_the_inverse_of_squares_does_not_square_the_condition(rows: int, columns: int) -> None:
    """A X has perpendicular columns of length one, to the digits that A leaves; A^T A itself leaves two digits."""
    a = nearly_dependent(rows, columns)
    for root in (systems.inverse_root(a), traced(systems.inverse_root, a)):
        assert (np.tril(root, -1) == 0.0).all()
        square = (a @ root).T @ (a @ root)
        assert np.abs(square - np.eye(columns)).max() < 1e-15 * np.linalg.cond(a) * rows


@pytest.mark.parametrize(("rows", "columns"), [(4, 3), (8, 6)])
def test_a_complement_is_perpendicular_however_flat_a_matrix_is(rows: int, columns: int) -> None:
    a = nearly_dependent(rows, columns)
    for beside in (systems.complement(a), traced(systems.complement, a)):
        np.testing.assert_allclose(beside.T @ beside, np.eye(rows - columns), atol=1e-14)
        assert np.abs(a.T @ beside).max() < 1e-14 * np.abs(a).max() * rows
