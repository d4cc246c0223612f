"""Services that do what they are asked, and whose answer is lost; and services that cannot be used at all."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import fsspec
import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from pipeline.stores import names
from storage import open_results
from storage.errors import StoreError
from storage.integrity import check_blocks, check_files, check_ledger
from storage.places.access import coordinator_lock, locate
from storage.places.objects import LEASE, MAKERS, ObjectPrefix
from tests.storage.cases import FEW, digest, fill, store


def lose_answers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every conditional put is done, and done again because no answer came, as clients of S3 do."""
    lost: list[str] = []
    claim = ObjectPrefix.claim

    def twice(self: ObjectPrefix, key: str, data: bytes) -> None:
        claim(self, key, data)
        lost.append(key)
        claim(self, key, data)

    monkeypatch.setattr(ObjectPrefix, "claim", twice)
    return lost


def test_a_lost_answer_is_not_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store(tmp_path / "s.zarr", FEW)
    fill(tmp_path / "s.zarr")
    url = f"memory://{uuid.uuid4().hex}/s"
    lost = lose_answers(monkeypatch)
    store(url, FEW)
    fill(url)
    assert {key.partition("/")[0] for key in lost} == {LEASE, MAKERS, "ledger"}
    assert digest(url) == digest(tmp_path / "s.zarr")
    location = locate(url)
    findings = [finding for one in check_blocks(location) for finding in one.findings]
    assert [*check_files(location), *check_ledger(location), *findings] == []


def test_the_same_lines_of_another_run_are_another_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both compute the same receipts; only one has the lease."""
    url = f"memory://{uuid.uuid4().hex}/s"
    location = locate(url)
    first, second = location.journal("ledger"), location.journal("ledger")
    for journal in (first, second):
        list(journal.lines())
        journal.open()
        journal.append(b"the same line")
    first.sync()
    with pytest.raises(StoreError, match="another run has taken over this store; this one stops"):
        second.sync()


def test_two_threads_of_one_process_do_not_share_a_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"memory://{uuid.uuid4().hex}/s"
    store(url, FEW)
    lose_answers(monkeypatch)
    entered, inside, most = [0], [0], [0]
    start = threading.Barrier(8)

    def enter() -> None:
        start.wait()
        try:
            with coordinator_lock(url):
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                entered[0] += 1
                inside[0] -= 1
        except StoreError:
            pass

    threads = [threading.Thread(target=enter) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] == 1
    assert entered[0] >= 1


def look_back(monkeypatch: pytest.MonkeyPatch, lag: int) -> list[int]:
    """Lists are those of `lag` puts and removals ago, as services without strong consistency give; how many were."""
    changes: list[tuple[str, str, bool]] = []
    stale = [0]
    keys, real = ObjectPrefix.keys, {name: getattr(ObjectPrefix, name) for name in ("write", "claim", "delete")}

    def changing(name: str) -> Any:
        def change(self: ObjectPrefix, key: str, *others: Any) -> None:
            was = key in set(keys(self))
            real[name](self, key, *others)
            if was == (name == "delete"):
                changes.append((self.name, key, name != "delete"))

        return change

    def old(self: ObjectPrefix, folder: str = "") -> Iterator[str]:
        now = before = set(keys(self))
        for name, key, is_new in reversed(changes[-lag:] if lag else []):
            before = (before - {key} if is_new else before | {key}) if name == self.name else before
        stale[0] += before != now
        yield from (key for key in before if not folder or key.startswith(f"{folder}/"))

    for name in real:
        monkeypatch.setattr(ObjectPrefix, name, changing(name))
    monkeypatch.setattr(ObjectPrefix, "keys", old)
    return stale


@pytest.mark.parametrize("lag", [1, 2, 3, 5, 100])
def test_stale_lists_stop_a_run_at_most(lag: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there already is never taken for missing for good, and never counted twice."""
    store(tmp_path / "s.zarr", FEW)
    fill(tmp_path / "s.zarr")
    url = f"memory://{uuid.uuid4().hex}/s"
    with monkeypatch.context() as patch:
        stale = look_back(patch, lag)
        store(url, FEW)
        for blocks in (1, 2, 9):
            with suppress(StoreError):
                fill(url, blocks=blocks)
        assert stale[0] > 3
    fill(url)
    assert digest(url) == digest(tmp_path / "s.zarr")
    location = locate(url)
    findings = [finding for one in check_blocks(location) for finding in one.findings]
    assert [*check_files(location), *check_ledger(location), *findings] == []


