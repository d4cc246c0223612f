"""Parameters of imported robots: each has the same effect as a file with other numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from pipeline import run
from pipeline.robot_files.importing import import_robot
from pipeline.sweep.model import Sweep
from robots.formats.parametric import with_parameters
from robots.formats.urdf import read_tree
from robots.model import Robot
from storage import open_results
from tasks import inverse_dynamics
from tests.pipeline.robot_files.test_urdf import ARM, FOUR_BAR, LOOPS
from tests.pipeline.runs import SYNCHRONOUS
from tests.robots.formats.mjcfs import FOUR_BAR as LINKAGE
from tests.robots.formats.test_strangers import GRIPPER
from tests.robots.formats.urdfs import tree

GEARS = """<transmission name="t"><joint name="elbow"/><actuator name="m"><mechanicalReduction>-50</mechanicalReduction>
  <rotorInertia>1e-4</rotorInertia></actuator></transmission></robot>"""
GEARED = ARM.replace("</robot>", GEARS)
HEAVY = ARM.replace('<mass value="2"/>', '<mass value="4"/>', 1).replace(
    'ixx="0.01" iyy="0.02" izz="0.02"', 'ixx="0.02" iyy="0.04" izz="0.04"', 1
)
LARGE = ARM.replace('ixx="0.01" iyy="0.02" izz="0.02"', 'ixx="0.04" iyy="0.08" izz="0.08"', 1).replace(
    '<origin xyz="0.1 0 0"/>', '<origin xyz="0.2 0 0"/>', 1
)
ELBOW = '<child link="lower"/><origin xyz="0.2 0 0"/>'


def made(text: str) -> Robot:
    return Robot.of(with_parameters(read_tree(text.encode()).description()).family, {})


@pytest.mark.parametrize("text", [ARM, GRIPPER, tree(3), tree(4)], ids=["arm", "gripper", "tree 3", "tree 4"])
def test_the_numbers_are_the_same_with_the_defaults(text: str) -> None:
    plain = read_tree(text.encode()).description().family.reference
    assert repr(with_parameters(read_tree(text.encode()).description()).family.reference) == repr(plain)


def test_names_are_those_of_bodies_and_joints(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(GEARED)
    description = import_robot(tmp_path / "r.urdf").description
    assert {each.name: each.scalar for each in description.parameters} == {
        "upper_scale": 1.0, "upper_mass": 2.0, "lower_scale": 1.0, "elbow_offset_x": 0.2, "lower_mass": 4.0,
        "elbow_rotor": 1e-4, "elbow_gear": -50.0,
    }  # fmt: skip
    link = Robot.of(description.family, {"elbow_gear": 100.0}).mechanism.limbs[0].links[1]
    assert link.armature == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("name", "value", "other"),
    [
        ("upper_mass", 4.0, HEAVY),
        ("elbow_offset_x", 0.3, ARM.replace(ELBOW, ELBOW.replace("0.2", "0.3"))),
        ("upper_scale", 2.0, LARGE.replace(ELBOW, ELBOW.replace("0.2", "0.4"))),
    ],
)
def test_a_parameter_does_what_another_file_would(name: str, value: float, other: str) -> None:
    robot = Robot.of(made(ARM).family, {name: value})
    expected = Robot.of(read_tree(other.encode()).description().family, {})
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 4, 2))
    gravity = (3.0, -9.0, 1.0)
    force = inverse_dynamics(robot, q=q, qd=qd, qdd=qdd, gravity=gravity).force
    np.testing.assert_allclose(
        force, inverse_dynamics(expected, q=q, qd=qd, qdd=qdd, gravity=gravity).force, rtol=1e-12, atol=1e-12
    )
    assert np.abs(force - inverse_dynamics(made(ARM), q=q, qd=qd, qdd=qdd, gravity=gravity).force).max() > 0.1


def test_a_sweep_over_what_was_imported(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(FOUR_BAR)
    (tmp_path / "loops.yaml").write_text(LOOPS)
    (tmp_path / "robot.yaml").write_text(import_robot(tmp_path / "r.urdf", tmp_path / "loops.yaml").text)
    (tmp_path / "sweep.yaml").write_text("""\
limbsweep: 1
robot: ./robot.yaml
design: {grid: {rocker_mass: {values: [1, 2]}, coupler_scale: {values: [0.98, 1.0, 1.02]}}}
trajectories: {first: {kind: harmonic, amplitude: 0.1, period: 1.0}}
time: {stop: 1.0, samples: 11}
metrics: [peak_force]
""")
    run(Sweep.from_yaml(tmp_path / "sweep.yaml"), tmp_path / "s.zarr", SYNCHRONOUS)
    data = open_results(tmp_path / "s.zarr").load()
    assert not data["worst_status"].values.any()
    assert len(set(data["peak_force"].values.ravel().tolist())) == 6


def test_a_linkage_of_mujoco_from_its_model_to_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All by the command line, as a user would; the report names the parameter that was found in the model."""
    pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)
    Path("bars.xml").write_text(LINKAGE)
    Path("sweep.yaml").write_text("""\
limbsweep: 1
robot: ./bars.yaml
design: {grid: {rocker_mass: {values: [1, 2]}, coupler_scale: {values: [0.98, 1.0]}}}
trajectories: {swing: {kind: harmonic, amplitude: 0.2, period: 1.0}}
time: {stop: 1.0, samples: 11}
outputs: [actuator_force]
metrics: [peak_force]
""")
    Path("c.yaml").write_text("limbsweep: {cluster: {kind: synchronous}}\n")
    for command in (
        "import bars.xml --output bars.yaml",
        "run sweep.yaml --store s.zarr --cluster c.yaml",
        "report s.zarr --output page.html --files .",
    ):
        result = CliRunner().invoke(cli, command.split())
        assert result.exit_code == 0, result.output
    data = open_results("s.zarr").load()
    assert not data["worst_status"].values.any()
    assert len(set(data["peak_force"].values.ravel().tolist())) == 4
    answer = Path("page.html").read_text().split("</h1>")[1]
    assert "rocker mass" in answer[: answer.index("peak force is")]
