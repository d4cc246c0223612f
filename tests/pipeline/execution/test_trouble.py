"""Runs in trouble that go on: poisoned cases, lost schedulers, workers that hang; and runs that stop and say so."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from dask._task_spec import Task

from applications.commands.cli import cli
from pipeline.cluster.connection import ClusterConfig
from pipeline.errors import InputError, RunCancelledError, RunStoppedError
from pipeline.execution import graph
from pipeline.execution.blocks import block_of
from pipeline.execution.policy.attempts import Timeouts
from pipeline.execution.policy.memory_restarts import MemoryRestarts
from pipeline.execution.policy.watchdog import Watchdog
from pipeline.execution.run import run
from pipeline.monitor.log import (
    BlockDone,
    BlockRetried,
    CaseFailed,
    ClusterRestarted,
    Event,
    Finished,
    Stopped,
    Waiting,
    request_cancel,
)
from pipeline.monitor.status import status
from pipeline.plan.model import Plan
from robots.status import Status
from storage import open_results
from tests.pipeline.bad_tasks import FOREVER, KINDS, WRONG_TYPE, Bad
from tests.pipeline.runs import (
    FEW,
    SYNCHRONOUS,
    content_hash,
    cut_finely,
    done,
    failures,
    sweep,
    wrap_blocks,
)

BLOCKS = 48
SHORT_OF_MEMORY = (
    r"workers were ended 2 times because their memory was full, and no block was computed between; the last, tls://"
    r"127\.0\.0\.1:\d+, held .*iB while blocks 0, 1.* were in flight, for each of which .*iB are planned; give workers"
)
QUICK_TO_CLOSE = {"distributed": {"comm": {"timeouts": {"connect": "2s"}}, "scheduler": {"allowed-failures": 1}}}
LOCAL = replace(ClusterConfig.of(n_workers=1, threads_per_worker=2), settings=QUICK_TO_CLOSE)


@pytest.fixture(autouse=True)
def _cut(monkeypatch: pytest.MonkeyPatch) -> None:
    cut_finely(monkeypatch)


@pytest.fixture(scope="module")
def good() -> Any:
    return run(sweep(FEW), cluster=SYNCHRONOUS)


def poison(monkeypatch: pytest.MonkeyPatch, text: str, kinds: tuple[tuple[float, str], ...]) -> None:
    """Let computations of some upper arms go wrong, on workers and in processes of their own."""
    bad = Bad(kinds)

    def first(plan: Plan, index: int, *others: Any) -> Any:
        tasks, key = graph.block_graph(plan, index, *others)
        name = next(each for each in tasks if each[0].startswith("store"))
        tasks[name] = Task(name, _after, bad, block_of(plan, index), tasks[name].func, *tasks[name].args)
        return tasks, key

    monkeypatch.setattr("pipeline.execution.loop.block_graph", first)
    isolation = graph.Isolation
    monkeypatch.setattr(graph, "Isolation", lambda *limits: isolation(*limits[:3], bad))


def _after(bad: Bad, block: Any, body: Callable[..., Any], *arguments: Any) -> Any:
    """The body of a task, in whose stead something goes wrong."""
    wrong = graph.guarded_task(bad)(block)
    return wrong if isinstance(wrong, str) else body(*arguments)


def _is_flagged(found: Any, good: Any, designs: list[int]) -> None:
    """Check that only these designs hold NaN with a status; all others have the bits of a good run."""
    failed = np.isin(np.arange(found.sizes["design"]), designs)
    assert np.isnan(found.actuator_force.values[failed]).all()
    assert (found.status.values[failed] == Status.COMPUTATION_FAILED).all()
    assert (found.worst_status.values[failed] == Status.COMPUTATION_FAILED).all()
    assert content_hash(found.isel(design=~failed)) == content_hash(good.isel(design=~failed))


def test_poisoned_cases_are_flagged_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, good: Any
) -> None:
    poison(monkeypatch, FEW, ((0.25, "raises"),))
    monkeypatch.setattr("pipeline.execution.processes.isolation.TRIES", 1)
    text = FEW.replace("base_radius: {values: [0.14, 0.15, 0.16]}", "base_radius: {values: [0.14]}")
    cut_finely(monkeypatch, small=2 * 41, friction=10**9)
    events: list[Event] = []
    (tmp_path / "few.yaml").write_text(text)
    run(sweep(text), tmp_path / "few.zarr", SYNCHRONOUS, [events.append])
    assert sorted(done(events)) == list(range(4))
    assert failures(events) == {}
    flagged = [each for each in events if isinstance(each, CaseFailed)]
    assert {(each.design, each.reason) for each in flagged} == {(1, "ZeroDivisionError: a poisoned design")}
    assert len(flagged) == 6
    assert isinstance(events[-1], Finished)
    assert (events[-1].failed_blocks, events[-1].failed_cases) == (0, 6)
    _is_flagged(open_results(tmp_path / "few.zarr"), good.isel(design=[0, 3, 6, 9]), [1])
    monkeypatch.chdir(tmp_path)
    for _ in range(2):  # as long as the store has them
        again = CliRunner().invoke(cli, ["run", "few.yaml"])
        assert again.exit_code == 1
        assert "6 cases cannot be computed: NaN in the store; limbsweep status few.zarr says which" in again.stderr
    told = CliRunner().invoke(cli, ["status", "few.zarr"])
    assert (told.exit_code, "finished" in told.stdout) == (0, True)
    assert "design 1, friction 2, trajectory 0 holds NaN: ZeroDivisionError: a poisoned design" in told.stdout


def test_a_block_that_fails_once_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, good: Any) -> None:
    wrap_blocks(monkeypatch, _fails_once, str(tmp_path), (5, 9))
    events: list[Event] = []
    found = run(sweep(FEW), tmp_path / "s.zarr", SYNCHRONOUS, [events.append])
    retried = [each for each in events if isinstance(each, BlockRetried)]
    assert retried == [BlockRetried(index, "compute", "OSError: only now") for index in (5, 9)]
    assert content_hash(found) == content_hash(good)


def _fails_once(folder: str, victims: tuple[int, ...], index: int, body: Callable[..., Any], *arguments: Any) -> Any:
    mark = Path(folder, str(index))
    if index in victims and not mark.exists():
        mark.touch()
        raise OSError("only now")
    return body(*arguments)


def _fails(index: int, body: Callable[..., Any], *arguments: Any) -> Any:
    raise ValueError(f"no block can be computed, not even {index}")


def test_a_run_in_which_nothing_works_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrap_blocks(monkeypatch, _fails)
    events: list[Event] = []
    with pytest.raises(
        RunStoppedError, match="8 blocks were given up and none was done; the last: ValueError: no block"
    ):
        run(sweep(FEW), tmp_path / "s.zarr", SYNCHRONOUS, [events.append])
    assert len(failures(events)) == 8
    assert isinstance(events[-1], Stopped)
    monkeypatch.chdir(tmp_path)
    Path("few.yaml").write_text(FEW)
    Path("here.yaml").write_text("limbsweep: {cluster: {kind: synchronous}}\n")
    again = CliRunner().invoke(cli, ["run", "few.yaml", "--store", "t.zarr", "--cluster", "here.yaml"])
    assert again.exit_code == 1
    assert again.stderr.endswith("go on with: limbsweep run few.yaml --store t.zarr --cluster here.yaml\n")


def _gives_nothing(index: int, body: Callable[..., Any], *arguments: Any) -> Any:
    return None if index == 4 else body(*arguments)


def test_a_task_that_gives_no_receipt_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrap_blocks(monkeypatch, _gives_nothing)
    events: list[Event] = []
    run(sweep(FEW), tmp_path / "s.zarr", SYNCHRONOUS, [events.append])
    assert failures(events) == {4: "a task gave a NoneType instead of a receipt"}


def test_a_cancelled_run_stops_and_can_be_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.execution.loop.TICK", 0.0)
    path = tmp_path / "s.zarr"

    def ask(event: Event) -> None:
        if isinstance(event, BlockDone) and event.block == 6:
            request_cancel(path)

    with pytest.raises(RunCancelledError, match="cancelled; stored results are kept"):
        run(sweep(FEW), path, SYNCHRONOUS, [ask])
    assert status(path).done == 7
    run(sweep(FEW), path, SYNCHRONOUS)
    assert status(path).state == "finished"


def _never_ends(folder: str, index: int, body: Callable[..., Any], *arguments: Any) -> Any:
    Path(folder, "begun").touch()
    time.sleep(FOREVER)
    return body(*arguments)


@pytest.mark.slow
def test_a_run_without_news_says_so_and_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = itertools.count(1)

    def clock() -> float:
        """Return the looks at this clock since a block began, however long they lie apart."""
        return float(next(looks)) if (tmp_path / "begun").exists() else 0.0

    wrap_blocks(monkeypatch, _never_ends, str(tmp_path))
    monkeypatch.setattr("pipeline.execution.loop.TICK", 0.1)
    monkeypatch.setattr("pipeline.execution.loop.Watchdog", partial(Watchdog, clock=clock))
    events: list[Event] = []
    with pytest.raises(RunStoppedError, match=r"nothing came back for (19|20) s: 1 workers, .* blocks in flight"):
        run(sweep(FEW), tmp_path / "s.zarr", LOCAL, [events.append], timeouts=Timeouts(quiet=6.0, patience=20.0))
    waiting = [each for each in events if isinstance(each, Waiting) and "blocks in flight" in each.what]
    assert len(waiting) == 3


def _eats_memory(index: int, body: Callable[..., Any], *arguments: Any) -> Any:
    too_much = np.ones(80 << 20)  # 640 MiB
    time.sleep(60.0)
    return body(*arguments, too_much)


@pytest.mark.slow
def test_workers_that_are_ended_for_their_memory_again_and_again_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrap_blocks(monkeypatch, _eats_memory)
    monkeypatch.setattr("pipeline.execution.loop.MemoryRestarts", partial(MemoryRestarts, most=2))
    monkeypatch.setattr("pipeline.execution.loop.TICK", 0.1)
    config = ClusterConfig.of(n_workers=1, threads_per_worker=1, memory_limit="600 MiB")
    events: list[Event] = []
    with pytest.raises(RunStoppedError, match=SHORT_OF_MEMORY):
        run(sweep(FEW), tmp_path / "s.zarr", config, [events.append])
    assert isinstance(events[-1], Stopped)
    assert done(events) == []


@pytest.mark.slow
def test_workers_that_are_ended_for_their_memory_before_a_block_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIMBSWEEP_CACHE", str(tmp_path / "kernels"))  # they compile, and that takes more memory
    config = ClusterConfig.of(n_workers=1, threads_per_worker=1, memory_limit="150 MB")
    # The sentence of those that answer at last is another, with the same need.
    with pytest.raises((RunStoppedError, InputError), match=r"at least 2\d\d MiB.*[Gg]ive workers more memory"):
        run(sweep(FEW), tmp_path / "s.zarr", config)


@pytest.mark.slow
def test_a_local_cluster_that_is_lost_is_started_again_once(tmp_path: Path, good: Any) -> None:
    path, events = tmp_path / "s.zarr", []

    def lose(limit: int, event: Event) -> None:
        from distributed import Client

        events.append(event)
        if isinstance(event, BlockDone) and sum(isinstance(each, BlockDone) for each in events) in (5, limit):
            (client,) = [each for each in Client._instances if each.status == "running"]
            cluster = client.cluster
            cluster.sync(cluster.scheduler.close)

    with pytest.raises(RunStoppedError, match="the scheduler has gone; stored results are kept"):
        run(sweep(FEW), path, LOCAL, [partial(lose, 12)])
    restarted = [each for each in events if isinstance(each, ClusterRestarted)]
    assert restarted == [ClusterRestarted("the scheduler has gone")]
    stored = status(path).done
    assert 12 <= stored < BLOCKS
    events.clear()
    found = run(sweep(FEW), path, LOCAL, [partial(lose, 0)])
    assert isinstance(events[-1], Finished)
    assert len(done(events)) == BLOCKS - stored
    assert content_hash(found) == content_hash(good)


@pytest.mark.chaos
def test_twelve_kinds_of_bad_tasks_on_a_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind for one of many designs, in one run: they are flagged, no other is, and the workers are there."""
    kinds = [*KINDS, WRONG_TYPE]
    arms = [round(0.22 + 0.005 * k, 4) for k in range(2 * len(kinds))]
    text = FEW.replace("[0.22, 0.25, 0.28, 0.31]", str(arms)).replace("[0.14, 0.15, 0.16]", "[0.14]")
    text = text.replace("[0.0, 0.05, 0.1]", "[0.05]").replace("  fast: {kind: circle, radius: 0.1, period: 0.5}\n", "")
    cut_finely(monkeypatch, small=2 * 41)
    good = run(sweep(text), cluster=SYNCHRONOUS)
    poison(monkeypatch, text, tuple((arms[2 * k], kind) for k, kind in enumerate(kinds)))
    events: list[Event] = []
    timeouts = Timeouts(block=10.0, part=15.0, patience=300.0)
    config = replace(ClusterConfig.of(n_workers=2, threads_per_worker=2), settings=QUICK_TO_CLOSE)
    start = time.monotonic()
    run(sweep(text), tmp_path / "s.zarr", config, [events.append], timeouts=timeouts)
    flagged = {each.design: each.reason for each in events if isinstance(each, CaseFailed)}
    print(f"{len(kinds)} kinds in {time.monotonic() - start:.0f} s")
    for k, kind in enumerate(kinds):
        print(f"  {kind}: {flagged[2 * k][:70]}")
    assert sorted(flagged) == [2 * k for k in range(len(kinds))]
    assert failures(events) == {}
    _is_flagged(open_results(tmp_path / "s.zarr"), good, sorted(flagged))


