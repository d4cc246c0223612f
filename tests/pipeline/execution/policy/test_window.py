"""Number of blocks in flight, and of blocks in one task."""

from __future__ import annotations

import pytest

from pipeline.execution.policy.window import (
    LIMB_SPARE_BLOCKS,
    LIMB_THREADS,
    MOST,
    SPARE_BLOCKS,
    Window,
    batch,
    window_size,
)
from pipeline.execution.policy.workers import FULL, Worker, workers_of
from tests.pipeline.execution.policy.clock import Clock


@pytest.mark.parametrize(
    ("workers", "threads", "expected"),
    [(1, 1, 2), (1, 2, 3), (2, 1, 3), (1, 4, 4), (8, 1, 11), (8, 4, 20), (64, 1, 81), (1, 64, 34)],
)
def test_every_worker_has_a_block_and_larger_ones_half_as_many_as_threads(
    workers: int, threads: int, expected: int
) -> None:
    assert window_size([Worker(threads)] * workers, LIMB_THREADS) == expected


def test_a_worker_of_several_threads_has_two_spare_blocks_of_limbs_where_it_can_hold_them() -> None:
    sizes = [window_size([Worker(2, limit << 30)], LIMB_THREADS, memory=600 << 20) for limit in (1, 2, 3, 24)]
    assert sizes == [1, 2, 3, 3]


def test_block_tasks_are_one_for_each_thread_and_memory_is_kept() -> None:
    assert window_size([Worker(4)] * 8) == 32 + 1 + 8  # a spare one for every four threads
    beside, half = 1 << 28, 1 << 29

    def small(limit: int) -> list[Worker]:
        return [Worker(1, limit, base=beside)] * 8

    assert (
        window_size([Worker(4, 4 << 30, base=beside)], memory=1 << 30) == 2
    )  # 2.75 fit beside what it takes by itself
    assert window_size([Worker(4, 4 << 30, base=beside)], memory=11 << 28) == 1
    assert window_size(small(1 << 30), LIMB_THREADS, memory=1 << 28) == 8 + 1 + 2  # two fit into each
    assert window_size(small(1 << 30), LIMB_THREADS, memory=half) == 8  # one does: nothing is spare
    assert window_size(small(1 << 30), LIMB_THREADS, memory=1 << 30) == 8  # less than one: no worker waits for another
    assert window_size([Worker(1, running=False)] * 8, LIMB_THREADS) == 1
    assert window_size([Worker(100)] * 1000) == MOST
    assert window_size([]) == 1


@pytest.mark.parametrize(
    ("threads", "seconds", "left", "expected"),
    [
        (2, 2.0, 10_000, 1),
        (2, 0.5, 10_000, 3),  # tasks of 1.5 s
        (64, 0.5, 10_000, 3),
        (64, 0.5, 500, 2),  # three rounds for each thread are left
        (64, 0.5, 100, 1),
        (1000, 0.5, 10**6, 10),  # 200 tasks a second
        (1000, 5.0, 10**6, 1),
        (1000, 0.5, 30_000, 10),
        (1000, 0.5, 15_000, 5),
        (1000, 0.5, 100, 3),  # a quarter of what the scheduler needs at least
        (10_000, 1e-4, 10**9, 33_333),
        (0, 0.5, 100, 1),
    ],
)
def test_blocks_share_a_task_until_the_end_of_a_run_comes_near(
    threads: int, seconds: float, left: int, expected: int
) -> None:
    assert batch(threads, seconds, left) == expected


GIB = 1 << 30


@pytest.mark.parametrize(
    ("workers", "parallel", "memory", "expected"),
    [
        ([], 1, GIB, 1),
        ([Worker(2)], 1, GIB, 2 + SPARE_BLOCKS),
        ([Worker(2)], 4, 0, 1 + LIMB_SPARE_BLOCKS),
        ([Worker(8, 64 * GIB)], 4, GIB, 2 + LIMB_SPARE_BLOCKS),
        ([Worker(8, 4 * GIB)], 1, GIB, 3),
        ([Worker(8, 4 * GIB), Worker(8, 4 * GIB, base=GIB)], 1, GIB, 5),
        ([Worker(8, GIB // 2)], 1, GIB, 1),
        ([Worker(8, 64 * GIB, 50 * GIB)], 1, GIB, 1),
        ([Worker(8, 64 * GIB, 50 * GIB), Worker(8, 64 * GIB)], 1, GIB, 8 + SPARE_BLOCKS),
        ([Worker(8, running=False), Worker(4)], 1, GIB, 4),
        ([Worker(64)] * 10_000, 1, 0, MOST),
    ],
)
def test_the_window_follows_threads_and_memory(
    workers: list[Worker], parallel: int, memory: int, expected: int
) -> None:
    assert window_size(workers, parallel, memory) == expected


def test_the_window_never_takes_more_memory_than_there_is() -> None:
    for threads in range(1, 9):
        for limit in range(1, 9):
            blocks = window_size([Worker(threads, limit * GIB)] * 3, 1, GIB)
            computed = min(blocks, 3 * threads)  # the others wait, and take none
            assert computed <= 3 * max(1, FULL * limit)  # one at least that a worker was admitted for


def test_a_block_waits_beside_workers_that_have_room_for_one_at_a_time() -> None:
    assert window_size([Worker(1, GIB)] * 3, 1, GIB // 2) == 3 + SPARE_BLOCKS
    assert window_size([Worker(1, GIB)] * 3, 4, GIB // 2) == 3, "tasks of limbs would begin at once"


def test_workers_as_a_scheduler_tells_of_them() -> None:
    told = {
        "a": {"nthreads": 4, "memory_limit": GIB, "metrics": {"memory": 5}, "status": "paused"},
        "b": {"nthreads": 1, "memory_limit": None},
    }
    assert workers_of(told) == [Worker(4, GIB, 5, False), Worker(1)]


class Counted:
    """A table of workers that counts how often it is asked for, and grows."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self) -> dict[str, dict[str, int]]:
        self.asked += 1
        return {str(number): {"nthreads": 2} for number in range(self.asked)}


def test_a_window_asks_now_and_then() -> None:
    table, now = Counted(), Clock()
    window = Window(table, clock=now)
    assert [window() for _ in range(5)] == [2 + SPARE_BLOCKS] * 5
    now.now += 5.0
    assert [window() for _ in range(5)] == [4 + SPARE_BLOCKS + 1] * 5
    assert table.asked == 2
