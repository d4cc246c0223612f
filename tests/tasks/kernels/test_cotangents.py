"""Pullbacks against pushforwards: cotangents times rates are the same on both sides, whatever the program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robots import catalog
from tasks.kernels import expression
from tasks.kernels.cotangents import for_each_sample, pullback
from tasks.kernels.derivatives import pushforward
from tasks.kernels.kernel import Kernel
from tasks.kernels.keys import Cotangent, Rate
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import atan2, sqrt, where
from tasks.mechanics.families import mount_values
from tasks.stages.limb import limb_program
from tests.tasks.blocks.test_gradients import block

WIDTH = 8


def _shaped(program: Program, inputs: dict[Any, np.ndarray]) -> dict[Any, np.ndarray]:
    """Inputs (size,) of one sample as arrays of a kernel."""
    return {
        name: np.repeat(inputs[name][None, :, None], WIDTH, axis=2) if name in program.sample else inputs[name][None]
        for name in program.inputs
    }


def _both_sides(
    program: Program, at: dict[Any, np.ndarray], varying: list[str], compiled: bool = True
) -> tuple[float, float]:
    """Cotangents of outputs times their rates, and cotangents of inputs times theirs."""
    rng = np.random.default_rng(3)
    outputs = [key for key in program.outputs if key != "status"]
    along = {Rate(name): rng.normal(size=len(at[name])) for name in varying}
    seeds = {Cotangent(key): rng.normal(size=len(program.outputs[key][1])) for key in outputs}
    forward, backward = pushforward(program, varying), pullback(program, varying, outputs)
    rates = Kernel(forward, compiled=compiled)(_shaped(forward, at | along), 1)
    found = Kernel(backward, compiled=compiled)(_shaped(backward, at | seeds), 1)
    left = sum(float(seeds[Cotangent(key)] @ rates[Rate(key)][0, :, 0]) for key in outputs)
    right = 0.0
    for name in varying:
        part = found[Cotangent(name)][0]
        right += float(along[Rate(name)] @ (part if name in program.case else part[:, 0]))
    return left, right


@pytest.mark.parametrize("robot", catalog.FAMILIES)
def test_limbs_of_robots(robot: str) -> None:
    given = block(robot)
    program = limb_program(given.family, given.family.reference.instances[0].limb)
    inputs = {**given.case_values(), "mount": mount_values(given.family, given.named_parameters())[0]}
    at = {name: value[0] for name, value in inputs.items()}
    from tasks.blocks.block import motions

    at["motion"] = motions(given).motion[0][:, 0]
    varying = [name for name in ("parameters", "gravity", "motion") if len(at[name])]
    left, right = _both_sides(program, at, varying)
    assert right == pytest.approx(left, rel=1e-11)


def _loops(newton: bool, skip: bool) -> Program:
    """A root found by Newton's loop or by a contraction, and what follows it; the loop may be skipped."""

    def one_sample(p: Any, x: Any) -> dict[str, Any]:
        square = p[0] * x[0] + p[1]

        def step(s: Any) -> Any:
            following = (s[0] + square / s[0]) * 0.5 if newton else expression.select(
                x[0] > -1e9, s[0] * 0.25 + square / (s[0] * s[0] + 4.0), s[0]
            )  # fmt: skip
            return [following], abs(following - s[0]) < 1e-14 * following

        start = [square * 0.5 + 1.0]
        root = expression.loop(step, start, 200, x[0] > 2.0 if skip else None, newton)[0]
        return {"made": [root.sin() * x[0], root * root]}

    return trace("loops", one_sample, case={"p": (2,)}, sample={"x": (1,)})


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("newton", [True, False])
@pytest.mark.parametrize(("skip", "x"), [(False, 1.7), (True, 1.7), (True, 2.5)])
def test_loops(newton: bool, skip: bool, x: float, compiled: bool) -> None:
    at = {"p": np.array([1.3, 0.4]), "x": np.array([x])}
    left, right = _both_sides(_loops(newton, skip), at, ["p", "x"], compiled)
    assert left != 0.0
    assert right == pytest.approx(left, rel=1e-12)


def test_a_contraction_against_differences() -> None:
    program, h = _loops(newton=False, skip=False), 1e-6

    def made(p: float) -> float:
        at = {"p": np.array([p, 0.4]), "x": np.array([1.7])}
        return float(Kernel(program)(_shaped(program, at), 1)["made"][0, 1, 0])

    backward = pullback(program, ["p"], ["made"])
    at = {"p": np.array([1.3, 0.4]), "x": np.array([1.7]), Cotangent("made"): np.array([0.0, 1.0])}
    found = Kernel(backward)(_shaped(backward, at), 1)[Cotangent("p")][0, 0]
    assert found == pytest.approx((made(1.3 + h) - made(1.3 - h)) / (2 * h), rel=1e-8)


