from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.execution.processes.signals import SIGNALS, EndedBySignal, exit_status, orderly_end
from pipeline.monitor.log import Started, Stopped, records
from storage.places.access import holder
from tests.pipeline.test_cli import LONG, PROGRAM, environment
from tests.waiting import PATIENCE


@pytest.fixture(autouse=True)
def nothing_is_ignored() -> Iterator[None]:
    """Signals do what they do in a terminal, also where the tests run under `nohup`, which ignores SIGHUP."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_is_met_like_ctrl_c(number: signal.Signals) -> None:
    def wait() -> None:
        with orderly_end():
            os.kill(os.getpid(), number)
            time.sleep(5)

    with pytest.raises(KeyboardInterrupt, match=f"ended by {number.name}") as caught:
        wait()
    assert exit_status(caught.value) == 128 + number
    assert signal.getsignal(number) is signal.SIG_DFL


def test_signals_that_somebody_handles_or_ignores_stay() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with orderly_end():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_other_threads_are_left_alone() -> None:
    seen: list[object] = []

    def look() -> None:
        with orderly_end():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [signal.SIG_DFL]


def test_ctrl_c_has_its_own_status() -> None:
    assert exit_status(KeyboardInterrupt()) == 130
    assert str(EndedBySignal(signal.SIGTERM)) == "ended by SIGTERM"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_run_ends_in_order(number: signal.Signals, status: int, tmp_path: Path) -> None:
    (tmp_path / "long.yaml").write_text(LONG)
    (tmp_path / "c.yaml").write_text("limbsweep: {cluster: {kind: synchronous}}\n")
    command = [*PROGRAM, "run", "long.yaml", "--cluster", "c.yaml"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment(), cwd=tmp_path) as running:
        assert running.stderr is not None
        assert "blocks, 40.1 M samples" in running.stderr.readline()
        running.send_signal(number)
        _, said = running.communicate(timeout=PATIENCE)
    assert running.returncode == status
    again = "limbsweep run long.yaml --store long.zarr --cluster c.yaml"
    assert said.splitlines()[-1] == f"ended by {number.name}; go on with: {again}"
    assert said.count(f"ended by {number.name}") == 1
    events = [record.event for record in records(tmp_path / "long.zarr")]
    assert isinstance(events[0], Started)
    assert events[-1] == Stopped(f"ended by {number.name}", cancelled=True)
    assert holder(tmp_path / "long.zarr") is None
