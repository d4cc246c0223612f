from __future__ import annotations

import functools
import subprocess
import sys
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.runs import shapes
from pipeline.errors import InputError, size
from pipeline.execution import contents
from pipeline.execution.contents import create_store, plan_at
from pipeline.execution.executors import choose_granularity
from pipeline.execution.graph import block_graph
from pipeline.execution.policy.workers import FULL
from pipeline.execution.preparation import computed
from pipeline.plan import model
from pipeline.plan import plan as module
from pipeline.plan.coordinates import coordinates
from pipeline.plan.memory import Lengths, pair_bytes
from pipeline.plan.model import BLOCK_BYTES, BLOCK_MEMORY, BLOCK_TARGET, REDUCED_TARGET
from pipeline.plan.plan import BLOCK_SAMPLES, FRICTION_SAMPLES, SMALL_BLOCK, fitted, least_memory, plan
from pipeline.sweep.model import Sweep
from robots.requested import QuantityNames
from storage.layout import Layout
from storage.places.access import locate
from storage.schema import lookup
from storage.store import StoreWriter
from storage.variables import BlockGrid
from tests.pipeline.runs import EVERYTHING, FEW, METRICS, OUTPUTS, SMALL, content_hash, cut_finely, sweep

ROOT = Path(__file__).parents[3]
LARGE = """\
limbsweep: 1
robot: delta_3rr2rrr
design:
  grid:
    upper_arm: {start: 0.2, stop: 0.3, num: 100}
    rod_length: {start: 0.9, stop: 1.1, num: 100}
    base_radius: {start: 0.14, stop: 0.16, num: 10}
friction: {law: coulomb_viscous, grid: {viscous: {start: 0, stop: 1, num: 10}}}
trajectories: {circle: {kind: circle, radius: 0.05}}
time: {stop: 1.0, samples: 1001}
metrics: [peak_force]
"""
"""1e9 samples with friction, 1e8 samples of dynamics."""


def long(times: int, outputs: str = "outputs: [actuator_force]") -> str:
    return SMALL.replace("time: {stop: 0.8, step: 0.02}", f"time: {{stop: 1.0, samples: {times}}}") + outputs


def test_a_small_sweep_is_one_block_with_everything_in_it() -> None:
    made = plan(sweep(EVERYTHING))
    assert made.blocks == 1
    assert made.layout.block == {"design": 12, "friction": 3, "trajectory": 2}
    assert set(made.layout.variables) == {*OUTPUTS, *METRICS, "failed_samples", "worst_status", "status"}
    assert made.samples == made.samples_of(0) == made.block_samples == 12 * 2 * 41
    assert made.tasks_per_block == 3 + 2


def test_the_status_of_samples_is_stored_with_series_of_designs_only() -> None:
    assert "status" in plan(sweep(FEW)).layout.variables
    assert "status" not in plan(sweep(SMALL + "metrics: [energy]")).layout.variables
    assert "status" not in plan(sweep(SMALL + "outputs: [platform_twist]")).layout.variables


