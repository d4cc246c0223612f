"""One digest for equal results, in whatever blocks they were computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner

from applications.commands.cli import cli
from pipeline.execution import digest
from pipeline.execution.digest import results_digest, slabs
from pipeline.execution.run import run
from pipeline.monitor.samples import occurring
from storage import open_results
from tests.pipeline.runs import FEW, SYNCHRONOUS, cut_finely, sweep


def test_equal_results_have_one_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(sweep(FEW), tmp_path / "a.zarr", SYNCHRONOUS)
    expected = results_digest(first)
    cut_finely(monkeypatch)
    monkeypatch.setattr(digest, "SLAB", 1000)
    assert results_digest(run(sweep(FEW), tmp_path / "b.zarr", SYNCHRONOUS)) == expected
    assert results_digest(run(sweep(FEW))) == expected
    told = CliRunner().invoke(cli, ["info", str(tmp_path / "b.zarr")])
    assert ["digest", expected] in [line.split() for line in told.stdout.splitlines()]
    other = open_results(tmp_path / "a.zarr").load()
    other["peak_force"].values.flat[3] += 1e-12
    assert results_digest(other) != expected


@pytest.mark.parametrize("codes", [[], [0, 0, 0], [-1], [3, 0, 3, -1], [0, 5, 5]])
def test_codes_that_occur_are_listed_once(codes: list[int]) -> None:
    assert occurring(np.array(codes, dtype=np.int8)) == sorted(set(codes))


def test_slabs_are_the_whole_in_order() -> None:
    values = xr.DataArray(np.arange(70, dtype=np.int8).reshape(7, 5, 2), dims=("design", "trajectory", "time"))
    for size in (1, 25, 1000):
        parts = list(slabs(values, size))
        assert max(part.nbytes for part in parts) <= max(size, 10)
        assert np.array_equal(np.concatenate(parts), values.values)
