from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from storage.growth import Growing
from storage.places.access import locate
from storage.places.local import is_draft
from storage.places.reach import marked


def test_a_store_that_is_not_made_yet_is_seen_by_its_mark_which_moves_into_it_and_goes(tmp_path: Path) -> None:
    place = locate(tmp_path / "new" / "a.zarr")
    with marked(place) as mark:
        assert pickle.loads(pickle.dumps(mark)).fault() == ""
        assert len(list(tmp_path.iterdir())) == 1
        (tmp_path / "new" / "a.zarr").mkdir(parents=True)
        mark.enter()
        assert mark.fault() == ""
        assert [each.name for each in tmp_path.iterdir()] == ["new"]
        (left,) = place.keys()
        assert is_draft(left), "a killed run would leave it for ever"
    assert not list(place.keys())
    assert f"does not see the folder of {place}" in mark.fault()


def test_a_copy_of_the_store_at_the_same_path_is_another_store(tmp_path: Path) -> None:
    place = locate(tmp_path / "a.zarr")
    (tmp_path / "a.zarr").mkdir()
    (tmp_path / "a.zarr" / "limbsweep.json").touch()
    with marked(place) as mark:
        mark.enter()
        assert mark.fault() == ""
        (tmp_path / "a.zarr").rename(tmp_path / "elsewhere")
        (tmp_path / "a.zarr").mkdir()
        (tmp_path / "a.zarr" / "limbsweep.json").touch()
        assert "does not see" in mark.fault()


def test_a_folder_that_a_worker_may_not_write_to_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with marked(locate(tmp_path / "a.zarr")) as mark:
        monkeypatch.setattr(os, "access", lambda *words: False)
        assert mark.fault() == f"a machine that may not write to {tmp_path}"


def test_a_store_that_grows_is_marked_in_its_folder(tmp_path: Path) -> None:
    with marked(Growing(tmp_path)) as mark:
        assert mark.is_folder
        assert mark.fault() == ""


def test_object_storage_is_asked_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    place = locate("memory://bucket/a.zarr")
    with marked(place) as mark:
        assert mark.fault() == ""
        monkeypatch.setattr("fsspec.implementations.memory.MemoryFileSystem.ls", _denied)
        assert "check the credentials" in mark.fault()


def _denied(*words: object, **options: object) -> None:
    raise PermissionError("AccessDenied")
