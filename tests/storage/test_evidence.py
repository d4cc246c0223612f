"""Reading of shards that belong to another store, variable, block or generation; the error says which."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from storage import open_results
from storage.encoding.shards import blosc_problem, decode_part, encode, index_size, read_index
from storage.errors import StoreError
from storage.growth import Growing, begin, grown
from storage.integrity import check_blocks, check_files, check_ledger, foreign_files, open_for_repair
from storage.ledger import Receipt, line, receipts, require_complete
from storage.manifest import Manifest
from storage.places.access import locate
from storage.places.local import LocalFolder
from storage.store import create, describe, metadata
from tests.storage.cases import ATTRIBUTES, FEW, LAYOUT, fill, lasting, store, whole
from tests.storage.formats import turn_into

FORCE = "actuator_force"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    store(tmp_path / "s.zarr")
    fill(tmp_path / "s.zarr")
    return tmp_path / "s.zarr"


def exchange(one: Path, other: Path) -> None:
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


def findings(path: Path) -> list[str]:
    blocks = (finding for one in check_blocks(path) for finding in one.findings)
    return [str(finding) for finding in (*check_files(path), *check_ledger(path), *blocks)]


def test_shards_of_two_blocks_that_were_exchanged(path: Path) -> None:
    exchange(path / LAYOUT.variables[FORCE].key(3), path / LAYOUT.variables[FORCE].key(1))
    with pytest.raises(StoreError, match=rf"block (1|3) of {FORCE} holds block (3|1) of {FORCE}; limb"):
        open_results(path)[FORCE].load()
    assert [text.partition(": ")[2] for text in findings(path)] == [
        f"block 1 of {FORCE} holds block 3 of {FORCE}",
        f"block 3 of {FORCE} holds block 1 of {FORCE}",
    ]


def test_a_shard_of_another_variable(path: Path) -> None:
    """Put a shard of another shape in its place, which is no shard of this variable."""
    shutil.copyfile(path / LAYOUT.variables["joint_position"].key(0), path / LAYOUT.variables[FORCE].key(0))
    with pytest.raises(StoreError, match=rf"block 0 of {FORCE} holds block 0 of joint_position"):
        open_results(path)[FORCE].load()
    assert any("holds block 0 of joint_position" in text for text in findings(path))


def shifted(layout: Any, variable: str) -> Any:
    values = whole(layout, variable)
    return values + 1 if values.dtype.kind == "f" else values


def test_a_shard_of_another_store(path: Path, tmp_path: Path) -> None:
    store(tmp_path / "o.zarr")
    fill(tmp_path / "o.zarr", shifted)
    shutil.copyfile(tmp_path / "o.zarr" / LAYOUT.variables[FORCE].key(2), path / LAYOUT.variables[FORCE].key(2))
    with pytest.raises(StoreError, match=rf"block 2 of {FORCE} has content that no receipt of this store lists"):
        open_results(path)[FORCE].load()
    assert any("has content that no receipt of this store lists" in text for text in findings(path))


@pytest.mark.parametrize("with_shards", [False, True])
def test_the_ledger_of_another_store(path: Path, tmp_path: Path, with_shards: bool) -> None:
    store(tmp_path / "o.zarr")
    fill(tmp_path / "o.zarr", shifted)
    shutil.copyfile(tmp_path / "o.zarr/ledger.jsonl", path / "ledger.jsonl")
    if with_shards:
        for name in LAYOUT.variables:
            shutil.copytree(tmp_path / "o.zarr" / name, path / name, dirs_exist_ok=True)
    with pytest.raises(StoreError, match=r"ledger\.jsonl: not the receipts that the store was finished with"):
        open_results(path)["peak_force"].load()
    with pytest.raises(StoreError, match="not the receipts that the store was finished with"):
        require_complete(locate(path), Manifest.load(path))
    assert any("not the receipts that the store was finished with" in text for text in findings(path))
    assert len(open_for_repair(path, [*check_files(path), *check_ledger(path)])) == LAYOUT.blocks
    fill(path)
    assert findings(path) == []
    assert (open_results(path)[FORCE].values == whole(LAYOUT, FORCE)).all()


def test_one_receipt_and_its_shard_that_were_put_there_by_hand(path: Path) -> None:
    from storage.store import StoreWriter

    writer = StoreWriter(path)
    arrays = writer.read(2)
    arrays["peak_force"] = arrays["peak_force"] * 1.0001
    forged = writer.write(2, arrays)
    journal = locate(path).journal("ledger")
    others = [each for each in receipts(journal) if isinstance(each, Receipt) and each.block != 2]
    journal.replace(line(each) for each in (*others, forged))
    with pytest.raises(StoreError, match="not the receipts that the store was finished with"):
        open_results(path)["peak_force"].load()
    assert any("not the receipts that" in text for text in findings(path))


def test_a_shard_of_the_store_before_it_was_made_larger(path: Path) -> None:
    """Put the old shard back after the block at the edge has become longer: it is sound, but of an earlier state."""
    old = (path / LAYOUT.variables["peak_force"].key(8)).read_bytes()
    make_larger(path)
    key = Manifest.load(path).layout.variables["peak_force"].key(8)
    assert (path / key).read_bytes() != old
    (path / key).write_bytes(old)
    with pytest.raises(StoreError, match="block 8 of peak_force has content that no receipt of this store lists"):
        open_results(path)["peak_force"].load()


def make_larger(path: Path, *, commit: bool = True) -> None:
    from storage import growth

    location = LocalFolder(path)
    layout = grown(LAYOUT, {**LAYOUT.sizes, "design": 6})
    attributes = {**ATTRIBUTES, "fingerprint": "more"}
    files = metadata(layout, (), attributes)
    begin(location, describe(layout, attributes, files, 2), files)
    fill(Growing(location), lasting)
    if commit:
        growth.commit(location)


@pytest.mark.parametrize("commit", [False, True])
@pytest.mark.parametrize("is_read_before", [False, True])
def test_a_dataset_of_the_old_content_reads_on(tmp_path: Path, commit: bool, is_read_before: bool) -> None:
    path = tmp_path / "s.zarr"
    store(path)
    fill(path, lasting)
    data = open_results(path)
    if is_read_before:
        data[FORCE].load()
        data = open_results(path)
    make_larger(path, commit=commit)
    for name in LAYOUT.variables:
        np.testing.assert_array_equal(data[name].values, lasting(LAYOUT, name))
    if commit:
        assert open_results(path).sizes["design"] == 6
        exchange(path / LAYOUT.variables[FORCE].key(3), path / LAYOUT.variables[FORCE].key(1))
        with pytest.raises(StoreError):
            data[FORCE].values  # noqa: B018


def test_an_unfinished_store_shows_no_block_without_a_receipt(tmp_path: Path) -> None:
    writer = store(tmp_path / "s.zarr")
    fill(tmp_path / "s.zarr", blocks=2)
    writer.write(5, {name: whole(LAYOUT, name)[LAYOUT.variables[name].region(5)] for name in LAYOUT.owned(5)})
    data = open_results(tmp_path / "s.zarr", unfinished=True)[FORCE]
    written = np.zeros(LAYOUT.variables[FORCE].shape, dtype=bool)
    for index in (0, 1):
        written[LAYOUT.variables[FORCE].region(index)] = True
    np.testing.assert_array_equal(np.isfinite(data.values), written)
    assert (data.values[written] == whole(LAYOUT, FORCE)[written]).all()


def test_parts_are_read_from_chunks_once_the_shard_was_sound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.variables.CHUNK_MIN", 8)
    monkeypatch.setattr("storage.variables.CHUNK_MAX", 64)
    path, layout = tmp_path / "s.zarr", LAYOUT.moved()
    store(path, layout)
    fill(path)
    assert layout.variables[FORCE].chunk != layout.variables[FORCE].shard
    data, expected = open_results(path)[FORCE], whole(LAYOUT, FORCE)
    reads: list[str] = []
    read_part = LocalFolder.read_part

    def counted(self: LocalFolder, key: str, start: int, stop: int) -> bytes:
        reads.append(key)
        return read_part(self, key, start, stop)

    monkeypatch.setattr(LocalFolder, "read_part", counted)
    for chosen in (
        {"design": 1, "time": [5, 2]},
        {"design": 1},
        {"time": slice(3, 6)},
        {"actuator": [2, 0], "time": -1},
    ):
        for _ in range(2):
            found = pickle.loads(pickle.dumps(data)).isel(chosen)
            np.testing.assert_array_equal(found.values, data.copy(data=expected).isel(chosen).values)
    assert reads
    file = path / LAYOUT.variables[FORCE].key(0)
    good = bytearray(file.read_bytes())
    good[30] ^= 1
    file.write_bytes(good)
    with pytest.raises(StoreError, match=rf"damaged \(block 0 of {FORCE}: the checksum of chunk"):
        data.isel(design=1).load()


def test_a_part_of_a_shard_is_that_part() -> None:
    array = np.arange(6.0 * 9 * 3).reshape(6, 9, 3)
    shard, chunk = (6, 10, 3), (2, 5, 3)
    file = b"".join(encode(array, shard, chunk, -1))
    end = len(file) - index_size(shard, chunk)
    bounds = read_index(file[end:], end, shard, chunk)
    box = (slice(3, 4), slice(4, 9), slice(0, 2))
    part, origin = decode_part(lambda start, stop: file[start:stop], bounds, shard, chunk, "float64", box)
    inside = tuple(slice(b.start - at, b.stop - at) for b, at in zip(box, origin, strict=True))
    np.testing.assert_array_equal(part[inside], array[box])
    assert part.shape == (2, 10, 3)


def test_headers_of_blosc_are_looked_at_before_anything_is_unpacked() -> None:
    packed = encode(np.arange(500.0), (500,), (500,), -1)[0]
    assert blosc_problem(packed, 4000) == ""
    assert "unpacks to 4000 bytes; expected 8" in blosc_problem(packed, 8)
    assert "another codec" in blosc_problem(packed[:-1], 4000)
    assert "another codec" in blosc_problem(bytes([1]) + packed[1:], 4000)
    assert "another codec" in blosc_problem(packed[:2] + bytes([packed[2] & 31 | 4 << 5]) + packed[3:], 4000)
    assert "expected a header" in blosc_problem(packed[:9], 4000)


def test_extra_arrays_and_files_are_listed(path: Path, tmp_path: Path) -> None:
    (path / "notes.txt").write_text("of the user")
    (path / "lookalike").mkdir()
    (path / "lookalike/zarr.json").write_text("{}")
    (path / "lookalike/c.0").write_text("{}")
    (path / "elsewhere").symlink_to(tmp_path)
    assert [text.removeprefix(f"{path}/") for text in foreign_files(path)] == [
        "elsewhere: a file, not of this store; nothing reads it",
        "lookalike: a folder with 2 files, not of this store; nothing reads it",
        "notes.txt: a file, not of this store; nothing reads it",
    ]
    (path / "time/c.7").write_text("x")
    assert [text.removeprefix(f"{path}/") for text in findings(path)] == ["time/c.7: not a file of time"]
    fresh = tmp_path / "fresh.zarr"
    create(fresh, FEW, (), ATTRIBUTES)
    assert list(foreign_files(fresh)) == []


def edit(path: Path, key: str, change: Callable[[dict[str, Any]], object]) -> None:
    data = json.loads((path / key).read_text())
    change(data)
    (path / key).write_text(json.dumps(data))


@pytest.mark.parametrize(
    "change",
    [
        lambda array: array["attributes"].update(scale_factor=2.0),
        lambda array: array["attributes"].update(units="kN m"),
        lambda array: array.update(fill_value=0.0),
    ],
)
def test_metadata_edited_in_both_places(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    edit(path, f"{FORCE}/zarr.json", change)
    edit(path, "zarr.json", lambda group: change(group["consolidated_metadata"]["metadata"][FORCE]))
    with pytest.raises(StoreError, match=r"s\.zarr/zarr\.json: (damaged|actuator_force has an attribute)"):
        open_results(path)
    assert len(findings(path)) == 2


def test_a_store_of_the_format_before_is_checked_lazily_as_well(path: Path) -> None:
    turn_into(path, 4)
    assert Manifest.load(path).hashing == "crc32c"
    assert findings(path) == []
    assert (open_results(path)[FORCE].values == whole(LAYOUT, FORCE)).all()
    exchange(path / LAYOUT.variables[FORCE].key(3), path / LAYOUT.variables[FORCE].key(1))
    with pytest.raises(StoreError, match=rf"block (1|3) of {FORCE} holds block (3|1) of {FORCE}"):
        open_results(path)[FORCE].load()
    open_for_repair(path, [finding for one in check_blocks(path) for finding in one.findings])
    fill(path)
    assert findings(path) == []
    assert Manifest.load(path).ledger
