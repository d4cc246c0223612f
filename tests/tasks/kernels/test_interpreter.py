"""The interpreter's arithmetic against rational numbers; that it equals the compiled kernel is in `test_kernel`."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tasks.kernels import expression
from tasks.kernels.interpreter import IDENTITY, combine, fused, interpret, reduce_lanes, two_product, two_sum
from tasks.kernels.program import trace
from tests.tasks.bits import bits

doubles = st.floats(allow_nan=False, allow_infinity=False)
tame = st.floats(-1e100, 1e100).filter(lambda x: x == 0.0 or abs(x) > 1e-100)
TINY, HUGE = 5e-324, 1.7976931348623157e308


def rounded(a: float, b: float, c: float) -> float:
    """a * b + c, rounded once by the arithmetic of Python's integers."""
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return float(exact) if exact else a * b + c
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def assert_correctly_rounded(a: float, b: float, c: float) -> None:
    with np.errstate(all="ignore"):
        got = fused(*(np.array([x]) for x in (a, b, c)))
    np.testing.assert_array_equal(bits(got), bits(np.array([rounded(a, b, c)])))


@hypothesis_settings(max_examples=400)
@given(doubles, doubles, doubles)
@example(HUGE, HUGE, -HUGE)
@example(HUGE, 2.0, -HUGE)
@example(1e305, 1e-300, 1.0)
@example(TINY, 0.5, TINY)
@example(TINY, 0.5, 0.0)
@example(1e-200, 1e-200, TINY)
@example(-1e-200, 1e-200, 0.0)
@example(-0.0, 1.0, -0.0)
@example(0.0, 1.0, -0.0)
@example(1e-160, 1e-160, -1e-300)
def test_fused_rounds_once(a: float, b: float, c: float) -> None:
    assert_correctly_rounded(a, b, c)


@hypothesis_settings(max_examples=300)
@given(tame, tame, st.integers(-3, 3), st.integers(-60, 60))
def test_fused_rounds_once_where_most_cancels(a: float, b: float, steps: int, shift: int) -> None:
    c = -a * b
    for _ in range(abs(steps)):
        c = math.nextafter(c, math.copysign(math.inf, steps))
    assert_correctly_rounded(a, b, c)
    assert_correctly_rounded(a, b, math.ldexp(c, shift))


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("low", [2.0**-106, -(2.0**-106), 0.0])
def test_fused_breaks_ties_by_what_lies_far_below(sign: float, low: float) -> None:
    # 1 + 2^-53 is half way between two doubles: what the product has beyond it decides
    assert_correctly_rounded(sign * 2.0**-53, 1.0 + low * 2.0**53, sign)


@pytest.mark.parametrize(
    ("a", "b", "c", "expected"),
    [
        (math.inf, 1.0, 1.0, math.inf),
        (math.inf, 0.0, 1.0, math.nan),
        (1.0, 2.0, math.nan, math.nan),
        (0.0, 5.0, -math.inf, -math.inf),
        (math.inf, 1.0, -math.inf, math.nan),
        (HUGE, HUGE, -math.inf, -math.inf),  # the product is finite until it is rounded
    ],
)
def test_fused_passes_infinities_and_nan_on(a: float, b: float, c: float, expected: float) -> None:
    with np.errstate(all="ignore"):
        assert fused(*(np.array([x]) for x in (a, b, c))).item() == pytest.approx(expected, nan_ok=True)


@given(tame, tame)
def test_error_free_transformations_lose_nothing(a: float, b: float) -> None:
    for transform, exact in ((two_sum, Fraction(a) + Fraction(b)), (two_product, Fraction(a) * Fraction(b))):
        value, error = transform(np.float64(a), np.float64(b))
        assert Fraction(float(value)) + Fraction(float(error)) == exact


def test_rounding_twice_is_not_the_same() -> None:
    program = trace("one", lambda x: {"y": x[0] * x[1] + x[2]}, case={}, sample={"x": (3,)})
    a = 1.0 + 2.0**-30
    x = np.array([a, a, -(1.0 + 2.0**-29)]).reshape(1, 3, 1)
    assert interpret(program, {"x": x}, 1)["y"].item() == 2.0**-60
    assert interpret(program, {"x": x}, 1, exact=False)["y"].item() == 0.0


def test_a_finished_lane_keeps_its_state() -> None:
    def one_sample(x: np.ndarray) -> dict[str, object]:
        return {"count": expression.loop(lambda s: ([s[0] + 1.0], s[0] >= x[0]), [x[0] * 0.0 + 0.0], 6)}

    program = trace("count", one_sample, case={}, sample={"x": (1,)})
    got = interpret(program, {"x": np.array([[[0.0, 1.0, 3.0, 100.0, np.nan]]])}, 5)["count"]
    np.testing.assert_array_equal(got, [[[1.0, 2.0, 4.0, 6.0, 6.0]]])


def test_values_without_samples_are_spread_over_all() -> None:
    program = trace("case", lambda a, x: {"spread": a, "none": []}, case={"a": (2,)}, sample={"x": (1,)})
    got = interpret(program, {"a": np.array([[1.0, 2.0], [3.0, 4.0]]), "x": np.zeros((1, 1, 3))}, 3)
    np.testing.assert_array_equal(got["spread"], [[[1.0] * 3, [2.0] * 3], [[3.0] * 3, [4.0] * 3]])
    assert got["none"].shape == (2, 0, 3)


@pytest.mark.parametrize("how", IDENTITY)
@given(st.lists(st.floats(allow_infinity=False, width=32) | st.just(math.nan), max_size=30))
def test_reductions_keep_nan_and_else_agree_with_numpy(how: str, values: list[float]) -> None:
    got = reduce_lanes(np.array(values)[None], how)[0]
    if np.isnan(values).any():
        assert np.isnan(got)
    elif values:
        expected = {"max": max, "min": min, "sum": math.fsum}[how](values)
        assert got == pytest.approx(expected, rel=1e-12, abs=1e-12 * sum(map(abs, values)))
    else:
        assert got == IDENTITY[how]


def test_combining_with_the_identity_changes_nothing() -> None:
    values = np.array([1.0, -2.0, np.inf, -np.inf, np.nan])
    for how, identity in IDENTITY.items():
        np.testing.assert_array_equal(combine(how, np.full(5, identity), values), values)
