"""Derivatives of expressions against differences, in every operation that expressions have."""

from __future__ import annotations

import numpy as np
import pytest

from robots.expressions.expression import EXACT, GEOMETRIC, Kind, parse
from robots.expressions.parser import Functions
from robots.expressions.rates import NumberWithRates, with_rates

STEP = 1e-6

CASES: list[tuple[str, Kind, Functions]] = [
    ("a + b * c", "number", EXACT),
    ("a / b - 3", "number", EXACT),
    ("-(a ** 3) / b", "number", EXACT),
    ("sqrt(a * b) + abs(a - b)", "number", EXACT),
    ("min(a, b, c) * 2", "number", EXACT),
    ("max(a, 2 * b) - a ** -2", "number", EXACT),
    ("a ** 0 + b", "number", EXACT),
    ("+a", "number", EXACT),
    ("sin(a) * cos(b) + tan(c)", "number", GEOMETRIC),
    ("atan2(a, b) + asin(a) + acos(b) + atan(c)", "number", GEOMETRIC),
    ("a < b and c <= 0.5", "condition", EXACT),
    ("a + b > c or not (a < 0.4)", "condition", EXACT),
    ("a != 2 * b", "condition", EXACT),
    ("a < b < c", "condition", EXACT),
]


@pytest.mark.parametrize(("text", "kind", "functions"), CASES, ids=[text for text, _, _ in CASES])
def test_rates_are_those_of_differences(text: str, kind: Kind, functions: Functions) -> None:
    expression = parse(text, kind, functions)
    is_condition = kind == "condition"
    x = np.random.default_rng(1).uniform(0.2, 0.9, (len(expression.names), 50))

    def value(x: np.ndarray) -> np.ndarray:
        names = dict(zip(expression.names, x, strict=True))
        return np.asarray(expression.margin(names) if is_condition else expression(names))

    one = np.eye(len(x))[..., None]
    numbers = {name: NumberWithRates(x[k], one[:, k] * np.ones(50)) for k, name in enumerate(expression.names)}
    found = with_rates(expression, numbers, margin=is_condition)
    np.testing.assert_array_equal(found.value, value(x))
    for k in range(len(x)):
        expected = (value(x + STEP * one[k]) - value(x - STEP * one[k])) / (2.0 * STEP)
        np.testing.assert_allclose(np.broadcast_to(found.rates, x.shape)[k], expected, rtol=1e-6, atol=1e-8)


def test_a_condition_itself_has_no_rates() -> None:
    a = NumberWithRates(np.array([1.0, 3.0]), np.ones((1, 2)))
    assert np.asarray(parse("a < 2", "condition")({"a": a})).tolist() == [True, False]
