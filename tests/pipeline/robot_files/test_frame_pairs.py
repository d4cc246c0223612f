"""Frames in pairs beside a URDF file: kinds of joints, loops that are drawn open, motors, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from threadpoolctl import threadpool_info, threadpool_limits

from applications.commands.cli import cli
from pipeline.errors import InputError
from pipeline.robot_files import closing, importing
from pipeline.robot_files.importing import ImportedRobot, import_robot
from robots.model import Robot
from tasks import inverse_dynamics
from tests.robots.formats.test_urdf_loops import INERTIAL, JOINT, LOOPS, TREE, forces

FRAME = '<link name="{0}"/><joint name="{0}_joint" type="fixed"><origin xyz="{1}"/><parent link="{2}"/>' + (
    '<child link="{0}"/></joint>'
)
ENDS = FRAME.format("end_A", "0.5 0 0", "coupler") + FRAME.format("end_B", "0 0 0.3", "rocker")
PAIRS = "closed_loop: [[end_A, end_B_joint]]\ntype: ['3d']\nname_mot: [motor]\n"


def brought(folder: Path, urdf: str, pairs: str) -> ImportedRobot:
    (folder / "robot.urdf").write_text(f'<robot name="bar">{urdf}</robot>')
    (folder / "robot.yaml").write_text(pairs)
    return import_robot(folder / "robot.urdf", folder / "robot.yaml")


def test_a_pair_is_the_loop_of_a_file_of_loops(tmp_path: Path) -> None:
    """A ball between the ends of a mechanism in a plane leaves it the motion that a hinge does."""
    found = brought(tmp_path, TREE + ENDS, PAIRS)
    (tmp_path / "loops.yaml").write_text(LOOPS)
    expected = import_robot(tmp_path / "robot.urdf", tmp_path / "loops.yaml")
    robots = [Robot.of(each.description.family, {}) for each in (found, expected)]
    np.testing.assert_allclose(forces(robots[0]), forces(robots[1]), rtol=1e-9)
    assert [each.got for each in found.warnings] == []


def test_a_loop_that_is_drawn_far_open_is_closed(tmp_path: Path) -> None:
    """The rocker is drawn a quarter of a turn away; joints of the robot count from where it closes."""
    turned = TREE.replace('<origin xyz="0.5 0 -0.1"/>', '<origin xyz="0.5 0 -0.1" rpy="0 1.4 0"/>')
    assert turned != TREE
    closed, plain = brought(tmp_path, turned + ENDS, PAIRS), brought(tmp_path, TREE + ENDS, PAIRS)
    places = dict(closed.description.reference[0][1])
    assert places["bearing"] == pytest.approx(-1.4, abs=1e-9)
    robots = [Robot.of(each.description.family, {}) for each in (closed, plain)]
    np.testing.assert_allclose(forces(robots[0]), forces(robots[1]), rtol=1e-8)


def test_a_freedom_without_motor_is_driven_and_told(tmp_path: Path) -> None:
    """Check a wheel at the end of the rocker without a motor of its own."""
    wheel = f'<link name="wheel">{INERTIAL.format("0 0 0.02")}</link>' + JOINT.format(
        "spin", "0 0 0.1", "rocker", "wheel"
    )
    found = brought(tmp_path, TREE + ENDS + wheel, PAIRS)
    robot = Robot.of(found.description.family, {})
    assert set(robot.mechanism.actuators) == {"motor", "spin"}
    assert [each.got for each in found.warnings] == ["1 freedoms without a motor (spin)"]
    more = brought(tmp_path, TREE + ENDS, PAIRS.replace("[motor]", "[motor, bearing]"))
    assert len(more.description.family.reference.freedoms) == 1
    assert [each.got for each in more.warnings] in [
        [f"1 motors that follow from the others ({name})"] for name in ("bearing", "motor")
    ]


def test_joints_have_the_kinds_of_the_file(tmp_path: Path) -> None:
    """A cross is two hinges and a link without mass, a ball three, a fixed joint none: as a file that says so."""
    arm = (
        '<link name="base_link"/>'
        + "".join(f'<link name="{name}">{INERTIAL.format("0.1 0 0.05")}</link>' for name in ("upper", "fore", "hand"))
        + JOINT.format("shoulder", "0 0 0.4", "base_link", "upper")
        + JOINT.format("elbow", "0.3 0 0", "upper", "fore")
        + JOINT.format("wrist", "0.2 0 0", "fore", "hand")
    )
    tail = f'<link name="tail">{INERTIAL.format("0 0 0.1")}</link>' + JOINT.format("tip", "0.1 0 0", "hand", "tail")
    frames = FRAME.format("end_A", "0 0 0", "tail") + FRAME.format("end_B", "0.5 0 0.45", "base_link")
    kinds = "joint_name: [shoulder, elbow, wrist]\njoint_type: [UJOINT_XZ, SPHERICAL, FIXED]\n"
    head = "closed_loop: [[end_A, end_B]]\nname_mot: []\ntype: [3D]\n"
    found = brought(tmp_path, arm + tail + frames, head + kinds)
    crossed = (
        arm.replace('name="shoulder" type="continuous"', 'name="shoulder_X" type="continuous"')
        .replace('<child link="upper"/><axis xyz="0 1 0"/>', '<child link="cross"/><axis xyz="1 0 0"/>')
        .replace('name="elbow" type="continuous"', 'name="elbow" type="ball"')
        .replace('name="wrist" type="continuous"', 'name="wrist" type="fixed"')
    )
    second = JOINT.format("shoulder_Z", "0 0 0", "cross", "upper").replace("0 1 0", "0 0 1")
    expected = brought(tmp_path, '<link name="cross"/>' + crossed + second + tail + frames, head)
    names = ["shoulder_X", "shoulder_Z", "elbow_yaw", "elbow_pitch", "elbow_roll", "tip"]
    for robot in (found, expected):
        assert [link.joint for link in robot.description.template.limbs[0].links] == names
    robots = [Robot.of(each.description.family, {}) for each in (found, expected)]
    count = len(robots[0].mechanism.freedoms)
    assert count == 3
    q = np.random.default_rng(2).uniform(-0.05, 0.05, (5, count))
    results = [inverse_dynamics(robot, q=q, qd=q, qdd=q) for robot in robots]
    assert not results[0].status.any()
    np.testing.assert_allclose(results[0].force, results[1].force, rtol=1e-9, atol=1e-9)


BAD = {
    "a frame": (PAIRS.replace("end_A", "end_X"), "'end_X'; expected a link or joint of the URDF file. Did you mean"),
    "a motor": (PAIRS.replace("[motor]", "[moter]"), "'moter'; expected a joint of the URDF file. Did you"),
    "a kind": (PAIRS.replace("'3d'", "'4d'"), "'4d'"),
    "too few kinds": (PAIRS.replace("['3d']", "['3d', '6d']"), "2 entries; expected 1, as many as closed_loop has"),
    "a key": (PAIRS + "name_motors: []\n", "an unknown key"),
    "no kinds": (PAIRS + "joint_name: [pin]\n", "0 entries; expected 1, as many as joint_name has"),
    "three frames": (PAIRS.replace("end_B_joint]", "end_B, end_A]"), "closed_loop"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_is_refused(case: str, tmp_path: Path) -> None:
    pairs, message = BAD[case]
    with pytest.raises(InputError) as caught:
        brought(tmp_path, TREE + ENDS, pairs)
    assert message in str(caught.value)
    assert "robot.yaml" in str(caught.value)


def test_a_kind_of_a_joint_that_is_not_there_is_told(tmp_path: Path) -> None:
    """Check a fault of one of the published files, which their own loader ignores."""
    found = brought(tmp_path, TREE + ENDS, PAIRS + "joint_name: [pn]\njoint_type: [FIXED]\n")
    assert [(each.got, each.hint) for each in found.warnings] == [("'pn'", "It is left as it is. Did you mean 'pin'?")]


def test_frames_that_look_like_closures_are_told_with_what_closes_them(tmp_path: Path) -> None:
    ends = ENDS.replace("end_", "closedloop1_")
    (tmp_path / "robot.urdf").write_text(f'<robot name="bar">{TREE}{ends}</robot>')
    (told,) = import_robot(tmp_path / "robot.urdf").warnings
    assert told.got == "a tree with 1 pairs of frames that look like closures"
    closing = "closed_loop: [[closedloop1_A, closedloop1_B]]"
    assert told.hint == f"A file for --loops with `{closing}` closes them, `type: [3d]` in place alone."
    line = "\n".join(told.hint.split("`")[1::2])
    assert brought(tmp_path, TREE + ends, line).warnings != (told,)
    assert len(import_robot(tmp_path / "robot.urdf", tmp_path / "robot.yaml").description.template.limbs[0].loops) == 1
    plain = TREE + ENDS
    (tmp_path / "robot.urdf").write_text(f'<robot name="bar">{plain}</robot>')
    assert import_robot(tmp_path / "robot.urdf").warnings == ()


def test_loops_that_no_positions_close_are_refused(tmp_path: Path) -> None:
    short = ENDS.replace("0.5 0 0", "0.005 0 0")
    with pytest.raises(InputError, match="No positions were found that close all loops"):
        brought(tmp_path, TREE + short, PAIRS)


def test_loops_that_would_close_otherwise_are_refused_with_what_closes_them(tmp_path: Path) -> None:
    """Check frames whose axes cross, and a hinge whose name says that it is meant as a ball."""
    across = ENDS.replace('xyz="0 0 0.3"', 'xyz="0 0 0.3" rpy="1 0 0"')
    with pytest.raises(InputError, match=r"close all loops\. With type: 3d for all of them they close"):
        brought(tmp_path, TREE + across, PAIRS.replace("3d", "6d"))
    assert brought(tmp_path, TREE + across, PAIRS).description.reference == ()
    hinge = (TREE + ENDS.replace("0.5 0 0", "0.005 0 0")).replace('"pin"', '"spherical_pin"')
    with pytest.raises(InputError, match=r"1 joints named spherical have one axis \(spherical_pin\); joint_type"):
        brought(tmp_path, hinge, PAIRS)


def test_a_loop_that_is_rigid_is_told(tmp_path: Path) -> None:
    """Check a loop with a pin that is not parallel to its other joints, beside a wheel that moves."""
    across = TREE.replace(JOINT.format("pin", "0 0 0.2", "crank", "coupler"), "") + JOINT.format(
        "pin", "0 0 0.2", "crank", "coupler"
    ).replace("0 1 0", "0.1 1 0")
    wheel = f'<link name="wheel">{INERTIAL.format("0 0 0.02")}</link>' + JOINT.format(
        "spin", "0 0 0.1", "rocker", "wheel"
    )
    ends = ENDS.replace('"0.5 0 0"', '"0.5 0 0.1"').replace('"0 0 0.3"', '"0 0 0.4"')
    found = brought(tmp_path, across + ends + wheel, PAIRS.replace("[motor]", "[spin]"))
    (told,) = (each for each in found.warnings if "nothing move" in each.got)
    assert told.got == "a loop that lets nothing move (motor, pin, bearing)"
    assert told.hint == "Axes may not be as parallel as they are meant, or a ball or cross be one axis here."


def test_a_loop_that_is_singular_where_it_closes_is_told(tmp_path: Path) -> None:
    """Check a four-bar with coupler and rocker on one line, where the crank is stuck."""
    line = TREE.replace('xyz="0.5 0 -0.1"', 'xyz="0.8 0 0.2003"')
    (tmp_path / "robot.urdf").write_text(f'<robot name="bar">{line}</robot>')
    (tmp_path / "loops.yaml").write_text(LOOPS.replace("[0, 0, 0.3]", "[-0.3, 0, -0.0003]"))
    found = import_robot(tmp_path / "robot.urdf", tmp_path / "loops.yaml")
    assert [each.got for each in found.warnings] == ["a loop that is singular at the reference pose (pin, bearing)"]


def test_the_command_takes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    brought(tmp_path, TREE + ENDS, PAIRS)
    run = CliRunner().invoke(cli, ["import", "robot.urdf", "--loops", "robot.yaml", "--output", "mine.yaml"])
    assert run.exit_code == 0, run.output
    (tmp_path / "other.sdf").write_text('<sdf version="1.6"><model name="m"/></sdf>')
    wrong = CliRunner().invoke(cli, ["import", "other.sdf", "--loops", "robot.yaml", "--output", "two.yaml"])
    assert wrong.exit_code == 2
    assert "expected <robot>, whose frames come in pairs" in wrong.output


def test_an_import_works_on_one_thread_of_blas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that share matrices of a hundred columns wait for each other: twice the processor time, and more."""
    threads = list[int]()

    def paired(*arguments: object) -> object:
        threads.extend(each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas")
        return closing.paired(*arguments)

    monkeypatch.setattr(importing, "paired", paired)
    with threadpool_limits(limits=2, user_api="blas"):
        brought(tmp_path, TREE + ENDS, PAIRS)
    assert set(threads) == {1}
