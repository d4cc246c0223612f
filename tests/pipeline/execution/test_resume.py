"""Runs that are interrupted, killed, refused or fail in part, and what a second run makes of their store."""

from __future__ import annotations

import errno
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from pipeline.cluster.connection import ClusterConfig, connect
from pipeline.errors import InputError
from pipeline.execution import run as runs
from pipeline.execution.run import run
from pipeline.monitor.log import BlockDone, Event, Finished, Started
from pipeline.plan import plan as planning
from storage import open_results
from storage.errors import StoreError
from storage.ledger import Ledger
from storage.manifest import Manifest, refusals
from storage.places.access import coordinator_lock
from tests.pipeline.runs import (
    EVERYTHING,
    FEW,
    SYNCHRONOUS,
    content_hash,
    cut_finely,
    done,
    failures,
    slowly,
    suicidal,
    sweep,
    wrap_blocks,
)

ROOT = Path(__file__).parents[3]
BLOCKS = 48
SLOW_RUN = """
import sys
from pathlib import Path
import pytest
from pipeline.cluster.file import ClusterConfig
from pipeline.execution import run as runs
from pipeline.execution.run import run
from pipeline.monitor.log import BlockDone
from tests.pipeline.runs import FEW, cut_finely, slowly, sweep, wrap_blocks

def say(event):
    if isinstance(event, BlockDone):
        print(event.block, flush=True)

if __name__ == "__main__":
    patch = pytest.MonkeyPatch()
    cut_finely(patch)
    wrap_blocks(patch, slowly, 0.02)
    run(sweep(FEW), Path(sys.argv[1]), ClusterConfig.of(sys.argv[2]), [say])
"""


@pytest.fixture(autouse=True)
def _cut(monkeypatch: pytest.MonkeyPatch) -> None:
    cut_finely(monkeypatch)


@pytest.fixture(scope="module")
def expected() -> str:
    return content_hash(run(sweep(FEW), cluster=SYNCHRONOUS))


def go(path: Path, text: str = FEW, cluster: ClusterConfig = SYNCHRONOUS) -> list[Event]:
    events: list[Event] = []
    run(sweep(text), path, cluster, [events.append])
    return events


def stop_after(blocks: int, error: BaseException) -> Callable[[Event], None]:
    """A listener that raises once so many blocks are done."""
    seen: list[Event] = []

    def listen(event: Event) -> None:
        if isinstance(event, BlockDone):
            seen.append(event)
            if len(seen) == blocks:
                raise error

    return listen


# interrupted


@pytest.mark.parametrize("blocks", [1, 20, BLOCKS])
def test_an_interrupted_run_goes_on_with_what_is_left(blocks: int, tmp_path: Path, expected: str) -> None:
    path = tmp_path / "s.zarr"
    with pytest.raises(KeyboardInterrupt):
        run(sweep(FEW), path, SYNCHRONOUS, [stop_after(blocks, KeyboardInterrupt())])
    with pytest.raises(StoreError, match=r"s\.zarr: is not finished; resume its run"):
        open_results(path)
    assert open_results(path, unfinished=True).attrs["finished"] is False
    events = go(path)
    assert isinstance(events[0], Started)
    assert (events[0].total_blocks, events[0].done_blocks) == (BLOCKS, blocks)
    assert done(events) == list(range(blocks, BLOCKS))
    assert content_hash(path) == expected
    assert "finished" not in open_results(path).attrs


def test_a_finished_store_is_opened_and_nothing_is_computed_or_connected(tmp_path: Path, expected: str) -> None:
    path = tmp_path / "s.zarr"
    go(path)
    before = {file: file.stat().st_mtime_ns for file in path.rglob("*")}
    nobody = ClusterConfig.of("address", address="tcp://127.0.0.1:9")
    assert go(path, FEW + "# only a comment\n", nobody) == []
    assert {file: file.stat().st_mtime_ns for file in path.rglob("*")} == before
    assert content_hash(path) == expected


def test_a_run_that_comes_when_another_is_just_through_does_nothing(
    tmp_path: Path, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, events = tmp_path / "store.zarr", list[Event]()
    run(sweep(FEW), store, SYNCHRONOUS)
    answers = [lambda plan, place: False, runs.is_finished]  # not yet when it looks, done when it has the lock
    monkeypatch.setattr(runs, "is_finished", lambda plan, place: answers.pop(0)(plan, place))
    run(sweep(FEW), store, SYNCHRONOUS, [events.append])
    assert (answers, events) == ([], [])
    assert content_hash(store) == expected


def test_ctrl_c_at_the_command_line_leaves_a_store_to_go_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("few.yaml").write_text(FEW)
    Path("here.yaml").write_text("limbsweep: {cluster: {kind: synchronous}}\n")
    calls = []

    def once(index: int, body: Callable[..., Any], *arguments: Any) -> Any:
        calls.append(index)
        if len(calls) == 10:
            raise KeyboardInterrupt
        return body(*arguments)

    wrap_blocks(monkeypatch, once)
    command = ["run", "few.yaml", "--cluster", "here.yaml"]
    first = CliRunner().invoke(cli, command)
    assert first.exit_code == 130
    assert "go on with: limbsweep run few.yaml --store few.zarr --cluster here.yaml" in first.stderr
    assert CliRunner().invoke(cli, command).exit_code == 0
    assert calls[10:] == list(range(9, BLOCKS))
    assert content_hash(Path("few.zarr")) == expected


# killed


def _start(path: Path, kind: str) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", SLOW_RUN, str(path), kind], stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT
    )


