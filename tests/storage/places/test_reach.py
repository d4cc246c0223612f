from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from storage.places.access import locate
from storage.places.reach import marked

KEY = "limbsweep.json"


def test_a_store_that_is_not_made_yet_is_seen_by_its_mark_which_goes(tmp_path: Path) -> None:
    place = locate(tmp_path / "new" / "a.zarr")
    with marked(place, KEY) as mark:
        assert pickle.loads(pickle.dumps(mark)).fault() == ""
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []
    assert f"does not see the folder of {place}" in mark.fault()
    (tmp_path / "new" / "a.zarr").mkdir(parents=True)
    (tmp_path / "new" / "a.zarr" / KEY).touch()  # the store is made
    assert mark.fault() == ""


def test_a_store_that_exists_needs_no_mark(tmp_path: Path) -> None:
    (tmp_path / KEY).touch()
    with marked(locate(tmp_path), KEY) as mark:
        assert [file.name for file in tmp_path.iterdir()] == [KEY]
        assert mark.fault() == ""


def test_a_folder_that_a_worker_may_not_write_to_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with marked(locate(tmp_path / "a.zarr"), KEY) as mark:
        monkeypatch.setattr(os, "access", lambda *words: False)
        assert mark.fault() == f"a machine that may not write to {tmp_path}"


def test_object_storage_is_asked_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    place = locate("memory://bucket/a.zarr")
    with marked(place, KEY) as mark:
        assert mark.fault() == ""
        monkeypatch.setattr("fsspec.implementations.memory.MemoryFileSystem.ls", _denied)
        assert "check the credentials" in mark.fault()


def _denied(*words: object, **options: object) -> None:
    raise PermissionError("AccessDenied")