def test_a_large_sweep_is_planned_at_once_in_blocks_of_the_wanted_size() -> None:
    asked = sweep(LARGE)
    seconds = []
    for _ in range(5):
        start = time.process_time()
        made = plan(asked)
        bounds = [made.layout.grid.bounds(index) for index in (0, made.blocks // 2, made.blocks - 1)]
        seconds.append(time.process_time() - start)
    assert min(seconds) < 0.05
    assert made.samples * 10 == 1_001_000_000
    assert BLOCK_SAMPLES // 2 < made.block_samples <= BLOCK_SAMPLES
    assert bounds[-1]["design"].stop == 100_000
    assert made.block_memory < BLOCK_MEMORY


@pytest.mark.parametrize(
    ("quantities", "target"),
    [
        ("metrics: [peak_force]", REDUCED_TARGET),
        ("metrics: [peak_reaction]", BLOCK_TARGET),
        ("outputs: [actuator_force]", BLOCK_TARGET),
    ],
)
def test_blocks_of_metrics_alone_may_hold_more(quantities: str, target: int) -> None:
    made = plan(sweep(LARGE.replace("metrics: [peak_force]", quantities)))
    handed_on = made.memory.pair(made.layout.sizes["time"]) * made.layout.block["design"]
    assert 0.8 * target < handed_on <= target
    assert made.by_limb


def test_a_worker_of_two_gibibytes_has_room_for_two_blocks_of_limb_tasks() -> None:
    made = plan(sweep(LARGE))
    room = int(FULL * (2 << 30)) - made.base_memory
    smaller = fitted(made, room)
    assert smaller is not None
    assert smaller.by_limb
    assert 2 * smaller.block_memory + made.base_memory < 0.7 * (2 << 30), "Dask would write results to the disk"


@given(
    designs=st.integers(1, 10**7),
    frictions=st.integers(1, 10**4),
    trajectories=st.integers(1, 100),
    times=st.integers(1, 10**5),
    variables=st.sampled_from([("peak_force",), ("actuator_force", "status"), ("joint_position",), ("condition",)]),
)
def test_blocks_stay_within_their_limits(
    designs: int, frictions: int, trajectories: int, times: int, variables: tuple[str, ...]
) -> None:
    sizes = {"design": designs, "friction": frictions, "trajectory": trajectories, "time": times}
    sizes |= {"actuator": 3, "limb": 3, "joint": 6}
    always = ("failed_samples", "worst_status")
    variables = (*variables, *always)
    rows = tuple(map(lookup, variables))
    each = (pair_bytes(sizes, rows, always, per_set=per_set) for per_set in (True, False))
    block = module._block(sizes, *each, 400 * times, module._Limits(None, BLOCK_TARGET))
    layout = Layout.of(BlockGrid(sizes, block), variables, steady=always)
    samples = layout.block["design"] * layout.block["trajectory"] * times
    assert samples <= max(BLOCK_SAMPLES, times)
    assert layout.block_bytes(0) <= BLOCK_BYTES
    if variables[0] in ("condition", "joint_position"):
        assert layout.block["friction"] == frictions, "blocks that own nothing"
    else:
        assert samples * layout.block["friction"] <= max(FRICTION_SAMPLES, samples)
    assert designs * trajectories * times < SMALL_BLOCK or samples > min(SMALL_BLOCK, BLOCK_SAMPLES) / 4


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (long(10_000_000), "10,000,000 times, 305 MiB of results for one design; expected at most 256 MiB"),
        (long(7_000_000, "metrics: [peak_force]"), "GiB of memory for one design; expected at most 1 GiB"),
    ],
)
def test_a_trajectory_that_is_too_long_is_refused(text: str, what: str) -> None:
    with pytest.raises(InputError) as caught:
        plan(sweep(text))
    message = str(caught.value)
    assert message.startswith("sweep time: got ")
    assert what in message
    assert "a trajectory is never cut. Use a longer step, fewer outputs, or several shorter trajectories." in message


def test_the_plan_depends_on_the_sweep_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    before = plan(sweep(LARGE)).layout
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(64)), raising=False)
    monkeypatch.setenv("DASK_NUM_WORKERS", "64")
    assert plan(sweep(LARGE + "# a comment\n")).layout == before


def test_loads_of_reactions_are_not_held_for_a_block_of_one_task() -> None:
    lengths = Lengths(designs=10**6, sets=1, trajectories=1, times=41)
    peaks, series = (plan(sweep(SMALL + text)).memory for text in
                     ("metrics: [peak_reaction]", "outputs: [joint_reaction]"))  # fmt: skip
    held = lengths.designs * lengths.width * peaks.reactions
    for memory in (peaks, series):
        assert memory.peak(lengths, 0, 0, 0, by_limb=False) < held < memory.peak(lengths, 0, 0, 0, by_limb=True)


def test_the_memory_that_a_plan_states_is_not_exceeded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tasks.blocks import assembly, limb_results, reactions, series

    monkeypatch.setattr(module, "WANTED_BLOCKS", 1)
    asked = sweep(EVERYTHING.replace("step: 0.02", "step: 0.0005"))
    lonely = sweep(EVERYTHING.replace("step: 0.02", "step: 0.00002").replace("[0.22, 0.25, 0.28, 0.31]", "[0.22]"))
    positions = replace(asked, quantities=QuantityNames(("actuator_position",)))
    for number, each in enumerate(
        (asked, lonely, replace(asked, quantities=QuantityNames((), asked.metrics)), positions)
    ):
        made = plan(each)
        create_store(made, tmp_path / str(number))
        writer = StoreWriter(tmp_path / str(number))
        for granularity in ("limb", "block"):
            _run_graph(*block_graph(made, 0, writer, "warm", granularity))
            for each in (assembly, reactions, series):  # memory that is counted
                monkeypatch.setattr(each, "empty", np.empty)
            monkeypatch.setattr(limb_results, "memory", functools.partial(np.empty, dtype=np.uint8))
            tracemalloc.start()
            _run_graph(*block_graph(made, 0, writer, "run", granularity))
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            stated = made._peak(by_limb=granularity == "limb")
            assert peak <= 1.05 * stated
            assert granularity == "block" or peak > 0.6 * stated


def _run_graph(graph: dict[object, object], key: object) -> None:
    from dask.local import get_sync

    get_sync(graph, key)


