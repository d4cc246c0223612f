"""The same store in real object storage, as far as a server of it on this machine is real."""

from __future__ import annotations

import gc
import subprocess
import sys
import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.campaigns.object_server import Faults, server, variables
from storage.errors import StoreError
from storage.integrity import check_blocks, check_files, check_ledger
from storage.places.access import coordinator_lock, locate
from tests.storage.cases import FEW, digest, fill, store

pytest.importorskip("s3fs", reason="needs the extra test-s3")
pytest.importorskip("moto", reason="needs the extra test-s3")


COORDINATOR = """
import sys
from storage.errors import StoreError
from tests.storage.cases import FEW, fill, store
url = sys.argv[1]
print("ready", flush=True)
sys.stdin.readline()
try:
    store(url, FEW)
    fill(url)
except StoreError as error:
    print("refused:", error)
else:
    print("ran")
"""


@pytest.fixture
def faults() -> Faults:
    return Faults()


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch, faults: Faults) -> Iterator[str]:
    import fsspec

    with server(faults) as endpoint:
        for name, value in variables(endpoint).items():
            monkeypatch.setenv(name, value)
        bucket = uuid.uuid4().hex  # servers of one process share what they hold
        fsspec.filesystem("s3").mkdir(bucket)
        yield f"s3://{bucket}/runs/a.zarr"
    fsspec.filesystem("s3").clear_instance_cache()
    with warnings.catch_warnings(action="ignore"):  # sessions are closed by being forgotten, with a complaint
        gc.collect()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_store_in_s3(url: str, tmp_path: Path) -> None:
    store(url)
    fill(url, blocks=5)
    fill(url)
    store(tmp_path / "s.zarr")
    fill(tmp_path / "s.zarr")
    assert digest(url) == digest(tmp_path / "s.zarr")
    location = locate(url)
    with coordinator_lock(location), pytest.raises(StoreError, match="another run is writing"):
        coordinator_lock(location).__enter__()
    assert [*check_files(location), *check_ledger(location)] == []
    location.delete("peak_force/c.0.0.0.0")
    assert [each.kind for one in check_blocks(location) for each in one.findings] == ["missing"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("kind", ["throttled", "lost"])
def test_a_service_that_throttles_or_whose_answers_are_lost(
    kind: str, url: str, faults: Faults, tmp_path: Path
) -> None:
    store(tmp_path / "s.zarr", FEW)
    fill(tmp_path / "s.zarr")
    setattr(faults, kind, 4)
    store(url, FEW)
    fill(url)
    assert faults.done >= 5
    setattr(faults, kind, 0)
    assert digest(url) == digest(tmp_path / "s.zarr")
    location = locate(url)
    blocks = [finding for one in check_blocks(location) for finding in one.findings]
    assert [*check_files(location), *check_ledger(location), *blocks] == []
    assert location.holder() is None


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_service_that_does_nothing_but_throttle_is_one_line_and_the_run_goes_on_later(
    url: str, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("s3fs.core.S3FileSystem.retries", 1)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    store(url, FEW)
    fill(url, blocks=1)
    faults.throttled = 1
    with pytest.raises(StoreError, match="reduce your request rate") as raised:
        fill(url)
    assert "\n" not in str(raised.value)
    faults.throttled = 0
    fill(url)
    assert [*check_files(locate(url))] == []


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_of_two_coordinators_on_s3_one_runs(url: str, tmp_path: Path) -> None:
    store(tmp_path / "s.zarr", FEW)
    fill(tmp_path / "s.zarr")
    command = [sys.executable, "-c", COORDINATOR, url]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    both = [subprocess.Popen(command, text=True, cwd=Path(__file__).parents[2], **pipes) for _ in range(2)]
    for process in both:
        assert process.stdout.readline() == "ready\n"
    for process in both:
        process.stdin.write("\n")
        process.stdin.flush()
    said, complaints = zip(*sorted(process.communicate(timeout=300) for process in both), strict=True)
    assert said[0] == "ran\n", complaints
    assert said[1].startswith("refused: ")
    assert "another run is writing to this store" in said[1] or "exists already" in said[1]
    assert digest(url) == digest(tmp_path / "s.zarr")
