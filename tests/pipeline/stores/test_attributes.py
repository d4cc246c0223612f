"""Attributes that were edited with public checksums made anew are found, all but those on the list, and restored."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline import verify
from pipeline.errors import InputError
from pipeline.stores.repair import OF_FUNCTIONS, ON_TRUST, check_derived
from pipeline.sweep.stored import SWEEP_FINGERPRINT
from storage.encoding.checksums import checksum
from storage.encoding.documents import METADATA
from storage.manifest import MANIFEST, Attributes, Manifest
from storage.places.local import LocalFolder
from tests.pipeline.runs import SYNCHRONOUS
from tests.pipeline.stores.corpus import cut_finely


def edited(value: Any) -> Any:
    """Another value of the same type."""
    if isinstance(value, dict):
        return {name: edited(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [edited(entry) for entry in value]
    return f"{value}x" if isinstance(value, str) else value + 1


def edit(store: Path, *names: str, remove: bool = False) -> None:
    """Change attributes in the manifest and in the metadata of the group, with checksums to match."""
    manifest, group = Manifest.load(store), json.loads((store / METADATA).read_text())
    attributes = dict(manifest.attributes.values)
    for table in (attributes, group["attributes"]):
        for name in names:
            if remove:
                del table[name]
            else:
                table[name] = edited(table.get(name, "a note"))
    data = json.dumps(group).encode()
    (store / METADATA).write_bytes(data)
    sums = {**manifest.files, METADATA: checksum(METADATA, data)}
    replace(manifest, attributes=Attributes(attributes), files=sums).save(store)


def differing(store: Path) -> dict[str, set[str]]:
    """Names of attributes that are not those of the sweep, by file; of the group all are one finding."""
    found: dict[str, set[str]] = {MANIFEST: set(), METADATA: set()}
    with cut_finely():
        for damage in check_derived(LocalFolder(store), ".", every=True):
            words = damage.text.split()
            found[damage.file.removeprefix(f"{store}/")].add(words[1] if words[0] == "attribute" else "some")
    return found


DERIVED = ("robot", "parameters", "gravity", "friction_law", "precision", "title", "Conventions")


@pytest.mark.parametrize("kind", ["reactions", "own metrics"])
def test_every_edited_attribute_is_found_or_on_the_list(
    kind: str, corpus: Callable[[str], Path], tmp_path: Path
) -> None:
    store = Path(shutil.copytree(corpus(kind), tmp_path / "s.zarr"))
    on_trust = {*ON_TRUST, *OF_FUNCTIONS} if kind == "own metrics" else {*ON_TRUST}
    names = {*Manifest.load(store).attributes.others}
    assert {*DERIVED, *ON_TRUST} <= names
    edit(store, *(names & on_trust) - {SWEEP_FINGERPRINT})
    assert differing(store) == {MANIFEST: set(), METADATA: set()}
    edit(store, *names - on_trust, "note")
    assert differing(store) == {MANIFEST: {*names - on_trust, "note"}, METADATA: {"some"}}


def test_attributes_that_were_removed_are_found(corpus: Callable[[str], Path], tmp_path: Path) -> None:
    store = Path(shutil.copytree(corpus("metrics"), tmp_path / "s.zarr"))
    names = {*Manifest.load(store).attributes.others}
    edit(store, *names, remove=True)
    assert differing(store) == {MANIFEST: names, METADATA: {"some"}}


def test_edited_names_of_sources_are_refused(corpus: Callable[[str], Path], tmp_path: Path) -> None:
    store = Path(shutil.copytree(corpus("linked"), tmp_path / "s.zarr"))
    edit(store, "sources")
    with cut_finely(), pytest.raises(InputError, match=r"designs\.csv"):
        verify(store, recompute=1.0, cluster=SYNCHRONOUS)


def test_edited_attributes_are_restored(corpus: Callable[[str], Path], tmp_path: Path) -> None:
    store = Path(shutil.copytree(corpus("metrics"), tmp_path / "s.zarr"))
    group = (store / METADATA).read_bytes()
    before = Manifest.load(store)
    edit(store, "robot", "parameters")
    with cut_finely():
        assert verify(store).is_sound, "checksums were made anew"
        found = verify(store, recompute=1.0, cluster=SYNCHRONOUS)
        texts = [str(each) for each in found.findings]
        assert [text.partition(" is ")[0] for text in texts[:2]] == [
            f"{store / MANIFEST}: attribute robot", f"{store / MANIFEST}: attribute parameters",
        ]  # fmt: skip
        assert texts[0].endswith("is 'five_barx'; the sweep gives 'five_bar'")
        assert texts[2] == f"{store / METADATA}: damaged metadata: differs from the sweep"
        mended = verify(store, recompute=1.0, repair=True, cluster=SYNCHRONOUS)
    assert mended.is_sound
    assert mended.restored == (str(store / MANIFEST), str(store / METADATA))
    assert ((store / METADATA).read_bytes(), Manifest.load(store)) == (group, before)


def test_a_file_without_a_checksum_is_found(corpus: Callable[[str], Path], tmp_path: Path) -> None:
    store = Path(shutil.copytree(corpus("metrics"), tmp_path / "s.zarr"))
    manifest = Manifest.load(store)
    files = {key: value for key, value in manifest.files.items() if key != "proximal_length/c.0"}
    replace(manifest, files=files).save(store)
    with cut_finely():
        found = list(check_derived(LocalFolder(store), ".", every=True))
        assert [str(each) for each in found] == [f"{store}/proximal_length/c.0: without a checksum in {MANIFEST}"]
        assert verify(store, recompute=1.0, repair=True, cluster=SYNCHRONOUS).is_sound
    assert Manifest.load(store).files == manifest.files


def test_a_finished_store_without_the_checksum_of_its_receipts_is_found(
    corpus: Callable[[str], Path], tmp_path: Path
) -> None:
    store = Path(shutil.copytree(corpus("metrics"), tmp_path / "s.zarr"))
    manifest = Manifest.load(store)
    replace(manifest, ledger="").save(store)
    with cut_finely():
        assert [(each.kind, each.file) for each in verify(store).findings] == [("ledger", str(store / MANIFEST))]
        assert verify(store, repair=True, cluster=SYNCHRONOUS).is_sound
    assert Manifest.load(store) == manifest
