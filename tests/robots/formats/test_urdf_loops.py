"""Loops that URDF files say themselves, in the forms of Drake and Isaac Sim, of URDF+, and of Gazebo."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import InputError
from pipeline.robot_files.importing import import_robot
from robots.formats import urdf
from robots.formats.xml_tree import ImportedError
from robots.model import Robot
from tasks import inverse_dynamics

INERTIAL = '<inertial><origin xyz="{0}"/><mass value="1.2"/>' + (
    '<inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial>'
)
JOINT = '<joint name="{0}" type="continuous"><origin xyz="{1}"/><parent link="{2}"/><child link="{3}"/>' + (
    '<axis xyz="0 1 0"/></joint>'
)
LINKS = '<link name="base_link"/>' + "".join(
    f'<link name="{name}">{INERTIAL.format(centre)}</link>'
    for name, centre in (("crank", "0 0 0.1"), ("coupler", "0.25 0 0"), ("rocker", "0 0 0.2"))
)
TREE = (
    LINKS
    + JOINT.format("motor", "0 0 0", "base_link", "crank")
    + JOINT.format("pin", "0 0 0.2", "crank", "coupler")
    + JOINT.format("bearing", "0.5 0 -0.1", "base_link", "rocker")
)
"""A crank of 0.2, a coupler of 0.5 and a rocker of 0.3 about y axes, closed where all variables are zero."""

LOOPS = """limbsweep: 1
loops:
  - {joint: last, kind: revolute, a: coupler, frame_a: {position: [0.5, 0, 0], along: [0, 1, 0]},
     b: rocker, frame_b: {position: [0, 0, 0.3], along: [0, 1, 0]}}
actuated: [motor]
"""
SPELLED = {
    "loop_joint": '<loop_joint name="last" type="revolute"><link1 link="coupler" xyz="0.5 0 0" rpy="0 0 0"/>'
    '<link2 link="rocker" xyz="0 0 0.3" rpy="0 0 0"/><axis xyz="0 1 0"/></loop_joint>',
    "loop": '<loop name="last" type="continuous"><predecessor link="coupler"><origin xyz="0.5 0 0"/></predecessor>'
    '<successor link="rocker"><origin xyz="0 0 0.3"/></successor><axis xyz="0 1 0"/></loop>',
    "gazebo": '<gazebo><joint name="last" type="revolute"><parent>coupler</parent><child>rocker</child>'
    "<pose>0 0 0.3 0 0 0</pose><axis><xyz>0 1 0</xyz></axis></joint></gazebo>",
}


def forces(robot: Robot, driven: str = "motor") -> np.ndarray:
    assert robot.mechanism.freedoms == (driven,)
    q = np.linspace(-0.3, 0.3, 7)[:, None]
    result = inverse_dynamics(robot, q=q, qd=2.0 * q, qdd=1.0 - q, gravity=(0, 0, -9.81))
    assert not result.status.any()
    return result.force


@pytest.mark.parametrize("spelling", SPELLED)
def test_a_loop_of_the_file_is_that_of_a_file_beside_it(spelling: str, tmp_path: Path) -> None:
    open_file, closed_file, loops = tmp_path / "open.urdf", tmp_path / "closed.urdf", tmp_path / "loops.yaml"
    open_file.write_text(f'<robot name="bar">{TREE}</robot>')
    closed_file.write_text(f'<robot name="bar">{TREE}{SPELLED[spelling]}</robot>')
    loops.write_text(LOOPS)
    expected = Robot.of(import_robot(open_file, loops).description.family, {})
    tree = urdf.read_tree(closed_file.read_bytes())
    assert tree.warnings == ()
    found = Robot.of(tree.description(actuated=["motor"]).family, {})
    np.testing.assert_allclose(forces(found), forces(expected), rtol=1e-10)


def test_a_loop_that_is_open_is_closed_numerically(tmp_path: Path) -> None:
    path = tmp_path / "open.urdf"
    path.write_text(f'<robot name="bar">{TREE}{SPELLED["loop_joint"].replace("0 0 0.3", "0 0 0.28")}</robot>')
    robot = Robot.of(import_robot(path).description.family, {})
    driven = robot.mechanism.freedoms[0]
    assert np.isfinite(forces(robot, driven)).all()


def test_a_coupling_of_urdf_plus() -> None:
    """The ratio is the speed of the successor per that of the predecessor."""
    ends = '<predecessor link="crank"/><successor link="rocker"/><ratio value="-1.5"/>'
    tree = urdf.read_tree(f'<robot name="bar">{TREE}<coupling name="gear">{ends}</coupling></robot>'.encode())
    assert [(each.joint, each.of, each.ratio) for each in tree.couplings] == [("bearing", "motor", -1.5)]
    assert tree.free == ("motor", "pin")


BAD = {
    "a kind": (SPELLED["loop"].replace("continuous", "gearbox"), "type 'gearbox'; expected one of revolute"),
    "a link": (SPELLED["loop"].replace('"rocker"', '"roker"'), "link 'roker'; expected a link of this file. Did you"),
    "no end": ('<loop_joint name="last" type="fixed"><link1 link="crank"/></loop_joint>', "no link2"),
    "a name": (SPELLED["loop"].replace('"last"', '"pin"'), "joint pin again"),
    "no name": (SPELLED["gazebo"].replace(' name="last"', ""), "a joint without name"),
    "a body of gazebo": (
        SPELLED["gazebo"].replace(">rocker<", ">own<") + '<gazebo><link name="own"/></gazebo>',
        "a body that Gazebo alone has",
    ),
    "of gazebo": (SPELLED["gazebo"].replace(">rocker<", ">roker<"), "child 'roker'; expected a link"),
    "coupled": (
        '<coupling name="g"><predecessor link="crank"/><successor link="coupler"/></coupling>',
        "expected two free joints on one link",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_loops_that_are_refused(case: str) -> None:
    text, message = BAD[case]
    with pytest.raises(ImportedError) as caught:
        urdf.read_tree(f'<robot name="bar">{TREE}{text}</robot>'.encode())
    assert message in str(caught.value)


def test_a_loop_beside_a_loop_of_the_file_needs_a_name_of_its_own(tmp_path: Path) -> None:
    path, loops = tmp_path / "closed.urdf", tmp_path / "loops.yaml"
    path.write_text(f'<robot name="bar">{TREE}{SPELLED["loop"]}</robot>')
    loops.write_text(LOOPS)
    with pytest.raises(InputError, match="joint last again"):
        import_robot(path, loops)
