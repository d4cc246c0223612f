"""Silence of a run."""

from __future__ import annotations

from pipeline.execution.policy.attempts import Timeouts
from pipeline.execution.policy.watchdog import Watchdog
from tests.pipeline.execution.policy.clock import Clock


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
