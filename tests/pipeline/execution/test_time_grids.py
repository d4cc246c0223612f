"""Trajectories with times of their own in one sweep, against sweeps of each: values, statuses, doors, refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from applications.export.tables import export
from applications.identification.batches import Loader
from applications.report.data import series, trouble
from applications.report.data.recomputed import results_of
from applications.studies import DesignProblem
from applications.studies.bearings import RollingBearing, bearing_life
from pipeline import append, compute, lazy, run, verify
from pipeline.errors import InputError
from pipeline.execution.measured_time import measured_time
from pipeline.execution.trial import trial
from pipeline.monitor.samples import failed_samples
from pipeline.plan.plan import plan
from pipeline.sweep.doors import sweep
from pipeline.sweep.model import Sweep
from robots.status import Status
from robots.trajectories.time_grid import TimeGrid
from storage import open_results
from storage.errors import StoreError
from storage.times import of_trajectory, times_of
from tests.pipeline.runs import SYNCHRONOUS

HEAD = """\
limbsweep: 1
robot: five_bar
design: {grid: {payload_mass: [0.0, 2.0]}}
friction: {law: coulomb_viscous, joints: actuated, grid: {coulomb: [0.0, 0.5]}}
time: {stop: 0.4, step: 0.02}
"""
WANTED = """\
outputs: [actuator_force, joint_reaction, platform_position, bearing_load, joint_velocity]
metrics: [peak_force, rms_force, energy, condition, peak_reaction]
"""
LONG = "  long: {kind: circle, radius: 0.05, normal: [0, 1, 0], period: 0.4}\n"
SHORT = "  short: {kind: line_sine, amplitude: [0.04, 0, 0.02], period: 0.2, time: {stop: period, step: 0.02}}\n"
FINE = "  fine: {kind: circle, radius: 0.04, normal: [0, 1, 0], period: 0.1, time: {stop: 0.1, samples: 26}}\n"


def text(*trajectories: str, wanted: str = WANTED, head: str = HEAD) -> str:
    return head + wanted + "trajectories:\n" + "".join(trajectories)


def same(one: xr.Dataset, other: xr.Dataset) -> None:
    assert {*one.data_vars} == {*other.data_vars}
    for name, values in one.data_vars.items():
        np.testing.assert_array_equal(values.values, other[name].values, err_msg=str(name))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("grids") / "three.zarr"
    run(Sweep.from_text(text(LONG, SHORT, FINE)), path, SYNCHRONOUS)
    return path


def test_each_trajectory_has_the_bits_that_it_has_alone(store: Path) -> None:
    together = open_results(store)
    assert together["trajectory_samples"].values.tolist() == [21, 11, 26]
    for number, one in enumerate((LONG, SHORT, FINE)):
        alone = run(Sweep.from_text(text(one)), cluster=SYNCHRONOUS).isel(trajectory=0)
        same(alone, of_trajectory(together, number))
        np.testing.assert_array_equal(times_of(together, number), alone["time"].values)


def test_samples_behind_the_end_are_no_failures(store: Path) -> None:
    results = open_results(store).isel(trajectory=1)
    assert (results["status"].isel(time=slice(0, 11)) == Status.OK).all()
    assert (results["status"].isel(time=slice(11, None)) == Status.ENDED).all()
    assert results["actuator_force"].isel(time=slice(11, None)).isnull().all()
    whole = open_results(store)
    assert "ENDED" in whole["status"].attrs["flag_meanings"]
    assert failed_samples(whole).failed == 0
    counted = trouble.troubles(whole)
    assert counted is not None
    assert counted.total == 2 * (21 + 11 + 26)
    assert not counted.bad
    assert verify(store).findings == ()


def test_equal_times_are_those_of_the_sweep_however_they_are_said() -> None:
    said = SHORT.replace("stop: period, step: 0.02", "stop: 0.4, samples: 21").replace("period: 0.2", "period: 0.4")
    plain = said.replace(", time: {stop: 0.4, samples: 21}", "")
    assert Sweep.from_text(text(LONG, said)).fingerprint == Sweep.from_text(text(LONG, plain)).fingerprint
    alone = Sweep.from_text(text(SHORT))
    assert alone.has_one_grid
    assert alone.grid.samples == 11
    assert Sweep.from_text(text(LONG, SHORT)).fingerprint != Sweep.from_text(text(LONG, plain)).fingerprint


def test_lazy_arrays_and_runs_in_memory_are_those_of_a_store(store: Path) -> None:
    sweep = Sweep.from_text(text(LONG, SHORT, FINE))
    same(open_results(store), compute(sweep))
    same(open_results(store), lazy(sweep))


def test_a_store_grows_by_designs(tmp_path: Path) -> None:
    few = text(LONG, SHORT, wanted="metrics: [peak_force]\noutputs: [actuator_force]\n")
    run(Sweep.from_text(few), tmp_path / "s.zarr", SYNCHRONOUS)
    more = Sweep.from_text(few.replace("[0.0, 2.0]", "[0.0, 2.0, 3.0]"))
    same(append(tmp_path / "s.zarr", more, SYNCHRONOUS), compute(more))


def test_swept_ends_are_coordinates() -> None:
    swept = SHORT.replace("period: 0.2", "period: {values: [0.2, 0.4]}").replace("step: 0.02", "samples: 11")
    results = compute(Sweep.from_text(text(swept, wanted="metrics: [peak_force]\n")))
    assert results["trajectory_period"].values.tolist() == [0.2, 0.4]
    assert results["trajectory_step"].values.tolist() == [0.02, 0.04]
    ends = Sweep.from_text(text(LONG.replace("}", ", time: {stop: {values: [0.2, 0.4]}, samples: 11}}")))
    assert ends.trajectories[0].swept[0] == ("trajectory_time_stop", "s", 0.2)


def test_simulations_end_at_different_times(tmp_path: Path) -> None:
    head = HEAD + "simulation: {step: 0.002, controller: {kind: pd, parameters: {kp: 500.0, kd: 20.0}}}\n"
    wanted = "metrics: [rms_tracking_error, peak_force]\noutputs: [actuator_position]\n"
    together = compute(Sweep.from_text(text(LONG, SHORT, head=head, wanted=wanted)))
    alone = compute(Sweep.from_text(text(SHORT, head=head, wanted=wanted))).isel(trajectory=0)
    same(alone, of_trajectory(together, 1))
    with pytest.raises(InputError, match="one step of time for all trajectories of a simulation"):
        Sweep.from_text(text(LONG, FINE, head=head, wanted=wanted))


def test_derivatives_end_with_their_trajectory() -> None:
    wanted = "outputs: [{derivative: [rms_force, actuator_force], of: [payload_mass]}]\nmetrics: [rms_force]\n"
    together = compute(Sweep.from_text(text(LONG, SHORT, wanted=wanted)))
    alone = compute(Sweep.from_text(text(SHORT, wanted=wanted))).isel(trajectory=0)
    same(alone, of_trajectory(together, 1))
    behind = together["actuator_force_derivative_status"].isel(trajectory=1, time=slice(11, None))
    assert (behind == Status.ENDED).all()


def test_problems_see_each_trajectory_at_its_times() -> None:
    wanted = "metrics: [rms_force]\n"
    sweep = Sweep.from_text(text(LONG, FINE, wanted=wanted))
    problem = DesignProblem.of(sweep)
    stored = compute(sweep)["rms_force"].max(["friction", "trajectory", "actuator"]).values
    np.testing.assert_array_equal(problem.values(np.array([[0.0], [2.0]]), ["rms_force"])["rms_force"], stored)
    values, slopes = problem.rates(np.array([1.0]), ["rms_force"])["rms_force"]
    ends = [problem.rates(np.array([x]), ["rms_force"])["rms_force"][0] for x in (1.0 - 1e-6, 1.0 + 1e-6)]
    np.testing.assert_allclose(slopes[:, 0], (ends[1] - ends[0]) / 2e-6, rtol=1e-5, atol=1e-8)
    assert len(values) == 2 * 2 * 2


def test_tables_and_pictures_have_the_samples_of_each(store: Path, tmp_path: Path) -> None:
    export(store, tmp_path / "csv", "csv")
    rows = (tmp_path / "csv" / "all.csv").read_text().splitlines()
    assert len(rows) == 1 + 2 * 2 * (21 + 11 + 26)
    assert not any(row.endswith(",nan") or ",," in row for row in rows[1:])
    case = results_of(store).case
    frames, _ = series.motions(case)
    assert [len(motion.times) for motion in frames] == [21, 11, 26]
    assert np.isfinite(frames[1].points).all()
    along = series.axes(case)
    np.testing.assert_allclose(along.of(2), np.arange(26) * 0.004, atol=1e-15)


def test_lives_of_bearings_count_each_trajectory_alone(store: Path) -> None:
    bearing = RollingBearing(2_000.0)
    results = open_results(store).load()
    lives = bearing_life(results, bearing)
    alone = bearing_life(compute(Sweep.from_text(text(FINE))), bearing)
    np.testing.assert_array_equal(lives["life_hours"].values[:, 2], alone["life_hours"].values[:, 0])


def test_windows_of_different_lengths_are_refused(store: Path) -> None:
    with pytest.raises(StoreError, match=r"times of their own \(11, 21, 26 samples\)"):
        Loader(store, variables=("actuator_force",))


def test_plans_and_trials_count_the_samples_of_each() -> None:
    sweep = Sweep.from_text(text(LONG, SHORT, FINE, wanted="metrics: [peak_force]\n"))
    assert plan(sweep).samples == 2 * (21 + 11 + 26)
    assert trial(sweep).result.samples == 2 * (21 + 11 + 26)
    assert measured_time(sweep).seconds > 0.0


@pytest.mark.parametrize(
    ("time", "message"),
    [
        ("{stop: perid, step: 0.02}", "the name of a number of the motion. Did you mean 'period'"),
        ("{stop: 0.2}", "one of step and samples"),
        ("{stop: 0.2, smples: 11}", "Did you mean 'samples'"),
        ("0.2", "a mapping with stop, and with step or samples"),
        ("{stop: period, step: 0.03}", "a divisor of stop, 0.2"),
    ],
)
def test_wrong_times_are_told(time: str, message: str) -> None:
    wrong = SHORT.replace("{stop: period, step: 0.02}", time)
    with pytest.raises(InputError) as caught:
        Sweep.from_text(text(LONG, wrong))
    assert message in str(caught.value)
    assert "trajectories.short.time" in str(caught.value)


def test_times_of_its_own_for_each_trajectory_need_no_others() -> None:
    head = HEAD.replace("time: {stop: 0.4, step: 0.02}\n", "")
    same(compute(Sweep.from_text(text(SHORT, FINE, head=head))), compute(Sweep.from_text(text(SHORT, FINE))))
    with pytest.raises(InputError, match=r"no key 'time'.* may lack where each trajectory has a time of its own"):
        Sweep.from_text(text(LONG, FINE, head=head))
    with pytest.raises(InputError, match="no key 'time'"):
        Sweep.from_text(text(LONG, FINE, head=head) + "time: null\n")
    circle = {"kind": "circle", "radius": 0.05, "normal": [0, 1, 0], "period": 0.4}
    timed = circle | {"time": {"stop": "period", "samples": 21}}
    assert sweep("five_bar", trajectories={"c": timed}, metrics="peak_force").grid == TimeGrid(0.02, 21)
    with pytest.raises(InputError, match="no key 'time'"):
        sweep("five_bar", trajectories={"c": circle}, metrics="peak_force")
