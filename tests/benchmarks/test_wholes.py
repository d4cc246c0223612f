"""Whole sweeps beside scripts: sweep files say what the scripts compute, and results are compared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import limbsweep as ls
from benchmarks.figures import CheckError
from benchmarks.wholes import __main__ as program
from benchmarks.wholes import scripts
from benchmarks.wholes.jobs import Job, jobs

ARM, STORED, DELTA = (replace(job, designs=3, trajectories=2, samples=40) for job in jobs(0.01))


@pytest.mark.parametrize("job", [ARM, DELTA], ids=lambda job: job.robot)
def test_a_script_in_numpy_has_the_metrics_of_the_sweep(job: Job) -> None:
    results = ls.compute(ls.Sweep.from_dict(dict(job.sweep)))
    found = scripts.block(job, "NumPy, Dask, Zarr", 0, "")
    for name, values in zip(("peak_force", "rms_force"), found, strict=True):
        expected = results[name].squeeze("friction").transpose("design", "trajectory", "actuator").values
        assert np.abs(values - expected).max() < 1e-11 * np.abs(expected).max()


def test_a_script_stores_the_forces_of_the_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "IN_ONE_PROCESS", tuple(scripts.SCRIPTS))
    scripts.run(STORED, "NumPy, Dask, Zarr", tmp_path / "store.zarr")
    found = xr.open_zarr(tmp_path / "store.zarr", consolidated=False)
    expected = ls.compute(ls.Sweep.from_dict(dict(STORED.sweep)))["actuator_force"].squeeze("friction")
    difference = np.abs(found["actuator_force"].values - expected.transpose(*found["actuator_force"].dims).values)
    assert difference.max() < 1e-11 * np.abs(expected).max()
    np.testing.assert_allclose(found["peak_force"], np.abs(found["actuator_force"]).max("time"))


def test_wrong_results_have_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([1.0, 1.0 + 1e-6])
    monkeypatch.setattr(program, "timed", lambda *_: program.Time(10, 1.0, 1.0))
    monkeypatch.setattr(program, "metrics", lambda _: {"peak_force": np.full((3, 2, 7), next(answers))})
    with pytest.raises(CheckError, match=r"script: peak_force differs by 1\.0e-06 of the largest"):
        program.contest(ARM, [program.OURS, "script"], 1)
