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
from tasks.mathematics import algebra


def traced(function: Callable[[Any], Any], values: np.ndarray) -> np.ndarray:
    """`function` of one array, by way of a program."""
    shape = np.shape(function(np.asarray(values, dtype=float)))
    program = trace("test", lambda x: {"y": function(x)}, case={}, sample={"x": values.shape})
    return interpret(program, {"x": values.reshape(1, -1, 1)}, 1)["y"].reshape(shape)


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


def test_a_product_leaves_out_the_zeros_of_its_vector() -> None:
    matrix = np.arange(12.0).reshape(3, 4)
    for vector in (np.array([1.0, 0.0, -2.0, 0.0]), np.zeros(4), np.arange(4.0)):
        np.testing.assert_array_equal(algebra.product(matrix, vector), matrix @ vector)


def test_a_traced_product_has_the_program_of_a_plain_one() -> None:
    def programs(times: Callable[[Any, Any], Any]) -> tuple[Any, ...]:
        def sparse(a: Any, x: Any) -> dict[str, Any]:
            return {"y": times(a, np.array([x[0], 0.0, x[1]], dtype=object))}

        return trace("sparse", sparse, case={"a": (2, 3)}, sample={"x": (2,)}).nodes

    assert programs(algebra.product) == programs(lambda a, x: a @ x)
