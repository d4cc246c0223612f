"""Programs in turn in one call: the bits of the programs alone, and what is refused."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from tasks.kernels.kernel import LANES, Kernel, empty_rows
from tasks.kernels.lanes import BoundKernel, ProgramSequence, empty
from tasks.kernels.like_calls import LikeCalls
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import where

SAMPLES = 3 * LANES


def first() -> Program:
    def one_sample(size: Any, x: Any) -> dict[str, Any]:
        scale = np.sqrt(size[0]) + 1.0
        return {"y": [np.sqrt(x[0]) * scale, x[1] * x[0] + scale], "z": [x[0] - scale]}

    return trace("first", one_sample, case={"size": (1,)}, sample={"x": (2,)})


def second() -> Program:
    return trace("second", lambda y: {"w": [y[0] * y[1] - y[0]]}, case={}, sample={"y": (2,)})


def test_programs_in_turn_have_their_bits() -> None:
    random = np.random.default_rng(1)
    case, x = random.uniform(1.0, 2.0, (SAMPLES, 1)), empty_rows((2, SAMPLES))
    x[:] = random.uniform(0.1, 1.0, x.shape)
    bound = BoundKernel(first(), {"size": case})
    apart = bound({"x": x[None]}, SAMPLES)
    w = Kernel(second())({"y": np.ascontiguousarray(apart["y"])}, SAMPLES)["w"][0]
    sequence = ProgramSequence()
    start = sequence.wide(2)
    results = {"z": sequence.wide(1)}
    middle = bound.add_to(sequence, {"x": start}, results)["y"]
    results |= sequence.add(second(), {"y": middle}, {"w": sequence.wide(1)})
    for _ in range(2):
        arrays = empty(results, SAMPLES)
        sequence({start: x} | {slot: arrays[key] for key, slot in results.items()}, SAMPLES)
        assert arrays["z"].tobytes() == apart["z"][0].tobytes()
        assert arrays["w"].tobytes() == np.ascontiguousarray(w).tobytes()


@pytest.mark.parametrize("count", [3, LANES + 2])
def test_like_kernels_of_one_case_have_their_bits(count: int) -> None:
    random = np.random.default_rng(2)
    like, other = first(), trace("other", lambda x: {"y": [x[1] - x[0], x[0]], "z": []}, case={}, sample={"x": (2,)})
    runs = [
        BoundKernel(like, {"size": np.repeat(random.uniform(1.0, 2.0, (1, 1)), LANES, axis=0)}) for _ in range(count)
    ]
    runs.insert(1, BoundKernel(other, {}))
    x = np.repeat(random.uniform(0.1, 1.0, (2, 1)), LANES, axis=1)
    apart = [run({"x": x[None]}, LANES)["y"][0] for run in runs]
    taken = {}
    for alone in (False, True):
        sequence = ProgramSequence()
        start, wide = sequence.wide(2), sequence.wide(2 * len(runs))
        places = [{"y": wide.rows(slice(2 * k, 2 * k + 2))} for k in range(len(runs))]
        calls = LikeCalls(sequence, runs, alone=alone)
        again = calls.add({"x": start}, calls.add({"x": start}, places))
        y = np.zeros((wide.size, LANES))
        sequence({start: x, wide: y}, LANES)
        assert [result["y"] for result in again] == [place["y"] for place in places]
        assert y.tobytes() == np.concatenate(apart).tobytes()
        kernels = [run for run in sequence._programs if isinstance(run, Kernel)]
        taken[alone] = sum("prepared" in run.program.sample for run in kernels)
    assert taken == {False: 2 * count, True: 2 * -(-count // LANES)}


def test_products_are_rounded_where_that_is_asked_for() -> None:
    x = np.full((1, 2, LANES), 1.0 + 2.0**-30)
    sums = [
        Kernel(trace("sum", lambda x: {"s": [x[0] * x[1] - 1.0]}, case={}, sample={"x": (2,)}, fuse=fuse))
        for fuse in (True, False)
    ]
    fused, rounded = (float(run({"x": x}, LANES)["s"][0, 0, 0]) for run in sums)
    assert rounded == (1.0 + 2.0**-30) * (1.0 + 2.0**-30) - 1.0
    assert fused - rounded == 2.0**-60


def test_what_does_not_fit_is_refused() -> None:
    sequence = ProgramSequence()
    with pytest.raises(ValueError, match="first: got case inputs or reductions; expected none in a sequence"):
        sequence.add(first(), {"x": sequence.wide(2)}, {})
    with pytest.raises(ValueError, match="second: y got 3 rows; expected 2"):
        sequence.add(second(), {"y": sequence.local(3)}, {})
    sequence = ProgramSequence()
    start = sequence.wide(2)
    sequence.add(second(), {"y": start}, {})
    with pytest.raises(ValueError, match=r"got \(2, 4\); expected float64 \(2, 8\) in rows"):
        sequence({start: np.zeros((2, 4))}, LANES)
    with pytest.raises(ValueError, match="samples: got 4; expected whole groups of 8"):
        sequence({start: np.zeros((2, 4))}, 4)


def test_samples_are_those_of_the_cases() -> None:
    sequence, bound = ProgramSequence(), BoundKernel(first(), {"size": np.ones((SAMPLES, 1))})
    x = sequence.wide(2)
    bound.add_to(sequence, {"x": x})
    with pytest.raises(ValueError, match="samples: got 8; expected whole groups of 8, 24 as of fixed arrays"):
        sequence({x: np.zeros((2, LANES))}, LANES)


def test_a_sequence_is_not_copied() -> None:
    with pytest.raises(TypeError, match="cannot be copied"):
        copy.deepcopy(ProgramSequence())


def growing(stop: ProgramSequence) -> Any:
    """Numbers that double from step to step, until one is above a bound of its lane."""

    def one_sample(x: Any, bound: Any) -> dict[str, Any]:
        return {"next": [x[0] + x[0]], "flag": [where(x[0] + x[0] > bound[0], 1.0, 0.0)]}

    program = trace("growing", one_sample, case={}, sample={"x": (1,), "bound": (1,)})
    before, after, bound, flag = stop.series(1), stop.series(1), stop.wide(1), stop.local(1)
    stop.add(program, {"x": before, "bound": bound}, {"next": after, "flag": flag})
    return before, after, bound, flag


def test_steps_end_before_the_first_flag_of_all_lanes() -> None:
    sequence = ProgramSequence()
    before, after, bound, flag = growing(sequence)
    x, bounds = np.full((9, 1, SAMPLES), np.nan), np.full((1, SAMPLES), np.inf)
    x[0] = np.arange(SAMPLES) + 1.0
    arrays = {before: x, after: x[1:], bound: bounds}
    assert sequence.advance(arrays, SAMPLES, 8, flag) == 8
    assert (x[8, 0] == 2.0**8 * x[0, 0]).all()
    bounds[0, SAMPLES - 1] = 2.0**5 * SAMPLES  # step 6 of the last lane goes beyond
    assert sequence.advance(arrays, SAMPLES, 8, flag) == 5
    bounds[0, 2] = 2.0
    assert sequence.advance(arrays, SAMPLES, 8, flag) == 0


def test_some_rows_of_a_series_are_read_and_written() -> None:
    sequence = ProgramSequence()
    whole, w = sequence.series(3), sequence.series(2)
    sequence.add(second(), {"y": whole.rows(slice(1, 3))}, {"w": w.rows(slice(1, 2))})
    never = sequence.local(1)
    y, out = np.arange(3.0 * 2 * LANES).reshape(2, 3, LANES), np.zeros((2, 2, LANES))
    assert sequence.advance({whole: y, w: out}, LANES, 2, never) == 2
    assert (out[:, 1] == y[:, 1] * y[:, 2] - y[:, 1]).all()
    assert not out[:, 0].any()
