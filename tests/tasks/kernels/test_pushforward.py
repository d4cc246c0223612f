"""Pushforwards against the complex step: programs run on complex numbers, which knows no rule of differentiation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.gradients.complex_steps import OPERATIONS
from robots import catalog
from tasks.kernels.derivatives import differentiated, pushforward
from tasks.kernels.expression import CASE, CONSTANT, RESULT, SAMPLE
from tasks.kernels.kernel import Kernel, kernel
from tasks.kernels.keys import Rate
from tasks.kernels.program import PER_CASE, Program, trace
from tasks.mathematics.algebra import iterate, sqrt
from tasks.mechanics.families import mount_values
from tasks.stages.limb import limb_program
from tests.tasks.blocks.test_gradients import block

STEP = 1e-100
EXTRA = 2
"""Rounds of a loop after its end: imaginary parts settle one round later than real ones."""


def complex_step(program: Program, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Values of all outputs for complex inputs (size,), one sample."""
    values: dict[int, Any] = {}

    def region(number: int) -> None:
        for i in program.regions.get(number, ()):
            values[i] = OPERATIONS[program.nodes[i].op](*(values[k] for k in program.nodes[i].args))

    for i, node in enumerate(program.nodes):
        if node.op == CONSTANT:
            values[i] = np.complex128(node.data)
        elif node.op in (CASE, SAMPLE):
            values[i] = np.complex128(inputs[node.data[0]][node.data[1]])
    with np.errstate(all="ignore"):
        region(PER_CASE)
        region(0)
        for index, loop in enumerate(program.loops):
            state, left = [values[i] for i in loop.initial], EXTRA
            for _ in range(loop.limit):
                values |= dict(zip(loop.state, state, strict=True))
                region(2 * index + 1)
                state = [values[i] for i in loop.following]
                left -= bool(values[loop.done])
                if not left:
                    break
            values |= {
                i: state[n.data[1]] for i, n in enumerate(program.nodes) if n.op == RESULT and n.data[0] == index
            }
            region(2 * index + 2)
    return {name: np.array([values[i] for i in nodes]) for name, (_, nodes) in program.outputs.items()}


def _at(given: Any) -> dict[str, np.ndarray]:
    """Inputs of the first limb's program at the first moment of a block."""
    from tasks.blocks.block import motions

    inputs = {**given.case_values(), "mount": mount_values(given.family, given.named_parameters())[0]}
    return {name: value[0] for name, value in inputs.items()} | {"motion": motions(given).motion[0][:, 0]}


@pytest.mark.parametrize("robot", catalog.FAMILIES)
def test_limbs_of_every_robot_against_the_complex_step(robot: str) -> None:
    """Kinematics by Newton's loop, dynamics, and the derivative of both by a random direction."""
    given = block(robot)
    instance = given.family.reference.instances[0]
    program, at = limb_program(given.family, instance.limb), _at(given)
    varying = [name for name in ("parameters", "mount") if len(at[name])]
    rng = np.random.default_rng(5)
    # parameters alone: mounts follow in `tasks.blocks.gradients`; loops stay planar, as the family's assembly keeps
    along = {name: rng.normal(size=len(at[name])) * (0.0 if name == "mount" else 1.0) for name in varying}
    expected = complex_step(program, {**at, **{name: at[name] + 1j * STEP * along[name] for name in varying}})
    made = pushforward(program, varying)
    inputs = {name: at[name] for name in at} | {Rate(name): value for name, value in along.items()}
    shaped = {
        name: np.repeat(inputs[name][None, :, None], 8, axis=2) if name in made.sample else inputs[name][None]
        for name in made.inputs
    }
    out = kernel(made)(shaped, 1)
    for name in ("wrench", "jacobian"):
        value, rate = expected[name].real, expected[name].imag / STEP
        size = max(np.abs(value).max(), np.abs(rate).max())
        np.testing.assert_allclose(out[name][0, :, 0], value, rtol=1e-9, atol=1e-9 * np.abs(value).max())
        np.testing.assert_allclose(out[Rate(name)][0, :, 0], rate, rtol=1e-8, atol=1e-9 * size)


def _root_program() -> Program:
    """The square root of p x by Newton's loop, then its sine; p per case, x per sample; and the largest of it."""

    def one_sample(p: Any, x: Any) -> dict[str, Any]:
        square = p * x

        def step(s: Any) -> Any:
            following = (s[0] + square / s[0]) * 0.5
            return [following], abs(following - s[0]) < 1e-9 * following

        root = iterate(step, [square + 1.0], 60)[0]
        return {"made": [np.sin(root), root * root * root], "most": [sqrt(root)]}

    return trace("roots", one_sample, case={"p": ()}, sample={"x": ()}, reductions={"most": "max"})


@pytest.mark.parametrize("compiled", [True, False])
def test_a_loop_and_what_follows_it(compiled: bool) -> None:
    x, p = np.linspace(0.5, 7.0, 8), np.array([1.3, 4.0])
    made = differentiated(_root_program(), ("p",))
    inputs = {"p": p[:, None], Rate("p"): np.array([[2.0], [-1.0]]), "x": x[None, None]}
    out = Kernel(made, compiled=compiled)(inputs, 8)
    root = np.sqrt(p[:, None] * x)
    rate = 0.5 / root * x * np.array([[2.0], [-1.0]])
    np.testing.assert_allclose(out[Rate("made")][:, 0], np.cos(root) * rate, rtol=1e-12)
    np.testing.assert_allclose(out[Rate("made")][:, 1], 3 * root**2 * rate, rtol=1e-12)
    np.testing.assert_allclose(out[Rate("most")][:, 0], 0.5 / np.sqrt(root) * rate, rtol=1e-12)
    assert out["most"].shape == (2, 1, 8)


def test_the_values_are_those_of_the_program() -> None:
    program = _root_program()
    inputs = {"p": np.array([[2.0]]), "x": np.linspace(0.5, 7.0, 8)[None, None]}
    out = kernel(pushforward(program, ("p",)))({**inputs, Rate("p"): np.ones((1, 1))}, 8)
    np.testing.assert_allclose(out["made"], kernel(program)(inputs, 8)["made"], rtol=1e-15)


def test_a_program_is_differentiated_once() -> None:
    program = _root_program()
    assert pushforward(program, ("p",)) is pushforward(program, ["p"])
    assert pushforward(program, ("p",)) is not pushforward(program, ("p", "x"))


def test_an_unknown_input_is_refused() -> None:
    with pytest.raises(ValueError, match=r"roots has no input 'q'; expected some of p, x"):
        pushforward(_root_program(), ("p", "q"))
