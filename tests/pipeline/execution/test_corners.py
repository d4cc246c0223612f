"""What would fail in a run is told before it: motions out of reach, and first sweeps that are made to fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from pipeline.cli import cli
from pipeline.execution.corners import try_corners
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from robots import catalog
from robots.model import Robot
from robots.status import Status
from tasks import inverse_kinematics
from tasks.arrays.trial import statuses
from tests.pipeline.robot_files.test_reader import FIVE_BAR

LOOKED = 10
"""Samples: two designs, at three times and four extremes, two of which are the start and the middle."""

SWEEP = """\
limbsweep: 1
robot: five_bar
design: {grid: {distal_length: {start: LEAST, stop: 0.5, num: 5}}}
trajectories:
  near: {kind: circle, radius: 0.01, normal: [0, 1, 0]}
  far: {kind: circle, radius: RADIUS, normal: [0, 1, 0]}
time: {stop: 1.0, samples: 101}
metrics: [peak_force]
"""


def sweep(least: float, radius: float) -> str:
    return SWEEP.replace("LEAST", str(least)).replace("RADIUS", str(radius))


def test_statuses_are_those_of_the_kernels() -> None:
    robot: Robot = catalog.build("five_bar")
    home = np.array(robot.mechanism.platform.home.position, dtype=float)
    position = home + np.random.default_rng(1).uniform(-0.6, 0.6, (40, 3)) * [1, 0, 1]
    found = statuses(robot, position=position)
    np.testing.assert_array_equal(found, inverse_kinematics(robot, position=position).status)
    assert set(found.tolist()) > {int(Status.OK)}


def test_the_corners_are_those_of_motions_and_designs() -> None:
    near, far = try_corners(plan(Sweep.from_text(sweep(0.42, 0.05))))
    assert (near.failed, far.failed, len(near.statuses)) == (0, 0, LOOKED)
    near, far = try_corners(plan(Sweep.from_text(sweep(0.42, 3.0))))
    assert (near.failed, far.failed) == (0, len(far.statuses))
    near, _ = try_corners(plan(Sweep.from_text(sweep(0.05, 0.05))))
    assert 0 < near.failed < len(near.statuses)


def test_a_corner_that_fails_is_told() -> None:
    _, far = try_corners(plan(Sweep.from_text(sweep(0.42, 3.0))))
    told = str(far.problem("s.yaml"))
    assert f"s.yaml trajectories.far: got {LOOKED} of {LOOKED} samples at the ends of motions and designs with" in told
    assert "expected a motion that the robot can make. " in told
    near, _ = try_corners(plan(Sweep.from_text(sweep(0.05, 0.05))))
    assert f"got {LOOKED // 2} of {LOOKED} samples" in str(near.problem("s.yaml"))


@pytest.mark.parametrize(
    ("least", "radius", "said"),
    [
        (0.42, 0.05, ""),
        (0.42, 3.0, "warning: five_bar: tried 5 designs on 2 trajectories: 505 of 1,010 samples failed (50 %)"),
        (0.05, 0.05, "warning: five_bar: tried 5 designs on 2 trajectories: 202 of 1,010 samples failed (20 %)"),
    ],
)
def test_check_warns_of_the_same_and_refuses_nothing(
    least: float, radius: float, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.yaml").write_text(sweep(least, radius))
    result = CliRunner().invoke(cli, ["check", "s.yaml"])
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith(said)
    assert bool(result.stderr) == bool(said)


def test_a_first_sweep_is_made_to_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    small = FIVE_BAR
    for name, value in (("0.53", "0.0053"), ("0.4374", "0.004374"), ("0.15", "0.0015"), ("0.60", "0.006")):
        small = small.replace(f"default: {name}", f"default: {value}")
    Path("small.yaml").write_text(small)
    result = CliRunner().invoke(cli, ["new", "small.yaml"])
    assert result.exit_code == 0, result.output
    radius = float(Path("sweep.yaml").read_text().partition("radius: ")[2].partition(",")[0])
    assert 0.0001 < radius < 0.006
    assert not any(each.failed for each in try_corners(plan(Sweep.from_yaml("sweep.yaml"))))
    checked = CliRunner().invoke(cli, ["check", "sweep.yaml"])
    found = {status.name for status in Status if f"  {status.name}: " in checked.stderr}
    assert (checked.exit_code, found) == (0, {"SINGULARITY_CROSSED"}), "between corners, and of no limb: only warned of"