def _kill_after(running: subprocess.Popen[str], blocks: int, delay: float) -> None:
    """Kill a run without warning, some time after it has said that so many blocks are done."""
    assert running.stdout is not None
    with running:
        for _ in range(blocks):
            if not running.stdout.readline():
                break
        time.sleep(delay)
        running.kill()


def _kill_and_resume(path: Path, kind: str, kills: int, chance: random.Random) -> None:
    for _ in range(kills):
        before = Ledger.read(path, BLOCKS).count if path.exists() else 0
        _kill_after(_start(path, kind), chance.randint(0, 8), chance.uniform(0.0, 0.05))
        assert not path.exists() or Ledger.read(path, BLOCKS).count >= before
    left = BLOCKS - Ledger.read(path, BLOCKS).count if path.exists() else BLOCKS
    assert len(done(go(path))) == left


def test_a_killed_run_goes_on_with_what_is_left(tmp_path: Path, expected: str) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    _kill_and_resume(tmp_path / "s.zarr", "synchronous", 1, random.Random(seed))
    assert content_hash(tmp_path / "s.zarr") == expected


@pytest.mark.chaos
@pytest.mark.parametrize("kind", ["synchronous", "threads", "local"])
def test_a_run_that_is_killed_often_goes_on(kind: str, tmp_path: Path, expected: str) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    for number in range(3):
        path = tmp_path / f"{number}.zarr"
        _kill_and_resume(path, kind, 6, chance)
        assert content_hash(path) == expected


@pytest.mark.parametrize("granularity", ["limb", "block"])
def test_killed_workers_cost_no_block(
    granularity: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: str
) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    victims = (5, 30) if granularity == "block" else (30,)  # each costs the start of a worker
    wrap_blocks(monkeypatch, suicidal, str(marks), victims)
    events: list[Event] = []
    path = tmp_path / "s.zarr"
    run(sweep(FEW), path, ClusterConfig.of(n_workers=1, threads_per_worker=2), [events.append], granularity)
    assert sorted(each.name for each in marks.iterdir()) == sorted(map(str, victims))
    assert sorted(done(events)) == list(range(BLOCKS))
    assert failures(events) == {}
    assert content_hash(path) == expected


# refused


def test_a_store_of_another_sweep_is_refused_with_the_difference(tmp_path: Path) -> None:
    path = tmp_path / "s.zarr"
    go(path)
    before = content_hash(path)
    with pytest.raises(StoreError, match="holds another sweep") as caught:
        go(path, FEW.replace("0.31]", "0.32]"))
    lines = str(caught.value).splitlines()
    assert "-    upper_arm: {values: [0.22, 0.25, 0.28, 0.31]}" in lines
    assert "+    upper_arm: {values: [0.22, 0.25, 0.28, 0.32]}" in lines
    assert content_hash(path) == before


def test_a_store_that_is_cut_otherwise_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.zarr"
    go(path)
    monkeypatch.setattr(planning, "SMALL_BLOCK", 82)
    with pytest.raises(StoreError, match="is laid out in other blocks"):
        go(path)


def test_a_second_run_on_a_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.zarr"
    with pytest.raises(KeyboardInterrupt):
        run(sweep(FEW), path, SYNCHRONOUS, [stop_after(1, KeyboardInterrupt())])
    with (
        coordinator_lock(path),
        pytest.raises(StoreError, match=r"another run is writing to this store \(.*\"pid\": \d+"),
    ):
        go(path)
    assert Ledger.read(path, BLOCKS).count == 1


def test_a_folder_that_is_no_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "mine"
    path.mkdir()
    (path / "thesis.txt").write_text("years of work")
    with pytest.raises(StoreError, match=r"mine: not a store of limbsweep; expected a file limbsweep\.json in it"):
        go(path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="file: is a file; expected the folder of a store"):
        go(tmp_path / "file")
    assert [each.name for each in path.iterdir()] == ["thesis.txt"]


def test_a_place_that_cannot_be_written_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="Not a directory; check free space and permissions"):
        go(tmp_path / "file" / "s.zarr")
    with pytest.raises(StoreError, match="check free space and permissions, or choose another store"):
        go(Path("/proc/self/s.zarr"))
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_cluster_that_does_not_answer_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.cluster.connection.ANSWER_SECONDS", 0.5)
    with pytest.raises(InputError, match="a scheduler that answers"):
        go(tmp_path / "s.zarr", FEW, ClusterConfig.of("address", address="tcp://127.0.0.1:9"))
    assert list(tmp_path.iterdir()) == []


# failing in part


