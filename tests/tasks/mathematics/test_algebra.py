"""Small linear algebra, on floats and traced: both ways run the same code."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tasks.kernels.expression import Expression
from tasks.kernels.interpreter import interpret
from tasks.kernels.kernel import Kernel, padded
from tasks.kernels.program import trace
from tasks.mathematics import algebra, systems

SIZES = pytest.mark.parametrize("n", range(1, 7))


def traced(function: Callable[[Any], Any], values: np.ndarray) -> np.ndarray:
    """`function` of one array, by way of a program."""
    shape = np.shape(function(np.asarray(values, dtype=float)))
    program = trace("test", lambda x: {"y": function(x)}, case={}, sample={"x": values.shape})
    return interpret(program, {"x": values.reshape(1, -1, 1)}, 1)["y"].reshape(shape)


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


@pytest.mark.parametrize("axis", [(1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0), (-1.0, 0, 0), (0, -1.0, 0), (0, 0, -1.0)])
def test_rotation_turns_about_its_axis(axis: tuple[float, ...]) -> None:
    angle, u = 0.7, np.array(axis)
    r = algebra.rotation(axis, math.cos(angle), math.sin(angle))
    x, y, z = u
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    np.testing.assert_allclose(r, np.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * k @ k, atol=1e-15)


def test_cross_is_that_of_numpy() -> None:
    a, b = np.random.default_rng(0).normal(size=(2, 3))
    np.testing.assert_allclose(algebra.cross(a, b), np.cross(a, b), rtol=1e-15)
    np.testing.assert_allclose(
        traced(lambda x: algebra.cross(x[0], x[1]), np.array([a, b])), np.cross(a, b), rtol=1e-14
    )


@pytest.mark.parametrize("angle", [0.0, 1e-3, -0.5, 10.0, -1e6])
def test_a_turned_vector_keeps_its_length(angle: float) -> None:
    cos, sin = algebra.turned(math.cos(0.4), math.sin(0.4), 0.5 * angle)
    assert math.hypot(cos, sin) == pytest.approx(1.0, rel=1e-15)
    turn = 0.4 + 2.0 * math.atan(angle / 2.0)
    np.testing.assert_allclose((cos, sin), (math.cos(turn), math.sin(turn)), atol=1e-14)
    if abs(angle) < 1e-2:
        assert turn - 0.4 == pytest.approx(angle, abs=abs(angle) ** 3)


@pytest.mark.parametrize("single", [False, True])
def test_a_short_turn_needs_no_division(single: bool) -> None:
    def turned(x: np.ndarray) -> list[Expression]:
        return [y for short in (True, False) for y in algebra.turned(x[0], x[1], x[2], short=short)]

    angles = np.linspace(-0.5, 0.5, padded(4001))
    start = np.stack([np.cos(3.0 * angles), np.sin(3.0 * angles), 0.5 * angles])
    program = trace("turn", lambda x: {"turned": turned(x)}, case={}, sample={"x": (3,)})
    fast_cos, fast_sin, cos, sin = Kernel(program, single=single)({"x": start[None]}, len(angles))["turned"][0]
    step = np.finfo(np.float32 if single else np.float64).eps
    np.testing.assert_allclose(np.hypot(fast_cos, fast_sin), 1.0, rtol=3.0 * step)
    np.testing.assert_allclose((fast_cos, fast_sin), (cos, sin), atol=4.0 * step)
    short = trace(
        "short", lambda x: {"turned": algebra.turned(x[0], x[1], x[2], short=True)}, case={}, sample={"x": (3,)}
    )
    assert "div" not in short.operations()


@pytest.mark.parametrize("short", [False, True])
def test_turns_of_newton_steps_keep_the_length_to_rounding(short: bool) -> None:
    sizes = [0.25, 0.15, 1.5e-2, 5e-4, 5e-8]
    steps = np.random.default_rng(1).uniform(-1.0, 1.0, (len(sizes), padded(2000))) * np.array(sizes)[:, None]

    def turned(x: np.ndarray) -> list[Expression]:
        cos, sin = algebra.turned(1.0, 0.0, x[0], short=short)
        for step in x[1:]:
            cos, sin = algebra.turned(cos, sin, step, short=short)
        return [cos, sin]

    program = trace("turns", lambda x: {"turned": turned(x)}, case={}, sample={"x": (len(sizes),)})
    pairs = Kernel(program)({"x": steps[None]}, steps.shape[1])["turned"][0].T
    errors = [float(Fraction(cos) ** 2 + Fraction(sin) ** 2 - 1) for cos, sin in pairs]
    assert float(np.sqrt(np.mean(np.square(errors)))) < np.finfo(float).eps


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


def test_choices_on_numbers_and_traced() -> None:
    def pick(x: Any) -> list[Any]:
        return [
            algebra.where(x[0] > 1.0, x[1], 5.0),
            algebra.where(algebra.opposite(x[0] > 1.0), x[1], 5.0),
            algebra.total(x),
            algebra.sqrt(x[1]),
            algebra.reciprocal(x[0]),
        ]

    for first in (0.5, 1.0, 2.0):
        values = np.array([first, 9.0])
        expected = [9.0 if first > 1.0 else 5.0, 5.0 if first > 1.0 else 9.0, first + 9.0, 3.0, 1.0 / first]
        np.testing.assert_array_equal(pick(values), expected)
        np.testing.assert_array_equal(traced(pick, values), expected)


def test_roots_and_reciprocals_outside_their_domain() -> None:
    assert math.isnan(algebra.sqrt(-1.0))
    assert math.isnan(algebra.sqrt(math.nan))
    assert (algebra.reciprocal(0.0), algebra.reciprocal(-0.0)) == (math.inf, -math.inf)


def test_total_is_nan_where_any_is() -> None:
    assert math.isnan(algebra.total([1.0, math.nan, 2.0]))


def test_iterate_is_the_same_on_numbers_and_traced() -> None:
    def root(x: Any) -> list[Any]:
        def step(state: Any) -> Any:
            following = (state[0] + x[0] / state[0]) * 0.5
            return [following, state[1] + 1.0], abs(following - state[0]) < 1e-9

        return algebra.iterate(step, [x[0], x[0] * 0.0], 50)

    got, count = root(np.array([2.0]))
    assert got == pytest.approx(math.sqrt(2.0), rel=1e-15)
    np.testing.assert_array_equal(traced(root, np.array([2.0])), [got, count])


def test_iterate_gives_up_at_its_limit() -> None:
    assert algebra.iterate(lambda s: ([s[0] + 1.0], False), [0.0], 7) == [7.0]


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (6, 6), (2, 1)])
def test_singular_values(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    for _ in range(5):
        a = rng.normal(size=shape)
        expected = np.linalg.svd(a, compute_uv=False)[::-1]
        np.testing.assert_allclose(np.sort(systems.singular_values(a)), expected, rtol=1e-9)
        np.testing.assert_allclose(np.sort(traced(systems.singular_values, a)), expected, rtol=1e-9)
    assert systems.singular_values(np.eye(*shape)) == [1.0] * shape[1]
