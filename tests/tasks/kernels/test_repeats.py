"""Stretches that repeat: where they are, what goes in and out, and functions in place of their text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tasks.kernels.emission import emitter, slots
from tasks.kernels.emission import slots as repeats
from tasks.kernels.emission.slots import Repeats, StretchCall
from tasks.kernels.expression import CONSTANT
from tasks.kernels.interpreter import interpret
from tasks.kernels.kernel import Kernel
from tasks.kernels.program import PER_CASE, Program, trace
from tests.tasks.bits import assert_same_bits, trimmed
from tests.tasks.kernels.random_programs import Recipe, recipes

BODIES, STEPS = 12, 150


def bodies(*, same: bool = True) -> Program:
    """A polynomial of each input in turn, of the one before, of a number of its own and of what is common to all."""

    def one_sample(a: np.ndarray, x: np.ndarray) -> dict[str, list[object]]:
        value, common, made = a[0], x[0] * a[1], []
        for k in range(BODIES):
            step = x[k] + value
            for _ in range(STEPS if same else STEPS + k):
                step = step * common + (k + 0.5)
            value = step.sqrt() if same else step.sqrt() * x[k]
            made.append(value)
        return {"y": made}

    return trace("bodies", one_sample, case={"a": (2,)}, sample={"x": (BODIES,)})


def regions(program: Program) -> list[int]:
    return [key for key in program.regions if key != PER_CASE]


@hypothesis_settings(max_examples=60)
@given(recipe=recipes(), sizes=st.sampled_from([(1,), (1, 2), (2, 4)]))
def test_stretches_are_apart_alike_and_complete(recipe: Recipe, sizes: tuple[int, ...]) -> None:
    program = recipe.program()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeats, "SIZES", sizes)
        patch.setattr(repeats.Stretch, "saves", 1_000_000)
        found = Repeats(program, regions(program))
    seen = [node for stretch in found.stretches for nodes in stretch.places for node in nodes]
    assert len(seen) == len({*seen})
    for key in regions(program):
        whole = list[int]()
        for piece in found.pieces(program.regions[key]):
            whole += piece.stretch.places[piece.place] if isinstance(piece, StretchCall) else [piece]
        assert tuple(whole) == program.regions[key]
    for stretch in found.stretches:
        assert len(stretch.places) > 1
        for place, nodes in enumerate(stretch.places):
            known = set(nodes)
            for node, first, arguments in zip(nodes, stretch.places[0], stretch.arguments, strict=True):
                assert program.nodes[node].op == program.nodes[first].op
                for argument, arg in zip(arguments, program.nodes[node].args, strict=True):
                    assert argument.inside is not None or argument.nodes[place] == arg
                    assert argument.inside is None or nodes[argument.inside] == arg
                    outer = program.nodes[arg].op != CONSTANT and argument.inside is None
                    assert outer == (argument.nodes in stretch.taken)
            needed = set(StretchCall(stretch, 0, place).written)
            others = {i for key in program.regions for i in program.regions[key]} - known
            assert known & {arg for i in others for arg in program.nodes[i].args} <= needed
            assert known & {i for _, values in program.outputs.values() for i in values} <= needed


def test_what_repeats_is_one_function_with_numbers_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    program = bodies()
    (stretch,) = Repeats(program, regions(program)).stretches
    assert len(stretch.places) == BODIES
    assert len(stretch.constants) == 1
    assert len(stretch.written) == 1
    assert STEPS <= len(stretch.arguments) <= STEPS + 3
    whole = emitter.source(program)
    monkeypatch.setattr(slots, "LONG", 100)
    short = emitter.source(program)
    assert short.count("call void @stretch0") == BODIES
    assert short.count("@llvm.fma") < whole.count("@llvm.fma") / 5


def test_bodies_have_the_bits_of_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "LONG", 100)
    random, samples = np.random.default_rng(3), 24
    inputs = {"a": random.normal(size=(2, 2)), "x": random.normal(size=(2, BODIES, samples))}
    program = bodies()
    made = Kernel(program, keep=False)(inputs, samples)
    assert_same_bits(trimmed(made, samples), interpret(program, inputs, samples))


def test_what_is_not_the_same_length_is_the_same_as_far_as_it_goes() -> None:
    program = bodies(same=False)
    found = Repeats(program, regions(program)).stretches
    assert sum(len(stretch.places) for stretch in found) == BODIES
    assert sum(len(stretch.arguments) for stretch in found) < len(program.regions[0]) / 3
