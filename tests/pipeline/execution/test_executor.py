from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask
import pytest
from dask._task_spec import Task
from distributed import Client, Future, LocalCluster, Status, Worker, WorkerPlugin

from pipeline.cluster.connection import ClusterConfig, connect
from pipeline.errors import ClusterLostError, RunStoppedError, TaskError
from pipeline.execution.cluster_executor import ClusterExecutor, _works_on
from pipeline.execution.executor import Executor, InProcessExecutor, KeyedGraph, Withdrawn, failure, results
from pipeline.execution.executors import choose_granularity
from pipeline.execution.policy import pauses
from pipeline.execution.policy.attempts import Failure
from pipeline.execution.policy.window import Window
from pipeline.execution.policy.workers import worker_table
from pipeline.execution.run import run
from pipeline.monitor.log import Event, WorkerPaused, WorkersLeft
from pipeline.plan.plan import plan
from tests.pipeline.runs import FEW, sweep
from tests.waiting import PATIENCE, until


def work(index: int, seconds: float = 0.0) -> KeyedGraph:
    """A graph of one task."""
    key = ("square-run", index)
    return {key: Task(key, square, index, seconds)}, key


def square(index: int, seconds: float) -> int:
    time.sleep(seconds)
    if index == 7:
        raise ValueError("seven")
    return index * index


def values(executor: Executor, count: int) -> dict[int, Any]:
    """Results of so many graphs through a executor, which is full all the time."""
    found: dict[int, Any] = {}
    todo = iter(range(count))
    while len(found) < count:
        while executor.room and (index := next(todo, None)) is not None:
            executor.submit(work(index))
        result = executor.next(60.0)
        assert result is not None
        found[result.key[1]] = str(result.value) if isinstance(result.value, Exception) else result.value
    assert list(executor.keys) == []
    return found


EXPECTED = {index: "seven" if index == 7 else index * index for index in range(20)}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with connect(ClusterConfig.of(n_workers=1, threads_per_worker=2)) as made:
        yield made


def test_a_slow_block_is_given_to_a_worker_once_it_has_a_thread_without_a_task(client: Any) -> None:
    slow = ("square-run", 99)  # elsewhere
    with closing(ClusterExecutor(client, lambda: 3)) as executor:
        executor.submit(work(60, 1.0), work(61, 1.0))
        until(lambda: sum(map(len, client.processing().values())) == 2, "two tasks on two threads")
        assert not executor.submit_backup(work(62), slow), "new blocks come first"
        assert executor.submit_backup(work(63), slow, idle=False)
        assert all(executor.next(60.0) is not None for _ in range(3))
        until(lambda: not any(client.processing().values()), "an idle worker")
        executor.submit(work(65, 1.0))
        until(lambda: any(client.processing().values()), "a task on one of two threads")
        assert executor.submit_backup(work(66), slow)
        assert not executor.submit_backup(work(67), ("square-run", 65)), "the only worker is the slow one"
        assert executor.next(60.0) is not None


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_results_of_this_process_and_errors_as_values(scheduler: str) -> None:
    with dask.config.set(scheduler=scheduler):
        assert values(InProcessExecutor(), 20) == EXPECTED


def test_in_this_process_one_graph_waits_at_a_time() -> None:
    with dask.config.set(scheduler="synchronous"), closing(InProcessExecutor()) as executor:
        executor.submit(work(3, 0.001))
        assert (executor.room, executor.keys, executor.age(executor.keys[0])) == (False, [("square-run", 3)], 0.0)
        result = executor.next(0.0)
        assert result is not None
        assert 0.001 <= result.seconds < PATIENCE
        executor.submit(work(4))
        executor.abandon([("square-run", 4)])
        assert executor.room
        assert executor.describe() == "computing in this process"


def test_results_of_a_cluster_and_errors_as_values(client: Any) -> None:
    with closing(ClusterExecutor(client, Window(partial(worker_table, client)))) as executor:
        assert values(executor, 20) == EXPECTED


def test_no_more_than_a_window_is_on_its_way_and_it_may_change(client: Any) -> None:
    size = 3
    with closing(ClusterExecutor(client, lambda: size)) as executor:
        todo = iter(range(8, 1000))
        for number in range(60):
            while executor.room:
                executor.submit(work(next(todo)))
            assert len(executor.keys) >= size
            assert len(client.futures) <= 15, "the loop of the client lets go a little later"
            assert executor.next(60.0) is not None
            size = 1 + number % 5
            assert executor.room == max(0, size - len(executor.keys))


