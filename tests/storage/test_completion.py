from pathlib import Path

import pytest

from storage.completion import finish
from storage.errors import StoreError
from storage.ledger import Ledger
from storage.manifest import Manifest
from tests.storage.cases import LAYOUT, block, store

LAST = LAYOUT.blocks - 1


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with all blocks but the last."""
    writer = store(tmp_path / "s.zarr")
    with Ledger.open(tmp_path / "s.zarr", LAYOUT.blocks) as ledger:
        for index in range(LAST):
            ledger.append(writer.write(index, block(LAYOUT, index)))
    return tmp_path / "s.zarr"


def test_a_store_that_lacks_a_receipt_is_not_finished(path: Path) -> None:
    with pytest.raises(StoreError, match=r"s\.zarr: 1 blocks have no receipt that would outlast a crash; run it again"):
        finish(path)
    assert Manifest.load(path).state == "running"


def test_a_store_that_lacks_a_file_is_not_finished(path: Path) -> None:
    elsewhere = store(path.with_name("t.zarr"))
    with Ledger.open(path, LAYOUT.blocks) as ledger:
        ledger.append(elsewhere.write(LAST, block(LAYOUT, LAST)))
    lost = LAYOUT.variables["actuator_force"].key(LAST)
    with pytest.raises(StoreError, match=rf"s.zarr/{lost}: missing, though its block was computed; see that"):
        finish(path)
    assert Manifest.load(path).state == "running"
