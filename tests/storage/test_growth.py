"""A finished store becomes larger; until the end, and after any interruption, the old content is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from storage.errors import StoreError
from storage.growth import FOLDER, Growing, abandon, begin, commit, grown, is_growing
from storage.integrity import check_blocks, check_files, check_ledger
from storage.layout import Layout
from storage.ledger import Ledger
from storage.manifest import Manifest
from storage.places.access import coordinator_lock, locate
from storage.places.location import Location
from storage.schema import Coordinate
from storage.store import create, describe, metadata, open_results
from tests.storage.cases import ATTRIBUTES, FEW, anywhere, digest, fill, lasting
from tests.storage.faults import ERRORS, FaultyLocation

MORE_DESIGNS = {**FEW.sizes, "design": 6}
MORE_FRICTION = {**FEW.sizes, "friction": 3}
BOTH = {**FEW.sizes, "design": 4, "friction": 3}
LARGER = {"designs": MORE_DESIGNS, "friction": MORE_FRICTION, "both": BOTH}


def contents(layout: Layout) -> dict[str, Any]:
    """Return the text by which stores of other sizes differ."""
    sizes = layout.sizes
    axes = [
        Coordinate("upper_arm", "design", tuple(0.1 * k for k in range(sizes["design"])), "m"),
        Coordinate("coulomb", "friction", tuple(0.5 * k for k in range(sizes["friction"])), "N m"),
    ]
    named = f"{sizes['design']} designs, {sizes['friction']} friction sets"
    return {"coordinates": axes, "attributes": {**ATTRIBUTES, "sweep": named, "fingerprint": named}}


def made(store: Any, layout: Layout = FEW) -> Location:
    location = locate(store)
    if not location.exists():
        create(location, layout, **contents(layout))
    fill(location, lasting)
    return location


def larger(location: Location, sizes: dict[str, int]) -> None:
    """Finish an append: all of it, or what an interrupted one has left."""
    with coordinator_lock(location):
        if is_growing(location) and Manifest.load(Growing(location)).state == "finished":
            commit(location)
        if Manifest.load(location).layout.sizes == sizes:
            return
        if not is_growing(location):
            layout = grown(Manifest.load(location).layout, sizes)
            described = contents(layout)
            files = metadata(layout, **described)
            begin(
                location,
                describe(layout, described["attributes"], files, Manifest.load(location).generation + 1),
                files,
            )
    fill(Growing(location), lasting)
    with coordinator_lock(location):
        commit(location)


def sound(location: Location) -> bool:
    blocks = (each for one in check_blocks(location) for each in one.findings)
    return not [*check_files(location), *check_ledger(location), *blocks]


@pytest.mark.parametrize("kind", ["path", "memory"])
@pytest.mark.parametrize("name", LARGER)
def test_a_larger_store_is_one_that_was_made_so(kind: str, name: str, tmp_path: Path) -> None:
    location = made(anywhere(kind, tmp_path))
    larger(location, LARGER[name])
    assert digest(location) == digest(made(tmp_path / "at once.zarr", grown(FEW, LARGER[name])))
    assert sound(location)
    assert not [key for key in list(location.keys()) if key.startswith((FOLDER, "ledger.jsonl", "ledger/"))]
    larger(location, {**LARGER[name], "design": 7})
    assert open_results(location).sizes["design"] == 7
    assert Manifest.load(location).generation == 3
    assert sound(location)


@pytest.mark.parametrize(("name", "kept"), [("designs", 2), ("friction", 4), ("both", 2)])
def test_blocks_that_stay_are_not_computed_again(name: str, kept: int, tmp_path: Path) -> None:
    location = made(tmp_path / "s.zarr")
    layout = grown(FEW, LARGER[name])
    files = metadata(layout, **contents(layout))
    begin(location, describe(layout, contents(layout)["attributes"], files, 2), files)
    ledger = Ledger.read(Growing(location), layout.blocks)
    assert ledger.count == kept
    assert ledger.count < ledger.blocks


@pytest.mark.parametrize("name", LARGER)
def test_an_append_that_is_interrupted_anywhere_goes_on(name: str, tmp_path: Path) -> None:
    """Stop at every operation: the old content can be read, or the new one after the commit; then resume."""
    expected = digest(made(tmp_path / "at once.zarr", grown(FEW, LARGER[name])))
    counting = FaultyLocation(made(tmp_path / "count.zarr"), 10**9, OSError)
    old = digest(counting.base)
    larger(counting, LARGER[name])
    assert counting.count > 50
    for number in range(1, counting.count + 1, 3 if name == "designs" else 11):
        location = made(anywhere("memory", tmp_path))
        with pytest.raises(StoreError, match="check free space and permissions"):
            larger(FaultyLocation(location, number, ERRORS["I/O error"]), LARGER[name])
        assert digest(location) in (old, expected), f"operation {number}"
        larger(location, LARGER[name])
        assert digest(location) == expected, f"operation {number}"
        assert sound(location), f"operation {number}"


def test_the_old_content_can_be_read_while_the_new_is_written(tmp_path: Path) -> None:
    location = made(tmp_path / "s.zarr")
    old = digest(location)
    layout = grown(FEW, BOTH)
    files = metadata(layout, **contents(layout))
    begin(location, describe(layout, contents(layout)["attributes"], files, 2), files)
    while Ledger.read(Growing(location), layout.blocks).count < layout.blocks:
        fill(Growing(location), lasting, blocks=1)
        assert digest(location) == old
        assert sound(location)
    assert open_results(Growing(location)).sizes["design"] == 3


def test_an_append_can_be_given_up(tmp_path: Path) -> None:
    location = made(tmp_path / "s.zarr")
    old, files_before = digest(location), sorted(location.keys())
    layout = grown(FEW, BOTH)
    files = metadata(layout, **contents(layout))
    begin(location, describe(layout, contents(layout)["attributes"], files, 2), files)
    fill(Growing(location), lasting, blocks=2)
    with pytest.raises(StoreError, match="not all blocks of the larger store are there; append the same sweep again"):
        commit(location)
    abandon(location)
    assert digest(location) == old
    assert sorted(location.keys()) == files_before
    assert sound(location)
    larger(location, BOTH)
    assert np.isfinite(open_results(location).actuator_force).all()


def test_a_growing_store_is_not_made_anew(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="a store that grows is not made anew"):
        Growing(made(tmp_path / "s.zarr")).make({}, "x")


def test_a_damaged_ledger_is_repaired_first(tmp_path: Path) -> None:
    location = made(tmp_path / "s.zarr")
    file = tmp_path / "s.zarr/ledger.jsonl"
    file.write_bytes(b"x" + file.read_bytes())
    layout = grown(FEW, BOTH)
    files = metadata(layout, **contents(layout))
    with pytest.raises(StoreError, match=r"its ledger is damaged .*; first.*limbsweep verify --repair"):
        begin(location, describe(layout, contents(layout)["attributes"], files, 2), files)
