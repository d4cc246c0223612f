from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import TaskError
from pipeline.execution import work
from pipeline.execution.blocks import block_of
from pipeline.execution.processes import child_process, isolation
from pipeline.execution.processes.child_process import ChildProcess
from pipeline.execution.processes.isolation import (
    Isolation,
    cases,
    cut,
    first_case,
    halves,
    in_parts,
    misfits,
    require_fit,
    whole,
)
from pipeline.monitor.log import CaseFailed
from pipeline.plan.model import Plan
from pipeline.plan.plan import plan
from robots.status import Status
from storage.schema import lookup
from storage.variables import SPLIT
from tasks.blocks.designs import BlockDesigns
from tests.pipeline.bad_tasks import KINDS, WRONG_REASON, WRONG_TYPE, Bad, BadFriction, FailsOnce
from tests.pipeline.runs import EVERYTHING, cut_finely, sweep
from tests.pipeline.small_tasks import allocate, pid, unsendable
from tests.waiting import PATIENCE

ARMS = (0.22, 0.25, 0.28, 0.31)
TWO_ARMS = EVERYTHING.replace("[0.14, 0.15, 0.16]", "[0.14]").replace("[0.22, 0.25, 0.28, 0.31]", "[0.22, 0.25]")


@pytest.fixture
def made() -> Plan:
    return plan(sweep(EVERYTHING))


@pytest.fixture(autouse=True)
def _for_a_loaded_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process, "START_SECONDS", 5 * PATIENCE)


def isolated(body: Any, seconds: float = PATIENCE, budget: float = 5 * PATIENCE) -> Isolation:
    return Isolation(seconds, budget, 1 << 20, body)


def test_a_good_block_has_the_same_bits_in_a_process_of_its_own(made: Plan) -> None:
    block = block_of(made, 0)
    arrays, flags = isolated(work.whole).compute(block, made.layout)
    expected = work.whole(block)
    assert flags == ()
    assert {name: array.tobytes() for name, array in arrays.items()} == {
        name: array.tobytes() for name, array in expected.items()
    }


