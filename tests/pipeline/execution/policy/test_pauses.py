"""Workers that are paused and idle: steps, and the end of a run whose workers are all paused."""

from __future__ import annotations

from pipeline.execution.policy.pauses import PAUSE_END, PAUSE_RESTARTS, PAUSE_STEPS, PausedWorker, Pauses

FULL_ONE = PausedWorker("tcp://a", 721 << 20, 858 << 20, nanny=True)
ALONE = PausedWorker("tcp://b", 800 << 20, 858 << 20, nanny=False)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_each_step_is_due_once_for_a_pause() -> None:
    clock = Clock()
    pauses, steps = Pauses(clock), []
    for _ in range(60):
        steps += [(worker.address, step, clock.now) for worker, step in pauses.due([FULL_ONE, ALONE])]
        clock.now += 1.0
    assert steps == [
        ("tcp://a", "trim", 0.0),
        ("tcp://b", "trim", 0.0),
        ("tcp://a", "move", PAUSE_STEPS["move"]),
        ("tcp://b", "move", PAUSE_STEPS["move"]),
        ("tcp://a", "restart", PAUSE_STEPS["restart"]),  # the other would not come back
    ]


def test_a_worker_that_goes_on_begins_anew() -> None:
    clock = Clock()
    pauses = Pauses(clock)
    assert pauses.due([ALONE]) == [(ALONE, "trim")]
    clock.now = PAUSE_STEPS["move"] - 1.0
    assert pauses.due([]) == []
    clock.now += 2.0
    assert pauses.due([ALONE]) == [(ALONE, "trim")]


def test_a_run_ends_where_all_workers_stay_paused() -> None:
    clock = Clock()
    pauses = Pauses(clock)
    pauses.due([FULL_ONE, ALONE])
    clock.now = PAUSE_END - 1.0
    assert pauses.stop([FULL_ONE, ALONE], 0) == ""
    clock.now = PAUSE_END
    assert pauses.stop([FULL_ONE, ALONE], 1) == "", "a worker may go on"
    reason = pauses.stop([FULL_ONE, ALONE], 0)
    assert reason.startswith("all 2 workers are paused, because their memory stays full though they compute nothing: ")
    assert "tcp://a with 721 MiB of 858 MiB, tcp://b with 800 MiB of 858 MiB; give workers more memory" in reason


def test_workers_are_started_anew_a_few_times_unless_a_block_is_done() -> None:
    clock = Clock()
    pauses = Pauses(clock)

    def restarts(count: int) -> int:
        made = 0
        for number in range(count):  # each comes back under another address
            worker = PausedWorker(f"tcp://{clock.now}-{number}", 1, 1, nanny=True)
            pauses.due([worker])
            clock.now += PAUSE_STEPS["restart"]
            made += "restart" in [step for _, step in pauses.due([worker])]
        return made

    assert restarts(10) == PAUSE_RESTARTS
    pauses.succeeded()
    assert restarts(10) == PAUSE_RESTARTS
