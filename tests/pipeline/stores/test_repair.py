"""Metadata, coordinates and the manifest of a store are made again from what is left, to the same bytes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from applications.commands.cli import cli
from pipeline import append, run, verify
from storage import open_results
from storage.errors import StoreError
from storage.files import Files
from storage.growth import Growing
from storage.manifest import MANIFEST, Manifest
from storage.places.local import LocalFolder
from storage.store import metadata
from tests.pipeline.runs import FEW, SYNCHRONOUS, content_hash, cut_finely, sweep

Damage = Callable[[Path], None]


CUT = {"small": 41 * 4, "friction": 41 * 4 * 3}
"""Blocks of two designs."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A store of one run, and one that was made larger."""
    folder = tmp_path_factory.mktemp("sound")
    larger = FEW.replace("0.28, 0.31]", "0.28, 0.31, 0.33]")
    with pytest.MonkeyPatch.context() as patch:
        cut_finely(patch, **CUT)
        run(sweep(FEW), folder / "plain.zarr", SYNCHRONOUS)
        shutil.copytree(folder / "plain.zarr", folder / "grown.zarr")
        append(folder / "grown.zarr", sweep(larger), SYNCHRONOUS)
    return {"plain": folder / "plain.zarr", "grown": folder / "grown.zarr"}


@pytest.fixture(params=["plain", "grown"])
def store(request: pytest.FixtureRequest, sound: dict[str, Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound[request.param], tmp_path / "s.zarr"))


def files(store: Path) -> dict[str, bytes]:
    return {str(file.relative_to(store)): file.read_bytes() for file in store.rglob("*") if file.is_file()}


def repaired(store: Path) -> Result:
    result = CliRunner().invoke(cli, ["verify", str(store), "--repair"])
    assert "Traceback" not in result.stderr
    return result


def emptied(name: str) -> Damage:
    return lambda store: (store / name).write_bytes(b"")


def removed(name: str) -> Damage:
    return lambda store: (store / name).unlink()


def flipped(name: str) -> Damage:
    def flip(store: Path) -> None:
        data = bytearray((store / name).read_bytes())
        data[len(data) // 2] ^= 1
        (store / name).write_bytes(data)

    return flip


@pytest.mark.parametrize("damage", [emptied, removed, flipped])
@pytest.mark.parametrize("name", ["zarr.json", "upper_arm/zarr.json", "upper_arm/c.0", "trajectory/c.0", MANIFEST])
def test_a_file_is_made_again_to_the_same_bytes(store: Path, name: str, damage: Callable[[str], Damage]) -> None:
    before = files(store)
    damage(name)(store)
    result = repaired(store)
    assert result.exit_code == 0, result.stdout + result.stderr
    assert f"made again  {store / name}" in result.stdout
    if name == MANIFEST:  # the order of keys and the way to write numbers are free there
        assert Manifest.load(store) == Manifest._parse(name, json.loads(before[name]), LocalFolder(store))
        before[name] = files(store)[name]
    assert files(store) == before | {"coordinator.lock": b""}
    assert verify(store).is_sound


def test_metadata_and_results_are_repaired_in_one_go(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = content_hash(store)
    key = Manifest.load(store).layout.variables["peak_force"].key(1)
    for damage in (removed("base_radius/zarr.json"), emptied(MANIFEST), flipped(key)):
        damage(store)
    found = verify(store, repair=True, cluster=SYNCHRONOUS)
    assert found.is_sound
    assert (found.repaired, len(found.restored)) == ((1,), 2)
    assert content_hash(store) == expected


def test_metadata_in_the_spelling_of_another_zarr_get_new_checksums(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = content_hash(store)

    def spelt_otherwise(*given: Any, **options: Any) -> Files:
        made = metadata(*given, **options)
        return made | Files.of({"zarr.json": made["zarr.json"] + b"\n"})

    (store / "zarr.json").write_text("{}")
    monkeypatch.setattr("pipeline.stores.repair.metadata", spelt_otherwise)
    assert repaired(store).exit_code == 0
    assert verify(store).is_sound
    assert content_hash(store) == expected


def test_a_manifest_of_an_unfinished_store_is_made_again_as_unfinished(store: Path) -> None:
    ledger = next(store.glob("ledger*"))
    ledger.write_bytes(b"".join(ledger.read_bytes().splitlines(keepends=True)[:-1]))
    (store / MANIFEST).unlink()
    assert repaired(store).exit_code == 0
    assert Manifest.load(store).state == "running"


def _other_fingerprint(store: Path) -> None:
    group = json.loads((store / "zarr.json").read_text())
    group["attributes"]["fingerprint"] = "0" * 64
    (store / "zarr.json").write_text(json.dumps(group))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (emptied("zarr.json"), "no help either (no JSON: "),
        (_other_fingerprint, "holds a sweep with another fingerprint; restore both from a copy"),
    ],
)
def test_where_manifest_and_metadata_are_lost_only_a_copy_helps(store: Path, damage: Damage, said: str) -> None:
    emptied(MANIFEST)(store)
    damage(store)
    before = files(store)
    result = repaired(store)
    assert result.exit_code == 2
    assert f"{store / MANIFEST}: damaged" in result.stderr
    assert said in result.stderr
    assert files(store) == before


def test_a_store_that_is_being_made_larger_is_left_alone(store: Path) -> None:
    place = LocalFolder(store)
    place.write(".append/zarr.json", ((store / "zarr.json").read_bytes(),))
    Growing(place).write(MANIFEST, ((store / MANIFEST).read_bytes(),))
    emptied("upper_arm/zarr.json")(store)
    with pytest.raises(StoreError, match="an append has been begun; go on with it, or drop it first"):
        verify(store, repair=True)


def test_readers_say_how_damage_is_repaired(store: Path, tmp_path: Path) -> None:
    emptied("zarr.json")(store)
    with pytest.raises(StoreError, match="limbsweep verify --repair makes it again"):
        open_results(store)


def test_what_is_no_store_stays_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    result: Any = repaired(tmp_path)
    assert (result.exit_code, "not a store of limbsweep" in result.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == [tmp_path / "thesis.txt"]
