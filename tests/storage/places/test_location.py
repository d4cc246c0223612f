"""Folders and objects do the same, as far as a store can tell."""

from __future__ import annotations

import fcntl
import os
import pickle
from pathlib import Path
from typing import Any

import pytest
import xarray as xr

from storage.errors import StoreError
from storage.ledger import Ledger, Receipt
from storage.manifest import Manifest
from storage.places import local, lock
from storage.places.access import coordinator_lock, holder, locate
from storage.places.local import LocalFolder
from storage.places.location import DRAFT, Location
from storage.places.objects import LEASE, MAKING, ObjectPrefix
from storage.store import open_results
from tests.storage.cases import LAYOUT, anywhere, block, digest, fill, store
from tests.waiting import PATIENCE, until

KINDS = ("path", "file", "memory")


@pytest.fixture(params=KINDS)
def location(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    """A location with one file."""
    made = locate(anywhere(request.param, tmp_path))
    made.make({"a": b"1", "d/b": b"22"}, last="a")
    return made


def test_what_is_written_is_read(location: Location) -> None:
    assert location.read("d/b") == b"22"
    location.write("d/b", (b"x", b"yz"))
    assert (location.read("d/b"), location.size("d/b")) == (b"xyz", 3)
    assert location.holds("d/b", [b"xy", b"z"])
    for other in ([b"xy"], [b"xyz", b"!"], [b"xy", b"Z"], [b""]):
        assert not location.holds("d/b", other)
    assert sorted(location.keys()) == ["a", "d/b"]
    assert list(location.keys("d")) == ["d/b"]
    assert location.used() == 4


def test_what_is_deleted_is_gone(location: Location) -> None:
    location.delete("d/b")
    location.delete("d/b")
    assert not location.has("d/b")
    assert list(location.keys()) == ["a"]
    assert list(location.keys("d")) == []
    for use in (location.read, location.size):
        with pytest.raises(FileNotFoundError):
            use("d/b")


def test_making_where_there_is_something(location: Location) -> None:
    with pytest.raises(FileExistsError):
        location.make({"a": b"2"}, last="a")
    assert location.read("a") == b"1"


def test_a_place_is_small_to_send_and_equal_to_itself(location: Location) -> None:
    again = pickle.loads(pickle.dumps(location))
    assert again == location == locate(location)
    assert hash(again) == hash(location)
    assert again.read("a") == b"1"


def test_journal(location: Location) -> None:
    journal = location.journal("lines")
    assert list(journal.lines()) == []
    journal.open()
    for text in (b"one", b"two"):
        journal.append(text)
    journal.sync()
    journal.append(b"three")
    journal.sync()
    journal.close()
    assert list(location.journal("lines").lines()) == [b"one", b"two", b"three"]
    again = location.journal("lines")
    list(again.lines())
    again.open()
    again.append(b"four")
    again.sync()
    again.close()
    assert list(location.journal("lines").lines()) == [b"one", b"two", b"three", b"four"]
    location.journal("lines").replace([b"last"])
    assert list(location.journal("lines").lines()) == [b"last"]
    location.journal("lines").remove()
    assert list(location.journal("lines").lines()) == []


def test_a_second_holder_is_told_who_has_the_lock(location: Location) -> None:
    assert holder(location) is None
    with coordinator_lock(location):
        assert f'"pid": {os.getpid()}' in str(holder(location))
        with pytest.raises(StoreError, match=rf'another run is writing to this store \({{"pid": {os.getpid()}'):
            coordinator_lock(location).__enter__()
    with coordinator_lock(location):
        pass
    assert holder(location) is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_anywhere_is_the_same(kind: str, tmp_path: Path) -> None:
    here = anywhere(kind, tmp_path)
    store(here)
    fill(here, blocks=5)
    assert Ledger.read(here, LAYOUT.blocks).count == 5
    with pytest.raises(StoreError, match="is not finished"):
        open_results(here)
    fill(here)
    store(tmp_path / "other.zarr")
    fill(tmp_path / "other.zarr")
    assert digest(here) == digest(tmp_path / "other.zarr")
    with pytest.raises(StoreError, match="exists already; resume it, remove it, or choose another store"):
        store(here)
    with xr.open_zarr(locate(here).zarr_store()) as plain:
        xr.testing.assert_identical(plain.compute(), open_results(here).compute())


# URLs


@pytest.mark.parametrize(
    "url",
    ["s3://AKIA:SECRET@bucket/x", "s3://bucket/x?key=SECRET", "simplecache::s3://SECRET/x", "s3://b/SECRET::gs://x"],
)
def test_a_secret_in_a_url_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(StoreError) as caught:
        locate(url).exists()
    assert "SECRET" not in str(caught.value)


def test_a_protocol_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(protocol: str) -> Any:
        raise ImportError(f"Install {protocol}")

    monkeypatch.setattr("fsspec.filesystem", missing)
    with pytest.raises(StoreError, match=r"gs://b/x: cannot be opened .*; install it here and on all workers.*\[gcs\]"):
        locate("gs://b/x").exists()
    with pytest.raises(StoreError, match=r"nowhere://b/x: cannot be opened .*; expected a protocol that fsspec knows"):
        locate("nowhere://b/x").exists()


# what killed writers leave


def test_who_takes_the_lock_tidies(tmp_path: Path) -> None:
    path = tmp_path / "s.zarr"
    store(path)
    left = [
        path / f"peak_force/.c.0.0.0.0.ab{DRAFT}",
        path / f".limbsweep.json.cd{DRAFT}",
        tmp_path / f".s.zarr.1{DRAFT}",
    ]
    for each in left[:2]:
        each.write_bytes(b"half")
    (left[2] / "peak_force").mkdir(parents=True)
    others = [tmp_path / f".t.zarr.1{DRAFT}", path / "notes.txt"]
    for each in others:
        each.touch()
    with coordinator_lock(path):
        assert [each.exists() for each in left] == [False] * 3
    assert all(each.exists() for each in others)


def test_the_draft_of_a_living_maker_stays(tmp_path: Path) -> None:
    store(tmp_path / "s.zarr")
    draft = tmp_path / f".s.zarr.1{DRAFT}"
    draft.mkdir()
    with local._locked(draft):
        assert LocalFolder(tmp_path / "s.zarr").tidy() == 0
        assert draft.exists()
    assert LocalFolder(tmp_path / "s.zarr").tidy() == 1


def test_a_file_system_without_locks_makes_stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> None:
        raise OSError("no locks")

    monkeypatch.setattr(fcntl, "flock", none)
    store(tmp_path / "s.zarr")
    with pytest.raises(StoreError, match=r"coordinator\.lock: no locks"), coordinator_lock(tmp_path / "s.zarr"):
        pytest.fail("locked")


def test_objects_of_a_store_that_was_never_completed_are_replaced() -> None:
    location = locate(anywhere("memory", Path()))
    location.write(MAKING, (b"",))
    location.write("zarr.json", (b"{",))
    assert not location.exists()
    store(location)
    assert location.exists()
    assert MAKING not in list(location.keys())
    fill(location)


# durability


def test_files_reach_the_disk_before_their_names_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = store(tmp_path / "s.zarr")
    done: list[tuple[str, str]] = []
    sync, rename = os.fsync, os.replace

    def fsync(descriptor: int) -> None:
        done.append(("sync", os.readlink(f"/proc/self/fd/{descriptor}")))
        sync(descriptor)

    def replace(old: Path, new: Path) -> None:
        done.append(("name", str(old)))
        rename(old, new)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    writer.write(0, block(LAYOUT, 0))
    assert len(done) == 3 * len(LAYOUT.owned(0))
    for first, second, third in zip(done[::3], done[1::3], done[2::3], strict=True):
        assert (first[0], second[0], third[0]) == ("sync", "name", "sync")
        assert first[1] == second[1], "the draft itself, before it gets its name"
        assert third[1] == os.path.dirname(first[1]), "then the folder that the name is in"


def test_a_worker_that_does_not_see_the_store_is_told(tmp_path: Path) -> None:
    writer = store(tmp_path / "s.zarr")
    (tmp_path / "s.zarr").rename(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match=r"zarr\.json: No such file"):
        writer.write(0, block(LAYOUT, 0))
    assert not (tmp_path / "s.zarr").exists()
    other = LAYOUT.as_dict() | {"variables": ["condition"]}
    store(tmp_path / "s.zarr", type(LAYOUT).from_dict(other))
    with pytest.raises(
        StoreError, match="is not the store that the run began with; see that all workers reach the same"
    ):
        writer.write(0, block(LAYOUT, 0))


def test_room(tmp_path: Path) -> None:
    room = locate(tmp_path / "not" / "yet").room()
    assert room is not None
    assert room.bytes > 0
    assert room.files is None or room.files > 0
    assert locate("memory://x/y").room() is None


# leases of objects


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> ObjectPrefix:
    monkeypatch.setattr(lock, "BEAT_SECONDS", 0.02)
    monkeypatch.setattr(lock, "WATCH_SECONDS", 0.2)
    location = locate(anywhere("memory", Path()))
    assert isinstance(location, ObjectPrefix)
    store(location)
    return location


def owner(**changes: object) -> lock.Owner:
    fields = {"pid": 1, "host": "far", "machine": "far", "started": "1", "since": "2199-01-01"} | changes
    return lock.Owner(**fields)  # type: ignore[arg-type]


def lease(location: ObjectPrefix, held_by: lock.Owner, number: int = 1) -> None:
    location.write(f"{LEASE}/{number:08d}.json", (held_by.dump(),))


def test_a_lease_without_signs_of_life_is_taken_over(bucket: ObjectPrefix) -> None:
    lease(bucket, owner())
    with coordinator_lock(bucket):
        assert sorted(bucket.keys(LEASE)) == [f"{LEASE}/00000002.json"]
    assert list(bucket.keys(LEASE)) == []


def test_a_lease_of_a_dead_process_here_is_taken_over_at_once(
    bucket: ObjectPrefix, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "lives", lambda look: pytest.fail("need not be watched"))
    lease(bucket, owner(machine=lock._machine(), started="another process had this number"))
    with coordinator_lock(bucket):
        pass


def test_a_lease_that_shows_life_is_respected(bucket: ObjectPrefix, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "WATCH_SECONDS", PATIENCE)
    far = owner()
    lease(bucket, far)
    with (
        lock.beating(lambda beat: lease(bucket, owner(beat=beat))),
        pytest.raises(StoreError, match=r'another run is writing to this store .*"host": "far"'),
        coordinator_lock(bucket),
    ):
        pytest.fail("two coordinators")


def test_a_lease_that_appears_beside_ours_is_respected(bucket: ObjectPrefix, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = ObjectPrefix.claim

    def beaten(location: ObjectPrefix, key: str, data: bytes) -> None:
        lease(bucket, owner(), 7)
        claim(location, key, data)

    monkeypatch.setattr(ObjectPrefix, "claim", beaten)
    with pytest.raises(StoreError, match="another run is writing"), coordinator_lock(bucket):
        pytest.fail("two coordinators")
    assert list(bucket.keys(LEASE)) == [f"{LEASE}/00000007.json"]


def test_a_coordinator_that_was_believed_dead_is_stopped(bucket: ObjectPrefix) -> None:
    receipt = Receipt(0, {"status": 1}, 1)
    with Ledger.open(bucket, LAYOUT.blocks) as first:
        with Ledger.open(bucket, LAYOUT.blocks) as second:
            second.append(receipt)
        first.append(receipt)
        with pytest.raises(StoreError, match="another run has taken over this store; this one stops"):
            first.sync()
        first.journal._is_dirty = False  # type: ignore[attr-defined]


def test_a_journal_of_objects_grows_in_objects_of_bounded_size(
    bucket: ObjectPrefix, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.places.objects.SEGMENT", 50)
    journal = bucket.journal("lines")
    journal.open()
    lines = [b"%020d" % number for number in range(10)]
    for each in lines:
        journal.append(each)
        journal.sync()
    assert list(bucket.journal("lines").lines()) == lines
    assert len(list(bucket.keys("lines"))) == 4


def test_the_sign_of_life_survives_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "BEAT_SECONDS", 0.01)
    seen: list[int] = []

    def show(beat: int) -> None:
        seen.append(beat)
        if beat == 1:
            raise TimeoutError

    with lock.beating(show):
        until(lambda: len(seen) >= 4, "the fourth sign of life")
    assert seen[:4] == [1, 2, 3, 4]


def test_manifest_of_objects(bucket: ObjectPrefix) -> None:
    assert Manifest.load(bucket).layout == LAYOUT
    with pytest.raises(StoreError, match="memory://nothing/x: there is no store"):
        Manifest.load("memory://nothing/x")  # type: ignore[arg-type]


def test_an_undisturbed_location_has_nothing_to_tidy(location: Location) -> None:
    assert location.tidy() == 0
    assert sorted(location.keys()) == ["a", "d/b"]
