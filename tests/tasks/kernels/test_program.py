"""Regions, fused products and counts of a traced program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tasks.kernels import expression
from tasks.kernels.interpreter import interpret
from tasks.kernels.program import PER_CASE, Program, size, trace
from tasks.mathematics.algebra import iterate


def traced(function: Any, **more: Any) -> Program:
    return trace("test", function, case={"a": (2,)}, sample={"x": (3,)}, **more)


def test_what_needs_no_sample_is_computed_per_case() -> None:
    program = traced(lambda a, x: {"y": (a[0] * a[1]).sqrt() * x[0]})
    assert program.operations(per_case=True) == {"mul": 1, "sqrt": 1}
    assert program.operations() == {"mul": 1}
    assert [program.nodes[i].op for i in program.regions[PER_CASE]] == ["mul", "sqrt"]


@pytest.mark.parametrize(
    ("function", "op"),
    [
        (lambda x: x[0] * x[1] + x[2], "fma"),
        (lambda x: x[2] + x[0] * x[1], "fma"),
        (lambda x: x[0] * x[1] - x[2], "fms"),
        (lambda x: x[2] - x[0] * x[1], "fnma"),
    ],
)
def test_a_product_used_once_goes_into_its_sum(function: Any, op: str) -> None:
    program = traced(lambda a, x: {"y": function(x)})
    assert program.operations() == {op: 1}
    values = np.array([3.0, 5.0, 7.0]).reshape(1, 3, 1)
    got = interpret(program, {"a": np.zeros((1, 2)), "x": values}, 1)["y"]
    assert got.item() == function([3.0, 5.0, 7.0])


def test_a_product_used_twice_stays() -> None:
    def one_sample(a: Any, x: Any) -> dict[str, Any]:
        return {"y": [x[0] * x[1] + x[2], x[0] * x[1]]}

    assert traced(one_sample).operations() == {"mul": 1, "add": 1}


def test_a_product_per_case_stays_there() -> None:
    program = traced(lambda a, x: {"y": a[0] * a[1] + x[0]})
    assert program.operations(per_case=True) == {"mul": 1}
    assert program.operations() == {"add": 1}


def test_what_nobody_asks_for_is_not_computed() -> None:
    def one_sample(a: Any, x: Any) -> dict[str, Any]:
        _ = (x[0] / x[1]).sqrt()
        return {"y": x[2]}

    assert not traced(one_sample).regions


def counted(a: Any, x: Any) -> tuple[Any, Any]:
    """Two loops, the second on the first one's result; the first has a state that nobody needs afterwards."""
    first = expression.loop(lambda s: ([s[0] + a[0] * a[1], s[1] * x[1]], s[0] > x[0]), [x[0], x[1]], 5)
    second = expression.loop(lambda s: ([s[0] - first[0] / x[2]], s[0] < 0.0), [first[0]], 3)
    return first, second


def test_loops_have_their_own_regions() -> None:
    program = traced(lambda a, x: {"y": counted(a, x)[1][0] * 2.0})
    assert sorted(program.regions) == [PER_CASE, 1, 2, 3, 4]
    assert [loop.limit for loop in program.loops] == [5, 3]
    # first / x[2] does not depend on the second loop's state: before it, not in it
    assert "div" in {program.nodes[i].op for i in program.regions[2]}
    assert "div" not in {program.nodes[i].op for i in program.regions[3]}


def test_a_loop_that_nobody_needs_does_no_harm() -> None:
    def one_sample(a: Any, x: Any) -> dict[str, Any]:
        expression.loop(lambda s: ([s[0] * x[1] + 1.0], s[0] > 9.0), [x[0]], 5)
        return {"y": x[2] * 2.0}

    inputs = {"a": np.zeros((1, 2)), "x": np.array([1.0, 2.0, 3.0]).reshape(1, 3, 1)}
    assert interpret(traced(one_sample), inputs, 1)["y"].item() == 6.0


def test_shapes_of_outputs_and_masks_are_kept() -> None:
    program = traced(lambda a, x: {"y": [[x[0], 1.0], [a[0], x[1]]], "z": x[0] > 1.0})
    shape, nodes = program.outputs["y"]
    assert (shape, len(nodes)) == ((2, 2), 4)
    assert program.outputs["z"][0] == ()
    assert program.is_mask(program.outputs["z"][1][0])
    assert not program.is_mask(nodes[0])


def test_unknown_reduction_is_named() -> None:
    with pytest.raises(ValueError, match=r"unknown reduction \['mean'\]; known: max, min, sum"):
        traced(lambda a, x: {"y": x}, reductions={"y": "mean"})


def test_an_output_needs_a_name_of_its_own() -> None:
    with pytest.raises(ValueError, match="x is the name of an input and of an output; rename the output"):
        traced(lambda a, x: {"x": x})


def test_size_of_a_scalar_is_one() -> None:
    assert [size(()), size((3,)), size((3, 0)), size((2, 3))] == [1, 3, 0, 6]


@pytest.mark.parametrize(("rare", "region"), [(True, 1), (False, 0)])
def test_what_a_rare_loop_alone_needs_is_computed_in_it(rare: bool, region: int) -> None:
    """Few samples enter the loop; the others do not pay for what it is prepared with. No bit depends on it."""

    def rarely(a: Any, x: Any) -> dict[str, Any]:
        prepared = (x[0] * x[0] + a[0]).sqrt()  # of no use outside
        ended = iterate(
            lambda state: ([state[0] + prepared], state[0] > 3.0), [x[1]], 20, x[1] > 2.0 if rare else False
        )
        return {"y": ended[0] * 2.0}

    program = traced(rarely)
    assert [key for key, nodes in program.regions.items() for i in nodes if program.nodes[i].op == "sqrt"] == [region]
    x = np.array([[0.5, 0.7, 1.0], [1.0, 2.5, 0.0], [0.0, 0.0, 0.0]]).T
    for sample in x.T:
        got = interpret(program, {"a": np.ones((1, 2)), "x": np.tile(sample[None, :, None], 8)}, 8)["y"]
        place = sample[1]
        while not (rare and sample[1] > 2.0):
            before, place = place, place + np.sqrt(sample[0] ** 2 + 1.0)
            if before > 3.0:
                break
        np.testing.assert_allclose(np.ravel(got), 2.0 * place, rtol=1e-12)
