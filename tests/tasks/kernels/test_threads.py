"""Kernels for cards have the bits of those for processors: one thread takes one lane."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings

from tasks.kernels import llvm
from tasks.kernels.device import CardKernel, Residents
from tasks.kernels.emission import threads
from tasks.kernels.kernel import Kernel
from tests.tasks.bits import assert_same_bits
from tests.tasks.kernels.random_programs import Batch, Recipe, batches, recipes
from tests.tasks.kernels.simulated_card import simulated

few = hypothesis_settings(max_examples=30, deadline=None)


@few
@pytest.mark.parametrize("single", [False, True])
@given(recipe=recipes(), batch=batches())
def test_a_card_has_the_bits_of_a_processor(recipe: Recipe, batch: Batch, single: bool) -> None:
    program = recipe.program()
    expected = Kernel(program, single=single, keep=False)(batch.strided, batch.samples)
    with simulated():
        assert_same_bits(CardKernel(program, single=single)(batch.strided, batch.samples), expected)


@few
@given(recipe=recipes(), batch=batches())
def test_arrays_that_stay_on_the_card_move_once(recipe: Recipe, batch: Batch) -> None:
    program = recipe.program()
    expected = Kernel(program, keep=False)(batch.strided, batch.samples)
    with simulated() as card:
        kernel, residents = CardKernel(program), Residents()
        out = kernel.reserve(batch.cases, batch.samples)
        residents.send(batch.strided.values())
        residents.place(out.values())
        sent = card.moved["send"]
        for _ in range(2):
            kernel(batch.strided, batch.samples, out, filled=True)
        assert card.moved == {"send": sent, "fetch": 0}
        residents.fetch(out.values())
        assert_same_bits(out, expected)
        residents.close()


@few
@given(recipe=recipes())
def test_no_licence_to_contract_or_to_flush_on_cards(recipe: Recipe) -> None:
    """Without a rounding mode an assembler may join a product and a sum."""
    for single in (False, True):
        text = llvm.text_for_cards(threads.source(threads.ThreadLayout(recipe.program(), single), threads.NVIDIA))
        assert not re.search(r"\b(add|sub|mul)(\.ftz)?\.f(32|64)|\.ftz|\.approx|\.full", text)
        assert re.search(r"\.maxntid\s+128", text)