@pytest.mark.chaos
def test_twenty_poison_samples_among_two_hundred_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check samples that fail in any way and place: only these are flagged, and no worker is lost for good."""
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    arms = [round(0.22 + 0.0004 * k, 4) for k in range(200)]
    text = FEW.replace("[0.22, 0.25, 0.28, 0.31]", str(arms)).replace("[0.14, 0.15, 0.16]", "[0.14]")
    text = text.replace("[0.0, 0.05, 0.1]", "[0.05]").replace("  fast: {kind: circle, radius: 0.1, period: 0.5}\n", "")
    cut_finely(monkeypatch)
    good = run(sweep(text), cluster=SYNCHRONOUS)
    bad = sorted(chance.sample(range(len(arms)), 20))
    kinds = [kind for kind in (*KINDS, WRONG_TYPE) if kind not in ("loop", "hang")]
    poison(monkeypatch, text, tuple((arms[k], chance.choice(kinds)) for k in bad))
    events: list[Event] = []
    config = replace(ClusterConfig.of(n_workers=2, threads_per_worker=1), settings=QUICK_TO_CLOSE)
    start = time.monotonic()
    run(sweep(text), tmp_path / "s.zarr", config, [events.append])
    flagged = sorted(each.design for each in events if isinstance(each, CaseFailed))
    isolated = {each.block for each in events if isinstance(each, BlockRetried) and each.step == "isolate"}
    print(f"{len(flagged)} of 200 blocks flagged, {len(isolated)} isolated, {time.monotonic() - start:.0f} s")
    assert flagged == bad
    assert sorted(done(events)) == list(range(200))
    assert failures(events) == {}
    _is_flagged(open_results(tmp_path / "s.zarr"), good, bad)
