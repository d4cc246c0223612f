"""The compiled kernel and the interpreter are twins: the same bits for any program, any layout, any neighbours."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tasks.kernels import expression, kernel
from tasks.kernels.emission.emitter import source
from tasks.kernels.expression import Dual
from tasks.kernels.interpreter import interpret
from tasks.kernels.kernel import Kernel, compiled, padded
from tasks.kernels.kernel import kernel as cached
from tasks.kernels.program import Program, trace
from tests.tasks.bits import assert_same_bits, bits, inside, poisoned, trimmed
from tests.tasks.kernels.random_programs import REDUCTIONS, Batch, Recipe, batches, recipes

few = hypothesis_settings(max_examples=30)


def poisoned_outputs(ready: Kernel, cases: int, samples: int) -> dict[str, np.ndarray]:
    """Strided arrays of NaN in the shapes that the kernel would allocate."""
    return {name: poisoned(array.shape) for name, array in ready.allocate(cases, samples).items()}


@few
@given(recipe=recipes(), batch=batches())
def test_compiled_equals_interpreted_bit_for_bit(recipe: Recipe, batch: Batch) -> None:
    program = recipe.program()
    ready = Kernel(program)
    out = poisoned_outputs(ready, batch.cases, batch.samples)
    ready(batch.strided, batch.samples, out)
    assert_same_bits(trimmed(out, batch.samples), interpret(program, batch.inputs, batch.samples))
    for array in out.values():
        unwritten = np.ones(array.base.shape, dtype=bool)
        unwritten[inside(array.shape)] = False
        assert np.isnan(array.base[unwritten]).all()


@few
@given(recipe=recipes(), batch=batches())
def test_two_groups_of_samples_at_a_time_have_the_same_bits(recipe: Recipe, batch: Batch) -> None:
    program = recipe.program()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel.llvm, "widens", lambda program: True)
        ready = Kernel(program)
        out = poisoned_outputs(ready, batch.cases, batch.samples)
        ready(batch.strided, batch.samples, out)
    assert_same_bits(trimmed(out, batch.samples), interpret(program, batch.inputs, batch.samples))


def in_vectors(shape: tuple[int, ...], first: int = 0) -> np.ndarray:
    """Return an array of NaN that begins so many numbers after a whole vector."""
    size = int(np.prod(shape))
    rows = kernel.huge_pages(8 * (first + size)).view(float)[first:].reshape(shape)
    rows[...] = np.nan
    return rows


@few
@given(recipe=recipes(), batch=batches(), wide=st.booleans())
def test_results_that_pass_the_caches_have_the_same_bits(recipe: Recipe, batch: Batch, wide: bool) -> None:
    program = recipe.program()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel.llvm, "widens", lambda program: wide)
        patch.setattr(kernel, "STREAMED", 0)
        ready = Kernel(program)
        out = {name: in_vectors(shape) for name, shape in ready.shapes(batch.cases, batch.samples).items()}
        ready(batch.strided, batch.samples, out)
    ((_, streams),) = ready._machines
    assert streams
    assert_same_bits(trimmed(out, batch.samples), interpret(program, batch.inputs, batch.samples))


@pytest.mark.parametrize(("least", "first", "streams"), [(0, 0, True), (0, 1, False), (3 * 2 * 64 * 8 + 1, 0, False)])
def test_only_many_results_in_rows_of_whole_vectors_pass_the_caches(
    monkeypatch: pytest.MonkeyPatch, least: int, first: int, streams: bool
) -> None:
    monkeypatch.setattr(kernel, "STREAMED", least)
    ready = Kernel(trace("twice", lambda x: {"twice": 2.0 * x}, case={}, sample={"x": (3,)}))
    given = np.arange(3.0 * 2 * 64).reshape(2, 3, 64)
    found = ready({"x": given}, 64, {"twice": in_vectors(given.shape, first)})["twice"]
    np.testing.assert_array_equal(found, 2.0 * given)
    assert [key[1] for key in ready._machines] == [streams]
    assert ("nontemporal" in source(ready.program, streams=streams)) == streams


def rare_program() -> Program:
    """A root by Newton's steps, and where it lies above 2 many more in a loop that others spare."""

    def one_sample(a: np.ndarray, x: np.ndarray) -> Mapping[str, object]:
        def step(state: object) -> tuple[list[object], object]:
            better = (state[0] + x[0] / state[0]) * 0.5  # type: ignore[index]
            return [better], abs(better - state[0]) < 1e-9  # type: ignore[index]

        (root,) = expression.loop(step, [x[0]], 30)
        small = root <= 2.0

        def halve(state: object) -> tuple[list[object], object]:
            return [state[0] * a[0], state[1] + 1.0], state[0] * x[1] < 1.0  # type: ignore[index]

        less, count = expression.loop(halve, [root, x[1] * 0.0], 50, skip=small)
        return {"less": less, "count": count, "most": count, "one": 1.0}

    return trace("rare", one_sample, case={"a": (1,)}, sample={"x": (2,)}, reductions={"most": "max"})


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("samples", [1, 8, 9, 24, 40])
def test_a_loop_that_samples_spare_has_the_same_bits(samples: int, wide: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel.llvm, "widens", lambda program: wide)
    random, program = np.random.default_rng(samples), rare_program()
    x = random.uniform(0.1, 3.0, (3, 2, padded(samples)))
    x[1, 0, ::9], x[2, 0] = 7.0, 9.0  # none, few of them, and all
    inputs = {"a": np.array([[0.5], [0.7], [0.9]]), "x": x}
    result = Kernel(program)(inputs, samples)
    assert_same_bits(result, interpret(program, inputs, padded(samples), valid=samples))
    assert (result["most"][:, 0] > [-1.0, 0.0, 0.0]).all()
    half = Kernel(program, single=True)(inputs, samples)
    monkeypatch.setattr(kernel.llvm, "widens", lambda program: not wide)
    assert_same_bits(half, Kernel(program, single=True)(inputs, samples))


