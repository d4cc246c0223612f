"""The same store in real object storage, as far as a server of it on this machine is real."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from storage.errors import StoreError
from storage.integrity import check_blocks, check_files, check_ledger
from storage.places.access import coordinator_lock, locate
from tests.storage.cases import digest, fill, store

pytest.importorskip("s3fs", reason="needs the extra test-s3")
server = pytest.importorskip("moto.server", reason="needs the extra test-s3")


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    import fsspec

    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    for name, value in {
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
    }.items():
        monkeypatch.setenv(name, value)
    fsspec.filesystem("s3").mkdir("bucket")
    yield "s3://bucket/runs/a.zarr"
    running.stop()
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
