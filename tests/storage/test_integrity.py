"""Changes of the files of a finished store, which are found and named."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from storage.errors import StoreError
from storage.integrity import (
    StoreDamage,
    check_blocks,
    check_files,
    check_ledger,
    open_for_repair,
    receipts_of,
)
from storage.layout import Layout
from storage.ledger import Ledger, Receipt, line, receipts
from storage.manifest import MANIFEST, Manifest
from storage.places.access import locate
from storage.places.lock import LOCK
from storage.schema import lookup
from storage.variables import BlockGrid
from tests.storage.cases import FEW, LAYOUT, digest, fill, store

LEDGER_FILE = "ledger.jsonl"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "s.zarr"
    store(path)
    fill(path)
    return path


@pytest.fixture
def path(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "s.zarr"))


def look(path: Path) -> list[StoreDamage]:
    return [*check_files(path), *check_ledger(path), *(each for one in check_blocks(path) for each in one.findings)]


def flip(file: Path, chance: random.Random, files: list[Path]) -> None:
    data = bytearray(file.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    file.write_bytes(data)


def truncate(file: Path, chance: random.Random, files: list[Path]) -> None:
    file.write_bytes(file.read_bytes()[: chance.randrange(file.stat().st_size)])


def zero(file: Path, chance: random.Random, files: list[Path]) -> None:
    """A block of the disk that was never written; where it held zeros anyway nothing has happened."""
    data = bytearray(file.read_bytes())
    start = chance.randrange(len(data))
    length = chance.randint(1, 512)
    data[start : start + length] = bytes(len(data[start : start + length]))
    file.write_bytes(data)


def delete(file: Path, chance: random.Random, files: list[Path]) -> None:
    file.unlink()


def lengthen(file: Path, chance: random.Random, files: list[Path]) -> None:
    file.write_bytes(file.read_bytes() + chance.randbytes(chance.randint(1, 20)))


def replace(file: Path, chance: random.Random, files: list[Path]) -> None:
    """A file that is whole in itself, but of another block: what a file of another age looks like."""
    others = [each for each in files if each.parent == file.parent and each.read_bytes() != file.read_bytes()]
    if others:
        shutil.copyfile(chance.choice(others), file)


DAMAGES: tuple[Callable[[Path, random.Random, list[Path]], None], ...] = (
    flip,
    truncate,
    zero,
    delete,
    lengthen,
    replace,
)


def campaign(path: Path, number: int, seed: int) -> None:
    """Damage one file after another, each in another way; all but the lock count."""
    print(f"seed {seed}")
    chance = random.Random(seed)
    files = sorted(file for file in path.rglob("*") if file.is_file() and file.name != LOCK)
    done = 0
    while done < number:
        file, damage = chance.choice(files), chance.choice(DAMAGES)
        good = file.read_bytes()
        damage(file, chance, files)
        if not file.exists() or file.read_bytes() != good:
            done += 1
            assert_named(path, file, f"{damage.__name__} of {file.name}, number {done}")
        file.write_bytes(good)
    assert look(path) == []


def assert_named(path: Path, file: Path, what: str) -> None:
    try:
        told = " ".join(f"{each.file} {each}" for each in look(path))
    except StoreError as error:  # a manifest that cannot be read: nothing else can be
        assert file.name == MANIFEST, what
        told = f"{file} {error}" if MANIFEST in str(error) else str(error)
    if file.name == LEDGER_FILE:
        assert LEDGER_FILE in told, what
    else:
        assert str(file) in told, what


def test_every_damage_is_found_and_named(path: Path) -> None:
    campaign(path, 150, random.randrange(2**32))


@pytest.mark.slow
def test_three_thousand_damages_are_found_and_named(path: Path) -> None:
    campaign(path, 3000, random.randrange(2**32))


def test_every_shard_deleted_once_is_named_with_block_and_variable(path: Path) -> None:
    for index in range(LAYOUT.blocks):
        for name in LAYOUT.owned(index):
            file = path / LAYOUT.variables[name].key(index)
            good = file.read_bytes()
            file.unlink()
            assert [(each.kind, each.file, each.block, each.variable) for each in look(path)] == [
                ("missing", str(file), index, name)
            ]
            file.write_bytes(good)


def test_a_sound_store_has_no_findings(path: Path) -> None:
    assert look(path) == []
    assert [each.index for each in check_blocks(path)] == list(range(LAYOUT.blocks))
    assert sum(each.bytes for each in check_blocks(path)) == sum(map(LAYOUT.block_bytes, range(LAYOUT.blocks)))


def test_files_that_belong_to_nobody(path: Path) -> None:
    (path / "peak_force/c.99.0.0.0").write_bytes(b"x")
    (path / "status/.c.0.0.0.ab.draft").write_bytes(b"x")
    (path / "notes.txt").write_text("of the user")
    assert sorted((each.kind, Path(each.file).name) for each in look(path)) == [
        ("extra", ".c.0.0.0.ab.draft"),
        ("extra", "c.99.0.0.0"),
    ]
    open_for_repair(path, look(path))
    assert look(path) == []


def test_a_lost_line_of_the_ledger_is_a_block_without_receipt(path: Path) -> None:
    file = path / LEDGER_FILE
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:3] + lines[4:]))
    assert [(each.kind, each.block) for each in look(path)] == [("no receipt", 3)]


def test_a_store_that_is_not_finished_lacks_no_receipts(tmp_path: Path) -> None:
    store(tmp_path / "s.zarr")
    fill(tmp_path / "s.zarr", blocks=4)
    assert look(tmp_path / "s.zarr") == []
    assert len(list(check_blocks(tmp_path / "s.zarr"))) == 4


def test_repair_takes_back_receipts_of_damaged_blocks_alone(path: Path) -> None:
    expected = digest(path)
    (path / LAYOUT.variables["peak_force"].key(2)).unlink()
    (path / LAYOUT.variables["actuator_force"].key(7)).write_bytes(b"")
    lines = (path / LEDGER_FILE).read_bytes().splitlines(keepends=True)
    (path / LEDGER_FILE).write_bytes(b"".join([*lines[:5], b"x" + lines[5], *lines[6:]]))
    before = receipts_of(path, (2, 7))
    assert open_for_repair(path, look(path)) == before
    assert Manifest.load(path).state == "running"
    assert list(Ledger.read(path, LAYOUT.blocks).remaining()) == [2, 5, 7]
    fill(path)
    assert look(path) == []
    assert digest(path) == expected


def test_a_receipt_of_no_block_is_found(path: Path) -> None:
    with (path / LEDGER_FILE).open("ab") as stream:
        stream.write(line(Receipt(99, {}, 0)) + b"\n")
    assert [(each.kind, str(each)) for each in look(path)] == [
        ("ledger", f"{path / LEDGER_FILE}:13: receipt of block 99, which is not there")
    ]


def test_two_receipts_of_a_block_have_to_agree(path: Path) -> None:
    journal = locate(path).journal("ledger")
    lines = list(journal.lines())
    assert len(lines) == LAYOUT.blocks
    journal.replace([*lines, lines[2]])
    assert list(check_ledger(path)) == []
    other = next(receipt for receipt in receipts(journal) if isinstance(receipt, Receipt) and receipt.block == 2)
    journal.replace([*lines, line(changed(other, bytes=other.bytes + 1))])
    assert [(finding.block, finding.text) for finding in check_ledger(path) if finding.block is not None] == [
        (2, "another result of block 2 than before")
    ]


@pytest.mark.parametrize(("name", "status"), [("actuator_force", "status"), ("peak_force", "worst_status")])
def test_nan_where_the_status_is_ok_is_found_and_no_other(name: str, status: str, tmp_path: Path) -> None:
    """Check that NaN is found even if receipts agree with it."""
    layout = Layout.of(BlockGrid(FEW.sizes, {"design": 2}), ("status", "worst_status", "actuator_force", "peak_force"))

    def values(code: int) -> Callable[[Layout, str], NDArray[Any]]:
        def make(layout: Layout, variable: str) -> NDArray[Any]:
            array = np.zeros(layout.variables[variable].shape, lookup(variable).dtype)
            if variable == name:
                array[2] = np.nan
            if variable == status:
                array[2] = code
            return array

        return make

    for code, expected in ((0, [(2, name), (3, name)]), (1, [])):  # the third design, two friction sets
        path = tmp_path / f"{code}.zarr"
        store(path, layout)
        fill(path, values(code))
        found = [(finding.block, finding.variable, finding.text) for finding in look(path)]
        assert [(block, variable) for block, variable, _ in found] == expected
        assert all("NaN where the status is OK" in text for _, _, text in found)
    (tmp_path / "0.zarr" / layout.variables[status].key(2)).unlink()
    assert {finding.variable for finding in look(tmp_path / "0.zarr") if finding.block == 2} == {status}


def test_damaged_metadata_are_named(path: Path) -> None:
    (path / "upper_arm/zarr.json").write_text("{}")
    (path / "time/c.0").unlink()
    findings = look(path)
    assert sorted((each.kind, Path(each.file).parent.name) for each in findings) == [
        ("metadata", "time"),
        ("metadata", "upper_arm"),
    ]
