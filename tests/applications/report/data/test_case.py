from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray

from applications.report.data.case import MOST_TIMES
from applications.report.data.recomputed import ComputedResults, compute, read_sweep, results_of
from applications.report.data.results import Results
from pipeline.errors import InputError
from pipeline.sweep.model import Sweep
from tests.applications.report.conftest import TEXT
from tests.applications.report.large import large

POINTS = "slow: {kind: waypoints, file: way.csv}"


@pytest.mark.parametrize(("design", "friction"), [(4, 0), (15, 2)])
def test_a_case_has_the_bits_of_the_store(store: Path, design: int, friction: int) -> None:
    results = results_of(store, design, friction)
    case, stored = results.case, results.dataset.isel(design=design)
    np.testing.assert_array_equal(case.results["actuator_force"], stored["actuator_force"].isel(friction=friction))
    np.testing.assert_array_equal(case.results["joint_reaction"], stored["joint_reaction"])


def test_stored_series_of_designs_are_read_together(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads, compute_data = [], xarray.Dataset.compute

    def counted(dataset: xarray.Dataset, **options: object) -> xarray.Dataset:
        reads.append(dataset.sizes.get("design"))
        return compute_data(dataset, **options)

    results = results_of(store, 4, 1)
    monkeypatch.setattr(xarray.Dataset, "compute", counted)
    for designs in ([9, 4, 12], [9, 9]):
        reads.clear()
        for case, design in zip(results.cases(designs), designs, strict=False):
            stored = results.dataset["actuator_force"].isel(design=design, friction=1)
            np.testing.assert_array_equal(case.results["actuator_force"], stored)
        assert reads == [len(set(designs))]


def test_what_is_not_stored_is_computed_again(store: Path, results: Results) -> None:
    stored = results.dataset
    case = ComputedResults(stored[["peak_force", "worst_status"]], 4, 1).case
    force = stored["actuator_force"].isel(design=4, friction=1)
    np.testing.assert_array_equal(case.results["actuator_force"], force)
    reaction = stored["joint_reaction"].isel(design=4)
    np.testing.assert_allclose(case.results["joint_reaction"], reaction, atol=1e-12)


def test_friction_is_what_the_law_says(store: Path) -> None:
    case = results_of(store, 4, 2).case
    assert case.frictionless is not None
    speed = case.results["actuator_velocity"].values
    friction = case.results["joint_friction"].values[..., 0]
    part = case.results["actuator_force"].values - case.frictionless.values
    moving = np.abs(speed) > 0.05
    np.testing.assert_allclose(part, friction, atol=1e-12)
    expected = 0.2 * np.sign(speed) + 0.1 * speed
    np.testing.assert_allclose(part[moving], expected[moving], rtol=1e-2)


def test_the_worst_friction_set_of_the_best_design_is_shown(results: Results) -> None:
    assert (results.design, results.friction) == (results.designs.best, 2)


def test_many_times_are_thinned() -> None:
    sweep = Sweep.from_text(TEXT.replace("step: 0.02", "step: 0.0005"))
    (case,) = compute(sweep, [4], 1)
    assert (case.stride, case.results.sizes["time"]) == (4, MOST_TIMES)
    np.testing.assert_array_equal(case.results["time"], sweep.times[::4])


def test_friction_that_remembers_is_not_thinned() -> None:
    text = TEXT.replace("step: 0.02", "step: 0.001").replace("law: coulomb_viscous", "law: lugre")
    text = text.replace("grid: {viscous:", "grid: {sigma2:")
    (case,) = compute(Sweep.from_text(text), [4], 1)
    assert (case.stride, case.results.sizes["time"]) == (1, 801)


def test_the_files_that_a_sweep_names_are_looked_up(tmp_path: Path) -> None:
    points = tmp_path / "way.csv"
    points.write_text("t,x,y,z\n0,0,0,0\n0.8,0.1,0,0\n")
    text = TEXT.replace("slow: {kind: line_sine, amplitude: [0.1, 0.15, 0.05], period: 1.0}", POINTS)
    attributes = {"sweep": text, "fingerprint": Sweep.from_text(text, folder=tmp_path).fingerprint}
    assert read_sweep(attributes, tmp_path).fingerprint == attributes["fingerprint"]
    with pytest.raises(InputError, match=r"way.csv: got no such file"):
        read_sweep(attributes, tmp_path / "elsewhere")
    points.write_text("t,x,y,z\n0,0,0,0\n0.8,0.2,0,0\n")
    with pytest.raises(InputError, match="got another sweep; expected the sweep that the store was made from"):
        read_sweep(attributes, tmp_path)


def test_a_folder_that_was_named_has_to_serve(results: Results) -> None:
    broken = results.dataset.assign_attrs(fingerprint="0")
    assert ComputedResults(broken).sweep is None
    with pytest.raises(InputError, match="got another sweep"):
        _ = ComputedResults(broken, files=Path()).case


def test_a_dataset_without_a_sweep_has_no_case() -> None:
    results = ComputedResults(large(10))
    assert results.case.robot is None
    assert results.why_no_sweep.startswith("dataset: got no sweep; expected a dataset with the attribute 'sweep'")


@pytest.mark.parametrize(("option", "value"), [("design", 16), ("design", -1), ("friction", 3)])
def test_numbers_beyond_the_store_are_refused(store: Path, option: str, value: int) -> None:
    with pytest.raises(InputError, match=rf"--{option}: got {value}; expected the number of one of the \d+, from 0 to"):
        results_of(store, **{option: value})
