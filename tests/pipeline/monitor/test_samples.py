from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr

from pipeline.monitor import samples
from pipeline.monitor.samples import failed_samples, meanings
from robots.status import flags
from storage.errors import StoreError

ATTRIBUTES: dict[str, Any] = {"flag_values": list(flags().values()), "flag_meanings": " ".join(flags())}


def dataset(friction: bool = False) -> xr.Dataset:
    """Four designs on two trajectories of ten samples: two cases fail in part, one is not written."""
    counts, worst = np.zeros((4, 2), np.int32), np.zeros((4, 2), np.int8)
    counts[1, 0], worst[1, 0] = 3, 1
    counts[2, 1], worst[2, 1] = 10, 3
    counts[3, 1], worst[3, 1] = -1, -1
    dims = ("design", "trajectory")
    ds = xr.Dataset({"failed_samples": (dims, counts), "worst_status": (dims, worst, ATTRIBUTES)})
    ds = ds.assign_coords(time=np.arange(10.0))
    return ds.expand_dims(friction=2, axis=1) if friction else ds


def test_samples_are_counted_by_status() -> None:
    failed = failed_samples(dataset())
    assert (failed.samples, failed.failed, failed.all_failed) == (70, 13, False)
    assert [(row.name, row.cases, row.samples, row.first) for row in failed.statuses] == [
        ("SINGULAR", 1, 10, ((2, 0, 1),)),
        ("NOT_REACHABLE", 1, 3, ((1, 0, 0),)),
    ]
    head, first, _ = failed.lines()
    assert head == "13 of 70 samples failed (19 %) and hold NaN:"
    assert first.startswith(
        "  SINGULAR: 10 samples in 1 cases, first in design 2, friction 0, trajectory 1. A limb has"
    )


def test_friction_sets_count() -> None:
    failed = failed_samples(dataset(friction=True))
    assert (failed.samples, failed.failed) == (140, 26)
    assert failed.statuses[0].first == ((2, 0, 1), (2, 1, 1))


@pytest.mark.parametrize("friction", [False, True])
def test_designs_that_are_counted_in_parts_give_the_same(friction: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    data = dataset(friction)
    many = xr.concat([data, data.isel(design=[1, 1, 2]), data], "design")
    whole = failed_samples(many)
    assert {row.cases for row in whole.statuses} == {3 * (1 + friction), 4 * (1 + friction)}
    monkeypatch.setattr(samples, "PART", 3)
    assert failed_samples(many) == whole
    assert failed_samples(many.chunk(design=2)) == whole


def test_nothing_is_said_of_nothing() -> None:
    assert list(failed_samples(xr.Dataset()).lines()) == []
    assert not failed_samples(xr.Dataset()).all_failed


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"flag_values": [0, 1], "flag_meanings": "OK"},
        {"flag_values": [0], "flag_meanings": 3},
        {"flag_values": ["x"], "flag_meanings": "OK"},
        {"flag_values": {"a": 1}, "flag_meanings": "OK"},
        {"flag_values": [1e400], "flag_meanings": "OK"},
        {"flag_values": None, "flag_meanings": None},
    ],
)
def test_forged_meanings_are_refused(attributes: dict[str, Any]) -> None:
    codes = xr.DataArray(np.zeros(3), dims=("design",), attrs=attributes, name="status")
    with pytest.raises(StoreError, match="status: its attributes flag_values and flag_meanings do not fit together"):
        meanings(codes)
