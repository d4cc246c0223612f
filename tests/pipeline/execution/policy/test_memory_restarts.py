"""Workers that are ended for their memory: when a run stops, and what it says."""

from __future__ import annotations

from pipeline.execution.policy.memory_restarts import MOST_RESTARTS, MemoryRestart, MemoryRestarts

RESTART = MemoryRestart("tcp://10.0.0.7:4000", 612 << 20)


def test_a_run_stops_after_so_many_restarts_without_a_block() -> None:
    restarts = MemoryRestarts()
    for _ in range(MOST_RESTARTS - 1):
        restarts.add([RESTART])
        assert restarts.stop([3], 1 << 20) == ""
    restarts.add([RESTART])
    said = restarts.stop([9, 3, 5, 7, 11], 184 << 20)
    assert said.startswith(
        f"workers were ended {MOST_RESTARTS} times because their memory was full, and no block was computed"
    )
    assert "the last, tcp://10.0.0.7:4000, held 612 MiB while blocks 3, 5, 7, 9, ... were in flight" in said
    assert "184 MiB are planned; give workers more memory (memory-limit) or fewer threads" in said
    assert "\n" not in said


def test_workers_that_end_before_a_block_are_told_so() -> None:
    restarts = MemoryRestarts(most=1)
    restarts.add([RESTART])
    assert "tcp://10.0.0.7:4000, held 612 MiB before it was given a block; give workers more" in restarts.stop([], 1)


def test_a_block_that_was_computed_begins_the_count_again() -> None:
    restarts = MemoryRestarts(most=2)
    for _ in range(10):
        restarts.add([RESTART])
        assert restarts.stop([0], 1) == ""
        restarts.succeeded()
    restarts.add([RESTART, RESTART])
    assert restarts.stop([0], 1)


def test_without_restarts_nothing_stops() -> None:
    restarts = MemoryRestarts(most=1)
    restarts.add([])
    assert restarts.stop([1], 1) == ""
