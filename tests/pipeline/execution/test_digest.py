"""One digest for equal results, in whatever blocks they were computed."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from pipeline.execution import digest
from pipeline.execution.digest import results_digest
from pipeline.execution.run import run
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
