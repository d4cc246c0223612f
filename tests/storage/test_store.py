import errno
import json
import os
import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings

import storage
from storage.completion import finish
from storage.errors import StoreError
from storage.layout import Layout
from storage.ledger import Ledger
from storage.manifest import MANIFEST
from storage.places import local
from storage.places.local import LocalFolder
from storage.schema import Coordinate
from storage.store import StoreWriter, create, open_results
from storage.variables import BlockGrid, StoredVariable
from tests.storage.cases import ATTRIBUTES, LAYOUT, block, store, whole
from tests.storage.test_layout import layouts


def fill(writer: StoreWriter) -> None:
    """Writes every block of a store and finishes it."""
    with Ledger.open(writer.location.path, writer.layout.blocks) as ledger:
        for index in ledger.remaining():
            ledger.append(writer.write(index, block(writer.layout, index)))
    finish(writer.location.path)


def shard(writer: StoreWriter, index: int, name: str) -> Path:
    return writer.location.path / writer.layout.variables[name].key(index)


@pytest.fixture
def writer(tmp_path: Path) -> StoreWriter:
    return store(tmp_path / "delta.zarr")


@pytest.fixture
def full(writer: StoreWriter) -> StoreWriter:
    fill(writer)
    return writer


def test_round_trip(full: StoreWriter) -> None:
    dataset = storage.open_results(full.location.path)
    assert dataset.sizes == {dim: LAYOUT.sizes[str(dim)] for dim in dataset.sizes}
    for name in LAYOUT.variables:
        np.testing.assert_array_equal(dataset[name].values, whole(LAYOUT, name))
        assert dataset[name].dtype == whole(LAYOUT, name).dtype
    assert dataset.attrs == {**ATTRIBUTES}


def test_dataset_is_lazy_in_shards_and_described(full: StoreWriter) -> None:
    dataset = open_results(full.location.path)
    assert dataset.actuator_force.chunks == ((2, 2, 1), (1, 1), (2, 1), (7,), (3,))
    assert dataset.actuator_force.attrs == {
        "units": "N m",
        "long_name": "actuator force or torque",
        "frame": "actuator axis",
    }
    assert dataset.status.attrs["flag_values"] == [0, 1]
    assert dataset.status.attrs["flag_meanings"] == "OK NOT_REACHABLE"


def test_coordinates(full: StoreWriter) -> None:
    dataset = open_results(full.location.path)
    assert set(dataset.coords) == {"upper_arm", "time", "actuator", "axis"}
    assert dataset.upper_arm.chunks is None
    assert dataset.upper_arm.attrs == {"units": "m", "long_name": "length of the upper arm"}
    assert dataset.time.dtype == float
    assert list(dataset.axis.values) == ["x", "y", "z"]
    one = dataset.actuator_force.sel(actuator="limb2.arm", time=0.1 * 3)
    np.testing.assert_array_equal(one, whole(LAYOUT, "actuator_force")[..., 3, 1])
    assert dataset.where(dataset.upper_arm > 0.35, drop=True).sizes["design"] == 2


def test_plain_xarray_reads_the_same(full: StoreWriter) -> None:
    with xr.open_zarr(full.location.path) as plain:
        xr.testing.assert_identical(plain.compute(), open_results(full.location.path).compute())


@given(layouts())
@settings(max_examples=15, deadline=None)
def test_round_trip_in_any_layout(tmp_path_factory: pytest.TempPathFactory, layout: Layout) -> None:
    writer = store(tmp_path_factory.mktemp("any") / "any.zarr", layout)
    for index in reversed(range(layout.blocks)):
        writer.write(index, block(layout, index))
    for index in range(layout.blocks):
        for name, array in writer.read(index).items():
            np.testing.assert_array_equal(array, block(layout, index)[name])
    files = [file for name in layout.variables for file in (writer.location.path / name).glob("c.*")]
    assert sum(layout.variables[name].shards for name in layout.variables) == len(files)
    shutil.rmtree(writer.location.path)


def test_long_series_are_cut_and_padded(tmp_path: Path) -> None:
    sizes = {**LAYOUT.sizes, "design": 3, "friction": 1, "trajectory": 1, "time": 200_001}
    layout = Layout.of(BlockGrid(sizes, {"design": 2}), ("actuator_force",))
    assert layout.variables["actuator_force"].shard[3] == 200_002
    writer = store(tmp_path / "long.zarr", layout)
    fill(writer)
    assert (open_results(writer.location.path).actuator_force.values == whole(layout, "actuator_force")).all()


