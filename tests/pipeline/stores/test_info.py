from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import xarray

from applications.commands import info
from pipeline.errors import size
from storage import open_results
from tests.storage.cases import fill, store


@pytest.fixture
def dataset() -> xarray.Dataset:
    status = np.array([[0, 0, 3], [1, -1, -1]], dtype=np.int8)
    return xarray.Dataset(
        {
            "energy": ("design", [1.0, 2.0], {"units": "J", "long_name": "work of the drives"}),
            "status": (
                ("design", "time"),
                status,
                {"flag_values": [0, 1, 3], "flag_meanings": "OK NOT_REACHABLE SINGULAR", "units": "1"},
            ),
        },
        attrs={
            "title": "a study",
            "sweep": "robot: ...\n",
            "fingerprint": "f" * 64,
            "versions": {"numpy": "2.0", "zarr": "3.1"},
        },
    )


def test_rows(dataset: xarray.Dataset, tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "0").write_bytes(bytes(2048))
    rows = list(info._rows(dataset, tmp_path, whole=False))
    (digest,) = [row[1] for row in rows if row[0] == "digest"]
    assert re.fullmatch(r"[0-9a-f]{32}", digest)
    assert rows == [
        ("state", "finished"),
        ("on disk", "2 KiB"),
        ("digest", digest),
        ("title", "a study"),
        ("fingerprint", "f" * 64),
        ("versions", "numpy 2.0, zarr 3.1"),
        ("dims", "design 2, time 3"),
        ("energy", "(design) [J] work of the drives"),
        ("status", "(design, time) [1]"),
        ("status OK", "2 of 6"),
        ("status NOT_REACHABLE", "1 of 6"),
        ("status SINGULAR", "1 of 6"),
    ]


def test_a_real_store_that_is_not_finished(tmp_path: Path) -> None:
    path = tmp_path / "out.zarr"
    store(path)
    fill(path, blocks=1)
    rows = dict(info._rows(open_results(path, unfinished=True), path, whole=False))
    assert rows["state"] == "not finished"
    assert rows["written"] == "0 of 15 pairs of design and trajectory", (
        "those of the other friction set have no receipt"
    )
    assert rows["fingerprint"] == "f00d"
    assert rows["actuator_force"].startswith("(design, friction, trajectory, time, actuator) [N m]")
    assert rows["status OK"] == "1 of 105"
    assert rows["on disk"].endswith("KiB")


@pytest.mark.parametrize(("number", "text"), [(0, "0 B"), (1023, "1023 B"), (3 << 30, "3 GiB"), (5 << 40, "5 TiB")])
def test_sizes(number: int, text: str) -> None:
    assert size(number) == text
