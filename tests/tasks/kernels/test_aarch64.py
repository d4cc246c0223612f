"""Kernels for AArch64, run by an emulator, have the bits of those of this processor."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from robots import catalog
from tasks.kernels.kernel import Kernel
from tests.tasks.bits import assert_same_bits, trimmed
from tests.tasks.kernels.aarch64 import EmulatedKernel
from tests.tasks.kernels.random_programs import Batch, Recipe, batches, recipes
from tests.tasks.machines import motion_input, states, whole_robot

pytestmark = pytest.mark.slow

SAMPLES = 16


@settings(max_examples=30)
@given(recipe=recipes(), batch=batches())
def test_any_program(recipe: Recipe, batch: Batch) -> None:
    program = recipe.program()
    there = EmulatedKernel(program)(batch.strided, batch.samples)
    here = Kernel(program)(batch.strided, batch.samples)
    assert_same_bits(trimmed(there, batch.samples), trimmed(here, batch.samples))


@pytest.mark.parametrize("name", ["delta_3rr2rrr", "delta_3r2us"])
def test_a_robot(name: str) -> None:
    robot = catalog.build(name)
    r, v, a = states(robot, SAMPLES)
    r[3] *= 3.0  # out of reach
    v[5] = np.nan
    values = {key: np.array([value]) for key, value in robot.values.items()}
    for program, inputs in whole_robot(robot.family, values, motion_input((r, v, a)), SAMPLES):
        there = EmulatedKernel(program)(inputs, SAMPLES)
        assert_same_bits(there, Kernel(program)(inputs, SAMPLES))
