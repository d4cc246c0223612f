"""`limbsweep calibrate`: poses in files, values and robots out, and what is wrong with a description."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from applications.identification.estimation.calibration.geometry import Geometry
from pipeline.robot_files.reader import parse_robot
from robots import catalog
from robots.model import Robot
from tasks.dynamics.inverse import actuator_positions
from tests.applications.identification.estimation.calibration.test_calibrate import measured, off

DESCRIPTION = """
limbsweep: 1
robot: delta_3rr2rrr
poses:
  - {files: [poses.csv]}
  - {files: [others.csv], role: validation}
actuators: {columns: [a, b, c], unit: deg}
position: {columns: [x, y, z], unit: mm, deviation: 0.02}
estimate: {parameters: [upper_arm, base_radius], shared: true, zeros: false}
"""


@cache
def table(seed: int) -> np.ndarray:
    geometry = Geometry(catalog.build("delta_3rr2rrr"), ("upper_arm", "base_radius"), zeros=False, shared=True)
    poses = measured(geometry, off(geometry), seed=seed)
    assert poses.position is not None
    return np.column_stack([np.rad2deg(poses.actuators), poses.position * 1e3])


def written(folder: Path, text: str = DESCRIPTION) -> Path:
    for name, seed in (("poses.csv", 3), ("others.csv", 5)):
        np.savetxt(folder / name, table(seed), delimiter=",", header="a,b,c,x,y,z", comments="", fmt="%.9g")
    (folder / "calibration.yaml").write_text(text)
    return folder / "calibration.yaml"


def test_a_robot_is_calibrated_from_its_files(tmp_path: Path) -> None:
    path = written(tmp_path)
    for name in ("values.csv", "values.json", "robot.yaml"):
        done = CliRunner().invoke(cli, ["calibrate", str(path), "--output", str(tmp_path / name)])
        assert done.exit_code == 0, done.output
    assert "unused others.csv position" in done.output
    assert "observability" in done.output
    geometry = Geometry(catalog.build("delta_3rr2rrr"), ("upper_arm", "base_radius"), zeros=False, shared=True)
    with (tmp_path / "values.csv").open() as file:
        rows = list(csv.DictReader(file))
    truth = off(geometry)
    assert [row["parameter"] for row in rows] == ["upper_arm", "base_radius"]
    for row, value in zip(rows, truth, strict=True):
        assert abs(float(row["value"]) - value) < 4.0 * float(row["deviation"])
    robot = Robot.of(parse_robot((tmp_path / "robot.yaml").read_text(), "robot.yaml").family, {})
    expected = Robot.of(geometry.robot.family, dict(zip(geometry.names, truth.tolist(), strict=True)))
    at = {"position": [[0.0, 0.0, -0.9], [0.05, 0.02, -0.95]]}
    np.testing.assert_allclose(
        actuator_positions(robot, **at).position, actuator_positions(expected, **at).position, atol=2e-4
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("[upper_arm, base", "[upper_arms, base"), "estimate.parameters[0]: got 'upper_arms'; expected a parameter"),
        (("[a, b, c]", "[a, b]"), "actuators.columns: got 2 columns; expected 3, one for each actuator"),
        (("[a, b, c]", "[a, b, a]"), "actuators.columns: got ['a', 'b', 'a']; expected a column of its own for each"),
        (("[x, y, z]", "[x, y, y]"), "position.columns: got ['x', 'y', 'y']; expected a column of its own for each"),
        (("[a, b, c], unit: deg", "[a, b, c], unit: mm"), "actuators.unit: got 'mm'; expected a unit of rad"),
        (("unit: mm, deviation: 0.02", "unit: mm"), "position: got no key 'deviation'"),
        (("unit: mm, deviation", "unit: deg, deviation"), "position.unit: got 'deg'; expected a unit of m"),
        (("poses.csv", "pose.csv"), "poses[0].files[0]: got 'pose.csv'; expected a file in"),
        (("[x, y, z]", "[x, y, w]"), "no column 'w' for position"),
        (("{files: [poses.csv]}", "{files: [poses.csv], role: test}"), "no poses for training"),
        (("unit: deg}", "unit: rad}"), "cannot be there with its geometry"),
        (("zeros: false}", "body: rod}"), "estimate.body: got 'rod'; expected a body of a chain. Leave it out"),
        (("unit: mm, deviation: 0.02", "deviation: 2.0e-5"), "no step makes residuals smaller"),
    ],
)
def test_descriptions_that_are_wrong_are_refused(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    path = written(tmp_path, DESCRIPTION.replace(*change))
    done = CliRunner().invoke(cli, ["calibrate", str(path), "--output", str(tmp_path / "values.csv")])
    assert done.exit_code == 2
    assert message in done.output.replace("\n", " ")
    assert not (tmp_path / "values.csv").exists()


def test_limbs_of_their_own_are_no_robot_file(tmp_path: Path) -> None:
    path = written(tmp_path, DESCRIPTION.replace("shared: true", "shared: false"))
    done = CliRunner().invoke(cli, ["calibrate", str(path), "--output", str(tmp_path / "robot.yaml")])
    assert done.exit_code == 2
    assert "shared: limbs have parameters of their own" in done.output
    assert not (tmp_path / "robot.yaml").exists()