def test_rows_say_what_will_be_done(monkeypatch: pytest.MonkeyPatch) -> None:
    cut_finely(monkeypatch)
    rows = dict(plan(sweep(FEW)).rows())
    assert rows["robot"] == "delta_3rr2rrr"
    assert (rows["designs"], rows["friction sets"], rows["trajectories"], rows["times"]) == ("12", "3", "2", "41")
    assert rows["samples"] == "984"
    assert rows["blocks"] == "48 of 1 designs x 2 friction sets x 1 trajectories"
    assert rows["tasks"] == "240 (5 a block, one for each of 3 limbs)"
    assert rows["variables"] == "actuator_force, status, peak_force, failed_samples, worst_status"
    assert "before compression" in rows["stored"]
    assert "for each block in flight" in rows["memory"]


@pytest.mark.parametrize("name", ["reactions", "peaks of reactions", "all outputs", "1e5 designs x 101 times"])
def test_rows_have_the_memory_of_the_tasks_that_a_run_takes(name: str) -> None:
    made, rows = plan(Sweep.from_text(shapes.SHAPES[name])), dict(plan(Sweep.from_text(shapes.SHAPES[name])).rows())
    for threads in (None, 1):
        reacts = choose_granularity(made, threads) == "block"
        assert reacts == ("reaction" in shapes.SHAPES[name])
        memory = made._peak(by_limb=not reacts)
        assert memory < made.block_memory or not reacts
        expected = f"at most {size(memory)} for each block in flight; {size(made.base_memory + memory)} a worker"
        assert rows["memory"] == expected
        assert rows["tasks"].endswith("; a run takes one task a block, for reactions)") == reacts


def test_parts_are_even() -> None:
    assert [model.even(size, 4) for size in (1, 4, 5, 8, 9)] == [1, 4, 3, 4, 3]


def test_regions_of_blocks_have_the_sizes_of_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    cut_finely(monkeypatch)
    made = plan(sweep(EVERYTHING))
    assert made.layout.variables["actuator_force"].region_shape(0) == (1, 2, 1, 41, 3)
    assert made.layout.variables["joint_position"].region_shape(1) == (1, 1, 41, 3, 7)
    assert sum(made.samples_of(index) for index in range(made.blocks)) == 2 * made.samples


def _coordinates(text: str) -> Any:
    made = plan(sweep(text))
    return coordinates(made.sweep, made.layout, made.mechanism)


def test_coordinates_carry_swept_values_and_names() -> None:
    rows = {name: (dim, list(values), units) for name, dim, values, units, _ in _coordinates(EVERYTHING)}
    assert rows["upper_arm"] == ("design", [x for x in (0.22, 0.25, 0.28, 0.31) for _ in range(3)], "m")
    assert rows["viscous"] == ("friction", [0.0, 0.05, 0.1], "N m s/rad or N s/m")
    assert rows["trajectory"][1] == ["slow", "fast"]
    assert rows["time"][2] == "s"
    assert rows["actuator"][1] == ["limb1.1", "limb2.1", "limb3.1"]
    assert rows["limb"][1] == ["limb1", "limb2", "limb3"]
    assert rows["joint"][1] == ["1", "2", "3", "4", "5", "6", "7"]
    assert "limb" not in {name for name, *_ in _coordinates(FEW)}


