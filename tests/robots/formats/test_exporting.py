"""Robots as URDF, SDF and MJCF files, read back: the same inverse dynamics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from benchmarks.imports.round_trips import difference
from pipeline.errors import InputError
from pipeline.robot_files.files import load, write
from pipeline.robot_files.importing import import_robot
from robots import catalog
from robots.formats import exporting
from robots.formats.poses import of_angles, of_quaternion
from robots.model import Robot
from tasks import inverse_dynamics
from tests.robots.formats.test_strangers import ARM, GRIPPER

SAID = [
    ("five_axis_tree", ".urdf"),
    ("five_axis_tree", ".sdf"),
    ("five_axis_tree", ".xml"),
    ("ur5e", ".urdf"),
    ("ur5e", ".sdf"),
    ("ur5e", ".xml"),
    ("three_loop_leg", ".urdf"),
    ("three_loop_leg", ".sdf"),
    ("palletiser", ".urdf"),
]


def same(robot: Robot, other: Robot) -> None:
    """Both have the same forces, by the names of joints."""
    names, others = robot.mechanism.freedoms, other.mechanism.freedoms
    assert sorted(names) == sorted(others)
    assert sorted(robot.mechanism.actuators) == sorted(other.mechanism.actuators)
    motion = np.random.default_rng(4).uniform(-0.1, 0.1, (3, 5, len(names)))
    order = [names.index(name) for name in others]
    ours = inverse_dynamics(robot, q=motion[0], qd=motion[1], qdd=motion[2])
    moved = motion[:, :, order]
    theirs = inverse_dynamics(other, q=moved[0], qd=moved[1], qdd=moved[2])
    places = [other.mechanism.actuators.index(name) for name in robot.mechanism.actuators]
    assert not ours.status.any()
    size = np.abs(ours.force).max()
    np.testing.assert_allclose(theirs.force[:, places], ours.force, rtol=0, atol=1e-12 * size)


@pytest.mark.parametrize(("name", "ending"), SAID)
def test_a_robot_of_the_catalogue_is_read_back(name: str, ending: str, tmp_path: Path) -> None:
    if ending == ".xml":
        pytest.importorskip("mujoco")
    robot, path = catalog.build(name), tmp_path / f"robot{ending}"
    write(robot, path)
    made = import_robot(path, parameters=False)
    assert made.warnings == ()
    same(robot, Robot.of(made.description.family, {}))


BALLS = f"""<robot name="balls"><link name="base"/>{
    "".join(
        f'<link name="{name}"><inertial><origin xyz="{at}"/><mass value="1.5"/>'
        '<inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001" ixz="0" iyz="0.002"/></inertial></link>'
        for name, at in (("crank", "0 0 0.1"), ("coupler", "0.25 0 0"), ("rocker", "0 0 0.2"))
    )
}{
    "".join(
        f'<joint name="{name}" type="continuous"><origin xyz="{at}" rpy="{turn}"/><parent link="{parent}"/>'
        f'<child link="{child}"/><axis xyz="0 1 0"/></joint>'
        for name, at, turn, parent, child in (
            ("motor", "0 0 0", "0 0 0.4", "base", "crank"),
            ("pin", "0 0 0.2", "0 0 0", "crank", "coupler"),
            ("bearing", "0.4605304970014426 0.19470917115432526 -0.1", "0 0 0.4", "base", "rocker"),
        )
    )
}<loop_joint name="last" type="spherical"><link1 link="coupler" xyz="0.5 0 0"/><link2 link="rocker" xyz="0 0 0.3"/>
</loop_joint><transmission name="t"><joint name="motor"/><actuator name="m"><drake:rotor_inertia value="1e-4"/>
<drake:gear_ratio value="20"/></actuator></transmission></robot>"""


@pytest.mark.parametrize("ending", exporting.WRITERS)
def test_a_closed_chain_with_a_ball_and_a_rotor(ending: str, tmp_path: Path) -> None:
    if ending == ".xml":
        pytest.importorskip("mujoco")
    first, again = tmp_path / "first.urdf", tmp_path / f"again{ending}"
    first.write_text(BALLS)
    robot = load(first)
    assert robot.mechanism.actuators == ("motor",)
    assert float(robot.mechanism.limbs[0].links[0].armature) == pytest.approx(0.04)
    write(robot, again)
    made = Robot.of(import_robot(again, parameters=False).description.family, {})
    same(robot, made)


FEW = [
    ("five_bar", ".sdf"),
    ("coupled_3rps", ".urdf"),
    ("coupled_3rps", ".xml"),
    ("schoenflies_4ruu", ".sdf"),  # some poses near its reference are out of reach
    ("par4", ".xml"),
]
MORE = [
    (name, ending)
    for name in (
        "five_bar",
        "gough_stewart",
        "coupled_3rps",
        "delta_3rr2rrr",
        "agile_eye",
        "planar_3rrr",
        "tricept",
        "hexa",
    )
    for ending in exporting.WRITERS
    if (name, ending) not in [*FEW, ("five_bar", ".xml")]
]


@pytest.mark.parametrize(("name", "ending"), [*FEW, *(pytest.param(*row, marks=pytest.mark.slow) for row in MORE)])
def test_a_robot_with_a_platform_is_read_back_as_a_chain(name: str, ending: str, tmp_path: Path) -> None:
    """Compare forces at motions of the platform, given as motions of the chain's independent joints."""
    if ending == ".xml":
        pytest.importorskip("mujoco")
    robot, path = catalog.build(name), tmp_path / f"robot{ending}"
    write(robot, path)
    made = import_robot(path, parameters=False)
    assert made.warnings == ()
    assert difference(robot, made) < 1e-11


