"""Whole sweeps beside scripts: sweep files say what the scripts compute, and results are compared."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import limbsweep as ls
from benchmarks.figures import CheckError
from benchmarks.wholes import __main__ as program
from benchmarks.wholes import scripts
from benchmarks.wholes.jobs import Job, job_of, jobs

ARM, STORED, DELTA, RELEASED = (replace(job, designs=3, trajectories=2, samples=40) for job in jobs(0.01))


@pytest.mark.parametrize("job", [ARM, DELTA], ids=lambda job: job.robot)
def test_a_script_in_numpy_has_the_metrics_of_the_sweep(job: Job) -> None:
    results = ls.compute(ls.Sweep.from_dict(dict(job.sweep)))
    found = scripts.block(job, "NumPy, Dask, Zarr", 0, "")
    assert set(found) == {"peak_force", "rms_force"}
    for name, values in found.items():
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


def released(name: str) -> float:
    """Return how far a script's positions are from those of limbsweep [m], of designs that move differently."""
    found = np.stack([scripts.block(RELEASED, name, first, "")["platform_position"][0] for first in range(3)])
    expected = RELEASED.compared(ls.compute(ls.Sweep.from_dict(dict(RELEASED.sweep))))["platform_position"]
    assert found.shape == expected.shape == (3, 2, 3)
    assert np.ptp(expected[..., 2]) > 0.001
    return float(np.abs(found - expected).max())


def test_a_script_of_simulations_moves_platforms_as_the_sweep() -> None:
    pytest.importorskip("mujoco")
    assert released("MuJoCo, Dask, Zarr") < 1e-6


@pytest.mark.slow
def test_kamino_moves_platforms_as_the_sweep_by_steps_of_euler() -> None:
    pytest.importorskip("newton")
    assert 0.0 < released("Kamino, Dask, Zarr") < 3e-3


@pytest.mark.parametrize("job", [ARM, RELEASED], ids=["motions", "simulations"])
def test_a_job_is_made_of_its_numbers(job: Job) -> None:
    assert job_of(json.loads(json.dumps(job.numbers))) == job


def test_tables_tell_how_far_results_differ() -> None:
    times = {program.OURS: program.Time(100, 1.0, 2.0), "Kamino, Dask, Zarr": program.Time(10, 2.0, 4.0, 5.6e-4)}
    *_, row, _, apart = program.table(RELEASED, times)
    assert row == "| Kamino, Dask, Zarr | 10 | 2 | 4 | 5 | 20 |"
    assert apart == "Largest difference from limbsweep, relative to the largest value: Kamino 5.6e-04."


def test_wrong_results_have_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([1.0, 1.0 + 1e-6])
    monkeypatch.setattr(program, "timed", lambda *_: program.Time(10, 1.0, 1.0))
    monkeypatch.setattr(program, "results", lambda *_: {"peak_force": np.full((3, 2, 7), next(answers))})
    with pytest.raises(CheckError, match=r"script: peak_force differs by 1\.0e-06 of the largest"):
        program.contest(ARM, [program.OURS, "script"], 1)
