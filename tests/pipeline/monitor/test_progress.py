from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from pipeline.monitor.log import BlockDone, BlockFailed, Event, Finished, Started
from pipeline.monitor.progress import LINE_EVERY, LineProgress, Tally, clock, count, headline, progress, summary

RUN: tuple[Event, ...] = (
    Started(total_blocks=4, done_blocks=1, samples_per_block=1000, dashboard="http://127.0.0.1:8787/status"),
    BlockDone(block=1, samples=1000, seconds=0.5),
    BlockFailed(block=2, reason="needs [2 GiB], has 1 GiB"),
    BlockDone(block=3, samples=500, seconds=0.5),
    Finished(samples=1500, seconds=2.0, failed_blocks=1),
)


class Clock:
    """Seconds that pass only when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_rate_counts_this_run_only() -> None:
    tally = Tally.of(Started(10, 5, 100, None), now=0.0).plus(100)
    assert tally.done == 600
    assert tally.rate(now=2.0) == 50.0
    assert tally.left(now=2.0) == 8.0


def test_time_left_is_unknown_before_the_first_block() -> None:
    tally = Tally.of(Started(10, 0, 100, None), now=0.0)
    assert tally.left(now=1.0) is None
    assert tally.line(now=1.0) == "0 %  0 of 1 k samples, 0 samples/s, time left unknown"


def test_done_never_exceeds_the_total() -> None:
    assert Tally.of(Started(1, 1, 100, None), now=0.0).plus(50).done == 100


def test_lines_of_a_run() -> None:
    lines: list[str] = []
    now = Clock()
    listener = LineProgress(lines.append, now)
    for event in RUN:
        listener(event)
        now.now += LINE_EVERY
    assert lines == [
        "4 blocks, 4 k samples, 1 done before; dashboard http://127.0.0.1:8787/status",
        "50 %  2 k of 4 k samples, 100 samples/s, 0:00:20 left",
        "block 2 given up: needs [2 GiB], has 1 GiB",
        "62 %  2.5 k of 4 k samples, 50 samples/s, 0:00:30 left",
        "1.5 k samples in 0:00:02, 750 samples/s; 1 block given up",
    ]


def test_a_run_in_parts_says_so_at_its_start() -> None:
    words = headline(Started(4, 0, 1000, None, "block", 2))
    assert words == "4 blocks, a task for each, computed in 2 parts for lack of memory, 4 k samples"


def test_lines_are_not_written_for_every_block() -> None:
    lines: list[str] = []
    now = Clock()
    listener = LineProgress(lines.append, now)
    listener(Started(1000, 0, 10, None))
    for block in range(1000):
        now.now += LINE_EVERY / 100
        listener(BlockDone(block, 10, 0.1))
    assert 9 <= len(lines) - 1 <= 10


@pytest.mark.parametrize("terminal", [True, False], ids=["terminal", "file"])
def test_a_whole_run_on_a_console(terminal: bool) -> None:
    out = io.StringIO()
    with progress(Console(file=out, force_terminal=terminal, width=200)) as listener:
        for event in RUN:
            listener(event)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", out.getvalue())
    for expected in ("dashboard http://127.0.0.1:8787/status", "given up: needs [2 GiB]", "750 samples/s"):
        assert expected in text
    assert ("100%" in text) is terminal


def test_the_bar_goes_away_when_a_run_raises() -> None:
    def interrupted() -> None:
        with progress(Console(file=out, force_terminal=True)) as listener:
            listener(RUN[0])
            raise KeyboardInterrupt

    out = io.StringIO()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert out.getvalue().endswith("\x1b[?25h"), "the cursor is shown again"


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (12, "12"), (999.6, "1 k"), (1e5, "100 k"), (2.5e6, "2.5 M"), (1e10, "10 G")]
)
def test_counts(number: float, text: str) -> None:
    assert count(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0:00:00"), (59.6, "0:01:00"), (3723, "1:02:03"), (360000, "100:00:00")]
)
def test_clock(seconds: float, text: str) -> None:
    assert clock(seconds) == text


def test_summary_of_an_empty_run() -> None:
    assert summary(Finished(0, 0.0, 0)) == "0 samples in 0:00:00, - samples/s"