def test_planning_imports_neither_dask_nor_zarr_nor_a_compiler() -> None:
    code = (
        "import sys; from pipeline.sweep.model import Sweep; from pipeline.plan.plan import plan\n"
        f"rows = plan(Sweep.from_text({SMALL + 'metrics: [energy]'!r})).rows(); assert rows\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'dask', 'zarr', 'llvmlite'}))"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


HUGE = """\
limbsweep: 1
robot: delta_3rr2rrr
design:
  grid:
    upper_arm: {start: 0.2, stop: 0.3, num: 1000}
    rod_length: {start: 0.9, stop: 1.1, num: 1000}
    base_radius: {start: 0.14, stop: 0.16, num: 1000}
trajectories: {circle: {kind: circle, radius: 0.05}}
time: {stop: 1.0, samples: 2}
metrics: [peak_force]
"""


def test_a_million_blocks_are_as_small_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    most = model.MAX_FILES
    cut_finely(monkeypatch, small=2000, wanted=10**9)
    monkeypatch.setattr(module, "MOST_BLOCKS", 10**6)
    monkeypatch.setattr(model, "MAX_FILES", most)
    with pytest.raises(InputError, match=r"got 3,000,008 files; expected at most 1,000,000\. Take fewer outputs"):
        plan(sweep(HUGE))
    monkeypatch.setattr(model, "MAX_FILES", 10**7)
    plan(sweep(HUGE))
    tracemalloc.start()
    made = plan(sweep(HUGE))
    rows, last = made.rows(), made.layout.grid.bounds(made.blocks - 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (made.blocks, made.samples, last["design"].stop) == (10**6, 2 * 10**9, 10**9)
    assert dict(rows)["blocks"] == "1,000,000 of 1000 designs x 1 friction sets x 1 trajectories"
    assert peak < 2e6


def test_blocks_grow_with_a_sweep_of_very_many_samples() -> None:
    made = plan(sweep(HUGE.replace("samples: 2", "samples: 1001")))
    rows = dict(made.rows())
    assert rows["samples"] == "1,001,000,000,000"
    assert made.blocks <= module.MOST_BLOCKS
    assert made.layout.files < 200_000
    assert made.block_memory < BLOCK_MEMORY < made._peak(by_limb=True)
    assert rows["tasks"].endswith("(one a block: limbs of blocks as long as these do not fit into memory)")
    assert choose_granularity(made, None) == "block"


def test_longer_blocks_are_one_task_and_have_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = SMALL + "outputs: [joint_reaction]\nmetrics: [peak_force]\n"
    for name, value in {"SMALL_BLOCK": 1, "BLOCK_SAMPLES": 41, "FRICTION_SAMPLES": 41}.items():
        monkeypatch.setattr(module, name, value)
    short = plan(sweep(text))
    create_store(short, locate(tmp_path / "begun"))
    for place in (module, contents):
        monkeypatch.setattr(place, "MOST_BLOCKS", short.blocks // 2)
    longer = plan(sweep(text))
    assert longer.blocks <= short.blocks // 2
    assert plan_at(sweep(text), locate(tmp_path / "begun")).layout == short.layout, "a store goes on as it began"
    monkeypatch.setattr(model, "BLOCK_MEMORY", 0)
    assert [plan.by_limb for plan in (longer, replace(longer))] == [True, False]
    hashes = {content_hash(computed(made)) for made in (short, longer, replace(longer))}
    assert len(hashes) == 1


@pytest.mark.slow
def test_a_grid_of_1e8_designs_with_conditions_is_planned_in_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    text = HUGE.replace("num: 1000", "num: 464").replace("samples: 2", "samples: 101")
    text = text.replace("design:\n", "design:\n  where: upper_arm + base_radius > 0.4 and rod_length < 4 * upper_arm\n")
    tracemalloc.start()
    start = time.perf_counter()
    made = plan(sweep(text))
    rows, blocks = made.rows(), (made.sweep.designs(*_range(made, index)) for index in range(0, made.blocks, 97))
    assert all((each["upper_arm"] + each["base_radius"] > 0.4).all() for each in blocks)
    seconds, peak = time.perf_counter() - start, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert made.samples > 10**9
    assert peak < 60e6
    with capsys.disabled():
        print(f"\n{dict(rows)['samples']} samples, {made.blocks} blocks: {seconds:.1f} s, {peak / 1e6:.0f} MB at most")


def _range(made: model.Plan, index: int) -> tuple[int, int]:
    bounds = made.layout.grid.bounds(index)["design"]
    return bounds.start, bounds.stop


def test_workers_without_room_for_a_block_compute_it_in_parts() -> None:
    made = plan(Sweep.from_text(shapes.SHAPES["20 friction sets, reactions"]))
    assert fitted(made, 2 * made.block_memory) == replace(made, room=2 * made.block_memory)
    alone = fitted(made, made.task_memory)
    assert alone is not None
    assert (alone.by_limb, alone.is_parted, alone.block_memory) == (False, False, made.task_memory)
    small = fitted(made, made.task_memory - 1)
    assert small is not None
    assert small.is_parted
    assert not small.by_limb
    assert (made.parts_per_block, small.parts_per_block) == (1, 2)
    assert small.layout == made.layout, "files stay as they are"
    least = least_memory(made)
    last = fitted(made, least)
    assert last is not None
    assert last.parts == {"design": 1, "friction": 1, "trajectory": 1}
    assert last.block_memory == least <= small.block_memory < made.block_memory
    assert fitted(made, least - 1) is None


def test_peaks_of_reactions_alone_fit_as_one_task_without_parts() -> None:
    made = plan(Sweep.from_text(shapes.SHAPES["peaks of reactions"]))
    room = (made.task_memory + made.block_memory) // 2
    small = fitted(made, room)
    assert small is not None
    assert (small.is_parted, small.by_limb, small.block_memory) == (False, False, made.task_memory)


def test_a_level_of_optimisation_that_no_kernel_knows_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIMBSWEEP_COMPILE", "fast")
    with pytest.raises(InputError, match="LIMBSWEEP_COMPILE: got 'fast'; expected best or quick"):
        plan(sweep(FEW))
