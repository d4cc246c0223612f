"""Status and page of a run from its log, whatever is in it."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from pipeline.execution.run import run
from pipeline.monitor import status as monitor
from pipeline.monitor.log import (
    BlockRetried,
    BlocksDone,
    BlocksRecalled,
    ClusterState,
    Event,
    LogRecord,
    Started,
    WorkerPaused,
    WorkerRefused,
    WorkersJoined,
    WorkersLeft,
    last_run,
)
from pipeline.monitor.page import WIDTH, _curves, run_page
from tests.pipeline.runs import FEW, SYNCHRONOUS, sweep

GIB = 1 << 30
EVENTS: list[Event] = [
    Started(8, 0, 100, None, "block"),
    WorkersJoined(2, 2, "tcp://a, tcp://b"),
    WorkerRefused("tcp://c", "got <numpy> 1; expected numpy 2."),
    ClusterState(2, 1, 2, 3, GIB, 4 * GIB),
    *(BlocksDone(1, 100 + 10 * k) for k in range(6)),
    BlockRetried(10**6, "help", "no block of this store"),
    WorkerPaused("tcp://b", GIB, GIB, "move"),
    WorkersLeft(1, "tcp://b"),
    BlocksRecalled(3, "client.restart()"),
    ClusterState(1, 0, 1, 1, GIB // 2, 2 * GIB),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "s.zarr"
    run(sweep(FEW), path, SYNCHRONOUS)
    return path


@pytest.fixture
def logged(store: Path) -> Path:
    """The store with the log of another run, an event every ten seconds."""
    lines = (
        {"time": 1e9 + 10.0 * k, "pid": os.getpid(), "host": "h", "event": type(event).__name__, "what": asdict(event)}
        for k, event in enumerate(EVENTS)
    )
    (store / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return store


def test_every_event_is_read_back_from_the_log(logged: Path) -> None:
    assert [record.event for record in last_run(logged)] == EVENTS


def test_a_clock_that_is_set_back_leaves_a_page_that_can_be_read(logged: Path) -> None:
    lines = (logged / "log.jsonl").read_text().splitlines()
    back = [json.dumps({**row, "time": row["time"] - 3600.0}) for row in map(json.loads, lines[6:])]
    (logged / "log.jsonl").write_text("\n".join([*lines[:6], *back]) + "\n")
    text, _ = run_page(logged)
    assert monitor.status(logged).spread is None
    points = [float(number) for line in re.findall('points="([^"]*)"', text) for number in re.split("[ ,]", line)]
    assert points
    assert min(points) >= 0.0
    assert max(points) <= WIDTH


def test_a_page_has_curves_events_and_no_text_as_markup(logged: Path, tmp_path: Path) -> None:
    text, goes_on = run_page(logged)
    assert not goes_on
    assert text.count("<svg") == 4
    for words in ("Memory of all workers", "3 blocks sent again: client.restart()", "1 worker left: tcp://b"):
        assert words in text
    assert "got &lt;numpy&gt; 1" in text
    assert "http-equiv" not in text
    page = tmp_path / "p.html"
    for _ in range(2):  # its own page is written again
        told = CliRunner().invoke(cli, ["status", str(logged), "--page", str(page)])
        assert (told.exit_code, told.stdout) == (0, f"page of the run in {page}\n")
    assert page.read_text() == run_page(logged)[0]
    (tmp_path / "other.html").write_text("mine")
    assert CliRunner().invoke(cli, ["status", str(logged), "--page", str(tmp_path / "other.html")]).exit_code == 2


def test_status_tells_what_is_stuck_and_a_spread(logged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Half:
        blocks, count = 8, 6

        def is_done(self, block: int) -> bool:
            return block != 2

    late: Any = [*last_run(logged), *last_run(logged)[-1:]]
    late[-1] = type(late[0])(1e9 + 200.0, 1, "h", BlockRetried(2, "help", "no result from tcp://b after 40 s"))
    ledger: Any = Half()
    (stuck,) = monitor._stuck(late, ledger, {})
    assert str(stuck).startswith(
        "not done since 2001-09-09T01:50:00+00:00: no result from tcp://b after 40 s; given to"
    )
    low, high = monitor._spread(late, 2) or (0.0, 0.0)
    assert 0.0 < low < high
    state: Any = EVENTS[3]
    words = "2 with 2 threads, 1 of them paused; 3 blocks in flight, memory 1 GiB of 4 GiB"
    assert monitor.described(state) == words
    assert monitor.described(replace(state, share=0.25)) == f"{words}; shared with other runs, 25% for this one"
    assert monitor.status(logged).news == "3 blocks sent again: client.restart()"


def test_a_page_of_very_many_records_is_small(store: Path) -> None:
    lines = (
        {"time": 1e9 + k, "pid": 1, "host": "h", "event": "BlocksDone", "what": {"blocks": 1, "samples": 100 + k % 7}}
        for k in range(20_000)
    )
    first = {"time": 1e9, "pid": 1, "host": "h", "event": "Started", "what": asdict(EVENTS[0])}
    log, before = store / "log.jsonl", (store / "log.jsonl").read_bytes()
    try:
        log.write_text("\n".join(json.dumps(line) for line in (first, *lines)) + "\n", "utf-8")
        text, _ = run_page(store)
    finally:
        log.write_bytes(before)
    assert len(text) < 50_000
    rates = re.search(r"Samples per second, at most (\d+)", text)
    assert rates is not None
    assert int(rates[1]) in (102, 103, 104)  # even, though records have 100 to 106 samples


def test_the_process_that_runs_is_told_in_words(store: Path) -> None:
    owner = '{"pid": 7, "host": "node", "since": "2026-11-27T21:39:37+00:00"}'
    rows = dict(replace(monitor.status(store), owner=owner).rows())
    assert rows["run by"] == "process 7 on node, since 2026-11-27T21:39:37+00:00"
    assert dict(replace(monitor.status(store), owner="a mark").rows())["run by"] == "a mark"


def test_throughput_is_that_of_the_time_since_the_record_before() -> None:
    (_, throughput) = _curves(
        [
            LogRecord(t, 1, "h", event)
            for t, event in [(0.0, EVENTS[0]), *((10.0 * k, BlocksDone(1, 50)) for k in range(1, 9))]
        ],
        [10.0 * k for k in range(9)],
    )
    assert throughput.values == pytest.approx([5.0] * len(throughput.values))
