"""Derivatives of traced values against derivatives known in closed form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tasks.kernels.expression import Expression, Graph, fma
from tasks.kernels.interpreter import interpret
from tasks.kernels.program import trace
from tasks.kernels.tangent import tangent
from tasks.mathematics.algebra import exp, expm1, iterate, log, sincos, tanh, where
from tasks.mathematics.systems import inverse

X = np.array([-1.7, -0.3, 0.4, 2.5])


def derivative(function: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
    """Of a function of one traced number, at several of them."""

    def one_sample(x: Any) -> dict[str, Any]:
        return {"rate": tangent([function(x)], {x: 1.0})}

    program = trace("derivative", one_sample, case={}, sample={"x": ()})
    return interpret(program, {"x": x.reshape(1, 1, -1)}, len(x))["rate"][0, 0]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x + 3.0 * x, lambda x: 4.0),
        (lambda x: 1.0 - x * x, lambda x: -2.0 * x),
        (lambda x: x * x * x, lambda x: 3.0 * x**2),
        (lambda x: x / (x * x + 1.0), lambda x: (1.0 - x**2) / (x**2 + 1.0) ** 2),
        (lambda x: -(2.0 / x), lambda x: 2.0 / x**2),
        (abs, np.sign),
        (lambda x: (x * x + 1.0).sqrt(), lambda x: x / np.sqrt(x**2 + 1.0)),
        (lambda x: fma(x, x + 1.0, x * x), lambda x: 4.0 * x + 1.0),
        (lambda x: where(x < 0.0, x * x, 5.0 * x), lambda x: np.where(x < 0.0, 2.0 * x, 5.0)),
        (lambda x: where(x < 0.0, 7.0, x), lambda x: np.where(x < 0.0, 0.0, 1.0)),
        (lambda x: x.rint() + x, lambda x: 1.0),
        (lambda x: x * x.floor(), np.floor),
        (lambda x: sincos(x)[0], np.cos),
        (lambda x: sincos(x)[1], lambda x: -np.sin(x)),
        (exp, np.exp),
        (expm1, np.exp),
        (lambda x: log(x * x), lambda x: 2.0 / x),
        (tanh, lambda x: 1.0 - np.tanh(x) ** 2),
    ],
)
def test_rules(function: Callable[[Any], Any], expected: Callable[[np.ndarray], Any]) -> None:
    np.testing.assert_allclose(derivative(function, X), expected(X) + 0.0 * X, rtol=1e-14, atol=1e-14)


def test_inverse_of_a_matrix() -> None:
    """(A^-1)' = -A^-1 A' A^-1, through Householder's reflections."""
    random = np.random.default_rng(3)
    a, rate = random.normal(size=(2, 6, 6))

    def one_sample(a: Any) -> dict[str, Any]:
        seeds = dict(zip(a.ravel(), rate.ravel(), strict=True))
        return {"rate": tangent(list(inverse(a).ravel()), seeds)}

    program = trace("inverse", one_sample, case={}, sample={"a": (6, 6)})
    got = interpret(program, {"a": a.reshape(1, 36, 1)}, 1)["rate"].reshape(6, 6)
    np.testing.assert_allclose(got, -np.linalg.inv(a) @ rate @ np.linalg.inv(a), rtol=1e-9, atol=1e-9)


def test_what_no_seed_reaches_does_not_change() -> None:
    graph = Graph()
    x, p = graph.node("sample", data=("x", 0)), graph.node("case", data=("p", 0))
    assert tangent([p * p + 1.0, 2.5, graph.constant(3.0), (p * 2.0).floor()], {x: 1.0}) == [0.0] * 4
    (rate,) = tangent([p * x], {x: 1.0})
    assert rate is p


def test_seeds_cut_the_graph() -> None:
    graph = Graph()
    x = graph.node("sample", data=("x", 0))
    y = x * x
    (rate,) = tangent([y * 3.0], {y: 1.0})
    assert isinstance(rate, float) or rate.value == 3.0


def root(x: Any) -> Any:
    """The square root by Newton's iteration: a loop."""
    return iterate(lambda s: ([(s[0] + x / s[0]) * 0.5], x < 0.0), [x], 40)[0]


def test_a_loop_is_differentiated_by_the_rate_of_its_result() -> None:
    def one_sample(x: Any) -> dict[str, Any]:
        r = root(x)
        return {"rate": tangent([r * r * r], {x: 1.0, r: 0.5 / r})}  # what keeps r r = x

    program = trace("loop", one_sample, case={}, sample={"x": ()})
    got = interpret(program, {"x": np.array([[[0.25, 9.0]]])}, 2)["rate"][0, 0]
    np.testing.assert_allclose(got, 1.5 * np.sqrt([0.25, 9.0]), rtol=1e-13)


def test_a_loop_without_a_seed_is_refused() -> None:
    graph = Graph()
    x: Expression = graph.node("sample", data=("x", 0))
    with pytest.raises(ValueError, match=r"depends on the loop behind Expression\(result#\d+\); expected its rate as"):
        tangent([root(x) + 1.0], {x: 1.0})


def test_long_chains_do_not_exhaust_the_stack() -> None:
    graph = Graph()
    x: Any = graph.node("sample", data=("x", 0))
    y = x
    for _ in range(5000):
        y = y + x * 1.5
    (rate,) = tangent([y], {x: 1.0})
    value = rate.value if isinstance(rate, Expression) else rate
    assert value == pytest.approx(7501.0)
