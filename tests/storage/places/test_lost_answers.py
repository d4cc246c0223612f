"""Services that do what they are asked, and whose answer is lost; and services that cannot be used at all."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import uuid
from pathlib import Path
from typing import Any

import fsspec
import pytest
from click.testing import CliRunner

from pipeline.cli import cli
from pipeline.stores import names
from storage import open_results
from storage.errors import StoreError
from storage.integrity import check_blocks, check_files, check_ledger
from storage.places.access import coordinator_lock, locate
from storage.places.objects import LEASE, ObjectPrefix
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


def test_a_lost_answer_is_not_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unforced: None) -> None:
    store(tmp_path / "s.zarr", FEW)
    fill(tmp_path / "s.zarr")
    url = f"memory://{uuid.uuid4().hex}/s"
    lost = lose_answers(monkeypatch)
    store(url, FEW)
    fill(url)
    assert {key.partition("/")[0] for key in lost} == {LEASE, "ledger"}
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
    command = [sys.executable, "-c", "from pipeline.cli import main; main()", "status", "s3://bucket/s.zarr"]
    done = subprocess.run(command, env=environment | settings, capture_output=True, text=True, check=False)
    assert (done.returncode, len(done.stderr.strip().splitlines())) == (2, 1), done.stderr
    assert "s3://bucket/s.zarr" in done.stderr


def test_open_of_an_unusable_service(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise NoCredentialsError("no key\nnor another")

    monkeypatch.setattr(fsspec.filesystem("memory"), "ls", refuse)
    with pytest.raises(StoreError, match="the service cannot be used: NoCredentialsError: no key nor another; check"):
        open_results("memory://bucket/s.zarr")
