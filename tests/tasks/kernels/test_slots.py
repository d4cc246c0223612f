"""Values that a long program reads again: the bits of a short one, in as many slots as are needed at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tasks.kernels import kernel
from tasks.kernels.emission import emitter, slots
from tasks.kernels.emission import slots as repeats
from tasks.kernels.interpreter import interpret
from tasks.kernels.kernel import Kernel
from tasks.kernels.program import Program, trace
from tests.tasks.bits import assert_same_bits, trimmed
from tests.tasks.kernels.random_programs import Batch, Recipe, batches, recipes


def patched(patch: pytest.MonkeyPatch, *, long: int, far: int, part: int, sizes: tuple[int, ...]) -> None:
    patch.setattr(repeats, "SIZES", sizes)
    patch.setattr(repeats.Stretch, "saves", 1_000_000)
    patch.setattr(slots, "LONG", long)
    patch.setattr(slots, "FAR", far)
    patch.setattr(slots, "PART", part)
    patch.setattr(kernel.llvm, "widens", lambda program: False)


@hypothesis_settings(max_examples=25)
@given(
    recipe=recipes(),
    batch=batches(),
    single=st.booleans(),
    far=st.integers(-1, 6),
    part=st.integers(1, 6),
    sizes=st.sampled_from([(1,), (1, 2), (2, 4), (64,)]),
)
def test_all_that_is_far_and_all_that_repeats_has_the_bits_of_the_interpreter(
    recipe: Recipe, batch: Batch, single: bool, far: int, part: int, sizes: tuple[int, ...]
) -> None:
    program = recipe.program()
    with pytest.MonkeyPatch.context() as patch:
        short = Kernel(program, single=single, keep=False)(batch.strided, batch.samples)
        patched(patch, long=-1, far=far, part=part, sizes=sizes)
        ready = Kernel(program, single=single, keep=False)
        long = trimmed(ready(batch.strided, batch.samples), batch.samples)
    expected = trimmed(short, batch.samples) if single else interpret(program, batch.inputs, batch.samples)
    assert_same_bits(long, expected)


def chain(length: int) -> Program:
    """Sums of all that was made two to eleven operations before, so that ten values are needed at once."""

    def one_sample(x: np.ndarray) -> dict[str, list[object]]:
        values = list(x)
        for _ in range(length):
            values.append(values[-10] * values[-1] + values[-5])
        return {"y": values[-1:]}

    return trace("chain", one_sample, case={}, sample={"x": (10,)})


def test_slots_are_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "FAR", 3)
    monkeypatch.setattr(slots, "LONG", 400)
    program = chain(500)
    kept = slots.kernel_slots(program, repeats.Repeats(program, ()))
    assert len(kept) > 400
    assert kept.count <= 11
    assert set(kept.values()) == set(range(kept.count))


def test_short_programs_are_one_part(monkeypatch: pytest.MonkeyPatch) -> None:
    short, long = chain(slots.LONG // 2), chain(slots.LONG + 1)
    assert "volatile" not in emitter.source(short)
    assert "@stretch0" in emitter.source(long)
    monkeypatch.setattr(repeats, "SIZES", (2 * slots.LONG,))
    assert "blockaddress" in emitter.source(long)
