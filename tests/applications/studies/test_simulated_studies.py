"""Studies of simulations: gains and initial states are designs, in tables, in searches, in the next sweep."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import limbsweep as ls
from applications.commands.cli import cli
from applications.studies.axes import by_design
from applications.studies.columns import objective, value_of
from applications.studies.optimisation import optimise
from applications.studies.problem import DesignProblem
from pipeline import run
from pipeline.errors import InputError
from pipeline.sweep.model import Sweep
from storage import open_results
from tests.pipeline.runs import SYNCHRONOUS

TEXT = """\
limbsweep: 1
robot: planar_3r
design: {grid: {length_1: [0.4, 0.5]}}
trajectories: {move: {kind: quintic, end: 0.1, duration: 0.02}}
simulation:
  controller: {kind: pd, parameters: {kd_joint_3: 1.0}}
  gains: {grid: {kp: [100.0, 200.0, 400.0], kd: [4.0, 8.0]}}
  state: {list: {joint_1: [0.01, 0.02]}}
  step: 0.002
time: {stop: 0.04, step: 0.02}
metrics: [rms_tracking_error, peak_force]
"""
RMS = "rms_tracking_error"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "s.zarr"
    run(Sweep.from_text(TEXT), path, SYNCHRONOUS)
    return path


def said(*words: str) -> str:
    result = CliRunner().invoke(cli, ["study", *words])
    assert result.exit_code == 0, result.output
    return result.output


def test_tables_have_gains_and_states_as_parameters(store: Path) -> None:
    lines = said("rank", str(store), "--objective", RMS).splitlines()
    heads = lines[0].split("  ")
    assert {head.strip() for head in heads if head.strip()} == {
        *("design", "score", "rms_tracking_error [rad]", "length_1 [m]"),
        *("kp [N m/rad]", "kd [N m s/rad]", "joint_1 [rad]"),
    }
    assert lines[-1] == "24 feasible designs of 24"
    ds = by_design(open_results(store)).load()
    worst = ds[RMS].max(["friction", "trajectory", "actuator"])
    best = int(np.argmin(worst.values))
    assert lines[1].split()[0] == str(best)
    chosen = ls.open(store).limbsweep.best(RMS)
    assert (float(chosen["kp"]), float(chosen["kd"])) == (float(ds["kp"][best]), float(ds["kd"][best]))
    assert "kp" in said("sensitivity", str(store), "--of", RMS)
    assert "on the front" in said("pareto", str(store), "--objective", RMS, "--objective", "peak_force")


def test_the_grid_has_a_dim_for_each_gain(store: Path) -> None:
    grid = ls.open(store).limbsweep.grid()
    assert {"length_1", "kp", "kd", "joint_1"} <= {*grid.dims}
    stored = open_results(store)[RMS]
    chosen = grid[RMS].sel(length_1=0.5, kp=200.0, kd=8.0, joint_1=0.02).squeeze()
    assert np.array_equal(chosen.values, stored.isel(design=1, gains=3, state=1).squeeze().values)


def test_a_problem_computes_the_designs_of_the_store(store: Path) -> None:
    problem, ds = DesignProblem.of(Sweep.from_text(TEXT)), by_design(open_results(store)).load()
    assert problem.names == ("length_1", "kp", "kd", "joint_1")
    designs = np.stack([ds[name].values for name in problem.names], axis=1)
    wanted = objective(RMS)
    assert np.array_equal(problem.objective(designs, wanted), value_of(ds, wanted))
    assert problem.first == {"length_1": 0.4, "kp": 100.0, "kd": 4.0, "joint_1": 0.01}


def test_searches_find_better_gains_than_the_grid(store: Path) -> None:
    problem = DesignProblem.of(Sweep.from_text(TEXT), {"kp": (100.0, 400.0), "kd": (4.0, 12.0)})
    values, rates = problem.rates(np.array([200.0, 8.0]), [RMS])[RMS]
    ahead, behind = (problem.rates(np.array([200.0 + d, 8.0]), [RMS])[RMS][0] for d in (1.0, -1.0))
    assert np.abs(rates[:, 0] - (ahead - behind) / 2.0).max() < 1e-3 * np.abs(rates[:, 0]).max()
    (found,) = optimise(problem, RMS, np.array([[200.0, 8.0]]))
    assert found.value < found.start == values.max()
    text = said("optimise", str(store), "--objective", RMS, "--starts", "1")
    assert "evaluations" in text
    assert "kp" in said("one-at-a-time", str(store), "--of", RMS, "--parts", "3")
    assert "total" in said("sobol", str(store), "--of", RMS, "--count", "4")


def test_the_next_sweep_samples_all_three_axes(store: Path, tmp_path: Path) -> None:
    said("rank", str(store), "--objective", RMS, "--top", "3", "--refine", str(tmp_path / "next.yaml"))
    sweep = Sweep.from_yaml(tmp_path / "next.yaml")
    assert sweep.simulation is not None
    assert {*sweep.simulation.gains.names} == {"kp", "kd"}
    assert 256 <= sweep.design.size * sweep.simulation.gains.size * sweep.simulation.state.size <= 4096
    assert sweep.simulation.gains.values(0, 8)["kp"].min() > 0.0


def test_a_metric_of_other_sweeps_is_refused(store: Path) -> None:
    result = CliRunner().invoke(cli, ["study", "one-at-a-time", str(store), "--of", "peak_power"])
    assert result.exit_code == 2
    assert len(result.stderr.strip().splitlines()) == 1


def test_slopes_are_extrapolated_also_at_bounds(store: Path) -> None:
    problem = DesignProblem.of(Sweep.from_text(TEXT), {"length_1": (0.4, 0.5), "kp": (100.0, 400.0)})
    for design, ends in (([0.45, 200.0], ((0.4501, 0.4499), (200.1, 199.9))), ([0.4, 400.0], ((0.4001, 0.4), None))):
        values, slopes = problem.rates(np.array(design), [RMS])[RMS]
        for k, pair in enumerate(ends):
            if pair is None:
                continue
            moved = [np.array(design), np.array(design)]
            for row, number in zip(moved, pair, strict=True):
                row[k] = number
            ahead, behind = (problem.rates(row, [RMS])[RMS][0] for row in moved)
            expected = (ahead - behind) / (pair[0] - pair[1])
            np.testing.assert_allclose(slopes[:, k], expected, rtol=2e-3, atol=1e-9 * np.abs(values).max())


def test_counts_are_no_objective() -> None:
    problem = DesignProblem.of(Sweep.from_text(TEXT), {"kp": (100.0, 400.0)})
    with pytest.raises(InputError, match=r"settling_time, which has no derivatives; .* it counts steps of the simulat"):
        optimise(problem, "settling_time", np.array([[200.0]]))
