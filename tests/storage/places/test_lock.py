import fcntl
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from storage.errors import StoreError
from storage.places import access, lock
from storage.places.access import coordinator_lock
from storage.places.lock import LOCK
from tests.waiting import PATIENCE

HOLD = "import sys, pathlib, time; from storage.places.access import coordinator_lock\n"
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


def test_who_looks_at_a_store_keeps_nobody_from_it(tmp_path: Path) -> None:
    with coordinator_lock(tmp_path):
        pass
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            access.holder(tmp_path)

    lookers = [threading.Thread(target=look) for _ in range(2)]
    for looker in lookers:
        looker.start()
    try:
        for _ in range(300):
            with coordinator_lock(tmp_path):
                pass
    finally:
        over.set()
        for looker in lookers:
            looker.join()


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
        pytest.raises(StoreError, match=r"coordinator.lock: No such file or directory; see that the store"),
        coordinator_lock(tmp_path / "x"),
    ):
        pytest.fail("no store")


# holders on other machines, for whom the lock of this one may not count


@pytest.fixture
def left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lock that was not given back by a holder on another machine, whose clock is far ahead."""
    monkeypatch.setattr(lock, "BEAT_SECONDS", 0.02)
    monkeypatch.setattr(lock, "WATCH_SECONDS", 0.2)
    far = lock.Owner(7, "far", "another kernel", "1", "2999-01-01T00:00:00+00:00", 3)
    (tmp_path / LOCK).write_bytes(far.dump())
    return tmp_path


def test_a_silent_holder_elsewhere_is_taken_for_dead(left: Path) -> None:
    with coordinator_lock(left):
        assert f'"pid": {os.getpid()}' in str(access.holder(left))
    assert (left / LOCK).read_bytes() == b"", "given back in order"


def test_a_holder_elsewhere_that_shows_life_is_respected(left: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "WATCH_SECONDS", PATIENCE)
    far = lock.Owner.parse((left / LOCK).read_bytes())
    assert far is not None
    with (
        lock.beating(lambda beat: (left / LOCK).write_bytes(replace(far, beat=beat).dump())),
        pytest.raises(StoreError, match=r'another run is writing to this store \({"pid": 7, "host": "far"'),
        coordinator_lock(left),
    ):
        pytest.fail("two coordinators")


def test_a_holder_here_that_was_killed_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "lives", lambda look: pytest.fail("need not be watched"))
    (tmp_path / LOCK).write_bytes(lock.Owner.here().dump())
    with coordinator_lock(tmp_path):
        pass


def test_a_clock_that_jumps_changes_nothing(left: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: -1e9)
    with coordinator_lock(left):
        pass


def test_an_owner_is_known_by_more_than_its_number() -> None:
    here = lock.Owner.here()
    assert not here.is_dead
    assert replace(here, started="0").is_dead, "the number belongs to another process now"
    assert not replace(here, machine="elsewhere", started="0").is_dead, "nobody can say"
    assert lock.Owner.parse(here.dump()) == here
    assert lock.Owner.parse(b"{}") is None