SLOW = pytest.mark.slow
QUICK = ("raises", "huge message", "kill", WRONG_TYPE)


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=() if kind in QUICK else SLOW) for kind in (*KINDS, WRONG_TYPE)]
)
def test_what_goes_wrong_for_one_design_is_told_of_its_cases_only(
    kind: str, made: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = TWO_ARMS.replace("[0.0, 0.05, 0.1]", "[0.05]")
    monkeypatch.setattr(isolation, "TRIES", 1)
    made = plan(sweep(text.replace("  fast: {kind: circle, radius: 0.1, period: 0.5}\n", "")))
    block = block_of(made, 0)
    start = time.monotonic()
    # those that do not hang have time for a good part on a machine that other work keeps busy
    seconds = 10.0 if kind in ("loop", "hang") else PATIENCE
    arrays, flags = isolated(Bad(((0.25, kind),)), seconds).compute(block, made.layout)
    assert time.monotonic() - start < 5 * PATIENCE, "a hang would take an hour"
    reason = WRONG_REASON if kind == WRONG_TYPE else KINDS[kind][1]
    assert [(each.design, each.friction, each.trajectory) for each in flags] == [(1, 0, 0)]
    assert flags[0].reason.startswith(reason)
    assert len(flags[0].reason) < 600
    _only_designs_fail(arrays, work.whole(block), [1])


def _only_designs_fail(arrays: dict[str, np.ndarray], expected: dict[str, np.ndarray], failed: list[int]) -> None:
    assert set(arrays) == set(expected)
    for name, array in arrays.items():
        if "design" not in lookup(name).dims:
            np.testing.assert_array_equal(array, expected[name])
            continue
        rest = np.delete(np.arange(len(array)), failed)
        assert array[rest].tobytes() == expected[name][rest].tobytes()
        if lookup(name).kind == "status":
            assert (array[failed] == Status.COMPUTATION_FAILED).all()
        elif array.dtype.kind == "f":
            assert np.isnan(array[failed]).all()
        else:
            assert (array[failed] > 0).all()


def test_a_case_is_found_along_all_dims_and_its_status_is_shared(made: Plan) -> None:
    made = plan(sweep(TWO_ARMS))
    block = block_of(made, 0)
    arrays, flags = isolated(BadFriction()).compute(block, made.layout)
    assert [(each.design, each.friction, each.trajectory) for each in flags] == [(1, 1, 1)]
    expected, case = work.whole(block), (1, 1, 1)
    force = arrays["actuator_force"]
    assert np.isnan(force[case]).all()
    assert np.isnan(force).sum() == force[case].size, "no other case has lost anything"
    assert (arrays["status"] == Status.COMPUTATION_FAILED).sum() == len(block.times)
    assert (arrays["status"][1, 1] == Status.COMPUTATION_FAILED).all()
    assert arrays["worst_status"][1, 1] == Status.COMPUTATION_FAILED
    assert arrays["failed_samples"][1, 1] == len(block.times)
    np.testing.assert_array_equal(arrays["joint_position"], expected["joint_position"])


def test_a_block_in_which_everything_fails_is_given_up_soon(made: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = isolated(Bad(tuple((arm, "raises") for arm in ARMS)))
    monkeypatch.setattr(isolation, "MOST_FAILURES", 3)
    with pytest.raises(
        TaskError, match="4 parts of the block failed in a process of their own; the last: ZeroDivision"
    ):
        bad.compute(block_of(made, 0), made.layout)
    late = replace(bad, seconds=0.0)
    with pytest.raises(TaskError, match="1 parts of the block failed"):
        late.compute(block_of(made, 0), made.layout)


def test_a_case_that_fails_once_is_not_flagged(made: Plan, tmp_path: Path) -> None:
    made = plan(sweep(EVERYTHING.replace("[0.14, 0.15, 0.16]", "[0.14]").replace("[0.22, 0.25, 0.28, 0.31]", "[0.22]")))
    arrays, flags = isolated(FailsOnce(str(tmp_path / "mark"))).compute(block_of(made, 0), made.layout)
    assert flags == ()
    assert not np.isnan(arrays["actuator_force"]).any()


RANGES = st.tuples(st.integers(0, 50), st.integers(1, 50)).map(lambda pair: slice(pair[0], sum(pair)))


@given(st.tuples(RANGES, RANGES, RANGES).filter(lambda part: cases(part) > 1))
def test_halves_make_up_the_whole(part: Any) -> None:
    first, second = halves(part)
    assert cases(first) + cases(second) == cases(part)
    assert min(cases(first), cases(second)) > 0
    different = [axis for axis in range(3) if first[axis] != second[axis]]
    assert len(different) == 1
    axis = different[0]
    assert (first[axis].start, first[axis].stop) == (part[axis].start, second[axis].start)
    assert second[axis].stop == part[axis].stop


def test_a_part_of_a_block_is_a_block(made: Plan) -> None:
    block = block_of(made, 0)
    designs, frictions, trajectories = (each.stop for each in whole(block))
    assert (designs, frictions, trajectories) == tuple(made.layout.block[dim] for dim in SPLIT)
    part = cut(block, (slice(1, 3), slice(0, 1), slice(1, 2)))
    np.testing.assert_array_equal(part.designs.parameters, block.designs.parameters[1:3])
    assert (len(part.friction), part.trajectories) == (1, block.trajectories[1:2])
    single = first_case(block)
    assert (len(single.designs), len(single.friction), len(single.trajectories)) == (1, 1, 1)


def test_arrays_that_do_not_fit_are_told(made: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_finely(monkeypatch)
    made = plan(sweep(EVERYTHING))
    arrays = work.whole(block_of(made, 0))
    assert misfits(made.layout, 0, arrays) == ""
    assert misfits(made.layout, 0, None).startswith("a block computed a NoneType; expected [")
    assert misfits(made.layout, 0, {}).startswith("a block computed variables []; expected [")
    fewer = {name: array for name, array in arrays.items() if name != "status"} | {"zeal": arrays["status"]}
    told = misfits(made.layout, 0, fewer)
    assert told.startswith("a block computed variables ['zeal', ")
    assert "expected ['status', " in told
    wrong = arrays | {"peak_force": arrays["peak_force"].astype("f4")}
    with pytest.raises(TaskError, match=r"computed peak_force of shape .* and type float32; expected .* of float64"):
        require_fit(made.layout, 0, wrong)
    with pytest.raises(TaskError, match=r"computed peak_force of shape None and type list; expected"):
        require_fit(made.layout, 0, arrays | {"peak_force": []})


def test_a_child_is_gone_when_it_is_stopped_and_comes_back_when_it_is_needed() -> None:
    with ChildProcess(pid, 1 << 20) as child:
        done, first = child.compute(None, PATIENCE)
        assert done
        assert child.compute(None, PATIENCE) == (True, first), "one process serves many calls"
        child.stop()
        with pytest.raises(ProcessLookupError):
            os.kill(first, 0)
        _, second = child.compute(None, PATIENCE)
        assert second != first
    with pytest.raises(ProcessLookupError):
        os.kill(second, 0)


def test_memory_of_a_child_has_an_end() -> None:
    with ChildProcess(allocate, 0) as child:
        assert child.compute(1 << 20, PATIENCE) == (True, 1 << 20)
        done, reason = child.compute(1 << 36, PATIENCE)
        assert not done
        assert "MemoryError" in reason


def test_a_result_that_cannot_be_sent_is_told() -> None:
    with ChildProcess(unsendable, 0) as child:
        done, reason = child.compute(None, PATIENCE)
    assert not done
    assert "pickle" in reason


def test_a_process_that_does_not_start_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    with ChildProcess(pid, 0) as child:
        assert child.compute(None, PATIENCE) == (False, "its process ended with exit status 1")


def test_flags_name_places_in_the_dataset(monkeypatch: pytest.MonkeyPatch) -> None:
    cut_finely(monkeypatch)
    made = plan(sweep(EVERYTHING))
    monkeypatch.setattr(isolation, "TRIES", 1)
    index = next(index for index in range(made.blocks) if made.layout.grid.unravel(index) == (7, 1, 1))
    arm = float(block_of(made, index).named_parameters()["upper_arm"][0])
    settings = isolated(Bad(((arm, "raises"),)))
    _, flags = settings.compute(block_of(made, index), made.layout)
    assert flags == (CaseFailed(index, 7, 2, 1, "ZeroDivisionError: a poisoned design"),)


@pytest.mark.parametrize("steps", [{"design": 1}, {"design": 2, "friction": 1}, {"trajectory": 1}, {}])
def test_a_block_in_parts_has_the_same_bits(made: Plan, steps: dict[str, int]) -> None:
    block = block_of(made, 0)
    arrays, warnings = in_parts(block, made.layout, steps, work.stored)
    expected = work.whole(block)
    assert warnings == ()
    assert {name: array.tobytes() for name, array in arrays.items()} == {
        name: array.tobytes() for name, array in expected.items()
    }


def test_a_part_has_the_gravity_of_its_designs(made: Plan) -> None:
    block = block_of(made, 0)
    down = np.array([0.0, 0.0, -1.0]) * np.linspace(1.0, 9.81, len(block.designs))[:, None]
    block = replace(block, designs=BlockDesigns(block.designs.parameters, down))
    expected = work.whole(block)
    arrays, _ = in_parts(block, made.layout, {"design": 1}, work.stored)
    assert {name: array.tobytes() for name, array in arrays.items()} == {
        name: array.tobytes() for name, array in expected.items()
    }
