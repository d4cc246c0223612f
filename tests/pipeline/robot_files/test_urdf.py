# ruff: noqa: E501 - tables
"""URDF files become robot files; what is no tree, no number or no body is refused with line and remedy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import InputError
from pipeline.robot_files.importing import import_robot
from pipeline.robot_files.reader import parse_robot
from robots.formats import urdf
from robots.formats.closing import ClosingJoint
from robots.formats.xml_tree import FormatError, ImportedError, parse
from robots.geometry import shifted
from robots.model import Robot
from tasks import inverse_dynamics, inverse_kinematics
from tests.robots.formats.urdfs import tree

BODY = (
    '<inertial><origin xyz="0.1 0 0"/><mass value="2"/>'
    '<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>'
)
LIMIT = '<limit lower="-1" upper="1" effort="5" velocity="1"/>'
ARM = f"""\
<?xml version="1.0"?>
<robot name="arm">
<link name="base"/>
<link name="upper">{BODY}</link>
<link name="lower">{BODY}</link>
<link name="tool">{BODY}</link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>{LIMIT}</joint>
<joint name="elbow" type="prismatic"><parent link="upper"/><child link="lower"/><origin xyz="0.2 0 0"/>{LIMIT}</joint>
<joint name="flange" type="fixed"><parent link="lower"/><child link="tool"/><origin xyz="0.2 0 0" rpy="0 0 1"/></joint>
</robot>
"""
FOUR_BAR = f"""\
<robot name="four bar">
<link name="ground"/>
<link name="crank">{BODY}</link>
<link name="coupler">{BODY}</link>
<link name="rocker">{BODY}</link>
<joint name="a" type="continuous"><parent link="ground"/><child link="crank"/><axis xyz="0 0 1"/></joint>
<joint name="b" type="continuous"><parent link="crank"/><child link="coupler"/>
  <origin xyz="0 0.2 0"/><axis xyz="0 0 1"/></joint>
<joint name="d" type="continuous"><parent link="ground"/><child link="rocker"/>
  <origin xyz="0.5 0 0" rpy="0 0 0"/><axis xyz="0 0 1"/></joint>
