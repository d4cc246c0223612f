"""The policy for versions of the store format (docs/storage.md) is true."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from storage import open_results
from storage.errors import StoreError
from storage.integrity import check_blocks, check_files, check_ledger, open_for_repair
from storage.manifest import FORMAT, MANIFEST, READABLE, Manifest
from storage.schema import Coordinate
from storage.store import create
from tests.storage.cases import ATTRIBUTES, FEW, digest, fill, whole
from tests.storage.formats import STEPS, turn_into

FORCE = "actuator_force"
PAGE = Path(__file__).parent.parent.parent / "docs/storage.md"
every_format = pytest.mark.parametrize("number", READABLE)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    create(tmp_path / "s.zarr", FEW, [Coordinate("upper_arm", "design", (0.1, 0.2, 0.3), "m")], ATTRIBUTES)
    return tmp_path / "s.zarr"


def findings(path: Path) -> list[str]:
    blocks = (finding for one in check_blocks(path) for finding in one.findings)
    return [finding.kind for finding in (*check_files(path), *check_ledger(path), *blocks)]


def contents(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_each_format_that_is_read_can_be_made() -> None:
    assert {*STEPS, FORMAT} == set(READABLE)
    assert max(READABLE) == FORMAT


@pytest.mark.repository
def test_the_page_names_the_formats() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert f"writes format {FORMAT} and reads formats {', '.join(map(str, READABLE[:-1]))} and {FORMAT}" in text


@every_format
def test_a_store_is_read_held_against_what_it_has_and_left_as_it_is(number: int, path: Path) -> None:
    fill(path)
    turn_into(path, number)
    before = contents(path)
    assert json.loads(before[MANIFEST])["format"] == number
    assert findings(path) == []
    assert (open_results(path)[FORCE].values == whole(FEW, FORCE)).all()
    assert contents(path) == before
    shard = path / FEW.variables[FORCE].key(0)
    shard.write_bytes((path / FEW.variables[FORCE].key(1)).read_bytes())
    with pytest.raises(StoreError, match=f"holds block 1 of {FORCE}"):
        open_results(path)[FORCE].load()


@every_format
def test_a_store_is_gone_on_with_and_mended(number: int, path: Path) -> None:
    fill(path, blocks=2)
    turn_into(path, number)
    fill(path)
    assert json.loads((path / MANIFEST).read_text())["format"] == FORMAT
    assert Manifest.load(path).ledger
    expected = digest(path)
    (path / FEW.variables[FORCE].key(1)).unlink()
    open_for_repair(path, [finding for one in check_blocks(path) for finding in one.findings])
    fill(path)
    assert (findings(path), digest(path)) == ([], expected)


@every_format
def test_plain_zarr_reads_every_format(number: int, path: Path) -> None:
    fill(path)
    turn_into(path, number)
    data = xr.open_zarr(path, consolidated=True, decode_times=False)
    assert np.array_equal(data[FORCE].values, whole(FEW, FORCE))


@pytest.mark.parametrize("number", [0, 1, 2, FORMAT + 1, str(FORMAT), None, [FORMAT]])
def test_another_format_is_one_line_and_nothing_is_written(number: Any, path: Path) -> None:
    fill(path)
    data = json.loads((path / MANIFEST).read_text()) | {"format": number}
    (path / MANIFEST).write_text(json.dumps(data))
    before = contents(path)
    for use in (open_results, fill):
        with pytest.raises(StoreError, match="open it with the version of limbsweep that wrote it") as raised:
            use(path)
        assert "\n" not in str(raised.value)
    assert contents(path) == before
