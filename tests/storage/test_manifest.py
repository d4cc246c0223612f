import errno
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from storage import manifest
from storage.errors import StoreError
from storage.manifest import MANIFEST, Attributes, Manifest, refusals, require_same
from tests.storage.cases import LAYOUT

SWEEP = "robot: delta\nlength: 1\n"
MINE = Manifest(Attributes({"fingerprint": "f00d", "sweep": SWEEP}), LAYOUT)


def sealed(data: dict[str, object]) -> dict[str, object]:
    """A manifest whose checksum is right, though its content is not."""
    return {**data, "check": manifest._seal(data)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    MINE.save(tmp_path)
    return tmp_path


def test_round_trip(path: Path) -> None:
    assert Manifest.load(path) == MINE
    replace(MINE, state="finished").save(path)
    assert Manifest.load(path).state == "finished"
    assert os.listdir(path) == [MANIFEST]


def test_same_sweep_with_another_comment_passes(path: Path) -> None:
    assert require_same(path, fingerprint="f00d", sweep="# new\n" + SWEEP, layout=LAYOUT) == MINE


def test_another_sweep_is_refused_with_the_difference(path: Path) -> None:
    with pytest.raises(
        StoreError, match=r"holds another sweep; choose another store(.|\n)*-length: 1\n\+length: 2$"
    ) as error:
        require_same(path, fingerprint="beef", sweep=SWEEP.replace("1", "2"), layout=LAYOUT)
    assert "robot: delta" not in str(error.value)


def test_another_sweep_with_the_same_text(path: Path) -> None:
    with pytest.raises(StoreError, match="the same text, but fingerprint beef instead of f00d"):
        require_same(path, fingerprint="beef", sweep=SWEEP, layout=LAYOUT)


def test_another_layout_is_refused_with_the_difference(path: Path) -> None:
    other = LAYOUT.moved(block={**LAYOUT.block, "design": 3})
    with pytest.raises(StoreError, match=r'laid out in other blocks(.|\n)*-  "design": 2,\n\+  "design": 3,$'):
        require_same(path, fingerprint="f00d", sweep=SWEEP, layout=other)


def test_missing_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    with pytest.raises(StoreError, match=r"file: is a file; expected the folder of a store"):
        Manifest.load(tmp_path / "file")
    with pytest.raises(StoreError, match=r"none: there is no store; check the path, or run the sweep first"):
        Manifest.load(tmp_path / "none")


def test_foreign_directory(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"not a store of limbsweep; expected a file limbsweep.json in it"):
        Manifest.load(tmp_path)


def test_a_folder_of_stores_is_told_by_their_names(tmp_path: Path) -> None:
    for name in ("delta.zarr", "arm.zarr"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "limbsweep.json").touch()
    with pytest.raises(StoreError, match=r"in it; name one of the stores in it: arm\.zarr, delta\.zarr$"):
        Manifest.load(tmp_path)


@pytest.mark.parametrize("key", ["format", "fingerprint", "sweep", "layout", "state"])
@pytest.mark.parametrize("value", [None, 7, "x", []])
def test_damaged_manifest(path: Path, key: str, value: object) -> None:
    file = path / MANIFEST
    data = json.loads(file.read_text())
    if key in ("fingerprint", "sweep") and isinstance(value, str):
        return
    del data["check"]
    file.write_text(json.dumps(sealed({**data, key: value})))
    with pytest.raises(StoreError, match=r"limbsweep.json: (damaged|format)"):
        Manifest.load(path)
    del data[key]
    file.write_text(json.dumps(sealed(data)))
    with pytest.raises(StoreError, match=rf"limbsweep.json: damaged \(no entry '{key}'\)"):
        Manifest.load(path)


def test_every_truncation_of_the_manifest_is_damage(path: Path) -> None:
    file = path / MANIFEST
    content = file.read_bytes()
    for length in range(0, len(content) - 1, 7):
        file.write_bytes(content[:length])
        with pytest.raises(StoreError, match="limbsweep verify --repair makes it again"):
            Manifest.load(path)


def test_another_format_is_refused(path: Path) -> None:
    file = path / MANIFEST
    file.write_text(json.dumps({**json.loads(file.read_text()), "format": 1}))
    with pytest.raises(StoreError, match="format 1; expected 5; open it with the version of limbsweep that wrote it"):
        Manifest.load(path)


def test_refusal_names_file_and_reason() -> None:
    with pytest.raises(StoreError, match="/x/y: No space left on device; check free space"), refusals(Path("/x")):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/x/y")


def test_a_failed_write_leaves_the_old_manifest(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="No space left on device"):
        replace(MINE, state="finished").save(path)
    assert Manifest.load(path) == MINE
    assert os.listdir(path) == [MANIFEST]


@pytest.mark.parametrize("old", ["blocks", "sweep", "generation"])
def test_a_changed_manifest_does_not_have_its_checksum(path: Path, old: str) -> None:
    file = path / MANIFEST
    data = json.loads(file.read_text())
    file.write_text(json.dumps(data, indent=3))
    assert Manifest.load(path) == MINE, "spelling does not count"
    file.write_text(json.dumps({**data, old: data[old] * 2}))
    with pytest.raises(StoreError, match=r"limbsweep.json: damaged \(.*its checksum does not match"):
        Manifest.load(path)