@few
@given(recipe=recipes(), batch=batches(), random=st.randoms(use_true_random=False))
def test_a_sample_knows_nothing_of_its_neighbours(recipe: Recipe, batch: Batch, random: object) -> None:
    ready = Kernel(recipe.program())
    order = list(range(padded(batch.samples)))
    random.shuffle(order)  # type: ignore[attr-defined]
    moved = {name: value[..., order] if value.ndim == 3 else value for name, value in batch.strided.items()}
    width = len(order)
    straight, shuffled = (
        ready(batch.strided, width),
        ready({k: np.ascontiguousarray(v) for k, v in moved.items()}, width),
    )
    for name in set(straight) - set(REDUCTIONS):
        np.testing.assert_array_equal(bits(straight[name][..., order]), bits(shuffled[name]), err_msg=name)


@few
@given(recipe=recipes(), batch=batches(), data=st.data())
def test_nan_stays_in_its_own_sample(recipe: Recipe, batch: Batch, data: st.DataObject) -> None:
    ready = Kernel(recipe.program())
    spoilt = data.draw(st.integers(0, batch.samples - 1))
    before = trimmed(ready(batch.strided, batch.samples), batch.samples)
    for name in ("x", "y"):
        batch.strided[name][..., spoilt] = np.nan
    after = trimmed(ready(batch.strided, batch.samples), batch.samples)
    others = np.arange(batch.samples) != spoilt
    for name in set(before) - set(REDUCTIONS):
        np.testing.assert_array_equal(bits(before[name][..., others]), bits(after[name][..., others]), err_msg=name)


@few
@given(recipe=recipes(), batch=batches())
def test_without_llvm_the_padding_is_computed_too(recipe: Recipe, batch: Batch) -> None:
    program = recipe.program()
    slow, fast = Kernel(program, compiled=False).prepare(), Kernel(program).prepare()
    assert (slow.compiled, fast.compiled) == (False, True)
    outs = [poisoned_outputs(each, batch.cases, batch.samples) for each in (slow, fast)]
    for each, out in zip((slow, fast), outs, strict=True):
        assert each(batch.strided, batch.samples, out) is out
    assert_same_bits(*outs)


@given(recipe=recipes(), batch=batches())
@hypothesis_settings(max_examples=20)
def test_many_cases_equal_each_case_alone(recipe: Recipe, batch: Batch) -> None:
    ready = Kernel(recipe.program())
    together = ready(batch.strided, batch.samples)
    for case in range(batch.cases):
        alone = {name: value[case : case + 1] if len(value) > 1 else value for name, value in batch.strided.items()}
        assert_same_bits(ready(alone, batch.samples), {k: v[case : case + 1] for k, v in together.items()})