def test_who_sees_no_lease_in_a_stale_list_is_refused_or_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"memory://{uuid.uuid4().hex}/s"
    location = locate(url)
    with coordinator_lock(location):
        first = location.journal("ledger")
        first.open()
        first.append(b"a line")
        first.sync()
        monkeypatch.setattr(ObjectPrefix, "keys", lambda *_: iter(()))
        with pytest.raises(StoreError, match="another run is writing to this store"):
            coordinator_lock(location).__enter__()
        second = location.journal("ledger")  # as one that holds a lease of another number
        assert list(second.lines()) == []
        second.open()
        second.append(b"another line")
        with pytest.raises(StoreError, match="another run has taken over this store; this one stops"):
            second.sync()


def test_what_is_found_in_the_place_of_a_folder_that_was_just_emptied_is_no_lease(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """s3fs may find a folder itself, when its last object goes between two of its questions."""
    url = f"memory://{uuid.uuid4().hex}/s"
    location = locate(url)
    assert isinstance(location, ObjectPrefix)
    location.write(f"{LEASE}/notes.txt", (b"of a stranger",))
    find = fsspec.filesystem("memory").find
    monkeypatch.setattr(fsspec.filesystem("memory"), "find", lambda path, **_: [path, *find(path)])
    with coordinator_lock(location):
        assert location.holder() is not None
    assert location.holder() is None


def test_who_comes_too_late_to_make_a_store_keeps_its_maker_from_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"memory://{uuid.uuid4().hex}/s"
    late = ObjectPrefix.exists
    said: list[bool] = []

    def looks(self: ObjectPrefix) -> bool:
        there = late(self)
        said.append(there)
        if len(said) == 2:  # the second look of one that holds the lease of makers
            with coordinator_lock(url):
                pass
        return there

    monkeypatch.setattr(ObjectPrefix, "exists", looks)
    store(url, FEW)
    assert said == [False, False, True]  # the last one is asked by the lock of the run


class NoCredentialsError(Exception):
    """As botocore has it: no error of the system."""


@pytest.mark.parametrize("error", [NoCredentialsError("Unable to locate credentials"), PermissionError("Forbidden")])
@pytest.mark.parametrize("command", ["info", "status", "verify", "export", "run", "cancel"])
def test_a_service_that_cannot_be_used_is_one_line(
    command: str, error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.bad_inputs.rows import GOOD

    def refuse(*_: Any, **__: Any) -> None:
        raise error

    for name in ("ls", "info", "cat_file", "find", "pipe_file"):
        monkeypatch.setattr(fsspec.filesystem("memory"), name, refuse)
    (tmp_path / "sweep.yaml").write_text(GOOD)
    monkeypatch.setattr(names, "FLEETING", ())  # as a stand-in for a service
    url = "memory://bucket/s.zarr"
    arguments = {
        "export": ["export", url, "--format", "csv", "--output", str(tmp_path / "x")],
        "run": ["run", str(tmp_path / "sweep.yaml"), "--store", url],
    }.get(command, [command, url])
    done = CliRunner().invoke(cli, arguments)
    assert (done.exit_code, len(done.stderr.strip().splitlines())) == (2, 1), done.output
    assert str(error) in done.stderr
    assert url in done.stderr


@pytest.mark.parametrize("settings", [{}, {"AWS_ACCESS_KEY_ID": "wrong", "AWS_SECRET_ACCESS_KEY": "wrong"}])
def test_a_dead_endpoint_is_one_line(settings: dict[str, str], tmp_path: Path) -> None:
    pytest.importorskip("s3fs", reason="needs the extra test-s3")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    environment |= {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_EC2_METADATA_DISABLED": "true",
        "HOME": str(tmp_path),
    }
    command = [
        sys.executable,
        "-c",
        "from applications.commands.cli import main; main()",
        "status",
        "s3://bucket/s.zarr",
    ]
    done = subprocess.run(command, env=environment | settings, capture_output=True, text=True, check=False)
    assert (done.returncode, len(done.stderr.strip().splitlines())) == (2, 1), done.stderr
    assert "s3://bucket/s.zarr" in done.stderr


def test_open_of_an_unusable_service(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise NoCredentialsError("no key\nnor another")

    monkeypatch.setattr(fsspec.filesystem("memory"), "ls", refuse)
    with pytest.raises(
        StoreError, match="the service cannot be used: NoCredentialsError: no key nor another; give cred"
    ):
        open_results("memory://bucket/s.zarr")