def test_nothing_within_the_time_is_told(client: Any) -> None:
    with closing(ClusterExecutor(client, lambda: 1)) as executor:
        executor.submit(work(2, 0.5))
        assert executor.next(0.01) is None
        assert executor.age(("square-run", 2)) > 0.0
        assert "1 workers, 0 of them paused, memory at most" in executor.describe()
        assert "1 blocks in flight" in executor.describe()
        result = executor.next(60.0)
        assert result is not None
        assert result.value == 4


def test_what_is_on_its_way_is_cancelled_when_nobody_waits_for_it(client: Any) -> None:
    with closing(ClusterExecutor(client, lambda: 10)) as executor:
        for index in range(10, 20):
            executor.submit(work(index, 0.2))
        assert executor.next(60.0) is not None
    keys = lambda dask_scheduler: dask_scheduler.tasks.keys()  # noqa: E731
    until(lambda: not [*client.futures, *client.run_on_scheduler(keys)], "the end of all tasks")


def test_a_thread_that_does_not_return_is_ended_with_its_worker(client: Any) -> None:
    with closing(ClusterExecutor(client, lambda: 2)) as executor:
        before = set(client.scheduler_info()["workers"])
        executor.submit(work(30, 3600.0))
        executor.submit(work(31, 0.3))
        until(lambda: any(client.processing().values()), "a task at work")
        executor.abandon([("square-run", 30)])
        assert executor.keys == [("square-run", 31)]
        result = executor.next(60.0)
        assert result is not None
        assert result.value == 31 * 31, "the other one is computed again"
        assert set(client.scheduler_info()["workers"]) != before
        assert executor.next(0.1) is None


