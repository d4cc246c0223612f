"""The text of a kernel; what it computes is compared in `test_kernel`."""

from __future__ import annotations

import gc
import math
import re
import struct
import weakref
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tasks.kernels.emission.emitter import source
from tasks.kernels.emission.writer import literal
from tasks.kernels.kernel import Kernel
from tasks.kernels.levels import COMPILE, LEVELS
from tasks.kernels.llvm import OPTIMISATION, SHORT, compile_program, level
from tasks.kernels.program import Node, Program, size, trace
from tests.tasks.kernels.random_programs import Recipe, recipes


@given(st.floats())
def test_literals_lose_nothing(value: float) -> None:
    back = struct.unpack("<d", struct.pack("<Q", int(literal(value), 16)))[0]
    assert struct.pack("<d", back) == struct.pack("<d", value)


def test_literals_of_known_numbers() -> None:
    assert literal(1.0) == "0x3FF0000000000000"
    assert literal(-0.0) == "0x8000000000000000"
    assert literal(math.inf) == "0x7FF0000000000000"


@hypothesis_settings(max_examples=20)
@given(recipe=recipes())
def test_no_licence_to_reorder_or_contract(recipe: Recipe) -> None:
    text = source(recipe.program())
    assert re.search(r"= f(add|sub|mul|div) ", text) or "llvm.fma" in text or "fcmp" in text
    assert not re.search(r"\b(fast|contract|reassoc|nnan|ninf|nsz|arcp|afn|unsafe-fp-math)\b", text)


@hypothesis_settings(max_examples=20)
@given(recipe=recipes())
def test_a_program_has_one_text(recipe: Recipe) -> None:
    assert source(recipe.program()) == source(recipe.program())


def test_a_function_keeps_its_machine_code_alive() -> None:
    """Whoever calls it may be the last who has it."""
    call = compile_program(simple()).call
    code = weakref.ref(call.engine)
    gc.collect(0)
    assert code() is not None
    del call
    gc.collect(0)
    assert code() is None


@hypothesis_settings(max_examples=10)
@given(recipe=recipes())
def test_quick_code_has_the_same_bits(recipe: Recipe) -> None:
    program = recipe.program()
    rng = np.random.default_rng(1)
    inputs = {key: rng.normal(size=(1, size(shape))) for key, shape in program.case.items()}
    inputs |= {key: rng.normal(size=(1, size(shape), 16)) for key, shape in program.sample.items()}
    results = []
    for speed in LEVELS:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(COMPILE, speed)
            results.append(Kernel(program, keep=False)(inputs, 16))
    assert results[0].keys() == results[1].keys()
    for name, values in results[0].items():
        np.testing.assert_array_equal(values.view(np.int64), results[1][name].view(np.int64))


def test_only_short_texts_are_compiled_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(COMPILE)
    assert (level(""), level("", few=True)) == (OPTIMISATION, 0)
    monkeypatch.setenv(COMPILE, "best")
    assert level("", few=True) == OPTIMISATION
    monkeypatch.setenv(COMPILE, "quick")
    assert level("") == 0
    assert level("\n" * (SHORT + 1)) == OPTIMISATION
    monkeypatch.setenv(COMPILE, "fast")
    with pytest.raises(ValueError, match="LIMBSWEEP_COMPILE: got 'fast'; expected best or quick"):
        level("")


def simple() -> Program:
    return trace("simple", lambda a, x: {"y": a[0].sqrt() * x[0]}, case={"a": (1,)}, sample={"x": (1,)})


def test_work_per_case_is_scalar() -> None:
    body = source(simple()).split("declare")[0]
    assert "call double @llvm.sqrt.f64" in body
    assert "fmul <8 x double>" in body
    assert "@llvm.sqrt.v8f64" not in body


def test_an_operation_without_machine_code_is_named() -> None:
    program = simple()
    nodes = tuple(Node("tan", node.args) if node.op == "sqrt" else node for node in program.nodes)
    with pytest.raises(NotImplementedError, match="no machine code for the operation 'tan'"):
        source(replace(program, nodes=nodes))


def test_numbers_of_a_program_are_doubles() -> None:
    program = trace("third", lambda x: {"y": x[0] + np.float64(1.0) / 3.0}, case={}, sample={"x": (1,)})
    assert literal(1.0 / 3.0) in source(program)
