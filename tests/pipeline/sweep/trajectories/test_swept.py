"""Parameters of trajectories that are swept, and trajectories and friction sets as operating cases."""

from __future__ import annotations

import numpy as np
import pytest

from applications.report.data.answer import question_words
from applications.report.data.recomputed import results_of
from applications.studies.cases import by_cases
from applications.studies.columns import feasible, value_of
from applications.studies.problem import DesignProblem
from pipeline.cluster.file import ClusterConfig
from pipeline.documents.dataset_names import STORED
from pipeline.errors import InputError
from pipeline.execution.run import run
from pipeline.sweep.model import Sweep

TEXT = """\
limbsweep: 1
robot: delta_rl5_1450_motors
design:
  grid: {payload_mass: [0, 3], upper_arm: [0.38, 0.42]}
friction: {law: coulomb_viscous, joints: actuated, grid: {coulomb: [0.0, 0.02]}, parameters: {viscous: 2.0e-4}}
trajectories:
  c: {kind: circle, radius: {values: [0.05, 0.1]}, period: {start: 0.5, stop: 1, num: 2}}
  q: {kind: quintic, start: [-0.1, 0, 0], end: [{values: [0.1, 0.15]}, 0, 0], duration: 0.5}
time: {stop: 0.5, samples: 6}
metrics: [peak_force, condition]
study:
  objectives: ["min peak_force, mean over cases", "min peak_force, sum weighted by payload_mass over cases"]
  where: [peak_force < 2 + trajectory_radius or peak_force < 2 + trajectory_end_x]
  cases: [payload_mass, trajectory, coulomb]
"""


@pytest.fixture(scope="module")
def ds():
    return run(Sweep.from_text(TEXT), cluster=ClusterConfig.of("synchronous"))


def test_a_section_stands_for_all_combinations(ds) -> None:
    assert ds["trajectory"].values.tolist() == ["c_0", "c_1", "c_2", "c_3", "q_0", "q_1"]
    nan = np.nan
    assert np.array_equal(ds["trajectory_radius"], [0.05, 0.05, 0.1, 0.1, nan, nan], equal_nan=True)
    assert np.array_equal(ds["trajectory_period"], [0.5, 1, 0.5, 1, nan, nan], equal_nan=True)
    assert np.array_equal(ds["trajectory_end_x"], [nan, nan, nan, nan, 0.1, 0.15], equal_nan=True)
    assert ds["trajectory_radius"].attrs["units"] == "m"
    assert ds["trajectory_period"].attrs["units"] == "s"
    alone = Sweep.from_text(
        TEXT[: TEXT.index("study:")]
        .replace("{values: [0.05, 0.1]}", "0.1")
        .replace("{start: 0.5, stop: 1, num: 2}", "0.5")
        .replace("{values: [0.1, 0.15]}", "0.15")
    )
    one = run(alone, cluster=ClusterConfig.of("synchronous"))
    assert ds["peak_force"].values[:, :, [2, 5]].tobytes() == one["peak_force"].values.tobytes()


def test_trajectories_and_friction_sets_are_cases(ds) -> None:
    cases = by_cases(ds, ["payload_mass", "trajectory", "coulomb"])
    assert cases.sizes["case"] == 2 * 6 * 2
    assert cases["trajectory_radius"].dims == ("case",)
    force = ds["peak_force"].max("actuator").values.reshape(2, 2, 2, 6)  # payload, arm, coulomb, trajectory
    mean = force.mean(axis=(0, 2, 3))
    assert value_of(cases, "peak_force, mean over cases") == pytest.approx(mean, rel=1e-14)
    weighted = 3.0 * force[1].sum(axis=(1, 2))
    assert value_of(cases, "peak_force, sum weighted by payload_mass over cases") == pytest.approx(weighted, rel=1e-14)
    shares = value_of(cases, "peak_force, mean weighted by payload_mass over cases")
    assert shares == pytest.approx(force[1].mean(axis=(1, 2)), rel=1e-14)
    flat = np.moveaxis(force, 1, 0).reshape(2, -1)
    quantile = value_of(cases, "peak_force, quantile 0.75 over cases")
    assert quantile == pytest.approx(np.quantile(flat, 0.75, axis=1), rel=1e-14)
    alone = by_cases(ds, ["trajectory_radius"])
    assert alone[STORED].shape == (4, 6)
    by_trajectory = ds["peak_force"].max(("actuator", "friction")).values
    assert value_of(alone, "peak_force, mean over cases") == pytest.approx(by_trajectory.mean(axis=1), rel=1e-14)
    assert feasible(alone, ["trajectory_radius < 1 or trajectory_end_x < 1"]).all()


def test_a_report_names_cases_that_are_trajectories(ds) -> None:
    results = results_of(ds)
    assert "6 trajectories" in question_words(results)
    assert "trajectory" in results.case_words(results.worst_case(0))


def test_an_unknown_case_beside_trajectories_is_refused(ds) -> None:
    with pytest.raises(InputError, match="no such column"):
        by_cases(ds, ["trajectory", "payload_mas"])


def test_what_is_wrong_in_all_combinations_is_told_once() -> None:
    with pytest.raises(InputError) as refused:
        Sweep.from_text(TEXT.replace("{kind: circle,", "{kind: circle, centr: [0, 0, 0],"))
    assert len([problem for problem in refused.value.problems if "centr" in str(problem)]) == 1


def test_local_searches_refuse_cases_that_are_no_parameters() -> None:
    with pytest.raises(InputError, match="friction sets or trajectories"):
        DesignProblem.of(Sweep.from_text(TEXT), cases=["payload_mass", "trajectory"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{values: [0.05, 0.1]}", "{values: [0.05, 0.05]}", "values that differ"),
        ("{values: [0.05, 0.1]}", "{values: 0.05}", "a list of values"),
        ("{values: [0.05, 0.1]}", "{values: [0.05], num: 2}", "either values or start, stop, num"),
        ("{values: [0.05, 0.1]}", "{values: [0.05, big]}", "got 'big'; expected a number"),
        ("num: 2}", "num: 1}", "a whole number of 2 to 10,000"),
        ("num: 2}", "num: 9999}", "at most 10,000 trajectories"),
        ("{start: 0.5, stop: 1,", "{start: 0.5, stop: .inf,", "stop"),
        ("cases: [payload_mass, trajectory, coulomb]", "cases: [trajectry]", "Sweep it, or take it out"),
        ("weighted by payload_mass", "weighted by upper_arm", "an operating case, by which cases are weighed"),
    ],
)
def test_mistakes_are_told(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(InputError, match=message):
        Sweep.from_text(TEXT.replace(old, new))