def slow_program() -> Program:
    """A few thousand rounds of Newton's square root for every sample, however soon it has converged."""

    def one_sample(x: np.ndarray) -> Mapping[str, object]:
        def step(state: object) -> tuple[list[object], object]:
            return [(state[0] + x[0] / state[0]) * 0.5], state[0] < 0.0  # type: ignore[index]

        return {"root": expression.loop(step, [x[0]], 2000)}

    return trace("roots", one_sample, case={}, sample={"x": (1,)})


def test_four_threads_share_a_kernel() -> None:
    ready = Kernel(slow_program())  # compiled by whichever thread comes first
    x = np.random.default_rng(1).uniform(0.1, 10.0, (1, 1, 800))
    results: list[np.ndarray] = [np.empty(0)] * 4
    start = threading.Barrier(4)

    def work(k: int) -> None:
        start.wait()
        results[k] = ready({"x": x}, 800)["root"]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        np.testing.assert_array_equal(bits(result), bits(results[0]))
    np.testing.assert_allclose(results[0], np.sqrt(x), rtol=1e-15)


def test_python_runs_while_a_kernel_does() -> None:
    ready, width = Kernel(slow_program()).prepare(), 16384
    x, seen = np.ones((1, 1, width)), False
    for _ in range(20):  # the machine may be too busy to look in time
        out = {"root": np.full((1, 1, width), np.nan)}
        thread = threading.Thread(target=ready, args=({"x": x}, width, out))
        thread.start()
        while thread.is_alive() and not seen:
            # the first sample is there and the last is not: we are in the middle of a call
            seen = bool(np.isnan(out["root"][0, 0, -1]) and not np.isnan(out["root"][0, 0, 0]))
        thread.join()
        if seen:
            return
    pytest.fail("no Python code ran during 20 calls: the kernel holds the interpreter lock")


def total_program() -> Program:
    return trace(
        "total",
        lambda a, x: {"twice": x * 2.0, "sum": x * a[0], "high": x[:1], "low": x[:1]},
        case={"a": (1,)},
        sample={"x": (3,)},
        reductions=REDUCTIONS,
    )


@pytest.mark.parametrize("samples", [1, 2, 7, 8, 9, 16, 17])
@pytest.mark.parametrize("fast", [True, False])
def test_reductions_leave_padding_out(samples: int, fast: bool) -> None:
    x = np.full((2, 3, padded(samples)), 1e9)
    x[..., :samples] = np.random.default_rng(samples).normal(size=(2, 3, samples))
    result = Kernel(total_program(), compiled=fast)({"a": np.full((1, 1), 3.0), "x": x}, samples)
    np.testing.assert_allclose(result["sum"], 3.0 * x[..., :samples].sum(axis=-1), rtol=1e-13, atol=1e-14)
    np.testing.assert_array_equal(result["high"], x[:, :1, :samples].max(axis=-1))
    np.testing.assert_array_equal(result["low"], x[:, :1, :samples].min(axis=-1))


@pytest.mark.parametrize("fast", [True, False])
def test_a_reduction_over_no_samples_is_its_identity(fast: bool) -> None:
    ready = Kernel(total_program(), compiled=fast)
    out = {name: np.full_like(array, np.nan) for name, array in ready.allocate(1, 0).items()}
    ready({"a": np.ones((1, 1)), "x": np.empty((1, 3, 0))}, 0, out)
    assert (out["sum"] == 0.0).all()
    assert (out["high"] == -np.inf).all()
    assert (out["low"] == np.inf).all()


