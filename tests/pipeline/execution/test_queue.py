from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pipeline.execution.processes import queue
from pipeline.execution.processes.queue import KEPT_DAYS, RUNS, printed_file, private_folder, runs_at_once, turn
from tests.pipeline.test_cli import environment
from tests.waiting import PATIENCE, until


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "POLL_SECONDS", 0.01)


def test_so_many_run_at_once_and_the_first_come_first(tmp_path: Path) -> None:
    order: list[int] = []
    most, running, peak = 2, 0, 0
    lock, waiting, all_wait = threading.Lock(), list[int](), threading.Event()

    def work(number: int) -> None:
        nonlocal running, peak
        with turn(tmp_path, most, waiting.append):
            with lock:
                order.append(number)
                running += 1
                peak = max(peak, running)
            assert all_wait.wait(PATIENCE)
            time.sleep(0.01)
            with lock:
                running -= 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
        until(lambda: len(order) + len(waiting) > threads.index(thread))  # noqa: B023
    all_wait.set()
    for thread in threads:
        thread.join()
    assert peak == most
    assert sorted(order) == list(range(6))
    assert sorted(order[:2]) == [0, 1]
    assert list(tmp_path.iterdir()) == []


def test_who_waits_is_told_how_many_are_before(tmp_path: Path) -> None:
    told: list[int] = []

    def tell(before: int) -> None:
        told.append(before)
        first.__exit__(None, None, None)

    first = turn(tmp_path, 1, lambda _: None)
    first.__enter__()
    with turn(tmp_path, 1, tell):
        assert told == [1]


def test_a_run_that_was_killed_holds_up_nobody(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from pipeline.execution.processes.queue import turn\n"
        f"with turn(Path({str(tmp_path)!r}), 1, print): print('x', flush=True); input()"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"x\n"
        process.kill()
        process.wait()
    assert len(list(tmp_path.iterdir())) == 1
    with turn(tmp_path, 1, lambda _: pytest.fail("it waits for the dead")):
        assert len(list(tmp_path.iterdir())) == 1


def test_a_run_that_waits_imports_nothing_that_computes() -> None:
    code = "import sys, pipeline.execution.submit; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    assert {"numpy", "dask", "distributed", "xarray", "zarr"} & {*done.stdout.split()} == set()


def test_the_folder_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = private_folder()
    assert folder.is_relative_to(tmp_path)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.chmod(0o777)
    assert stat.S_IMODE(private_folder().stat().st_mode) == 0o700
    descriptor, path = printed_file(folder)
    os.close(descriptor)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_what_runs_have_printed_is_removed_after_a_while(tmp_path: Path) -> None:
    old, new, other = tmp_path / "old.log", tmp_path / "new.log", tmp_path / "old.txt"
    for path in (old, new, other):
        path.touch()
    for path in (old, other):
        os.utime(path, (0, time.time() - (KEPT_DAYS + 1) * 86400))
    os.close(printed_file(tmp_path)[0])
    assert (old.exists(), new.exists(), other.exists()) == (False, True, True)


@pytest.mark.parametrize(("text", "many"), [("3", 3), ("0", None), ("-1", None), ("x", None), ("99999", None)])
def test_the_environment_says_how_many(text: str, many: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RUNS, text)
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    assert runs_at_once(computes_here=True) == (many or 16)
    assert runs_at_once(computes_here=False) == (many or queue.ELSEWHERE)
