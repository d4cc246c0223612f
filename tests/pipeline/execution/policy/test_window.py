"""Number of blocks in flight, and of blocks in one task."""

from __future__ import annotations

import pytest

from pipeline.execution.policy import LIMB_THREADS, MOST, Worker, batch, window_size


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
        (2, 0.5, 10_000, 1),  # a laptop
        (64, 0.5, 10_000, 1),
        (1000, 0.5, 10**6, 10),  # 200 tasks a second
        (1000, 5.0, 10**6, 1),
        (1000, 0.5, 30_000, 10),  # three rounds of full length for each thread are left
        (1000, 0.5, 15_000, 5),
        (1000, 0.5, 100, 3),  # a quarter of full length at least
        (10_000, 1e-4, 10**9, 33_333),
        (0, 0.5, 100, 1),
    ],
)
def test_blocks_share_a_task_on_large_clusters_alone(threads: int, seconds: float, left: int, expected: int) -> None:
    assert batch(threads, seconds, left) == expected