def poisoned(victims: tuple[int, ...], index: int, body: Callable[..., Any], *arguments: Any) -> Any:
    if index in victims:
        raise ZeroDivisionError(f"poison in {index}")
    return body(*arguments)


def test_a_block_that_raises_is_told_and_the_others_are_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: str
) -> None:
    path = tmp_path / "s.zarr"
    with monkeypatch.context() as patch:
        wrap_blocks(patch, poisoned, (3, 17), task="limb2")
        events = go(path)
    assert failures(events) == {index: f"ZeroDivisionError: poison in {index}" for index in (3, 17)}
    assert sorted(done(events)) == [index for index in range(BLOCKS) if index not in (3, 17)]
    assert isinstance(events[-1], Finished)
    assert events[-1].failed_blocks == 2
    data = open_results(path, unfinished=True)
    assert data.attrs["finished"] is False
    assert (~data.written.values).sum() == 2
    assert Manifest.load(path).state == "running"
    assert done(go(path)) == [3, 17]
    assert content_hash(path) == expected


def test_failed_blocks_end_the_command_with_1_and_a_second_one_with_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("few.yaml").write_text(FEW)
    Path("here.yaml").write_text("limbsweep: {cluster: {kind: threads, threads-per-worker: 2}}\n")
    command = ["run", "few.yaml", "--cluster", "here.yaml"]
    with monkeypatch.context() as patch:
        wrap_blocks(patch, poisoned, (3,))
        first = CliRunner().invoke(cli, command)
    assert first.exit_code == 1
    assert "block 3 given up: ZeroDivisionError: poison in 3" in first.stderr
    assert "1 block failed; try again with: limbsweep run few.yaml" in first.stderr
    assert CliRunner().invoke(cli, command).exit_code == 0
    assert content_hash(Path("few.zarr")) == expected


def full(index: int, body: Callable[..., Any], *arguments: Any) -> Any:
    """A block that meets the end of the disk, as `storage` tells of it."""
    with refusals(Path("s.zarr")):
        if index == 4:
            raise OSError(errno.ENOSPC, "No space left on device", "s.zarr/actuator_force/c/4")
        return body(*arguments)


def test_a_full_disk_stops_the_run_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: str) -> None:
    path, events = tmp_path / "s.zarr", []
    with monkeypatch.context() as patch:
        wrap_blocks(patch, full)
        with pytest.raises(
            StoreError, match=r"No space left on device; .*\nthe run stopped at block 4; run it again to go on"
        ):
            run(sweep(FEW), path, SYNCHRONOUS, [events.append])
    assert done(events) == [0, 1, 2, 3]
    assert done(go(path)) == list(range(4, BLOCKS))
    assert content_hash(path) == expected


class UnsendableError(Exception):
    def __reduce__(self) -> str:
        raise TypeError("cannot be pickled")


def bad_in_many_ways(index: int, body: Callable[..., Any], *arguments: Any) -> Any:
    """Inside the guard of a task, as a body would fail."""
    from pipeline.execution.graph import guarded_task

    def endless() -> None:
        endless()

    def fail() -> None:
        if index == 1:
            endless()
        if index == 2:
            raise UnsendableError("no way")
        if index == 3:
            raise ValueError("x" * 10**7)

    guarded_task(fail)()
    return body(*arguments)


def test_on_a_cluster_failures_come_back_and_futures_are_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: str
) -> None:
    path, held = tmp_path / "s.zarr", []
    events: list[Event] = []
    with connect(ClusterConfig.of(n_workers=1, threads_per_worker=2, insecure=True)) as owner:
        assert owner is not None
        address = ClusterConfig.of("address", address=owner.cluster.scheduler_address)

        def listen(event: Event) -> None:
            events.append(event)
            held.append(len(owner.run_on_scheduler(_wanted)))

        with monkeypatch.context() as patch:
            wrap_blocks(patch, bad_in_many_ways)
            run(sweep(FEW), path, address, [listen])
        told = failures(events)
        assert sorted(told) == [1, 2, 3]
        assert told[1].startswith("RecursionError: maximum recursion depth exceeded")
        assert told[2] == "UnsendableError: no way"
        assert told[3] == "ValueError: " + "x" * 500
        assert max(held) <= 4, "results that the client wants: no more than the window"
        with monkeypatch.context() as patch:
            wrap_blocks(patch, full)
            with pytest.raises(StoreError, match=r"No space left on device; .*\n.* stopped at block 4; run it again"):
                go(tmp_path / "u.zarr", FEW, address)
        with monkeypatch.context() as patch:
            wrap_blocks(patch, slowly, 0.2)
            with pytest.raises(KeyboardInterrupt):
                run(sweep(EVERYTHING), tmp_path / "t.zarr", address, [stop_after(1, KeyboardInterrupt())])
        assert owner.run_on_scheduler(_wanted) == []
        assert sorted(done(go(path, FEW, address))) == [1, 2, 3]
    assert content_hash(path) == expected


def _wanted(dask_scheduler: Any) -> list[str]:
    """Results that some client holds."""
    return [str(each.key) for client in dask_scheduler.clients.values() for each in client.wants_what]
