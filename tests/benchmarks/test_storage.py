"""Every keeper returns the stored values; one that does not is noticed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import storage
from benchmarks.figures import QUICK, CheckError
from benchmarks.storage import KEEPERS, Keeper, Ours, PlainFiles, PlainZarr
from storage.layout import Layout
from storage.variables import BlockGrid

LAYOUT = Layout.of(
    BlockGrid({"design": 6, "friction": 1, "trajectory": 1, "time": 5, "actuator": 3}, {"design": 3}),
    (storage.VARIABLE,),
)


@pytest.mark.parametrize("kind", KEEPERS)
def test_a_keeper_gives_back_what_it_was_given(kind: type[Keeper], tmp_path: Path) -> None:
    keeper = kind(tmp_path / "kept", LAYOUT)
    parts = [np.random.default_rng(k).normal(size=(3, 1, 1, 5, 3)) for k in range(2)]
    for k, part in enumerate(parts):
        keeper.write(k, part)
    for k, part in enumerate(parts):
        np.testing.assert_array_equal(keeper.read(k), part)


def test_ours_and_plain_zarr_store_the_same_bytes(tmp_path: Path) -> None:
    part = np.random.default_rng(0).normal(size=(3, 1, 1, 5, 3))
    for kind in (Ours, PlainZarr):
        kind(tmp_path / kind.__name__, LAYOUT).write(1, part)
    shard = Path("c.1.0.0.0.0")
    ours = (tmp_path / "Ours" / storage.VARIABLE / shard).read_bytes()
    assert ours == (tmp_path / "PlainZarr" / shard).read_bytes()


def test_other_numbers_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = PlainFiles.read
    monkeypatch.setattr(PlainFiles, "read", lambda self, index: honest(self, index) + (index == 2))
    with pytest.raises(CheckError, match="plain files: block 2 differs from the written one"):
        list(storage.store(QUICK))
