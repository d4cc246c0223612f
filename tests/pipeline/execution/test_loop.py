"""Two attempts at one block: the one that is slow, and that of a worker that helps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import dask
import pytest

from pipeline.errors import TaskError
from pipeline.execution.contents import create_store
from pipeline.execution.executor import InProcessExecutor, KeyedGraph, Result
from pipeline.execution.loop import RunLoop
from pipeline.execution.policy.pace import FACTOR, KNOWN, LEAST_SECONDS, Pace
from pipeline.monitor.log import BlockDone, BlockRetried, Event
from pipeline.plan.memory import OVERHEAD
from pipeline.plan.plan import plan
from storage.errors import StoreError
from storage.ledger import Ledger
from storage.places.access import locate
from storage.store import StoreWriter
from tests.pipeline.runs import FEW, cut_finely, done, failures, sweep

BLOCKS, SLOW = 48, 20
Change = Callable[[Any], Any]


class Held(InProcessExecutor):
    """Computes here, but keeps the first answer of one block back until so many others have come; may change both."""

    def __init__(self, until: int, first: Change, second: Change, helps: bool = True) -> None:
        super().__init__()
        self.until, self.first, self.second, self.helps = until, first, second, helps
        self.kept: Result | None = None
        self.again: Any = None
        self.count = self.asked = 0
        self.was_slow = False

    @property
    def room(self) -> int:
        return 0 if self._waiting else 1

    def submit_backup(self, work: KeyedGraph, key: Any, *, idle: bool = True) -> bool:
        self.asked += 1
        if self.helps:
            self.again = work[1]
            self._waiting.append(work)
        return self.helps

    def next(self, seconds: float) -> Result | None:
        if self.kept and (self.count >= self.until or (not self._waiting and seconds)):
            kept, self.kept = self.kept, None
            return kept
        result = super().next(seconds)
        if result is None:
            return None
        self.count += 1
        if result.key == self.again:
            return replace(result, value=self.second(result.value))
        if result.key[1] == SLOW and not self.was_slow:
            self.was_slow = True
            self.kept = replace(result, value=self.first(result.value))
            return None
        return result

    def age(self, key: Any) -> float:
        return 100.0 if self.kept and key == self.kept.key else 0.0


def same(value: Any) -> Any:
    return value


def fails(value: Any) -> Any:
    return TaskError("MemoryError: swapped out")


def other_bits(value: Any) -> Any:
    return replace(value, checksums={**value.checksums, "peak_force": 1})


@pytest.fixture
def drive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A drive over a small sweep, what it tells, and its ledger."""
    cut_finely(monkeypatch)
    monkeypatch.setattr("pipeline.execution.loop.TICK", 1e-9)
    made, path = plan(sweep(FEW)), locate(tmp_path / "s.zarr")
    create_store(made, path)

    def run(executor: Held) -> tuple[list[Event], int]:
        events: list[Event] = []
        with Ledger.open(path, made.blocks) as ledger:
            RunLoop(made, StoreWriter(path), ledger, executor, events.append).run()
            return events, ledger.count

    with dask.config.set(scheduler="synchronous"):
        yield run


@pytest.mark.parametrize(
    ("until", "first", "second"),
    [(30, same, same), (10**9, same, same), (30, fails, same), (30, same, fails)],
    ids=["late and agrees", "never comes", "late and fails", "help fails"],
)
def test_the_first_answer_counts_and_the_other_costs_nothing(
    drive: Any, until: int, first: Change, second: Change
) -> None:
    events, count = drive(Held(until, first, second))
    assert sorted(done(events)) == list(range(BLOCKS))
    assert count == BLOCKS
    assert failures(events) == {}
    assert [each for each in events if isinstance(each, BlockRetried)] == [
        BlockRetried(SLOW, "help", "no result after 100 s, far more than usual")
    ]
    place = next(at for at, each in enumerate(events) if isinstance(each, BlockDone) and each.block == SLOW)
    assert place == (SLOW + 1 if second is same else 29), "as soon as one of them is there"


def test_answers_that_differ_stop_the_run(drive: Any) -> None:
    with pytest.raises(StoreError, match=f"block {SLOW} was computed twice with different results"):
        drive(Held(30, other_bits, same))


def test_where_both_fail_the_block_is_tried_again(drive: Any) -> None:
    events, count = drive(Held(30, fails, fails))
    assert [each.step for each in events if isinstance(each, BlockRetried)] == ["help", "compute"]
    assert count == BLOCKS


def test_where_nobody_can_help_the_answer_is_waited_for(drive: Any) -> None:
    executor = Held(30, same, same, helps=False)
    events, count = drive(executor)
    assert count == BLOCKS
    assert executor.asked > 1, "somebody may come"
    assert not [each for each in events if isinstance(each, BlockRetried)]


def test_slow_is_told_from_what_is_usual() -> None:
    pace = Pace()
    for _ in range(KNOWN - 1):
        pace.done(100.0)
    assert pace.slow == float("inf"), "too few to know"
    pace.done(1e6)
    assert pace.slow == FACTOR * 100.0, "one that was slow changes nothing"
    for _ in range(1000):
        pace.done(0.1)
    assert pace.slow == LEAST_SECONDS


def test_blocks_are_one_task_each_where_a_worker_has_joined_without_room_for_two(drive: Any) -> None:
    class Small(Held):
        least_room = int(1.5 * OVERHEAD)
        tasks: ClassVar[set[int]] = set()

        def submit(self, *graphs: KeyedGraph) -> None:
            self.tasks.update(len(graph) for graph, _ in graphs)
            super().submit(*graphs)

    _, count = drive(Small(30, same, same))
    assert count == BLOCKS
    assert Small.tasks == {1}


def test_a_window_full_of_late_copies_does_not_end_the_run(drive: Any) -> None:
    class Full(Held):
        @property
        def room(self) -> int:
            return 0  # whatever is open

    _, count = drive(Full(30, same, same))
    assert count == BLOCKS
