"""A store that somebody else has made can do nothing to files outside it, and lets nobody wait for ever."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from storage import manifest as manifests
from storage import open_results
from storage.errors import StoreError
from storage.growth import abandon
from storage.integrity import check_blocks, check_files, check_ledger, open_for_repair
from storage.ledger import Ledger
from storage.manifest import MANIFEST, Manifest
from storage.places.access import coordinator_lock, holder
from storage.places.local import LocalFolder
from storage.places.lock import LOCK
from storage.places.regular import ForeignFileError
from storage.store import StoreWriter
from tests.storage.cases import FEW, block, fill, store

LEDGER = "ledger.jsonl"
SHARD = FEW.variables["actuator_force"].key(0)


@pytest.fixture(autouse=True)
def _never_hangs() -> Iterator[None]:
    """A reader that waits for a pipe is interrupted."""
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(60)
    yield
    signal.alarm(0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    store(tmp_path / "s.zarr", FEW)
    fill(tmp_path / "s.zarr")
    return tmp_path / "s.zarr"


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Path]:
    """A folder of somebody else's, which stays what it is."""
    folder = tmp_path / "victim"
    folder.mkdir()
    for name in ("precious", "c.0.0.0.0.0", "c.7.7.7.7", ".left.draft"):
        (folder / name).write_text("years of work\n")
    yield folder
    assert sorted(file.name for file in folder.iterdir()) == [".left.draft", "c.0.0.0.0.0", "c.7.7.7.7", "precious"]
    assert {file.read_text() for file in folder.iterdir()} == {"years of work\n"}


def linked(file: Path, target: Path) -> None:
    file.unlink(missing_ok=True)
    file.symlink_to(target)


def piped(file: Path) -> None:
    file.unlink(missing_ok=True)
    os.mkfifo(file)


def lock(path: Path) -> None:
    with coordinator_lock(path):
        """Held."""


def run_on(path: Path) -> None:
    with Ledger.open(path, FEW.blocks):
        """Ready for receipts."""


def open_log(path: Path) -> None:
    journal = LocalFolder(path).journal("log")
    list(journal.lines())
    journal.open()
    journal.append(b"{}")


USES: dict[str, tuple[Callable[[Path], object], ...]] = {
    LOCK: (lock, holder),
    LEDGER: (run_on, lambda path: open_results(path, unfinished=True)),
    "log.jsonl": (open_log,),
    MANIFEST: (Manifest.load, open_results),
    "zarr.json": (open_results, lambda path: StoreWriter(path)),
}


@pytest.mark.parametrize("name", USES)
@pytest.mark.parametrize("what", ["a link", "a pipe"])
def test_what_is_no_file_of_the_store_is_neither_written_nor_waited_for(
    name: str, what: str, path: Path, victim: Path
) -> None:
    manifest = Manifest.load(path)
    if name == LEDGER:
        data = json.loads((path / MANIFEST).read_text()) | {"state": "running"}
        del data["check"]
        (path / MANIFEST).write_text(json.dumps({**data, "check": manifests._seal(data)}))
    linked(path / name, victim / "precious") if what == "a link" else piped(path / name)
    for use in USES[name]:
        with pytest.raises((StoreError, ForeignFileError), match=rf"{what}, where a store has files of its own"):
            use(path)
    assert manifest.layout == FEW


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda file, victim: linked(file, victim / "precious"), "a link"),
        (lambda file, victim: piped(file), "a pipe"),
        (lambda file, victim: (file.unlink(), file.mkdir()), "a folder"),
    ],
)
def test_a_shard_that_is_no_file_is_named_and_computed_again(
    change: Callable[[Path, Path], None], what: str, path: Path, victim: Path
) -> None:
    change(path / SHARD, victim)
    findings = [finding for one in check_blocks(path) for finding in one.findings]
    assert [(each.kind, each.block, each.variable) for each in findings] == [("damaged", 0, "actuator_force")]
    assert f"{what} (block 0 of actuator_force)" in str(findings[0])
    with pytest.raises(StoreError, match=rf"{SHARD}: {what} \(block 0 of actuator_force\)"):
        open_results(path)["actuator_force"].load()
    if what != "a folder":
        StoreWriter(path).write(0, block(FEW, 0))
        assert all(not one.findings for one in check_blocks(path))