</robot>
"""
LOOPS = """\
limbsweep: 1
loops: [{joint: c, kind: revolute, a: coupler, frame_a: {position: [0.5, 0.1, 0]}, b: rocker, frame_b: {position: [0, 0.3, 0]}}]
actuated: [a]
"""


def refused(text: str | bytes) -> str:
    with pytest.raises(ImportedError) as caught:
        urdf.read_tree(text.encode() if isinstance(text, str) else text)
    assert all(problem.line or "expected" in str(problem) for problem in caught.value.problems)
    return str(caught.value)


BAD = [
    ('name="lower"', 'name="upper"', "line 5 link upper: got upper again; expected a name for each link. Rename one; the first"),
    ('<child link="lower"/>', '<child link="upper"/>', "got a second parent of upper, after joint shoulder in line 7"),
    ('<parent link="base"/>', '<parent link="tool"/>', "got a cycle of parents; expected a tree. Take one joint out"),
    ('<parent link="upper"/>', '<parent link="uper"/>', "joint elbow: got parent 'uper'; expected a link of this file. Did you mean"),
    ('<parent link="upper"/>', "", "joint elbow: got no parent link"),
    ('<link name="base"/>', '<link name="base"/><link name="spare"/>', "link spare: got a second root beside base; expected one root"),
    ('type="prismatic"', 'type="screw"', "got type 'screw'; expected one of revolute, continuous, prismatic, fixed"),
    ('type="prismatic"', 'type="gimbal"', "A joint of several freedoms is written as several joints"),
    ('<mass value="2"/>', '<mass value="1,5"/>', "got value '1,5'; expected a finite number. Use a decimal point"),
    ('<mass value="2"/>', '<mass value="nan"/>', "got value 'nan'; expected a finite number"),
    ('<mass value="2"/>', '<mass value="1e999"/>', "got value '1e999'; expected a finite number"),
    ('<mass value="2"/>', "", "got no <mass>; expected <mass>, which is required"),
    ('<mass value="2"/>', "<mass/>", "got no value in <mass>"),
    ('<mass value="2"/>', '<mass value="-1"/>', "got mass -1; expected a mass of at least 0 kg"),
    ('ixx="0.01"', 'ixx="-0.01"', "expected none below 0"),
    ('ixx="0.01"', 'ixx="1"', "got principal moments 0.02 + 0.02 < 1; expected no moment above the sum"),
    ('ixx="0.01"', "", "got no ixx in <inertia>"),
    ('xyz="0.2 0 0"', 'xyz="0.2 0 0 0"', "got xyz '0.2 0 0 0'; expected 3 finite numbers"),
    ('xyz="0.2 0 0"', 'xyz="200 0 0"', "got an origin 200 m away; expected at most 100 m. Lengths are in metres"),
    ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 0"/>', "got axis 0 0 0; expected a direction"),
    ('type="revolute"', 'type="floppy"', "got type 'floppy'; expected one of"),
    (LIMIT, LIMIT + '<mimic joint="shoulder"/>', "joint shoulder: got a joint that mimics itself, by shoulder; expected another joint"),
    (LIMIT, LIMIT + '<mimic multiplier="2"/>', "got no joint in <mimic>; expected joint=\"...\" that it follows. Add it."),
    (LIMIT, LIMIT + '<mimic joint="elbow" multiplier="x"/>', "got multiplier 'x'; expected a finite number"),
    (LIMIT, LIMIT.replace('"-1"', '"low"'), "got lower 'low'; expected a finite number"),
    ('<robot name="arm">', '<robot name="arm" xmlns:xacro="x"><xacro:macro name="x"/>', "Expand it first"),
    ('<joint name="elbow"', '<joint name=""', "got ''; expected a name of at most 80 visible characters"),
    ('<robot name="arm">', '<!DOCTYPE robot [<!ENTITY a "1">]><robot name="arm">', "got a document type; expected no DOCTYPE"),
    ('<robot name="arm">', '<!DOCTYPE robot SYSTEM "http://example.org/x.dtd"><robot name="arm">', "got a document type"),
    ('<mass value="2"/>', '<mass value="&a;"/>', "undefined entity"),
    ("</robot>", "", "got text that is not XML (no element found); expected well-formed XML"),
    ('name="arm"', 'name="arm" name="b"', "duplicate attribute"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), BAD, ids=[row[2][:40] for row in BAD])
def test_a_bad_file_is_refused_with_line_and_remedy(old: str, new: str, message: str) -> None:
    assert old in ARM
    assert message in refused(ARM.replace(old, new, 1))


def test_files_that_are_no_urdf() -> None:
    assert "got <sdf>; expected <robot>. Convert it to URDF first." in refused("<sdf/>")
    assert "got text that is not XML" in refused("")
    assert "expected at most 32 levels" in refused("<robot>" + "<a>" * 100_000)
    assert "got no joint that moves" in refused('<robot><link name="base"/></robot>')
    assert "got no link; expected links and joints" in refused("<robot/>")
    assert "expected a smaller file" in refused("<robot>" + "<a/>" * 100_001 + "</robot>")
    assert "expected UTF-8" in refused(b'<?xml version="1.0" encoding="klingon"?><robot/>')
    with pytest.raises(FormatError, match="expected at most 8388608"):
        parse(b" " * (9 << 20))


def test_all_problems_of_a_file_are_told() -> None:
    assert len(refused(ARM.replace("2", "x")).splitlines()) > 5


def test_fixed_joints_merge_and_what_is_not_used_is_told() -> None:
    tree_ = urdf.read_tree(ARM.replace("0 0 1", "0 0 2").encode())
    assert [(link.joint, link.body, link.kind) for link in tree_.links] == [
        ("shoulder", "upper", "revolute"),
        ("elbow", "lower", "prismatic"),
    ]
    assert tree_.links[1].inertia.mass == 4.0
    assert [str(each) for each in tree_.warnings] == [
        "line 7 joint shoulder: got an axis of length 2; expected length 1. It was made so."
    ]
    with pytest.raises(ValueError, match="joint 'flange' is no movable joint of arm; known: shoulder, elbow"):
        tree_.description(actuated=["flange"])
    here = shifted((0.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="link 'hand' of loop x is no link of arm; known: base, upper"):
        tree_.description([ClosingJoint("x", "revolute", "hand", here, "base", here)])


def test_an_imported_tree_is_read_back_from_its_file(tmp_path: Path) -> None:
    for seed in range(3):
        (tmp_path / "t.urdf").write_text(tree(seed))
        made = import_robot(tmp_path / "t.urdf", parameters=False)
        assert made.description == parse_robot(made.text, "f")
        assert made.description.template == urdf.read(tree(seed).encode()).template


def test_loops_in_a_file_beside_it_close_the_chain(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(FOUR_BAR)
    (tmp_path / "loops.yaml").write_text(LOOPS)
    robot = Robot.of(import_robot(tmp_path / "r.urdf", tmp_path / "loops.yaml").description.family, {})
    assert (robot.name, robot.mechanism.freedoms) == ("four_bar", ("a",))
    q, qd = np.array([[0.2], [-0.1]]), np.array([[1.0], [2.0]])
    solved = inverse_kinematics(robot, q=q, qd=qd, qdd=np.zeros_like(q))
    assert not solved.status.any()
    turned = solved.position[:, 0]
    a, b, d = turned[:, 0], turned[:, 0] + turned[:, 1], turned[:, 2]
    end = np.stack(
        [-0.2 * np.sin(a) + 0.5 * np.cos(b) - 0.1 * np.sin(b), 0.2 * np.cos(a) + 0.5 * np.sin(b) + 0.1 * np.cos(b)]
    )
    pin = np.stack([0.5 - 0.3 * np.sin(d), 0.3 * np.cos(d)])
    np.testing.assert_allclose(end, pin, rtol=0, atol=1e-12)
    assert np.isfinite(inverse_dynamics(robot, q=q, qd=qd, qdd=qd).force).all()


BAD_LOOPS = [
    (
        "a: coupler",
        "a: copler",
        "l.yaml:2:39 loops[0].a: got 'copler'; expected a link of the URDF file. Did you mean 'coupler'?",
    ),
    ("actuated: [a]", "actuated: [c]", "actuated[0]: got 'c'; expected a joint of the URDF file that moves"),
    ("joint: c", "joint: b", "loops[0].joint: got joint b again"),
    ("[0, 0.3, 0]", "[0, 0.4, 0]", "got a gap of 0.1 m at the reference pose"),
    ("b: rocker, ", "", "got no key 'b'; expected 'b', which is required in loops"),
    ("limbsweep: 1", "limbsweep: 9", "expected version 1"),
    ("loops:", "loop:", "Did you mean 'loops'?"),
]


@pytest.mark.parametrize(("old", "new", "message"), BAD_LOOPS, ids=[row[1] or "nothing" for row in BAD_LOOPS])
def test_bad_loops_are_refused_in_their_file(
    old: str, new: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("r.urdf").write_text(FOUR_BAR)
    Path("l.yaml").write_text(LOOPS.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        import_robot("r.urdf", "l.yaml")
    assert message in str(caught.value)


def test_problems_of_a_urdf_file_have_its_name_and_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("r.urdf").write_text(ARM.replace('<mass value="2"/>', '<mass value="x"/>', 1))
    with pytest.raises(InputError, match=r"^r.urdf:4:1 link upper: got value 'x'; expected a finite number\.$"):
        import_robot("r.urdf")
