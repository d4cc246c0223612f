import fcntl
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from storage.errors import StoreError
from storage.lock import LOCK, coordinator_lock

HOLD = "import sys, pathlib, time; from storage.lock import coordinator_lock\n"
HOLD += "with coordinator_lock(pathlib.Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"


def test_second_coordinator_is_told_who_holds_the_store(tmp_path: Path) -> None:
    with coordinator_lock(tmp_path):
        message = (
            rf'another run is writing to this store \({{"pid": {os.getpid()}, "host": .*"since": .*\); wait for it'
        )
        with pytest.raises(StoreError, match=message), coordinator_lock(tmp_path):
            pytest.fail("two coordinators")
    with coordinator_lock(tmp_path):
        pass


def test_holder_that_has_not_written_its_name(tmp_path: Path) -> None:
    with (tmp_path / LOCK).open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        with pytest.raises(StoreError, match="it has not said who it is"), coordinator_lock(tmp_path):
            pytest.fail("two coordinators")


def test_races_have_one_winner(tmp_path: Path) -> None:
    for _ in range(50):
        start, leave = threading.Barrier(2), threading.Barrier(2)
        won: list[bool] = []

        def run(start: threading.Barrier = start, leave: threading.Barrier = leave, won: list[bool] = won) -> None:
            start.wait()
            try:
                with coordinator_lock(tmp_path):
                    won.append(True)
                    leave.wait()
            except StoreError:
                won.append(False)
                leave.wait()

        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(won) == [False, True]


@pytest.mark.chaos
def test_killed_holder_leaves_the_store_free(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StoreError, match=f'"pid": {holder.pid}'), coordinator_lock(tmp_path):
            pytest.fail("two coordinators")
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        with coordinator_lock(tmp_path):
            pass


def test_lock_in_a_missing_store(tmp_path: Path) -> None:
    with (
        pytest.raises(StoreError, match=r"coordinator.lock: No such file or directory; check"),
        coordinator_lock(tmp_path / "x"),
    ):
        pytest.fail("no store")
