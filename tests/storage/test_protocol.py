"""Promises of the commit protocol, a test for each, and bugs on purpose that these tests have to catch.

A row of `BUGS` is a mistake that somebody could make in the code, as a patch, and the promise that it breaks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from blake3 import blake3

from storage import completion, growth, ledger, writer
from storage.encoding import checksums
from storage.errors import StoreError
from storage.growth import Growing, begin, grown
from storage.integrity import check_blocks
from storage.layout import Layout
from storage.ledger import Ledger, Receipt
from storage.manifest import Manifest
from storage.places.access import coordinator_lock, locate
from storage.places.local import FileJournal, LocalFolder
from storage.places.location import Location
from storage.store import StoreWriter, describe, metadata, open_results
from storage.variables import StoredVariable
from tests.storage.cases import FEW, block, fill, lasting, store
from tests.storage.faults import ERRORS, FaultyLocation

Promise = Callable[[Path], None]


def refused(match: str, action: Callable[[], object]) -> None:
    with pytest.raises(StoreError, match=match):
        action()


# promises


def data_before_receipt(path: Path) -> None:
    """When a receipt is given, what it speaks of can be read and is forced to the disk."""
    forced: list[str] = []
    sync, location = os.fsync, path / "s.zarr"
    made = store(location, FEW)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda fd: (forced.append(os.readlink(f"/proc/self/fd/{fd}")), sync(fd)))
        made.write(0, block(FEW, 0))
    for name in FEW.owned(0):
        assert any(f"/{name}/.c." in each for each in forced), "the file"
        assert str(location / name) in forced, "the folder"
    np.testing.assert_array_equal(made.read(0)["peak_force"], block(FEW, 0)["peak_force"])


def whole_or_not_at_all(path: Path) -> None:
    """A write that fails halfway leaves what was there."""
    location = locate(path)
    location.write("x", (b"old",))

    def parts() -> Iterator[bytes]:
        yield b"ne"
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        location.write("x", parts())
    assert location.read("x") == b"old"


def read_again(path: Path) -> None:
    """A disk that stores something else is found before there is a receipt."""
    store(path / "s.zarr", FEW)
    lying = FaultyLocation(locate(path / "s.zarr"), 0, ERRORS["I/O error"], cut=True)
    made = StoreWriter(lying)
    made.write(0, block(FEW, 0))
    lying.fail_at = lying.count + 1
    refused("differs from what was written", lambda: made.write(0, block(FEW, 0)))


def content_decides(path: Path) -> None:
    """A whole shard of another age is not taken for the right one, whatever its time."""
    store(path / "s.zarr", FEW)
    fill(path / "s.zarr")
    one, other = (path / "s.zarr" / FEW.variables["peak_force"].key(index) for index in (0, 1))
    times = other.stat()
    other.write_bytes(one.read_bytes())
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert [each.kind for found in check_blocks(path / "s.zarr") for each in found.findings] == ["other age"]


def whole_shards_only(path: Path) -> None:
    """A region that is not made of whole shards is refused."""
    made = store(path / "s.zarr", FEW)
    parts = block(FEW, 0)
    region = StoredVariable.region

    def shifted(self: StoredVariable, index: int) -> tuple[slice, ...]:
        first, *rest = region(self, index)
        return (slice(first.start + 1, first.stop + 1), *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StoredVariable, "region", shifted)
        refused("is not a whole shard", lambda: made.write(0, parts))


def one_coordinator(path: Path) -> None:
    """A second run is refused."""
    store(path / "s.zarr", FEW)
    with coordinator_lock(path / "s.zarr"):
        refused("another run is writing", lambda: coordinator_lock(path / "s.zarr").__enter__())


def status_last(path: Path) -> None:
    """A status says that the rest is there."""
    assert list(FEW.owned(0))[-1] == "status"


def attempts_agree(path: Path) -> None:
    """Two attempts at one block give the same, or the run stops."""
    with Ledger.open(path, 3) as book:
        book.append(Receipt(1, {"status": 1}, 1))
        refused("computed twice with different results", lambda: book.append(Receipt(1, {"status": 2}, 1)))


def torn_line_is_dropped(path: Path) -> None:
    """What a crash has left of a line does not spoil the next one."""
    with Ledger.open(path, 3) as book:
        book.append(Receipt(1, {"status": 1}, 1))
    with (path / "ledger.jsonl").open("ab") as stream:
        stream.write(b'{"block":2,"byt')
    with Ledger.open(path, 3) as book:
        book.append(Receipt(0, {"status": 1}, 1))
    assert Ledger.read(path, 3).done == bytes([1, 1, 0])


def flipped_line_is_refused(path: Path) -> None:
    """A receipt whose line has changed is none."""
    with Ledger.open(path, 3) as book:
        book.append(Receipt(1, {"status": 1}, 1))
    file = path / "ledger.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"block":1', b'"block":2'))
    refused("damaged line", lambda: Ledger.read(path, 3))


def finished_means_all(path: Path) -> None:
    """The state flips when every receipt and every file is there."""
    store(path / "s.zarr", FEW)
    fill(path / "s.zarr", blocks=3)
    refused("1 blocks have no receipt", lambda: completion.finish(path / "s.zarr"))


def missing_is_not_fill(path: Path) -> None:
    """A shard that is not there is damage, not a region of fill values."""
    made = store(path / "s.zarr", FEW)
    fill(path / "s.zarr")
    (path / "s.zarr" / FEW.variables["status"].key(0)).unlink()
    refused("missing", lambda: made.read(0))


def old_content_until_commit(path: Path) -> None:
    """A store that grows can be read at every step of its commit."""
    store(path / "s.zarr", FEW)
    location = locate(path / "s.zarr")
    fill(location, lasting)
    layout = grown(FEW, {**FEW.sizes, "design": 5})
    attributes = {"sweep": "larger", "fingerprint": "larger"}
    files = metadata(layout, (), attributes, flags={"OK": 0, "NOT_REACHABLE": 1})
    begin(location, describe(layout, attributes, files, 2), files)
    fill(Growing(location), lasting)
    sizes = []
    for number in range(1, 100):
        try:
            growth.commit(FaultyLocation(location, number, ERRORS["I/O error"]))
            break
        except StoreError:
            sizes.append(open_results(location).sizes["design"])
    assert sizes == sorted(sizes), "never back"
    assert set(sizes) == {3, 5}
    assert Manifest.load(location).layout == layout


PROMISES: tuple[Promise, ...] = (
    data_before_receipt,
    whole_or_not_at_all,
    read_again,
    content_decides,
    whole_shards_only,
    one_coordinator,
    status_last,
    attempts_agree,
    torn_line_is_dropped,
    flipped_line_is_refused,
    finished_means_all,
    missing_is_not_fill,
    old_content_until_commit,
)


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
def test_promise(promise: Promise, tmp_path: Path) -> None:
    promise(tmp_path)


# bugs


@dataclass(frozen=True)
class Bug:
    """A mistake: what it is, the promise that it breaks, and what it puts in the place of the right code."""

    name: str
    breaks: Promise
    owner: Any
    attribute: str
    wrong: Any


def receipt_first(self: StoreWriter, index: int, arrays: Mapping[str, Any]) -> Receipt:
    return writer.receipt_of(self.layout, index, arrays, "blake3")


def in_place(self: LocalFolder, key: str, parts: Any) -> None:
    with (self.path / key).open("wb") as stream:
        stream.writelines(parts)


def without_force(self: LocalFolder, key: str, parts: Any) -> None:
    (self.path / "draft").write_bytes(b"".join(parts))
    os.replace(self.path / "draft", self.path / key)


@contextmanager
def open_to_all(self: LocalFolder) -> Iterator[None]:
    yield


def fill_values(self: StoreWriter, index: int, variable: StoredVariable) -> Any:
    return np.full(variable.region_shape(index), -1)


def status_first(self: Layout, _: int) -> dict[str, StoredVariable]:
    return {name: self.variables[name] for name in ("status", *self.variables)}


def after_the_torn_line(self: FileJournal) -> None:
    self._descriptor = os.open(self.file, os.O_WRONLY | os.O_CREAT)
    self._end = self.file.stat().st_size


def manifest_first(store: Any) -> None:
    location: Location = growth.settled(store)
    new = Manifest.load(Growing(location))
    with growth.refusals(location):
        growth.clear(location, keep=new.generation)
        new.save(location)
        for key in new.files:
            location.write(key, (location.read(f"{growth.FOLDER}/{key}"),))


def finish_when_asked(store: Any) -> None:
    replace(Manifest.load(store), state="finished").save(store)


BUGS = (
    Bug("the receipt comes first", data_before_receipt, StoreWriter, "write", receipt_first),
    Bug("files are not forced to the disk", data_before_receipt, LocalFolder, "write", without_force),
    Bug("the folder is not forced", data_before_receipt, "storage.places.local", "sync_directory", lambda path: None),
    Bug("written in place", whole_or_not_at_all, LocalFolder, "write", in_place),
    Bug("nothing is read again", read_again, FaultyLocation, "holds", lambda *_: True),
    Bug("presence instead of content", content_decides, checksums, "blake3", lambda *_, **__: blake3(b"")),
    Bug("regions are not checked", whole_shards_only, writer, "_check", lambda *_: None),
    Bug("no lock", one_coordinator, LocalFolder, "lock", open_to_all),
    Bug(
        "the status anywhere",
        status_last,
        Layout,
        "owned",
        lambda self, index: dict(sorted(self.variables.items(), key=lambda item: item[0] != "status")),
    ),
    Bug("the last attempt wins", attempts_agree, Ledger, "_is_new", lambda *_: True),
    Bug("a torn line stays", torn_line_is_dropped, FileJournal, "open", after_the_torn_line),
    Bug("lines are not checked", flipped_line_is_refused, ledger, "_seal", lambda body: ledger._CHECK),
    Bug("finished when asked", finished_means_all, completion, "finish", finish_when_asked),
    Bug("missing is fill", missing_is_not_fill, StoreWriter, "read_region", fill_values),
    Bug("manifest before metadata", old_content_until_commit, growth, "commit", manifest_first),
)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_bug_is_caught(bug: Bug, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(bug.owner, str):
        monkeypatch.setattr(f"{bug.owner}.{bug.attribute}", bug.wrong)
    else:
        monkeypatch.setattr(bug.owner, bug.attribute, bug.wrong)
    with pytest.raises((AssertionError, StoreError, pytest.fail.Exception)):
        bug.breaks(tmp_path)


def test_there_is_a_bug_for_every_promise() -> None:
    assert {bug.breaks for bug in BUGS} == set(PROMISES)