@pytest.mark.parametrize("ending", [".urdf", ".sdf"])
@pytest.mark.parametrize("text", [ARM, GRIPPER], ids=["arm", "gripper"])
def test_limits_friction_and_couplings_are_read_back(ending: str, text: str, tmp_path: Path) -> None:
    first, again = tmp_path / "first.urdf", tmp_path / f"again{ending}"
    first.write_text(text)
    one = import_robot(first, parameters=False).description
    write(Robot.of(one.family, {}), again)
    two = import_robot(again, parameters=False).description
    assert two.ratings == one.ratings
    assert two.template.limbs[0].couplings == one.template.limbs[0].couplings
    same(Robot.of(one.family, {}), Robot.of(two.family, {}))


@pytest.mark.parametrize(
    ("name", "ending", "message"),
    [
        ("irb6", ".sdf", "drives that move several joints"),
        ("schoenflies_4ruu", ".xml", "a universal joint closes a loop; expected a ball, a hinge or a weld"),
        ("linear_delta", ".urdf", "a universal joint closes a loop; expected one of revolute"),
    ],
)
def test_what_a_format_cannot_say_is_refused(name: str, ending: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / f"robot{ending}"
    with pytest.raises(InputError) as caught:
        write(catalog.build(name), path)
    assert message in str(caught.value)
    assert not path.exists()


def test_angles_of_upright_pitch() -> None:
    """Compare the sum of roll and yaw, which turn about one axis at an upright pitch."""
    random = np.random.default_rng(0)
    for tilt in (0.0, 1e-15, 1e-9, 1e-4):
        for angles in random.uniform(-3.0, 3.0, (20, 3)):
            turn = of_angles((angles[0], np.pi / 2.0 - tilt, angles[2]))
            again = of_angles(exporting._angles(turn))
            np.testing.assert_allclose(again, turn, atol=1e-14)
            w = exporting._quaternion(turn)
            np.testing.assert_allclose(of_quaternion(w), turn, atol=1e-14)


def test_the_command_writes_by_the_ending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    done = run(cli, ["robots", "ur5e", "--export", "ur5e.urdf"])
    assert done.exit_code == 0, done.output
    assert "limbsweep import ur5e.urdf" in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["ur5e.urdf"]
    refused = run(cli, ["robots", "irb6", "--export", "irb6.urdf"])
    assert refused.exit_code == 2
    assert "drives that move several joints" in refused.output
    other = run(cli, ["robots", "ur5e", "--export", "ur5e.mjcf"])
    assert other.exit_code == 2
    assert "ending .mjcf; expected one of .yaml, .yml, .urdf, .sdf, .xml. MJCF is .xml." in other.output
