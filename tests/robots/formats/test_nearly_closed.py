"""Loops of files that are open by a small gap: frames are moved together, and the change is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import InputError
from pipeline.robot_files.importing import ImportedRobot, import_robot
from robots.formats.nearly_closed import GAP, TURN, nearly_closed
from robots.formats.urdf import read_tree
from robots.model import Robot
from tasks import inverse_dynamics

MASS = (
    '<inertial><origin xyz="0.1 0 0"/><mass value="1"/><inertia ixx=".01" iyy=".02" izz=".02" ixy="0" ixz="0"'
    ' iyz="0"/></inertial>'
)
UP = 1.5707963267948966
JOINTS = (("j1", "o", "a", "0 0 0", UP), ("j2", "a", "b", "0.2 0 0", -UP), ("j3", "o", "c", "0.4 -0.1 0", UP))


def four_bar(kind: str = "revolute", along: float = 0.0, tilt: float = 0.0, length: float = 0.3) -> bytes:
    """Return a planar four-bar whose last pin stands along its axis and turned about x."""
    links = '<link name="o"/>' + "".join(f'<link name="{name}">{MASS}</link>' for name in "abc")
    joints = "".join(
        f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{at}" rpy="0 0 {turn}"/><axis xyz="0 0 1"/></joint>'
        for name, parent, child, at, turn in JOINTS
    )
    pin = (
        f'<loop_joint name="pin" type="{kind}"><link1 link="b" xyz="0.4 0 0"/>'
        f'<link2 link="c" xyz="{length} 0 {along}" rpy="{tilt} 0 {-UP}"/><axis xyz="0 0 1"/></loop_joint>'
    )
    return f'<robot name="four_bar">{links}{joints}{pin}</robot>'.encode()


def imported(folder: Path, data: bytes) -> ImportedRobot:
    path = folder / "robot.urdf"
    path.write_bytes(data)
    return import_robot(path, parameters=False)


def forces(robot: ImportedRobot) -> np.ndarray:
    states = np.linspace(-0.2, 0.2, 5)[:, None]
    return inverse_dynamics(Robot.of(robot.description.family, {}), q=states, qd=states, qdd=states).force


def test_frames_of_a_pin_are_moved_along_its_axis_and_turned(tmp_path: Path) -> None:
    """Both changes are told, and the robot moves as the one whose frames meet."""
    closed, apart = imported(tmp_path, four_bar()), imported(tmp_path, four_bar(along=0.001, tilt=0.002))
    told = [str(each) for each in apart.warnings]
    assert any("pin: got a gap of 0.001 m and a turn of 0.002 rad that no positions of joints" in each for each in told)
    assert not any("loop pin" in str(each) for each in closed.warnings)
    assert np.allclose(forces(apart), forces(closed), rtol=1e-9, atol=1e-9)


def test_a_larger_gap_is_refused_with_its_least_size(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"loop pin: got a gap of 0\.05 m that no positions of joints close"):
        imported(tmp_path, four_bar(along=0.05))
    with pytest.raises(InputError, match=r"Frames are moved together where all gaps are below 0\.0025 m"):
        imported(tmp_path, four_bar(tilt=0.1))


@pytest.mark.parametrize("kind", ["revolute", "spherical", "fixed"])
def test_moved_frames_meet(kind: str) -> None:
    """Check that the move closes the gap, and that the gap was in directions that the kind does not allow."""
    near = nearly_closed(read_tree(four_bar(kind, along=0.002, tilt=0.004)))
    (pin,) = near.apart
    assert near.is_small
    assert pin.gap == pytest.approx(0.002, rel=1e-3)
    assert pin.turn == pytest.approx(0.0 if kind == "spherical" else 0.004, abs=1e-9, rel=1e-3)
    (left,) = nearly_closed(near.tree).apart
    assert max(left.gap, left.turn) < 1e-9


def test_bounds_are_relative_to_the_size() -> None:
    """Lengths that miss each other by a tenth of the size are no rounding."""
    near = nearly_closed(read_tree(four_bar(length=1.2)))
    assert near.widest.gap > GAP * near.size
    assert not near.is_small
    assert TURN < 0.02


def test_joints_of_loops_that_are_tied_move_on_their_own(tmp_path: Path) -> None:
    """Check joints as in a gripper whose fingers are linkages: the loops determine the joints without ties."""
    text = four_bar().decode()
    body, joint = text.partition('<link name="a">')[2], "</robot>"
    second = '<link name="a">' + body.removesuffix(joint)
    for name in ("a", "b", "c", "j1", "j2", "j3", "pin"):
        second = second.replace(f'"{name}"', f'"{name}_left"')
    tie = '<mimic joint="j3" multiplier="-1"/></joint>'
    at = second.index('name="j3_left"')
    second = second[:at] + second[at:].replace("</joint>", tie, 1)
    made = imported(tmp_path, text.replace(joint, second + joint).encode())
    assert made.description.family.reference.freedoms == ("j3",)
