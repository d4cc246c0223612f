"""Folding and sharing while a graph is made, and refusals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tasks.kernels import expression
from tasks.kernels.expression import Dual, Expression, Graph, fma, loop, select
from tasks.mathematics.algebra import either, every, largest, opposite, where


@pytest.fixture(name="graph")
def _graph() -> Graph:
    return Graph()


@pytest.fixture(name="x")
def _x(graph: Graph) -> Expression:
    return graph.node("sample", data=("x", 0))


@pytest.fixture(name="y")
def _y(graph: Graph) -> Expression:
    return graph.node("sample", data=("y", 0))


SAME = {
    "x + 0": lambda x, y: (x + 0.0, x),
    "0 + x": lambda x, y: (0.0 + x, x),
    "x - 0": lambda x, y: (x - 0.0, x),
    "0 - x": lambda x, y: (0.0 - x, -x),
    "x * 1": lambda x, y: (x * 1.0, x),
    "1 * x": lambda x, y: (1.0 * x, x),
    "x * -1": lambda x, y: (x * -1.0, -x),
    "x / 1": lambda x, y: (x / 1.0, x),
    "x / -1": lambda x, y: (x / -1.0, -x),
    "+x": lambda x, y: (+x, x),
    "minus minus x": lambda x, y: (expression.neg(-x), x),
    "x + -y": lambda x, y: (x + -y, x - y),
    "-x + y": lambda x, y: (-x + y, y - x),
    "x - -y": lambda x, y: (x - -y, x + y),
    "-x - y": lambda x, y: (-x - y, -(x + y)),
    "y - x after x - y": lambda x, y: (-(x - y), y - x),
    "-x * y": lambda x, y: (-x * y, -(x * y)),
    "x * -y": lambda x, y: (x * -y, -(x * y)),
    "-x * -y": lambda x, y: (-x * -y, x * y),
    "-x / y": lambda x, y: (-x / y, -(x / y)),
    "x / -y": lambda x, y: (x / -y, -(x / y)),
    "x + y commutes": lambda x, y: (x + y, y + x),
    "x * y commutes": lambda x, y: (x * y, y * x),
    "x < y is y > x": lambda x, y: (x < y, y > x),
    "x <= y is y >= x": lambda x, y: (x <= y, y >= x),
    "and commutes": lambda x, y: ((x < y) & (y < x), (y < x) & (x < y)),
    "or commutes": lambda x, y: ((x < y) | (y < x), (y < x) | (x < y)),
    "select of one value": lambda x, y: (select(x < y, x, x), x),
    "sqrt shared": lambda x, y: (np.sqrt(np.array([x + y]))[0], (y + x).sqrt()),
    "same constant": lambda x, y: (x.graph.constant(2), x.graph.lift(2.0)),
}


@pytest.mark.parametrize("pair", SAME.values(), ids=SAME)
def test_equal_expressions_are_one_node(x: Expression, y: Expression, pair: Callable[..., Any]) -> None:
    first, second = pair(x, y)
    assert first is second


VALUES = {
    "sum": (lambda c: c(2) + 3.0, 5.0),
    "difference": (lambda c: 2.0 - c(3), -1.0),
    "product": (lambda c: c(2) * 3.0, 6.0),
    "quotient": (lambda c: 2.0 / c(4), 0.5),
    "negative": (lambda c: -c(2), -2.0),
    "magnitude": (lambda c: abs(c(-2)), 2.0),
    "root": (lambda c: c(9).sqrt(), 3.0),
    "nearest, halves to even": (lambda c: c(2.5).rint(), 2.0),
    "below": (lambda c: c(-2.5).floor(), -3.0),
}


@pytest.mark.parametrize(("made", "value"), VALUES.values(), ids=VALUES)
def test_constants_fold(graph: Graph, made: Callable[..., Expression], value: float) -> None:
    assert made(graph.constant).value == value


def test_root_of_a_negative_constant_is_nan(graph: Graph) -> None:
    value = graph.constant(-1.0).sqrt().value
    assert value is not None
    assert math.isnan(value)


def test_infinite_constants_are_left_to_run_time(graph: Graph) -> None:
    assert graph.constant(math.inf).floor().op == "floor"
    assert (graph.constant(1.0) / 0.0).op == "div"


def test_constant_zero_times_anything_is_zero(x: Expression) -> None:
    """Zeros of a geometry vanish from a program; so NaN does not survive a product with a constant zero."""
    for made in (x * 0.0, 0.0 * x, 0.0 / x, x - x):
        assert made.value == 0.0


def test_zeros_of_both_signs_are_two_constants(graph: Graph) -> None:
    assert graph.constant(0.0) is not graph.constant(-0.0)


def test_numpy_works_on_arrays_of_expressions(x: Expression, y: Expression) -> None:
    a = np.array([[x, 0.0], [0.0, 1.0]], dtype=object)
    assert list(a @ np.array([y, x], dtype=object)) == [x * y, x]
    assert np.cross(np.array([x, 0.0, 0.0]), np.array([0.0, y, 0.0]))[2] is x * y
    assert np.rint(np.array([x]))[0] is x.rint()
    assert np.floor(np.array([x]))[0] is x.floor()


def test_a_traced_value_has_no_truth_value(x: Expression) -> None:
    with pytest.raises(
        TypeError,
        match=r"a traced value has no truth value; use tasks.mathematics.algebra.where in place of a branch",
    ):
        bool(x > 0.0)


def test_masks_cost_no_more_than_they_say(graph: Graph, x: Expression, y: Expression) -> None:
    less, same = x < y, x <= y
    assert opposite(opposite(less)) is less
    assert where(opposite(less), x, y) is where(less, y, x)
    assert either(less, same).op == "or"
    assert either(less, True) is True
    assert either(less, False) is less
    one, two = graph.constant(1.0), graph.constant(2.0)
    assert every([one < two, less]) is less
    assert where(two <= one, x, y) is y
    assert isinstance(every([one < graph.constant(Dual(2.0, 0.5)), less]), Expression)
    assert every([one < graph.constant(1.0 + 1e-12), less]) is not less  # in single precision they are the same


def test_the_largest_magnitude_is_one_of_those_that_there_are(x: Expression, y: Expression) -> None:
    assert largest([]) == 0.0
    assert largest([-3.0, 2.0]) == 3.0
    assert largest([x]) is abs(x)
    assert largest(iter([x, y])).op == "select"


def test_fma_is_kept_as_it_is(x: Expression, y: Expression) -> None:
    assert fma(x, y, x).op == "fma"
    assert (x * y + x).op == "add"


def test_a_value_shows_what_it_is(x: Expression, y: Expression) -> None:
    assert repr(x * y) == f"Expression(mul#{y.number + 1})"
    assert x.value is None


def test_a_loop_has_a_result_for_every_state(x: Expression, y: Expression) -> None:
    results = loop(lambda s: ([s[0] + y, 1.0], s[0] > 3.0), [x, y], limit=4)
    record = x.graph.loops[0]
    assert [each.op for each in results] == ["result", "result"]
    assert (record.limit, record.initial) == (4, (x, y))
    assert record.following[0] is record.state[0] + y
    assert record.following[1].value == 1.0


def test_a_loop_in_a_loop_is_refused(x: Expression) -> None:
    def outer(state: Any) -> Any:
        return loop(lambda s: ([s[0] + 1.0], s[0] > 2.0), state, 3), state[0] > 5.0

    with pytest.raises(ValueError, match="a loop inside the step of a loop; expected straight-line code: unroll"):
        loop(outer, [x], 3)


def test_every_operation_says_whether_it_is_a_mask(x: Expression, y: Expression) -> None:
    masks = [x < y, x <= y, expression.binary("eq", x, y), (x < y) & (y < x), (x < y) | (y < x), ~(x < y)]
    assert {each.op for each in masks} == expression.MASKS