def good_arrays() -> dict[str, np.ndarray]:
    return {"a": np.ones((2, 1)), "x": np.ones((1, 3, 8))}


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize(
    ("name", "wrong", "text"),
    [
        ("x", np.ones((1, 3, 5)), r"total: array 'x' has shape \(1, 3, 5\) .* expected float64 of shape \(2, 3, 8\)"),
        ("x", np.ones((1, 4, 8)), r"array 'x' has shape \(1, 4, 8\)"),
        ("x", np.ones((1, 3, 8), dtype=np.float32), "array 'x' .* type float32; expected float64"),
        ("x", np.ones((1, 3, 16))[..., ::2], "array 'x' .* samples contiguous"),
        ("a", np.ones((2, 2)), r"array 'a' has shape \(2, 2\) .* expected float64 of shape \(2, 1\)"),
        ("a", np.ones(2), r"array 'a' has shape \(2,\)"),
    ],
)
def test_arrays_are_checked_at_the_door(fast: bool, name: str, wrong: np.ndarray, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Kernel(total_program(), compiled=fast)({**good_arrays(), name: wrong}, 8)


def test_an_output_needs_a_place_for_every_case() -> None:
    ready = Kernel(total_program())
    out = ready.allocate(2, 8)
    out["sum"] = out["sum"][:1]
    with pytest.raises(ValueError, match=r"array 'sum' has shape \(1, 3\) .* expected float64 of shape \(2, 3\)"):
        ready(good_arrays(), 8, out)


def test_a_process_compiles_a_program_once() -> None:
    program = total_program()
    first = cached(program).prepare()
    assert cached(program) is first
    assert first.seconds_to_compile > 0.0
    assert compiled()["total"] == first.seconds_to_compile


def test_samples_are_padded_to_whole_groups_of_lanes() -> None:
    assert kernel.LANES == 8
    assert [padded(n) for n in (0, 1, 8, 9)] == [0, 8, 8, 16]


@pytest.mark.parametrize("samples", [0, 8, 127, 128, 1000, 1024, 4096])
def test_rows_do_not_share_lines_of_a_cache(samples: int) -> None:
    ready = Kernel(trace("twice", lambda x: {"twice": 2.0 * x}, case={}, sample={"x": (3,)}))
    array = ready.allocate(2, samples)["twice"]
    assert array.shape == (2, 3, padded(samples))
    assert array.strides[1] % 1024 != 0
    given = np.arange(6.0 * padded(samples)).reshape(array.shape)
    np.testing.assert_array_equal(ready({"x": given}, samples)["twice"], 2.0 * given)


@pytest.mark.parametrize("single", [False, True])
def test_constants_of_outputs_are_there_from_the_start_and_need_not_be_written_again(single: bool) -> None:
    tolerance = Dual(1e-12, 0.1)

    def one_sample(x: Any) -> dict[str, Any]:
        return {"y": [0.0, x[0] + 1.0, 0.1, tolerance], "peak": [2.5, x[0]]}

    program = trace("constants", one_sample, case={}, sample={"x": (1,)}, reductions={"peak": "max"})
    run, inputs = Kernel(program, single=single, keep=False), {"x": np.arange(48.0).reshape(2, 1, 24)}
    expected = run(inputs, 24)
    out = run.allocate(2, 24)
    constant = [0, 2, 3]
    np.testing.assert_array_equal(out["y"][:, constant], expected["y"][:, constant])
    run(inputs, 24, out, filled=True)
    np.testing.assert_array_equal(out["y"], expected["y"])
    np.testing.assert_array_equal(out["peak"], expected["peak"])
    out["y"][:, constant] = 7.0
    run(inputs, 24, out, filled=True)
    assert (out["y"][:, constant] == 7.0).all()
    run(inputs, 24, out)
    np.testing.assert_array_equal(out["y"], expected["y"])


def test_better_code_comes_with_more_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LIMBSWEEP_COMPILE", raising=False)
    monkeypatch.setattr(kernel, "BEGINNING", 0)
    monkeypatch.setattr(kernel, "SHORT", 0)
    run, inputs = Kernel(total_program(), keep=False), good_arrays()
    cases = max(len(values) for values in inputs.values())
    monkeypatch.setattr(kernel, "FEW", 2 * 8 * cases)
    first = run(inputs, 8)
    (quick,) = run._machines.values()
    run(inputs, 8)
    assert list(run._machines.values()) == [quick]
    later = run(inputs, 8)
    (better,) = run._machines.values()
    assert (quick.is_best, better.is_best) == (False, True)
    assert_same_bits(first, later)
    assert Kernel(total_program(), keep=False).prepare()._machines[False, False].is_best