def test_receipt_depends_on_content_alone(writer: StoreWriter) -> None:
    arrays = block(LAYOUT, 0)
    first = writer.write(0, arrays)
    assert pickle.loads(pickle.dumps(writer)).write(0, {k: np.asfortranarray(v) for k, v in arrays.items()}) == first
    assert first.block == 0
    assert list(first.checksums)[-1] == "status"
    assert first.bytes == LAYOUT.block_bytes(0)
    arrays["peak_force"] = np.nextafter(arrays["peak_force"], 1)
    assert writer.write(0, arrays).checksums["peak_force"] != first.checksums["peak_force"]


def test_status_is_written_last(writer: StoreWriter) -> None:
    writer.write(0, block(LAYOUT, 0))
    times = {name: shard(writer, 0, name).stat().st_mtime_ns for name in LAYOUT.owned(0)}
    assert max(times, key=lambda name: times[name]) == "status"


def test_block_of_nothing_but_fill_values_is_stored(writer: StoreWriter) -> None:
    arrays = {
        name: np.full_like(array, np.nan if array.dtype == float else -1) for name, array in block(LAYOUT, 0).items()
    }
    writer.write(0, arrays)
    assert all(np.isnan(array).all() for array in writer.read(0).values() if array.dtype == float)


@pytest.mark.parametrize("names", [("status",), (*LAYOUT.variables, "energy")])
def test_other_arrays_than_those_of_the_block(writer: StoreWriter, names: tuple[str, ...]) -> None:
    with pytest.raises(StoreError, match=r"block 0 got arrays \[.*\]; expected \['actuator_force', 'failed_samples'"):
        writer.write(0, dict.fromkeys(names, np.zeros(1)))


def test_array_of_a_wrong_shape_or_type(writer: StoreWriter) -> None:
    arrays = block(LAYOUT, 0)
    for wrong in (arrays["status"][:1], arrays["status"].astype(int)):
        with pytest.raises(StoreError, match=r"block 0, status: got shape .* of .*; expected \(2, 2, 7\) of int8"):
            writer.write(0, {**arrays, "status": wrong})
    assert not shard(writer, 0, "actuator_force").exists(), "nothing is written before all is checked"


