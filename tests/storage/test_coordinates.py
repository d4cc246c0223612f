"""Coordinates are those of the store: a file that is missing, damaged or another one is an error that names it."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

from storage import manifest as manifests
from storage import open_results
from storage.coordinates import chunk_keys, read_chunks
from storage.errors import StoreError
from storage.integrity import check_files
from storage.layout import COORDINATE_CHUNK, Layout
from storage.manifest import MANIFEST, Manifest
from storage.places.local import LocalFolder
from storage.schema import Coordinate
from storage.store import create
from storage.variables import BlockGrid
from tests.storage.cases import ATTRIBUTES, FEW, digest, fill
from tests.storage.formats import turn_into

ARMS = Coordinate("upper_arm", "design", (0.1, 0.2, 0.3), "m")
BASES = Coordinate("base_radius", "design", (0.7, 0.8, 0.9), "m")
EXCHANGED = r"s\.zarr/(upper_arm|base_radius)/c\.0: damaged \(its checksum is not that in limbsweep"
NAMES = Coordinate("design_part", "design", ("a", "b", "c"))


def made(path: Path, *coordinates: Coordinate, layout: Layout = FEW) -> Path:
    create(path, layout, coordinates, ATTRIBUTES)
    fill(path)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return made(tmp_path / "s.zarr", ARMS, BASES, NAMES)


def swap(one: Path, other: Path) -> None:
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


def found(path: Path) -> set[str]:
    return {finding.file.removeprefix(f"{path}/") for finding in check_files(path)}


def test_exchanged_coordinates_are_found_and_named(path: Path) -> None:
    swap(path / "upper_arm/c.0", path / "base_radius/c.0")
    assert found(path) == {"upper_arm/c.0", "base_radius/c.0"}
    with pytest.raises(
        StoreError, match=r"s\.zarr/(upper_arm|base_radius)/c\.0: damaged \(its checksum is not that in"
    ):
        open_results(path)


def test_a_coordinate_of_another_store_is_found_and_named(path: Path, tmp_path: Path) -> None:
    other = made(tmp_path / "o.zarr", Coordinate("upper_arm", "design", (0.1, 0.2, 0.4), "m"), BASES, NAMES)
    shutil.copyfile(other / "upper_arm/c.0", path / "upper_arm/c.0")
    assert found(path) == {"upper_arm/c.0"}
    with pytest.raises(StoreError, match=r"s\.zarr/upper_arm/c\.0: damaged"):
        open_results(path)


def test_metadata_of_another_array_are_found(path: Path) -> None:
    swap(path / "upper_arm/zarr.json", path / "actuator_force/zarr.json")
    assert found(path) == {"upper_arm/zarr.json", "actuator_force/zarr.json"}


@pytest.mark.parametrize("name", ["upper_arm", "design_part", "axis"])
@pytest.mark.parametrize("is_old", [False, True])
def test_a_missing_coordinate_is_no_zeros(name: str, tmp_path: Path, is_old: bool) -> None:
    layout = Layout.of(
        BlockGrid({**FEW.sizes, "axis": 3, "joint": 2, "limb": 1}, {"design": 2}), ("platform_position", "peak_force")
    )
    path = made(tmp_path / "s.zarr", ARMS, NAMES, layout=layout)
    if is_old:
        turn_into(path, 3)
    (path / name / "c.0").unlink()
    with pytest.raises(StoreError, match=rf"s\.zarr/{name}/c\.0: missing; limbsweep verify --repair makes it again"):
        open_results(path)


def test_a_missing_chunk_of_a_long_coordinate_is_found_when_it_is_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.store.LOADED", 2)
    data = pickle.loads(pickle.dumps(open_results(path)))
    np.testing.assert_array_equal(data["upper_arm"].isel(design=[2, 0]), [0.3, 0.1])
    swap(path / "upper_arm/c.0", path / "base_radius/c.0")
    with pytest.raises(StoreError, match=EXCHANGED):
        data["upper_arm"].load()
    swap(path / "upper_arm/c.0", path / "base_radius/c.0")
    (path / "upper_arm/c.0").unlink()
    with pytest.raises(StoreError, match=r"s\.zarr/upper_arm/c\.0: missing"):
        open_results(path)["upper_arm"].load()


def test_a_store_of_the_version_before_opens_and_says_the_same(path: Path) -> None:
    expected = digest(path)
    turn_into(path, 3)
    assert found(path) == set()
    assert digest(path) == expected
    data = bytearray((path / "upper_arm/c.0").read_bytes())
    data[-1] ^= 1
    (path / "upper_arm/c.0").write_bytes(data)
    assert found(path) == {"upper_arm/c.0"}
    with pytest.raises(StoreError, match=r"s\.zarr/upper_arm/c\.0: damaged"):
        open_results(path)


def test_a_coordinate_that_the_manifest_does_not_list_is_refused(path: Path) -> None:
    data = json.loads((path / MANIFEST).read_text())
    del data["check"], data["files"]["upper_arm/c.0"]
    (path / MANIFEST).write_text(json.dumps({**data, "check": manifests._seal(data)}))
    with pytest.raises(StoreError, match=r"s\.zarr/upper_arm/c\.0: damaged"):
        open_results(path)


@pytest.mark.parametrize("change", [{"name": "../victim"}, {"separator": "/"}])
def test_an_array_that_is_no_coordinate_is_refused(change: dict[str, str]) -> None:
    encoding = {"name": "default", "configuration": {"separator": change.get("separator", ".")}}
    described = {"shape": [3], "chunk_grid": {"configuration": {"chunk_shape": [2]}}, "chunk_key_encoding": encoding}
    with pytest.raises(ValueError, match="is not stored as a coordinate"):
        chunk_keys(change.get("name", "upper_arm"), described)


def test_a_checksum_that_is_none_is_refused(path: Path) -> None:
    store_manifest = json.loads((path / MANIFEST).read_text())
    del store_manifest["check"]
    store_manifest["files"]["upper_arm/c.0"] = None
    (path / MANIFEST).write_text(json.dumps({**store_manifest, "check": manifests._seal(store_manifest)}))
    with pytest.raises(StoreError, match=r"limbsweep\.json: damaged .*the checksum of 'upper_arm/c\.0' is None"):
        open_results(path)


def test_readers_see_the_old_content_while_a_growth_is_put_in_place(path: Path, tmp_path: Path) -> None:
    """Read between the first file of a commit and its manifest: coordinates are longer than the old manifest says."""
    from storage.growth import FOLDER, begin, grown
    from storage.manifest import Manifest
    from storage.store import describe, metadata

    before = digest(path)
    layout = grown(FEW, {**FEW.sizes, "design": 5})
    longer = [Coordinate(each.name, "design", (*each.values, *each.values[:2]), each.units) for each in (ARMS, BASES)]
    files = metadata(layout, longer, ATTRIBUTES)
    begin(path, describe(layout, {**ATTRIBUTES, "fingerprint": "beef"}, files, 2), files)
    assert Manifest.load(path).generation == 1
    shutil.copyfile(path / FOLDER / "upper_arm/c.0", path / "upper_arm/c.0")
    assert digest(path) == before


def test_texts_may_be_long_and_numbers_take_eight_bytes(path: Path, tmp_path: Path) -> None:
    names = tuple(f"{k}" + "x" * 900 for k in range(3))
    long = made(tmp_path / "l.zarr", Coordinate("design_part", "design", names))
    assert open_results(long)["design_part"].values.tolist() == list(names)
    data = json.loads((path / "zarr.json").read_text())["consolidated_metadata"]["metadata"]
    with (path / "upper_arm/c.0").open("ab") as stream:
        stream.write(bytes(8 * COORDINATE_CHUNK + 1000))
    with pytest.raises(StoreError, match=f"expected at most {8 * COORDINATE_CHUNK + 64}; use no store"):
        dict(read_chunks(LocalFolder(path), Manifest.load(path).files, "upper_arm", data["upper_arm"]))
