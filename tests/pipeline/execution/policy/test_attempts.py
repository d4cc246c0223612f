from __future__ import annotations

import pytest

from pipeline.execution.policy import (
    DEFAULTS,
    FULL,
    LIMB_SPARE_BLOCKS,
    MOST,
    SPARE_BLOCKS,
    Agenda,
    Attempt,
    AttemptStep,
    Failure,
    FailureKind,
    Timeouts,
    Watchdog,
    Window,
    Worker,
    following,
    window_size,
    workers_of,
)


@pytest.mark.parametrize(
    ("step", "number", "kind", "then"),
    [
        ("compute", 1, "raised", Attempt(7, "compute", 2)),
        ("compute", 2, "raised", Attempt(7, "isolate", 1)),
        ("compute", 1, "died", Attempt(7, "isolate", 1)),
        ("compute", 1, "overdue", Attempt(7, "isolate", 1)),
        ("isolate", 1, "raised", Attempt(7, "isolate", 2)),
        ("isolate", 1, "died", Attempt(7, "isolate", 2)),
        ("isolate", 2, "overdue", None),
    ],
)
def test_what_follows_a_failure(step: AttemptStep, number: int, kind: FailureKind, then: Attempt | None) -> None:
    assert following(Attempt(7, step, number), Failure(kind, "why"), DEFAULTS) == then


def test_every_block_ends_however_it_fails() -> None:
    for kind in ("raised", "died", "overdue"):
        attempt: Attempt | None = Attempt(0)
        for _ in range(DEFAULTS.compute + DEFAULTS.isolate):
            assert attempt is not None
            attempt = following(attempt, Failure(kind, ""), DEFAULTS)  # type: ignore[arg-type]
            if attempt is None:
                break
        assert attempt is None


def test_an_agenda_goes_through_all_blocks_and_comes_back_to_those_that_failed() -> None:
    agenda = Agenda(iter([3, 5, 8]), DEFAULTS)
    first = agenda.next()
    assert first == Attempt(3)
    assert agenda.failed(first, Failure("raised", "")) == Attempt(3, "compute", 2)
    assert [agenda.next() for _ in range(4)] == [Attempt(3, "compute", 2), Attempt(5), Attempt(8), None]


def test_a_run_is_hopeless_when_nothing_but_failures_come() -> None:
    timeouts = Timeouts(hopeless=2, isolate=1)
    agenda = Agenda(iter(range(9)), timeouts)
    last = Attempt(0, "isolate", 1)
    assert agenda.failed(last, Failure("died", "")) is None
    assert not agenda.hopeless
    agenda.failed(last, Failure("died", ""))
    assert agenda.hopeless
    agenda.succeeded()
    assert not agenda.hopeless
    assert (agenda.done, agenda.given_up) == (1, 2)


def test_isolation_has_time_for_all_its_parts() -> None:
    assert DEFAULTS.seconds("isolate") > DEFAULTS.isolation > DEFAULTS.seconds("compute")
    assert DEFAULTS.patience > DEFAULTS.seconds("isolate"), "a block that is isolated is not silence"


class Clock:
    """Seconds that pass only when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_silence_is_told_now_and_then_and_ends_the_run() -> None:
    now = Clock()
    watchdog = Watchdog(Timeouts(quiet=10.0, patience=35.0), now)
    seen = []
    for _ in range(8):
        seen.append(watchdog.look())
        now.now += 5.0
    assert seen == ["fine", "fine", "quiet", "fine", "quiet", "fine", "quiet", "hopeless"]
    assert watchdog.silence == 40.0
    watchdog.news()
    assert (watchdog.look(), watchdog.silence) == ("fine", 0.0)


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
