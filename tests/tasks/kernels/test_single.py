"""Samples in single precision: near those in double, whatever their neighbours, and half vectors at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchmarks import precision
from benchmarks.figures import QUICK
from robots import catalog
from tasks.kernels.expression import Dual
from tasks.kernels.kernel import Kernel, padded
from tasks.kernels.program import Program, trace
from tasks.mathematics import algebra
from tasks.mathematics.algebra import iterate

EPSILON = float(np.finfo(np.float32).eps)


def one_function(function: Callable[[Any], Any], **reductions: str) -> Program:
    case: dict[str, tuple[int, ...]] = {"a": (1,)}
    sample: dict[str, tuple[int, ...]] = {"x": (1,)}
    return trace("one", lambda a, x: {"y": [function(a[0] * x[0])]}, case=case, sample=sample, reductions=reductions)


def named(name: str) -> Callable[[Any], Any]:
    found: Callable[[Any], Any] | None = getattr(algebra, name, None)
    return found or getattr(np, name)  # type: ignore[no-any-return]


def computed(program: Program, x: np.ndarray, *, single: bool = True) -> np.ndarray:
    wide = np.concatenate([x, np.repeat(x[-1:], padded(len(x)) - len(x))])
    made = Kernel(program, single=single)({"a": np.array([[1.0], [1.5]]), "x": wide.reshape(1, 1, -1)}, len(x))["y"]
    return made if program.reductions else made[:, 0, : len(x)]


RANGES = {
    "sin": (-20.0, 20.0),
    "cos": (-20.0, 20.0),
    "exp": (-80.0, 55.0),
    "expm1": (-60.0, 20.0),
    "log": (1e-30, 1e20),
    "tanh": (-60.0, 60.0),
}


@pytest.mark.parametrize("name", RANGES)
def test_elementary_functions_have_the_digits_of_single_precision(name: str) -> None:
    (low, high), rng = RANGES[name], np.random.default_rng(3)
    x = rng.uniform(low, high, 4000) if low < 0.0 else np.exp(rng.uniform(np.log(low), np.log(high), 4000))
    given = (np.float32(np.array([[1.0], [1.5]])) * np.float32(x)).astype(np.float32).astype(float)
    expected = getattr(np, name)(given)
    found = computed(one_function(named(name)), x)
    bound = 4.0 * EPSILON * np.maximum(np.abs(expected), 1.0 if name in ("sin", "cos", "log") else 1e-30)
    assert (np.abs(found - expected) <= bound).all()


@pytest.mark.parametrize("count", [1, 7, 8, 9, 16, 17, 24, 40])
def test_half_a_vector_at_the_end_gives_what_a_whole_one_gives(count: int) -> None:
    x = np.linspace(0.3, 2.0, 48)
    program = one_function(lambda v: v.sqrt() + v)
    np.testing.assert_array_equal(computed(program, x[:count]), computed(program, x)[:, :count])


@pytest.mark.parametrize("count", [1, 8, 9, 16, 24, 29])
@pytest.mark.parametrize("how", ["max", "min", "sum"])
def test_every_sample_counts_once_in_a_reduction(how: str, count: int) -> None:
    x = np.random.default_rng(1).uniform(-1.0, 1.0, count)
    program = one_function(lambda v: v * 3.0, y=how)
    expected = getattr(np, how)(3.0 * np.array([[1.0], [1.5]]) * x, axis=1, keepdims=True)
    np.testing.assert_allclose(computed(program, x), expected, rtol=1e-5, atol=1e-6)


def test_sums_are_of_doubles() -> None:
    x = np.full(200_000, 0.1)
    total = computed(one_function(lambda v: v * 1.0, y="sum"), x)[0, 0]
    assert abs(total / (200_000 * float(np.float32(0.1))) - 1.0) < 1e-12


def test_tolerances_are_other_numbers() -> None:
    def root(v: Any) -> Any:
        def step(state: Any) -> tuple[list[Any], Any]:
            better = (state[0] + v / state[0]) * 0.5
            return [better], abs(better - state[0]) <= Dual(1e-13, 1e-5)

        return iterate(step, [v], 60)[0]

    x = np.linspace(0.5, 9.0, 40)
    rounds = Dual(1e-13, 1e-5)
    assert ((2.0 * rounds).single, (rounds * rounds).single, (-rounds).single) == (2e-5, 1e-5 * 1e-5, -1e-5)
    assert (float(2.0 * rounds), float(-rounds)) == (2e-13, -1e-13)
    np.testing.assert_allclose(computed(one_function(root), x)[0], np.sqrt(x), rtol=4 * EPSILON)
    np.testing.assert_allclose(computed(one_function(root), x, single=False)[0], np.sqrt(x), rtol=1e-15)


def test_there_is_no_interpreter_for_it() -> None:
    with pytest.raises(ValueError, match="single precision needs the compiler; install llvmlite, or ask for double"):
        Kernel(one_function(lambda v: v), compiled=False, single=True)


@pytest.mark.parametrize(
    "name",
    [name for name, family in catalog.FAMILIES.items() if not any(limb.drives for limb in family.reference.limbs)],
)
def test_every_robot_keeps_its_digits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision, "QUICK", (name,))
    assert len(list(precision.precision(QUICK))) >= 3