def test_a_branch_that_is_not_taken_changes_nothing() -> None:
    """Its quotient by zero, and products with that, must not make the other branch's derivative no number."""

    def one_sample(x: Any, y: Any) -> dict[str, Any]:
        quotient = y[0] / x[0]
        return {"made": [where(x[0] > 0.0, quotient * quotient * y[0], x[0] * 3.0 + y[0] * 2.0)]}

    program = trace("branch", one_sample, case={}, sample={"x": (1,), "y": (1,)})
    backward = pullback(program, ["x", "y"], ["made"])
    at = {"x": np.array([0.0]), "y": np.array([5.0]), Cotangent("made"): np.array([1.0])}
    found = Kernel(backward)(_shaped(backward, at), 1)
    assert (found[Cotangent("x")][0, 0, 0], found[Cotangent("y")][0, 0, 0]) == (3.0, 2.0)


def test_case_inputs_for_each_sample() -> None:
    program = _loops(newton=True, skip=False)
    p, x = np.array([[1.3, 1.1, 2.0], [0.4, 0.2, 0.1]]), np.array([[1.7, 0.3, 2.2]])
    p, x = (np.ascontiguousarray(rows[None][..., [*range(3), *[2] * 5]]) for rows in (p, x))
    each = Kernel(for_each_sample(program))({"p": p, "x": x}, 3)["made"]
    backward = pullback(program, ["p"], ["made"], per_sample=True)
    seed = np.ones((1, 2, WIDTH))
    found = Kernel(backward)({"p": p, "x": x, Cotangent("made"): seed}, 3)
    alone = pullback(program, ["p"], ["made"])
    for k in range(3):
        at = {"p": p[0, :, k], "x": x[0, :, k], Cotangent("made"): np.ones(2)}
        np.testing.assert_array_equal(each[0, :, k], Kernel(program)(_shaped(program, at), 1)["made"][0, :, 0])
        expected = Kernel(alone)(_shaped(alone, at), 1)[Cotangent("p")][0]
        np.testing.assert_allclose(found[Cotangent("p")][0, :, k], expected, rtol=1e-14)


def test_names_that_a_program_lacks() -> None:
    program = _loops(newton=True, skip=False)
    with pytest.raises(ValueError, match="no input 'q'; expected some of p, x"):
        pullback(program, ["q"], ["made"])
    with pytest.raises(ValueError, match="no output 'done'; expected some of made"):
        pullback(program, ["p"], ["done"])


@pytest.mark.parametrize(
    ("function", "at", "slopes"),
    [
        (lambda x, y: atan2(y, x), (2.0, 0.0), (0.0, 0.5)),
        (lambda x, y: atan2(y, x), (-2.0, 0.0), (0.0, -0.5)),
        (lambda x, y: atan2(y, x), (0.0, 2.0), (-0.5, 0.0)),
        (lambda x, y: atan2(y, x), (0.0, -2.0), (0.5, 0.0)),
        (lambda x, y: np.tanh(x) + np.sin(y), (0.0, 0.0), (1.0, 1.0)),
        (lambda x, y: abs(x) + sqrt(y * y), (0.0, 0.0), (0.0, 0.0)),
    ],
)
def test_slopes_at_zero(function: Any, at: tuple[float, float], slopes: tuple[float, float]) -> None:
    """Odd functions have theirs; a size has a kink, and the slope between both sides."""
    program = trace("zero", lambda x, y: {"made": [function(x[0], y[0])]}, case={}, sample={"x": (1,), "y": (1,)})
    inputs = {"x": np.array([at[0]]), "y": np.array([at[1]])}
    backward = pullback(program, ["x", "y"], ["made"])
    found = Kernel(backward)(_shaped(backward, inputs | {Cotangent("made"): np.ones(1)}), 1)
    np.testing.assert_allclose([found[Cotangent(name)][0, 0, 0] for name in "xy"], slopes, atol=1e-15)
    for name, slope in zip("xy", slopes, strict=True):
        forward = pushforward(program, [name])
        rate = Kernel(forward)(_shaped(forward, inputs | {Rate(name): np.ones(1)}), 1)[Rate("made")][0, 0, 0]
        assert rate == pytest.approx(slope, abs=1e-15)