def test_region_that_is_not_whole_shards(writer: StoreWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    region = StoredVariable.region

    def shifted(self: StoredVariable, index: int) -> tuple[slice, ...]:
        first, *rest = region(self, index)
        return (slice(first.start + 1, first.stop + 1), *rest)

    arrays = block(LAYOUT, 0)
    monkeypatch.setattr(StoredVariable, "region", shifted)
    with pytest.raises(
        StoreError, match="1 to 3 of design is not a whole shard; expected a range of 2 that starts at a multiple"
    ):
        writer.write(0, arrays)


def test_block_beyond_the_grid(writer: StoreWriter) -> None:
    with pytest.raises(StoreError, match="there is no block 12"):
        writer.write(12, {})


def test_any_flipped_byte_is_found_and_named(full: StoreWriter) -> None:
    seed = 20240607
    print("seed", seed)
    file = shard(full, 0, "actuator_force")
    good = file.read_bytes()
    for place in np.random.default_rng(seed).choice(len(good), 60, replace=False):
        file.write_bytes(good[:place] + bytes([good[place] ^ 0x10]) + good[place + 1 :])
        with pytest.raises(StoreError, match=r"actuator_force/c\.0\.0\.0\.0\.0: damaged \(block 0 of actuator_force: "):
            full.read(0)
        with pytest.raises(Exception, match=r".+"):
            open_results(full.location.path).actuator_force.isel(design=[0, 1], friction=0, trajectory=[0, 1]).compute()
    file.write_bytes(good)
    full.read(0)


def test_truncated_and_missing_shards_are_found_and_named(full: StoreWriter) -> None:
    for name in LAYOUT.owned(0):
        file = shard(full, 0, name)
        good = file.read_bytes()
        for length in (0, 1, len(good) // 2, len(good) - 1):
            file.write_bytes(good[:length])
            with pytest.raises(StoreError, match=f"{name}/c.*(damaged|empty)"):
                full.read(0)
        file.unlink()
        with pytest.raises(StoreError, match=rf"{name}/c.*: missing \(block 0 of {name}\); limbsweep verify --repair"):
            full.read(0)
        file.write_bytes(good)


def test_damaged_shard_can_be_written_again(full: StoreWriter) -> None:
    for damage in (b"", b"nonsense" * 100):
        shard(full, 0, "peak_force").write_bytes(damage)
        full.write(0, block(LAYOUT, 0))
        np.testing.assert_array_equal(full.read(0)["peak_force"], block(LAYOUT, 0)["peak_force"])


def test_write_that_stores_something_else_is_found(writer: StoreWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = block(LAYOUT, 0)
    writer.write(0, arrays)
    monkeypatch.setattr(LocalFolder, "write", lambda place, key, parts: None)
    with pytest.raises(StoreError, match=r"peak_force.*: differs from what was written; check the disk, and run again"):
        writer.write(0, {**arrays, "peak_force": arrays["peak_force"] + 1})
    shard(writer, 0, "actuator_force").unlink()
    with pytest.raises(StoreError, match=r"actuator_force/c\.0\.0\.0\.0\.0: No such file or directory"):
        writer.write(0, arrays)


def test_a_store_that_is_moved_while_it_is_written_or_read_is_told(full: StoreWriter) -> None:
    data = open_results(full.location)
    full.location.path.rename(full.location.path.with_name("elsewhere"))
    with pytest.raises(StoreError, match="was moved or removed since it was opened; open it again"):
        data["actuator_force"].load(scheduler="synchronous")
    with pytest.raises(StoreError, match="see that the store was not moved or removed, and that its disk is there"):
        full.write(0, block(LAYOUT, 0))


def test_credentials_that_expire_while_a_store_is_opened_are_no_damage(
    full: StoreWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EINVAL, "Bad Request")

    monkeypatch.setattr(xr, "open_zarr", refuse)
    with pytest.raises(StoreError, match=r"delta\.zarr: Bad Request; renew the credentials"):
        open_results(full.location)


def test_full_disk(writer: StoreWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(StoreError, match="No space left on device; check free space and permissions"):
        writer.write(0, block(LAYOUT, 0))
    assert not [file for file in writer.location.path.rglob("*") if file.name.endswith(".draft")]


def test_unfinished_store_is_refused_unless_asked_for(writer: StoreWriter) -> None:
    with pytest.raises(StoreError, match="is not finished; resume its run, or open its blocks with unfinished=True"):
        open_results(writer.location.path)
    with Ledger.open(writer.location.path, LAYOUT.blocks) as ledger:
        for index in (0, 2, 4, 9, 11):
            ledger.append(writer.write(index, block(LAYOUT, index)))
    dataset = open_results(writer.location.path, unfinished=True)
    assert dataset.attrs["finished"] is False
    expected = np.zeros((5, 3), dtype=bool)
    expected[:2, :2] = True  # Blocks 0 and 2 are the two friction sets of this corner.
    expected[4, 2] = True  # So are 9 and 11.
    np.testing.assert_array_equal(dataset.written, expected)
    assert np.isnan(dataset.actuator_force[2, 1]).all()


@pytest.mark.parametrize(
    "damage", ["", "{", "{}", "[]", '{"zarr_format": 2}', '{"zarr_format": 3, "node_type": "group"}']
)
def test_damaged_group_metadata(full: StoreWriter, damage: str) -> None:
    (full.location.path / "zarr.json").write_text(damage)
    with pytest.raises(StoreError, match=r"delta.zarr/zarr.json: (damaged|actuator_force has)"):
        open_results(full.location.path)


def test_lost_group_metadata(full: StoreWriter) -> None:
    (full.location.path / "zarr.json").unlink()
    for use in (open_results, StoreWriter):
        with pytest.raises(StoreError, match=r"delta.zarr/zarr.json: (missing; limbsweep verify|No such file)"):
            use(full.location.path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"shape": [5, 2, 3, 7, 3]', '"shape": [5, 2, 3, 7, 4]'),
        ('"chunk_shape": [2, 1, 2, 7, 3]', '"chunk_shape": [4, 1, 2, 7, 3]'),
        ('"name": "crc32c"}', '"name": "gzip", "configuration": {"level": 1}}'),
    ],
)
def test_metadata_that_is_not_of_the_layout(full: StoreWriter, old: str, new: str) -> None:
    file = full.location.path / "zarr.json"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    os.utime(file, ns=(1, 1))
    with pytest.raises(
        StoreError, match=f"(actuator_force|status) has shape, shards, chunks, type and codecs .* as {MANIFEST} says"
    ):
        open_results(full.location.path)
    with pytest.raises(StoreError, match="has shape, shards, chunks, type and codecs"):
        StoreWriter(full.location.path).write(0, block(LAYOUT, 0))


@pytest.mark.parametrize("what", ["a directory", "a file", "a dead link"])
def test_existing_path_is_not_touched(tmp_path: Path, what: str) -> None:
    path = tmp_path / "delta.zarr"
    if what == "a directory":
        path.mkdir()
    elif what == "a file":
        path.touch()
    else:
        path.symlink_to("none")
    with pytest.raises(StoreError, match="exists already; resume it, remove it, or choose another store"):
        store(path)
    assert os.listdir(tmp_path) == ["delta.zarr"]


@pytest.fixture
def read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory in which nothing can be made; permissions do not bind root, who gets the same error by hand."""
    if os.geteuid() == 0:

        def refuse(path: Path, *_: object, **__: object) -> None:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

        monkeypatch.setattr(Path, "mkdir", refuse)
    tmp_path.chmod(0o500)
    yield tmp_path
    tmp_path.chmod(0o700)


@pytest.mark.parametrize("below", ["delta.zarr", "folder/delta.zarr"])
def test_a_store_below_a_file_is_refused_before_anything_is_made(tmp_path: Path, below: str) -> None:
    """A folder was made below whatever was there, and the message named a hidden draft."""
    (tmp_path / "device").symlink_to("/dev/zero")
    with pytest.raises(StoreError, match=r"/device: Not a directory; .* choose another store"):
        store(tmp_path / "device" / below)
    assert os.listdir(tmp_path) == ["device"]


def test_read_only_directory(read_only: Path) -> None:
    with pytest.raises(
        StoreError, match="Permission denied; check free space and permissions, or choose another store"
    ):
        store(read_only / "delta.zarr")


def test_failed_creation_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(StoreError, match="Input/output error"):
        store(tmp_path / "delta.zarr")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("key", ["sweep", "fingerprint"])
def test_attributes_without_identity(tmp_path: Path, key: str) -> None:
    with pytest.raises(StoreError, match=f"attributes.{key}: got None; expected a text, which identifies the sweep"):
        create(tmp_path / "x", LAYOUT, (), {name: text for name, text in ATTRIBUTES.items() if name != key})


@pytest.mark.parametrize("value", [float("nan"), {"a": [float("inf")]}, object(), np.float32(1)])
def test_attributes_that_json_cannot_hold(tmp_path: Path, value: Any) -> None:
    with pytest.raises(StoreError, match=r"attributes.seed: got .*; expected what JSON can hold"):
        create(tmp_path / "x", LAYOUT, (), {**ATTRIBUTES, "seed": value})
    assert os.listdir(tmp_path) == []


def test_units_replace_those_of_the_schema(tmp_path: Path) -> None:
    create(tmp_path / "x", LAYOUT, (), ATTRIBUTES, units={"actuator_force": "N"})
    assert open_results(tmp_path / "x", unfinished=True).actuator_force.units == "N"
    with pytest.raises(StoreError, match="no variable 'torque'"):
        create(tmp_path / "y", LAYOUT, (), ATTRIBUTES, units={"torque": "N"})


def test_bad_coordinate_makes_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="coordinate 'arm' has 1 values; expected 5"):
        create(tmp_path / "x", LAYOUT, [Coordinate("arm", "design", (1.0,))], ATTRIBUTES)
    assert os.listdir(tmp_path) == []


def test_metadata_is_strict_json(full: StoreWriter) -> None:
    def refuse(constant: str) -> None:
        pytest.fail(f"{constant} is not JSON")

    files = list(full.location.path.rglob("zarr.json"))
    assert len(files) == 1 + len(LAYOUT.variables) + 4
    for file in files:
        json.loads(file.read_text(), parse_constant=refuse)


def test_new_store_under_an_old_name(full: StoreWriter) -> None:
    shutil.rmtree(full.location.path)
    layout = Layout.of(BlockGrid(LAYOUT.sizes, {"design": 1}), ("condition",))
    fill(store(full.location.path, layout))
    assert set(open_results(full.location.path).data_vars) == {"condition"}


def test_package_offers_nothing_else() -> None:
    with pytest.raises(AttributeError, match=f"module '{storage.__name__}' has no attribute 'open_result'"):
        storage.open_result  # noqa: B018


def test_a_store_inside_a_store_is_refused(tmp_path: Path) -> None:
    create(tmp_path / "a.zarr", LAYOUT, (), ATTRIBUTES)
    for place in (tmp_path / "a.zarr/b.zarr", tmp_path / "a.zarr/deep/b.zarr"):
        with pytest.raises(StoreError, match=r"b\.zarr: is inside the store .*a\.zarr; choose a place beside it"):
            create(place, LAYOUT, (), ATTRIBUTES)
        assert not place.exists()


def test_of_two_writers_the_slower_one_is_told_that_the_store_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = local.sync_directory

    def overtaken(folder: Path) -> None:
        monkeypatch.setattr(local, "sync_directory", sync)
        create(tmp_path / "a.zarr", LAYOUT, (), ATTRIBUTES)

    monkeypatch.setattr(local, "sync_directory", overtaken)
    with pytest.raises(StoreError, match=r"a\.zarr: exists already; resume it, remove it, or choose another store"):
        create(tmp_path / "a.zarr", LAYOUT, (), ATTRIBUTES)
    assert [path.name for path in tmp_path.iterdir()] == ["a.zarr"]
