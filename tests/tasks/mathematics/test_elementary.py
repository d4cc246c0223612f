"""Accuracy of elementary functions against libm and long doubles, in units in the last place."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from tasks.kernels.interpreter import interpret
from tasks.kernels.kernel import Kernel, padded
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import atan2, exp, expm1, log, power, sincos, tanh
from tests.tasks.bits import assert_same_bits, padded_last, trimmed

SINCOS = Kernel(trace("sincos", lambda x: dict(zip("sc", sincos(x[0]), strict=True)), case={}, sample={"x": (1,)}))
ATAN2 = Kernel(trace("atan2", lambda yx: {"angle": atan2(yx[0], yx[1])}, case={}, sample={"yx": (2,)}))


def libm(function: Callable[..., float], *arguments: np.ndarray) -> np.ndarray:
    return np.fromiter(map(function, *(x.tolist() for x in arguments)), dtype=float)


def compiled_sincos(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    wide = np.zeros((1, 1, padded(len(x))))
    wide[0, 0, : len(x)] = x
    out = SINCOS({"x": wide}, len(x))
    return out["s"][0, 0, : len(x)], out["c"][0, 0, : len(x)]


def compiled_atan2(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    wide = np.ones((1, 2, padded(len(x))))
    wide[0, :, : len(x)] = y, x
    return ATAN2({"yx": wide}, len(x))["angle"][0, 0, : len(x)]


def assert_within(got: np.ndarray, expected: np.ndarray, ulp: float) -> None:
    error = np.abs(got - expected) / np.spacing(np.abs(expected))
    worst = int(np.nanargmax(error))
    assert error[worst] <= ulp, (worst, got[worst], expected[worst])


def near_quarter_turns() -> np.ndarray:
    """Doubles around multiples of pi/2 up to 1e5, where one of the two functions nearly vanishes."""
    k = np.unique(np.concatenate([np.arange(2000), np.linspace(2000, 63661, 8000).astype(int)]))
    x = k * (math.pi / 2.0)
    around = [x]
    for side in (-np.inf, np.inf):
        near = x
        for _ in range(3):
            near = np.nextafter(near, side)
            around.append(near)
    every = np.concatenate(around)
    return np.concatenate([every, -every])


@pytest.mark.parametrize(
    "x",
    [
        np.random.default_rng(1).uniform(-1e5, 1e5, 1_000_000),
        np.random.default_rng(2).uniform(-2.0 * math.pi, 2.0 * math.pi, 200_000),
        10.0 ** np.random.default_rng(3).uniform(-300, 5, 100_000),
        near_quarter_turns(),
        np.array([0.0, 1e5, -1e5, math.pi / 4, -math.pi / 4, math.nextafter(math.pi / 4, 1.0)]),
    ],
    ids=["range", "turn", "magnitudes", "quarter turns", "ends"],
)
def test_sine_and_cosine_within_two_units_of_libm(x: np.ndarray) -> None:
    sine, cosine = compiled_sincos(x)
    assert_within(sine, libm(math.sin, x), 2.0)
    assert_within(cosine, libm(math.cos, x), 2.0)


def test_sine_is_odd_and_cosine_even_to_the_last_bit() -> None:
    x = np.random.default_rng(4).uniform(-1e5, 1e5, 10_000)
    for (a, b), sign in zip(zip(compiled_sincos(x), compiled_sincos(-x), strict=True), (-1.0, 1.0), strict=True):
        np.testing.assert_array_equal(a, sign * b)


def test_sine_of_nothing_finite_is_nan() -> None:
    for values in compiled_sincos(np.array([np.nan, np.inf, -np.inf])):
        assert np.isnan(values).all()


def test_on_floats_they_are_libm() -> None:
    assert sincos(0.3) == (math.sin(0.3), math.cos(0.3))
    assert atan2(0.3, -0.2) == math.atan2(0.3, -0.2)


def directions() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    angle = np.concatenate([rng.uniform(-math.pi, math.pi, 200_000), np.arange(-16, 17) * math.pi / 16])
    size = 10.0 ** rng.uniform(-150, 150, len(angle))
    lopsided = rng.normal(size=(2, 100_000)) * 10.0 ** rng.uniform(-30, 30, (2, 100_000))
    return np.concatenate([size * np.sin(angle), lopsided[0]]), np.concatenate([size * np.cos(angle), lopsided[1]])


def test_arc_tangent_within_two_units_of_libm() -> None:
    y, x = directions()
    assert_within(compiled_atan2(y, x), libm(math.atan2, y, x), 2.0)


def test_arc_tangent_on_the_axes_and_diagonals() -> None:
    values = np.array([(y, x) for y in (0.0, 1.0, -1.0, 3.0) for x in (0.0, 1.0, -1.0, -3.0)]).T
    assert_within(compiled_atan2(*values), libm(math.atan2, *values), 1.0)
    assert compiled_atan2(np.array([0.0]), np.array([0.0]))[0] == 0.0


def test_arc_tangent_keeps_nan() -> None:
    nan = np.nan
    assert np.isnan(compiled_atan2(np.array([nan, nan, 1.0, 0.0]), np.array([1.0, nan, nan, nan]))).all()


@pytest.mark.parametrize("constant", [2.0, -2.0])
def test_one_argument_may_be_a_number(constant: float) -> None:
    program = trace(
        "mixed", lambda x: {"a": atan2(x[0], constant), "b": atan2(constant, x[0])}, case={}, sample={"x": (1,)}
    )
    x = np.random.default_rng(6).normal(size=64)
    out = Kernel(program)({"x": x.reshape(1, 1, -1)}, 64)
    assert_within(out["a"][0, 0], libm(math.atan2, x, np.full(64, constant)), 2.0)
    assert_within(out["b"][0, 0], libm(math.atan2, np.full(64, constant), x), 2.0)


def traced(function: Callable[..., object]) -> Program:
    return trace(function.__name__, lambda x: {"y": function(x[0])}, case={}, sample={"x": (1,)})


PROGRAMS = {function.__name__: traced(function) for function in (exp, expm1, log, tanh)}
KERNELS = {name: Kernel(program) for name, program in PROGRAMS.items()}


def compiled(name: str, x: np.ndarray) -> np.ndarray:
    return KERNELS[name]({"x": padded_last(x, padded(len(x)))[None, None]}, len(x))["y"][0, 0, : len(x)]


def uniform(seed: int, low: float, high: float, count: int = 100_000) -> np.ndarray:
    return np.random.default_rng(seed).uniform(low, high, count)


LONG_RANGES = {
    "exp": [
        uniform(10, -745.1, 709.7),
        uniform(11, -1.0, 1.0),
        uniform(12, -745.1, -700.0),
        10.0 ** uniform(13, -300, 0),
    ],
    "expm1": [
        uniform(14, -60.0, 709.0),
        uniform(15, -2.0, 2.0),
        *(s * 10.0 ** uniform(16, -300, 0) for s in (1.0, -1.0)),
    ],
    "log": [10.0 ** uniform(17, -323, 308), uniform(18, 0.0, 3.0), 1.0 + uniform(19, -1e-3, 1e-3)],
    "tanh": [uniform(20, -1.0, 1.0), uniform(21, -30.0, 30.0), 10.0 ** uniform(22, -300, 3)],
}
LONG_BOUNDS = {"exp": 1.0, "expm1": 2.0, "log": 1.0, "tanh": 3.0}


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="long doubles are no longer than doubles here")
@pytest.mark.parametrize("name", LONG_RANGES)
def test_exponentials_within_their_bounds_of_long_doubles(name: str) -> None:
    for x in LONG_RANGES[name]:
        exact = getattr(np, name)(x.astype(np.longdouble))
        error = np.abs(compiled(name, x) - exact) / np.spacing(np.abs(exact.astype(float)))
        assert error.max() <= LONG_BOUNDS[name], x[np.argmax(error)]


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        ("exp", [0.0, -0.0, np.inf, -np.inf, -1e300, 1e300], [1.0, 1.0, np.inf, 0.0, 0.0, np.inf]),
        ("exp", [-2000.0, -746.0, 709.8, 710.0, 1100.0, 2000.0], [0.0, 0.0, *[np.inf] * 4]),
        ("expm1", [0.0, np.inf, -np.inf, -2000.0, 2000.0, 5e-324], [0.0, np.inf, -1.0, -1.0, np.inf, 5e-324]),
        ("log", [1.0, 0.0, -0.0, np.inf, -1.0, -np.inf], [0.0, -np.inf, -np.inf, np.inf, np.nan, np.nan]),
        ("tanh", [0.0, np.inf, -np.inf, 1e300, 5e-324], [0.0, 1.0, -1.0, 1.0, 5e-324]),
    ],
)
def test_exponentials_saturate(name: str, x: list[float], expected: list[float]) -> None:
    np.testing.assert_array_equal(compiled(name, np.array(x)), expected)
    with np.errstate(all="ignore"):
        by_float = {"exp": exp, "expm1": expm1, "log": log, "tanh": tanh}[name]
        np.testing.assert_allclose([by_float(each) for each in x], expected, rtol=1e-15)


@pytest.mark.parametrize("name", LONG_RANGES)
def test_exponentials_interpreted_have_the_same_bits_and_keep_nan(name: str) -> None:
    x = np.concatenate([part[:500] for part in LONG_RANGES[name]] + [np.array([0.0, -0.0, np.inf, -np.inf, np.nan])])
    wide = {"x": padded_last(x, padded(len(x)))[None, None]}
    slow = interpret(PROGRAMS[name], wide, padded(len(x)))
    assert_same_bits(trimmed(KERNELS[name](wide, len(x)), len(x)), trimmed(slow, len(x)))
    assert np.isnan(compiled(name, np.array([np.nan]))).all()


def test_hyperbolic_tangent_is_odd_to_the_last_bit() -> None:
    x = uniform(23, -30.0, 30.0)
    np.testing.assert_array_equal(compiled("tanh", x), -compiled("tanh", -x))


def test_numpy_finds_the_functions_of_symbols() -> None:
    for name, program in PROGRAMS.items():
        assert traced(getattr(np, name)).operations() == program.operations()


def test_powers() -> None:
    xy = np.stack([uniform(24, 0.0, 20.0, 1000), uniform(25, 0.25, 10.0, 1000)])
    program = trace("power", lambda xy: {"p": power(xy[0], xy[1])}, case={}, sample={"xy": (2,)})
    got = Kernel(program)({"xy": xy[None]}, 1000)["p"][0, 0]
    expected = libm(math.pow, *xy)
    assert (np.abs(got - expected) <= np.spacing(expected) * (2.0 + 3.0 * np.abs(xy[1] * np.log(xy[0])))).all()
    assert [power(float(x), float(y)) for x, y in xy.T[:50]] == expected[:50].tolist()


@pytest.mark.parametrize(("exponent", "operations"), [(1.0, {}), (2.0, {"mul": 1})])
def test_a_power_that_is_a_product_is_one(exponent: float, operations: dict[str, int]) -> None:
    program = trace("power", lambda x: {"p": power(x[0], exponent)}, case={}, sample={"x": (1,)})
    assert dict(program.operations()) == operations


def test_nothing_to_the_power_of_anything_is_nothing() -> None:
    program = trace("power", lambda x, y: {"p": power(x[0], y[0])}, case={"y": (1,)}, sample={"x": (1,)})
    x = np.array([[[0.0, np.nan, 1e-310, 1.0, 0.0, 0.0, 0.0, 0.0]]])
    got = Kernel(program)({"x": x, "y": np.array([[0.5]])}, 8)["p"][0, 0]
    np.testing.assert_allclose(got[:4], [0.0, np.nan, 1e-155, 1.0], rtol=1e-13)
