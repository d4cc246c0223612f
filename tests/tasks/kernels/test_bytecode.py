"""Bytecode: the bits of the reference, and the change to machine code."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings

from tasks.kernels import expression, kernel
from tasks.kernels.interpreter import interpret
from tasks.kernels.kernel import Kernel, padded
from tasks.kernels.lanes import ProgramSequence
from tasks.kernels.levels import COMPILE
from tasks.kernels.program import Program, trace
from tests.tasks.bits import assert_same_bits, trimmed
from tests.tasks.kernels.random_programs import Batch, Recipe, batches, recipes
from tests.tasks.kernels.test_kernel import poisoned_outputs, rare_program, total_program


@pytest.fixture(autouse=True)
def bytecode_first() -> Iterator[None]:
    """Begin with bytecode, where the other tests of kernels have the best code, however busy the machine is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(COMPILE, raising=False)
        patch.setattr(kernel, "PATIENCE", math.inf)
        yield


def is_bytecode(ready: Kernel) -> bool:
    (machine,) = ready._machines.values()
    return machine.bytecode is not None


@hypothesis_settings(max_examples=60, deadline=None)
@given(recipe=recipes(), batch=batches())
def test_bytecode_has_the_bits_of_the_reference(recipe: Recipe, batch: Batch) -> None:
    program = recipe.program()
    ready = Kernel(program)
    out = poisoned_outputs(ready, batch.cases, batch.samples)
    ready(batch.strided, batch.samples, out)
    assert is_bytecode(ready)
    assert_same_bits(trimmed(out, batch.samples), interpret(program, batch.inputs, batch.samples))


@pytest.mark.parametrize("samples", [1, 8, 9, 40])
def test_loops_that_some_samples_spare(samples: int) -> None:
    random, program = np.random.default_rng(samples), rare_program()
    x = random.uniform(0.1, 3.0, (3, 2, padded(samples)))
    x[1, 0, ::9], x[2, 0] = 7.0, 9.0  # none, few of them, and all
    inputs = {"a": np.array([[0.5], [0.7], [0.9]]), "x": x}
    assert_same_bits(Kernel(program)(inputs, samples), interpret(program, inputs, padded(samples), valid=samples))


def fibonacci() -> Program:
    """Numbers whose state is the one before of another state: a pair that moves on by one place a round."""

    def one_sample(x: np.ndarray) -> Mapping[str, object]:
        def step(state: Any) -> tuple[list[object], object]:
            return [state[1], state[0] + state[1], state[2] + 1.0], state[2] >= x[0]

        return {"pair": expression.loop(step, [x[0] * 0.0, x[0] * 0.0 + 1.0, x[0] * 0.0], 90)}

    return trace("fibonacci", one_sample, case={}, sample={"x": (1,)})


def test_states_that_take_the_values_of_others() -> None:
    x = np.arange(16.0).reshape(1, 1, 16)
    found = Kernel(fibonacci())({"x": x}, 16)
    assert found["pair"][0, 0].tolist()[:8] == [1, 1, 2, 3, 5, 8, 13, 21]
    assert_same_bits(found, interpret(fibonacci(), {"x": x}, 16))


@pytest.mark.parametrize("samples", [0, 7, 17])
def test_reductions_leave_padding_out(samples: int) -> None:
    x = np.full((2, 3, padded(samples)), 1e9)
    x[..., :samples] = np.random.default_rng(samples).normal(size=(2, 3, samples))
    inputs, program = {"a": np.full((1, 1), 3.0), "x": x}, total_program()
    assert_same_bits(Kernel(program)(inputs, samples), interpret(program, inputs, padded(samples), valid=samples))


def test_a_sequence_takes_bytecode_and_machine_code_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    first = trace("first", lambda x: {"y": x * x + 1.0}, case={}, sample={"x": (2,)})
    second = trace("second", lambda y: {"z": y[:1] / y[1:]}, case={}, sample={"y": (2,)})
    sequence = ProgramSequence()
    x, z = sequence.wide(2), sequence.wide(1)
    inner = sequence.add(first, {"x": x}, {})
    sequence.add(second, {"y": inner["y"]}, {"z": z})
    values, results = np.random.default_rng(1).normal(size=(2, 24)), []
    for samples in (1 << 24, 48, 0):
        monkeypatch.setattr(kernel, "BEGINNING", samples)
        results.append(np.empty((1, 24)))
        sequence({x: values, z: results[-1]}, 24)
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


@pytest.mark.parametrize(("make", "cases", "samples"), [(fibonacci, 1, 150), (rare_program, 40, 20)])
def test_slow_bytecode_is_given_up_within_a_call(
    monkeypatch: pytest.MonkeyPatch, make: Callable[[], Program], cases: int, samples: int
) -> None:
    program = make()
    (rows,) = program.sample["x"]
    x = np.random.default_rng(cases).uniform(1.0, 2.0, (cases, rows, padded(samples)))
    inputs = {name: np.full((1, 1), 0.5) for name in program.case} | {"x": x}
    whole = Kernel(program, keep=False)(inputs, samples)
    monkeypatch.setattr(kernel, "PATIENCE", 0.0)
    cut = Kernel(program, keep=False)
    assert_same_bits(whole, cut(inputs, samples))
    assert not is_bytecode(cut)


def test_samples_and_time_end_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    program, x = rare_program(), np.full((1, 2, 8), 1.5)
    inputs = {"a": np.full((1, 1), 0.5), "x": x}
    monkeypatch.setattr(kernel, "BEGINNING", 20)
    ready = Kernel(program, keep=False)
    before = ready(inputs, 8)
    assert is_bytecode(ready)
    ready(inputs, 8)
    assert is_bytecode(ready)
    after = ready(inputs, 8)
    assert not is_bytecode(ready)
    assert_same_bits(before, after)
    monkeypatch.setattr(kernel, "PATIENCE", 0.0)
    slow = Kernel(program, keep=False)
    slow(inputs, 8)
    assert is_bytecode(slow)
    slow(inputs, 8)
    assert not is_bytecode(slow)
    monkeypatch.setenv(COMPILE, "best")
    best = Kernel(program, keep=False)
    best(inputs, 8)
    assert not is_bytecode(best)
