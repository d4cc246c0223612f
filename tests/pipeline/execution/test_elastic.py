"""Workers that come, leave and stand still while a run goes on: the same bits, and no block is lost."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster

from pipeline.cluster.connection import ClusterConfig, connect
from pipeline.execution.policy.window import LIMB_THREADS, window_size
from pipeline.execution.policy.workers import Worker
from pipeline.execution.run import run
from pipeline.monitor.log import BlockDone, BlockRetried, Event
from pipeline.stores.verify import verify
from tests.pipeline.runs import FEW, SYNCHRONOUS, content_hash, cut_finely, done, failures, slowly, sweep, wrap_blocks
from tests.waiting import PATIENCE

BLOCKS = 48


@pytest.fixture(autouse=True)
def _cut(monkeypatch: pytest.MonkeyPatch) -> None:
    cut_finely(monkeypatch)


@pytest.fixture(scope="module")
def expected() -> str:
    return content_hash(run(sweep(FEW), cluster=SYNCHRONOUS))


def signed(folder: str, seconds: float, index: int, body: Callable[..., Any], *arguments: Any) -> Any:
    """A block that takes its time and leaves a note of the process that computed it."""
    time.sleep(seconds)
    Path(folder, f"{index}.{os.getpid()}").touch()
    return body(*arguments)


class Marks:
    """A listener with a table of actions by the number of finished blocks."""

    def __init__(self, actions: dict[int, Callable[[], None]]) -> None:
        self.actions, self.events = actions, list[Event]()

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, BlockDone) and (action := self.actions.pop(len(done(self.events)), None)):
            action()


def workers_that_computed(notes: Path) -> set[str]:
    return {each.suffix for each in notes.iterdir()}


def _is_right(marks: Marks, path: Path, expected: str) -> None:
    assert sorted(done(marks.events)) == list(range(BLOCKS)), "each block once"
    assert failures(marks.events) == {}
    assert marks.actions == {}
    assert content_hash(path) == expected


def test_workers_that_come_and_leave_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: str
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    wrap_blocks(monkeypatch, signed, str(notes), 0.02)
    with connect(ClusterConfig.of(n_workers=1, threads_per_worker=1, insecure=True)) as client:
        assert client is not None
        first = list(client.scheduler_info()["workers"])

        def come() -> None:
            client.cluster.scale(2)
            client.wait_for_workers(2, timeout=PATIENCE)

        marks = Marks({5: come, 25: lambda: client.retire_workers(first, close_workers=True, remove=True)})
        address = ClusterConfig.of("address", address=client.cluster.scheduler_address)
        run(sweep(FEW), tmp_path / "s.zarr", address, [marks])
    _is_right(marks, tmp_path / "s.zarr", expected)
    assert len(workers_that_computed(notes)) == 2


def test_an_adaptive_cluster_grows_with_what_a_run_has_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: str
) -> None:
    """The window shows the scheduler a few short tasks only; that would not ask for a second worker."""
    notes = tmp_path / "notes"
    notes.mkdir()
    wrap_blocks(monkeypatch, signed, str(notes), 0.1)
    known = {"unknown-task-duration": "1ms"}  # as if Dask had learned already that these tasks are short
    settings = {"distributed": {"adaptive": {"interval": "200ms", "target-duration": "1s"}, "scheduler": known}}
    config = ClusterConfig.of(threads_per_worker=1, adapt={"minimum": 1, "maximum": 2})
    marks = Marks({})
    run(sweep(FEW), tmp_path / "s.zarr", replace(config, settings=settings), [marks])
    _is_right(marks, tmp_path / "s.zarr", expected)
    assert len(workers_that_computed(notes)) == 2


def test_blocks_of_a_worker_that_stands_still_are_computed_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: str
) -> None:
    notes, path = tmp_path / "notes", tmp_path / "s.zarr"
    notes.mkdir()
    wrap_blocks(monkeypatch, signed, str(notes), 0.05)
    monkeypatch.setattr("pipeline.execution.policy.pace.LEAST_SECONDS", 0.5)
    monkeypatch.setattr("pipeline.execution.loop.TICK", 0.2)
    with connect(ClusterConfig.of(n_workers=2, threads_per_worker=1, insecure=True)) as client:
        assert client is not None
        stopped, awake = client.run(os.getpid).values()
        marks = Marks({15: lambda: os.kill(stopped, signal.SIGSTOP)})
        try:
            run(sweep(FEW), path, ClusterConfig.of("address", address=client.cluster.scheduler_address), [marks])
        finally:
            os.kill(stopped, signal.SIGCONT)
        _is_right(marks, path, expected)
        helped = [each.block for each in marks.events if isinstance(each, BlockRetried)]
        assert helped, "it had something to do when it was stopped"
        for block in helped:
            assert (notes / f"{block}.{awake}").exists()
        assert stopped in client.run(os.getpid).values(), "it is back, and was not lost"
        assert verify(path).is_sound, "what it wrote late are the same bits"
    assert content_hash(path) == expected


def test_a_store_that_is_slower_than_the_computation_does_not_fill_the_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: str
) -> None:
    """Check that the window bounds the results that wait to be stored, from the first block to the last."""
    wrap_blocks(monkeypatch, slowly, 0.05)
    waiting: list[int] = []
    with connect(ClusterConfig.of(n_workers=1, threads_per_worker=2, insecure=True)) as client:
        assert client is not None
        most = window_size([Worker(2)], parallel=LIMB_THREADS)
        address = ClusterConfig.of("address", address=client.cluster.scheduler_address)

        def look(event: Event) -> None:
            waiting.append(len(client.run_on_scheduler(_stores)))

        marks = Marks({})
        run(sweep(FEW), tmp_path / "s.zarr", address, [marks, look])
    _is_right(marks, tmp_path / "s.zarr", expected)
    assert 1 < max(waiting) <= most


def _stores(dask_scheduler: Any) -> list[str]:
    """Blocks that the scheduler knows of, by the task that stores them."""
    return [str(key) for key in dask_scheduler.tasks if str(key[0]).startswith("store")]


def test_an_adaptive_cluster_of_a_user_that_has_no_worker_starts_one(expected: str, tmp_path: Path) -> None:
    listening: Any = {"processes": False, "dashboard_address": "127.0.0.1:0", "threads_per_worker": 1}
    with LocalCluster(n_workers=0, **listening) as made, Client(made, set_as_default=False) as owner:
        made.adapt(minimum=0, maximum=1, interval="100ms")
        run(sweep(FEW), tmp_path / "s.zarr", client=owner)
    assert content_hash(tmp_path / "s.zarr") == expected
