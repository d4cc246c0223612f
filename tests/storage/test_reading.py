"""Missing and damaged files of a store: an error names the file, however a dataset is indexed."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from storage import open_results
from storage.completion import finish
from storage.errors import StoreError
from storage.expected import Expected
from storage.ledger import Ledger
from storage.manifest import Manifest
from storage.places.access import locate
from storage.places.local import LocalFolder
from storage.reading import CheckedArray
from storage.writer import BlockReader
from tests.storage.cases import LAYOUT, fill, store, whole

BLOCKS = LAYOUT.blocks
EMPTY = (4, 1, 2)
"""Index of a block that holds no numbers but NaN."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A finished store; `actuator_force` is NaN for the last design."""
    writer = store(tmp_path / "s.zarr")
    full = {name: whole(LAYOUT, name) for name in LAYOUT.variables}
    full["actuator_force"][4] = np.nan
    with Ledger.open(tmp_path / "s.zarr", BLOCKS) as ledger:
        for index in range(BLOCKS):
            owned = {name: full[name][LAYOUT.variables[name].region(index)] for name in LAYOUT.owned(index)}
            ledger.append(writer.write(index, owned))
    finish(tmp_path / "s.zarr")
    return tmp_path / "s.zarr"


SELECTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"design": 0},
    {"design": slice(0, 1), "time": [3, 1]},
    {"design": [4, 0], "friction": 0, "trajectory": -3},
    {"design": np.array([True, False, False, False, True]), "trajectory": slice(None, None, -1)},
)


@pytest.mark.parametrize("chosen", SELECTIONS)
def test_a_selection_gets_its_numbers_or_the_name_of_the_file(path: Path, chosen: dict[str, Any]) -> None:
    expected = whole(LAYOUT, "actuator_force")
    expected[4] = np.nan
    found = open_results(path)["actuator_force"]
    np.testing.assert_array_equal(found.isel(chosen), found.copy(data=expected).isel(chosen))
    (path / LAYOUT.variables["actuator_force"].key(0)).unlink()
    with pytest.raises(StoreError, match=r"actuator_force/c\.0\.0\.0\.0\.0: missing \(block 0 of actuator_force\)"):
        open_results(path)["actuator_force"].isel(chosen).load()


def test_what_is_not_touched_does_not_matter(path: Path) -> None:
    (path / LAYOUT.variables["actuator_force"].key(0)).unlink()
    data = open_results(path)
    assert np.isfinite(data["actuator_force"].isel(design=[2, 3])).all()
    assert np.isfinite(data["platform_position"]).all()
    copy = pickle.loads(pickle.dumps(data))
    with pytest.raises(StoreError, match="missing"):
        copy["actuator_force"].load()


def test_nan_that_was_stored_is_no_damage(path: Path) -> None:
    assert np.isnan(open_results(path)["actuator_force"].isel(design=4)).all()


def test_an_unfinished_store_holds_nan_where_nothing_is_written(tmp_path: Path) -> None:
    store(tmp_path / "s.zarr")
    assert np.isnan(open_results(tmp_path / "s.zarr", unfinished=True)["actuator_force"]).all()


def test_a_part_that_is_a_link_is_refused(path: Path, tmp_path: Path) -> None:
    (path / "actuator_force").rename(tmp_path / "elsewhere")
    (path / "actuator_force").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match=r"s\.zarr/actuator_force: a link, where a store has files of its own"):
        open_results(path)
    location = LocalFolder(path)
    for use in (location.read, location.size, lambda key: location.write(key, (b"x",))):
        with pytest.raises(OSError, match="a link"):
            use(LAYOUT.variables["actuator_force"].key(0))
    (path / "file").symlink_to(tmp_path / "elsewhere")
    location.write("file", (b"in the location of the link",))
    assert not (path / "file").is_symlink()


def test_one_read_may_span_blocks(tmp_path: Path) -> None:
    """Read several blocks at once, as xarray does without Dask; Dask asks for one block at a time."""
    store(tmp_path / "s.zarr")
    fill(tmp_path / "s.zarr")
    location, manifest = locate(tmp_path / "s.zarr"), Manifest.load(tmp_path / "s.zarr")
    reader, receipts = BlockReader(location, LAYOUT), Expected.of(location, manifest)
    for name in ("actuator_force", "peak_force", "status"):
        array = CheckedArray(reader, LAYOUT.variables[name], receipts, finished=True)
        expected = whole(LAYOUT, name)
        everything = (slice(None),) * expected.ndim
        for first in (slice(None), slice(1, 5, 2), slice(4, None, -1), np.array([4, 0, 3]), slice(2, 2), 3):
            places = np.arange(len(expected))[first]
            for last in (slice(None), slice(0, 2)):
                key = (first, *everything[1:-1], last)
                found = array.read(key)
                assert np.array_equal(found, expected[places][..., last]), (name, key)