def test_what_somebody_else_cancels_is_withdrawn_and_sent_again(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = ("square-run", 50), ("square-run", 51)
    with closing(ClusterExecutor(client, lambda: 2)) as executor:
        executor.submit(work(50, 3600.0))
        client.cancel([Future(first, client)], force=True)
        result = executor.next(60.0)
        assert result is not None
        assert result.value == Withdrawn("client.cancel() by another")
        told: list[Any] = []

        def cancelled_once() -> list[Event]:
            if executor.keys and not told:
                told.append(client.cancel([Future(second, client)], force=True))
            return []

        monkeypatch.setattr(executor, "news", cancelled_once)
        (answer,) = results([work(51, 1.0)], executor)
        assert (answer.key[1:], answer.value, len(told)) == ((51,), 2601, 1)
    client.restart()  # ends the thread that works on the first


def test_a_task_whose_workers_have_all_gone_is_withdrawn(client: Any) -> None:
    here = list(worker_table(client))
    members: Any = SimpleNamespace(news=lambda: [WorkersLeft(1, "a")], addresses=lambda: here)
    with closing(ClusterExecutor(client, lambda: 2, members=members)) as executor:
        executor.submit(work(60, 3600.0))
        assert executor.news() == [WorkersLeft(1, "a")]
        assert executor.next(0.1) is None
        members.addresses = lambda: ["tcp://another:1"]
        executor.news()
        result = executor.next(0.1)
        assert result is not None
        assert isinstance(result.value, Withdrawn)
        assert executor.keys == []
    client.restart()  # ends the thread


def test_keys_of_one_block_belong_together() -> None:
    keys = [("store-ab12", 5)]
    assert _works_on([("limb1-reactions-ab12", 5)], keys)
    assert not _works_on([("limb1-ab12", 6), ("limb1-cd34", 5), "other"], keys)


def test_a_scheduler_that_goes_is_noticed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with connect(ClusterConfig.of(n_workers=1, threads_per_worker=1)) as owner:
        assert owner is not None
        # what closes later looks for the scheduler for as long as it takes to connect
        monkeypatch.setitem(dask.config.config["distributed"]["comm"]["timeouts"], "connect", "200ms")
        executor = ClusterExecutor(owner, lambda: 2)
        executor.submit(work(1, 60.0))
        threading.Timer(0.5, lambda: owner.cluster.sync(owner.cluster.scheduler.close)).start()
        start = time.monotonic()
        with pytest.raises(ClusterLostError, match="the scheduler has gone"):
            executor.next(50.0)
        executor.close()
        owner.close(timeout=1.0)
        assert time.monotonic() - start < 50.0


class Unhashed:
    """An argument of a task of which nobody is to ask for a hash."""

    def __dask_tokenize__(self) -> str:
        raise AssertionError("a hash of what a block holds was made")


def test_no_hash_is_made_of_what_blocks_hold(client: Any) -> None:
    key = ("hashed-run", 0)
    with closing(ClusterExecutor(client, lambda: 2)) as executor:
        executor.submit(({key: Task(key, bool, Unhashed())}, key))
        result = executor.next(PATIENCE)
        assert result is not None
        assert result.value is True


class KilledWorker(Exception):  # noqa: N818
    """As Dask calls it."""


class NoWorkerError(Exception):
    """As Dask calls it."""


def test_what_an_exception_says_of_its_block() -> None:
    assert failure(KilledWorker("x")) == Failure("died", "every worker that computed it died")
    assert failure(TaskError("ValueError: told")) == Failure("raised", "ValueError: told")
    assert failure(OSError("a\nb")) == Failure("raised", "OSError: a b")
    with pytest.raises(ClusterLostError, match="there are no workers"):
        failure(NoWorkerError("x"))


def block(index: int) -> KeyedGraph:
    """A graph of one task that stores a block."""
    key = ("store-run", index)
    return {key: Task(key, guarded, index, 0.0)}, key


def guarded(index: int, seconds: float) -> int:
    try:
        return square(index, seconds)
    except ValueError as error:
        raise TaskError.of(error) from None


def test_blocks_in_one_task_have_results_and_errors_of_their_own(client: Any) -> None:
    with closing(ClusterExecutor(client, lambda: 2, lambda: 5)) as executor:
        assert executor.room == 10
        executor.submit(*(block(index) for index in range(10)), work(30))
        assert executor.room == 0
        assert len(client.futures) == 3
        found: dict[Any, Any] = {}
        while executor.keys or len(found) < 11:
            result = executor.next(60.0)
            assert result is not None
            found[result.key] = result.value
    assert {key[0] for key in found} == {"store-run", "square-run"}
    assert str(found.pop(("store-run", 7))) == "ValueError: seven"
    assert all(value == key[1] ** 2 for key, value in found.items())


def test_a_batch_that_is_abandoned_is_computed_nowhere(client: Any) -> None:
    with closing(ClusterExecutor(client, lambda: 2, lambda: 2)) as executor:
        key, other = ("store-run", 40), ("store-run", 41)
        executor.submit(({key: Task(key, square, 40, 3600.0)}, key), ({other: Task(other, square, 41, 3600.0)}, other))
        until(lambda: any(client.processing().values()), "a task at work")
        executor.abandon([key, other])
        assert executor.keys == []
        assert executor.next(0.1) is None


def test_a_large_cluster_gets_one_task_a_block_or_less() -> None:
    long = plan(sweep(FEW, **{"{values: [0.22, 0.25, 0.28, 0.31]}": "{start: 0.22, stop: 0.31, num: 10000000}"}))
    assert long.work.limb_threads < 1000
    assert choose_granularity(long, 1000) == "block"
    assert choose_granularity(plan(sweep(FEW)), 1000) == "limb"
    assert choose_granularity(long, None) == "limb"
    rows = dict(long.rows())
    assert f"on more than {long.work.limb_threads:,.0f} threads one task a block" in rows["tasks"]
    assert "on more than" not in dict(plan(sweep(FEW)).rows())["tasks"]


class PausesOnceChecked(WorkerPlugin):
    """Pauses a worker when it has answered the check of workers, as if whatever it holds were too much."""

    def setup(self, worker: Worker) -> None:
        self.worker = worker

    def transition(self, key: Any, start: str, finish: str, **more: Any) -> None:
        if finish == "memory" and key[0].startswith("check-"):
            self.worker.memory_manager.memory_pause_fraction = 1e-6
            self.worker.loop.add_callback(setattr, self.worker, "status", Status.paused)


@pytest.mark.slow
def test_a_run_whose_workers_stay_paused_tries_all_steps_and_ends_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pauses, "PAUSE_STEPS", {"trim": 0.0, "move": 0.5, "restart": 1.0})
    monkeypatch.setattr(pauses, "PAUSE_END", 3.0)
    monkeypatch.setattr(pauses, "PAUSE_RESTARTS", 1)
    events: list[Event] = []
    listening: Any = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(n_workers=1, **listening) as cluster, Client(cluster) as client:
        client.register_plugin(PausesOnceChecked())
        with pytest.raises(RunStoppedError, match=r"all 1 workers are paused.*give workers more memory"):
            run(sweep(FEW), tmp_path / "s.zarr", cluster, [events.append])
    steps = [event.step for event in events if isinstance(event, WorkerPaused)]
    assert steps[:3] == ["trim", "move", "restart"]
    assert steps.count("restart") == 1
