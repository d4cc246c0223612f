"""Shares of a run's cores: those of a real run, and of clocks that are known."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from benchmarks.figures import CheckError
from benchmarks.runs import lost
from benchmarks.runs.footprint import footprint
from benchmarks.runs.lost import Clocks, Lost, Meters, Told
from benchmarks.runs.sweeps import text
from pipeline.monitor.log import Finished, Started


class _Client:
    """A client whose workers tell what they are told to."""

    def __init__(self, *workers: Told) -> None:
        self.workers = workers
        self.called: list[Any] = []

    def run(self, function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
        self.called.append(function)
        return {f"tcp://{k}": each for k, each in enumerate(self.workers)}


def _told() -> Told:
    return Told(
        12.0, Clocks(3.0, 2.0, 1.0), Clocks(5.0, 0.0, 1.0), Clocks(25.0, 0.5, 2.0), {"tasks": 18.0, "kernels": 16.0}
    )


def _ended(monkeypatch: pytest.MonkeyPatch, *workers: Told) -> Lost:
    listener = Lost(_Client(*workers), 10.0)  # type: ignore[arg-type]
    monkeypatch.setattr(time, "perf_counter", lambda: 28.0)
    monkeypatch.setattr(Clocks, "of", lambda process: Clocks(7.0, 3.0, 1.5))
    for event in (Started(1, 0, 1, None), Finished(1, 1.0, 0)):
        listener(event)
    return listener


def test_shares_of_known_clocks_are_those_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    listener = _ended(monkeypatch, _told())
    monkeypatch.setattr(time, "perf_counter", lambda: 30.0)
    seconds = {name: share * 0.4 for name, share in listener.shares(2).items()}  # of 20 s on two cores
    assert seconds == pytest.approx(
        {
            "kernels": 16.0,
            "tasks beside kernels": 2.0,
            "Dask's worker": 2.0,
            "scheduler": 3.0,
            "coordinator": 1.0,
            "system": 1.5,
            "start": 4.0,
            "end": 4.0,
            "waiting": 6.5,
        }
    )
    assert list(seconds) == list(lost.SHARES)


def test_a_cluster_of_two_workers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CheckError, match="2 workers; expected one"):
        _ended(monkeypatch, _told(), _told())


def test_clocks_are_those_of_this_process() -> None:
    before, end = Clocks.of(os.getpid()), time.process_time() + 0.2
    while time.process_time() < end:
        sum(range(10_000))
    spent = Clocks.of(os.getpid()).since(before)
    assert 0.1 <= spent.user + spent.system <= 0.4
    assert spent.main <= spent.user + 1.5 / lost.TICKS  # the two are read one after the other


def test_meters_count_the_time_of_the_thread_that_calls() -> None:
    meters = Meters(os.getpid())

    def work() -> int:
        end = time.thread_time() + 0.1
        while time.thread_time() < end:
            sum(range(10_000))
        return 3

    kernel = meters.around("kernels", work)
    task = meters.around("tasks", lambda: kernel() + kernel())
    idle = threading.Thread(target=meters.around("tasks", time.sleep), args=(0.3,))
    idle.start()
    assert task() == 6
    idle.join()
    spent = meters.told().spent
    assert 0.1 <= spent["kernels"] <= spent["tasks"] + 1e-9 <= 0.4  # two calls, and a thread that slept


def test_shares_of_a_run_make_up_all_of_its_time() -> None:
    shares = footprint(text(3, 4, 5001, series=False)).shares
    assert list(shares) == list(lost.SHARES)
    assert sum(shares.values()) == pytest.approx(100.0)
    assert all(share > -2.0 for share in shares.values())  # clocks of the system tick every hundredth of a second
    assert shares["kernels"] > 0.0
    assert shares["start"] > 0.0