@pytest.mark.parametrize("is_listed", [True, False])
def test_a_folder_that_is_a_link_loses_nothing_to_a_repair(path: Path, victim: Path, is_listed: bool) -> None:
    for file in (path / "peak_force").iterdir():
        file.unlink()
    (path / "peak_force").rmdir()
    (path / "peak_force").symlink_to(victim)
    if not is_listed:
        data = json.loads((path / MANIFEST).read_text())
        del data["check"], data["files"]["peak_force/zarr.json"]
        (path / MANIFEST).write_text(json.dumps({**data, "check": manifests._seal(data)}))
    with pytest.raises(StoreError, match=r"peak_force.*: a link, where a store has files of its own"):
        open_for_repair(path, check_files(path))
    with pytest.raises(StoreError, match="a link, where a store has files of its own"):
        abandon(path)
    with pytest.raises(StoreError, match="a link"):
        StoreWriter(path).write(0, block(FEW, 0))


@pytest.mark.parametrize("name", ["../victim", "/victim", ".", "", "a/b", 7])
def test_a_variable_is_no_path(name: object, path: Path, victim: Path) -> None:
    data = json.loads((path / MANIFEST).read_text())
    del data["check"]
    row = {"name": name, "dims": ["design"], "units": "1", "long_name": "", "frame": "", "kind": "user"}
    layout = data["layout"] | {"variables": [*FEW.variables, name], "own": [row | {"dtype": "float64"}]}
    data["layout"] = layout
    (path / MANIFEST).write_text(json.dumps({**data, "check": manifests._seal(data)}))
    for use in (Manifest.load, abandon, open_results):
        with pytest.raises(StoreError, match=r"limbsweep\.json: damaged .*a variable named"):
            use(path)


@pytest.mark.parametrize("key", ["../victim/precious", "peak_force/../../victim/precious", "/etc/passwd"])
def test_a_key_that_leads_out_is_refused(key: str, path: Path, victim: Path) -> None:
    location = LocalFolder(path)
    for use in (location.read, location.size, location.delete, location.keys, lambda key: location.write(key, (b"x",))):
        with pytest.raises(ForeignFileError, match="a path that leads out"):
            list(use(key) or ())


def test_links_in_a_store_are_removed_and_not_what_they_lead_to(path: Path, victim: Path) -> None:
    linked(path / "peak_force/c.9.9.9.9", victim / "precious")
    linked(path / "peak_force/.c.draft", victim / "precious")
    LocalFolder(path).tidy()
    open_for_repair(path, check_files(path))
    assert not (path / "peak_force/c.9.9.9.9").is_symlink()
    assert not (path / "peak_force/.c.draft").is_symlink()


def test_a_store_behind_a_link_of_the_user_is_a_store(path: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").symlink_to(path)
    assert list(check_files(tmp_path / "mine")) == []
    lock(tmp_path / "mine")


@pytest.mark.parametrize("name", [LEDGER, "zarr.json", "time/c.0"])
@pytest.mark.parametrize("what", ["a link", "a pipe", "a folder"])
def test_what_is_no_file_of_the_store_is_listed(name: str, what: str, path: Path, victim: Path) -> None:
    file = path / name
    file.parent.mkdir(exist_ok=True)
    make = {"a link": lambda: linked(file, victim / "precious"), "a pipe": lambda: piped(file), "a folder": file.mkdir}
    file.unlink(missing_ok=True)
    if name == "time/c.0":
        manifest = Manifest.load(path)
        replace(manifest, files={**manifest.files, name: "0"}).save(path)
    make[what]()
    findings = [*check_files(path), *check_ledger(path)]
    assert [str(finding) for finding in findings if what in str(finding) and name in finding.file]


def test_a_folder_in_the_place_of_a_shard_is_repaired(path: Path) -> None:
    (path / SHARD).unlink()
    (path / SHARD / "deep").mkdir(parents=True)
    (path / SHARD / "deep/x").write_text("of somebody")
    findings = [*check_files(path), *(finding for one in check_blocks(path) for finding in one.findings)]
    assert sorted((each.kind, Path(each.file).name) for each in findings) == [
        ("damaged", Path(SHARD).name),
        ("extra", "x"),
    ]
    open_for_repair(path, findings)
    StoreWriter(path).write(0, block(FEW, 0))
    assert (path / SHARD).is_file()
