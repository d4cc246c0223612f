"""`limbsweep study` on a small store: tables, CSV files, the next sweep, and messages."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from pipeline.execution.run import run
from pipeline.sweep.model import Sweep
from storage import open_results

TEXT = """\
limbsweep: 1
robot: delta_3rr2rrr
design:
  sample:
    method: sobol
    count: 64
    seed: 1
    parameters: {upper_arm: {low: 0.24, high: 0.3}, rod_length: {low: 0.8, high: 0.9}}
trajectories:
  reach: {kind: workspace, size: [0.1, 0.1, 0.05], counts: [3, 3, 2]}
time: {stop: 1, samples: 18}
metrics: [peak_force, dexterity, usable_share, condition]
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "small.zarr"
    run(Sweep.from_text(TEXT), store=path)
    return path


def told(*arguments: object, status: int = 0) -> str:
    result = CliRunner().invoke(cli, ["study", *map(str, arguments)])
    assert result.exit_code == status, result.output
    return result.output


def test_pareto_prints_and_writes_the_front(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "front.csv"
    output = told("pareto", store, "--objective", "peak_force", "--objective", "dexterity", "--csv", file)
    rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
    ds = open_results(store)
    force, dexterity = ds["peak_force"].max(("friction", "trajectory", "actuator")).values, ds["dexterity"].values[:, 0]
    front = {int(row["design"]) for row in rows}
    assert f"{len(front)} on the front, of 64 feasible designs of 64" in output
    for d in range(64):
        beaten = (
            (force <= force[d]) & (dexterity >= dexterity[d]) & (force + dexterity != force[d] + dexterity[d])
        ).any()
        assert (d in front) != beaten
    assert float(rows[0]["peak_force [N m]"]) == pytest.approx(force[int(rows[0]["design"])], rel=1e-5)


def test_rank_writes_the_next_sweep(store: Path, tmp_path: Path) -> None:
    following = tmp_path / "next.yaml"
    output = told("rank", store, "--objective", "peak_force", "--top", 3, "--refine", following)
    order = [int(line.split()[0]) for line in output.splitlines()[1:4]]
    force = open_results(store)["peak_force"].max(("friction", "trajectory", "actuator")).values
    assert order == np.argsort(force, kind="stable")[:3].tolist()
    assert Sweep.from_yaml(following).design.size == 1024
    assert "exists already" in told("rank", store, "--objective", "peak_force", "--refine", following, status=2)


def test_sensitivity_names_what_matters(store: Path) -> None:
    output = told("sensitivity", store, "--of", "peak_force")
    assert output.splitlines()[0].split()[:2] == ["parameter", "alone"]
    assert "from 64 designs" in output


def test_mistakes_end_in_a_line(store: Path) -> None:
    assert "Did you mean 'peak_force'?" in told("rank", store, "--objective", "peak_frce", status=2)
    assert "expected a condition" in told("rank", store, "--objective", "peak_force", "--where", "condition", status=2)


def test_interaction_prints_means(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "means.csv"
    output = told(
        "interaction", store, "--of", "peak_force", "--between", "upper_arm", "rod_length", "--parts", 2, "--csv", file
    )
    assert "from 64 designs; the two together differ from their sum by" in output
    assert len(file.read_text(encoding="utf-8").splitlines()) == 3
    assert "got no such column" in told(
        "interaction", store, "--of", "peak_force", "--between", "upper_arm", "rod", status=2
    )


def test_interaction_of_a_parameter_of_friction_has_each_set(tmp_path: Path) -> None:
    sweep = Sweep.from_text(
        "limbsweep: 1\nrobot: five_bar\ndesign: {grid: {proximal_length: [0.5, 0.55]}}\n"
        "friction: {law: coulomb_viscous, joints: actuated, grid: {coulomb: [0.0, 2.0], viscous: [0.0, 1.0]}}\n"
        "trajectories: {a: {kind: circle, radius: 0.05, normal: [0, 1, 0]}}\ntime: {stop: 1, step: 0.25}\n"
        "metrics: [peak_force]\n"
    )
    ds = run(sweep, tmp_path / "sets.zarr")
    words = ("interaction", tmp_path / "sets.zarr", "--of", "peak_force", "--between", "proximal_length", "coulomb")
    output = told(*words)
    assert "from 8 designs" in output
    peaks = ds["peak_force"].max(("trajectory", "actuator"))
    for row, design in zip(output.splitlines()[1:3], range(2), strict=True):
        means = [float(peaks[design][ds["coulomb"].values == value].mean()) for value in (0.0, 2.0)]
        np.testing.assert_allclose([float(word) for word in row.split()[1:]], means, rtol=1e-5)


def test_one_at_a_time_prints_swings_and_writes_points(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "points.csv"
    output = told("one-at-a-time", store, "--of", "peak_force", "--parts", 3, "--csv", file)
    ds = open_results(store)
    best = int(np.argmin(ds["peak_force"].max(("friction", "trajectory", "actuator")).values))
    assert f"at the base, design {best}" in output
    points = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
    assert {each["parameter"] for each in points} == {"upper_arm", "rod_length"}
    assert len(points) == 8
    assert "got no design that differs from design 3 in one parameter" in told(
        "one-at-a-time", store, "--of", "peak_force", "--base", 3, "--stored", status=2
    )
    assert "base: got 64; expected a design from 0 to 63" in told(
        "one-at-a-time", store, "--of", "peak_force", "--base", 64, status=2
    )


def test_sobol_prints_shares(store: Path) -> None:
    output = told("sobol", store, "--of", "energy_sum + 2 * upper_arm", "--count", 16)
    assert "64 designs were computed" in output
    assert "n: got 15; expected a power of two" in told("sobol", store, "--of", "peak_force", "--count", 15, status=2)


def test_optimise_beats_the_store_within_limits(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "best.csv"
    arguments = ("optimise", store, "--objective", "peak_force", "--starts", 2)
    told(*arguments, "--where", "condition <= 9", "--threads", 2, "--csv", file)
    rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
    best = float(open_results(store)["peak_force"].max(("friction", "trajectory", "actuator")).min())
    assert len(rows) == 2
    assert rows[0]["conditions"] == "hold"
    assert float(rows[0]["peak_force"]) < best
    for text, message in (("condition <=", "where: got the end"), ("condition <= much", "got no such column")):
        assert message in told(*arguments, "--where", text, status=2)
