"""Robots on robots: an arm, a gripper or a tool on the platform of another, in files of all formats."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from ruamel.yaml import YAML

from benchmarks.imports.table import imported
from pipeline.robot_files import files, reader
from robots.catalog import FAMILIES
from robots.model import Robot
from tasks import inverse_dynamics, inverse_kinematics

CARRIERS = {
    "in a plane": ("planar_3rrr", ["x", "y", "yaw"]),
    "in space": ("gough_stewart", ["x", "y", "z", "yaw", "pitch", "roll"]),
}
"""Robots with a platform, and its coordinates."""


def arm_in_file(folder: Path, name: str, arm: Robot) -> Robot:
    """Return a robot whose platform carries an arm, as a robot file has it."""
    yaml, path = YAML(), folder / "whole.yaml"
    files.write(robot_named(CARRIERS[name][0]), path)
    file = yaml.load(path.read_text())
    platform, links = file["platform"], []
    del platform["mobility"]
    for k, link in enumerate(arm.mechanism.limbs[0].links):
        tensor = np.array(link.inertia.tensor, dtype=float)
        inertia = {"mass": float(link.inertia.mass), "centre": [float(x) for x in link.inertia.centre]}
        inertia |= {"moments": [float(x) for x in np.diag(tensor)]}
        links.append({
            "joint": link.joint, "body": f"part_{k}", "parent": f"part_{k - 1}" if k else "platform",
            "kind": "revolute", "axis": "z", "placement": {"position": [float(x) for x in link.placement.position]},
            "inertia": inertia,
        })  # fmt: skip
    joints = [link["joint"] for link in links]
    platform |= {"coordinates": CARRIERS[name][1], "links": links, "independent": joints, "actuated": [*joints]}
    with path.open("w") as stream:
        yaml.dump(file, stream)
    return reader.read_robot(path)


def arm_in_sdf(folder: Path, name: str, arm: Robot) -> Robot:
    """Return the same robot as a closed chain, of two files of SDF put together."""
    texts = []
    for robot, file in ((robot_named(CARRIERS[name][0]), "carrier.sdf"), (arm, "arm.sdf")):
        files.write(robot, folder / file)
        texts.append((folder / file).read_text())
    parts = texts[1][texts[1].index("<link") : texts[1].index("</model>")]
    body = re.findall(r'<joint name="platform_.*?<child>([^<]*)<', texts[0], re.DOTALL)[-1]
    parts = parts.replace('relative_to="__model__"', f'relative_to="{body}"').replace(">world<", f">{body}<")
    whole = folder / "whole.sdf"
    whole.write_text(texts[0].replace("</model>", f"{parts}</model>"))
    return files.load(whole)


def robot_named(name: str) -> Robot:
    return Robot.of(FAMILIES[name], {})


@pytest.mark.slow
@pytest.mark.parametrize("name", CARRIERS)
def test_an_arm_on_a_platform_is_one_robot(name: str, tmp_path: Path) -> None:
    """Forces of a platform with links and of a closed chain: two formulations, and readers of two formats."""
    arm = robot_named("planar_3r")
    one, other = arm_in_file(tmp_path, name, arm), arm_in_sdf(tmp_path, name, arm)
    freedoms = one.mechanism.freedoms
    q, qd, qdd = np.random.default_rng(1).uniform(-0.1, 0.1, (3, 5, len(freedoms)))
    moving = inverse_kinematics(one, q=q, qd=qd, qdd=qdd)
    assert not moving.status.any()
    names = [link.joint for link in one.mechanism.limbs[0].links]
    columns = [names.index(joint) for joint in other.mechanism.freedoms]
    place, rate, change = (part[:, 0, columns] for part in moving[:3])
    chain = inverse_dynamics(other, q=place, qd=rate, qdd=change)
    forces = inverse_dynamics(one, q=q, qd=qd, qdd=qdd).force
    order = [other.mechanism.actuators.index(joint) for joint in one.mechanism.actuators]
    np.testing.assert_allclose(chain.force[:, order], forces, rtol=0, atol=1e-12 * np.abs(forces).max())


BODY = "<mass>.4</mass><inertia><ixx>.002</ixx><iyy>.003</iyy><izz>.0025</izz></inertia>"
FINGER = f"<inertial><pose>.01 .02 -.05 0 0 0</pose>{BODY}</inertial>"
FINGERS = f"""<sdf version="1.11"><model name="fingers"><link name="palm">{FINGER}</link>
<link name="fl"><pose>0 .05 -.1 0 0 0</pose>{FINGER}</link><link name="fr"><pose>0 -.05 -.1 0 0 0</pose>{FINGER}</link>
<joint name="l" type="prismatic"><parent>palm</parent><child>fl</child><axis><xyz>1 0 0</xyz></axis></joint>
<joint name="r" type="prismatic"><parent>palm</parent><child>fr</child><axis><xyz>1 0 0</xyz>
<mimic joint="l"><multiplier>-1</multiplier><offset>0</offset><reference>0</reference></mimic></axis></joint></model>
</sdf>"""
LINK = '<link name="{0}"><inertial><origin xyz=".01 .02 -.05"/><mass value=".4"/>' + (
    '<inertia ixx=".002" iyy=".003" izz=".0025" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
SLIDE = '<joint name="{0}" type="prismatic"><origin xyz="0 {1} -.1"/><parent link="palm"/><child link="{2}"/>' + (
    '<axis xyz="1 0 0"/><limit lower="0" upper=".1" effort="10" velocity="1"/>{3}</joint>'
)
MOUNTED = """<include><uri>fingers.sdf</uri><name>grip</name>
<pose relative_to="platform_z_body">0 0 -.05 0 .1 0</pose></include>
<joint name="mount" type="fixed"><parent>platform_z_body</parent><child>grip::palm</child></joint></model>"""


@pytest.mark.slow
def test_a_gripper_that_mimics_on_a_parallel_robot(tmp_path: Path) -> None:
    """Compare fingers from another SDF file with the same in URDF, whose forces Pinocchio computes."""
    carrier = robot_named("five_bar")
    for suffix in ("sdf", "urdf"):
        files.write(carrier, tmp_path / f"whole.{suffix}")
    (tmp_path / "fingers.sdf").write_text(FINGERS)
    sdf, urdf = tmp_path / "whole.sdf", tmp_path / "whole.urdf"
    sdf.write_text(sdf.read_text().replace("</model>", MOUNTED))
    mount = '<joint name="mount" type="fixed"><origin xyz="0 0 -.05" rpy="0 .1 0"/><parent link="platform_z_body"/>'
    fingers = [LINK.format(name) for name in ("palm", "fl", "fr")]
    fingers += [mount + '<child link="palm"/></joint>', SLIDE.format("l", "0.05", "fl", "")]
    fingers += [SLIDE.format("r", "-0.05", "fr", '<mimic joint="l" multiplier="-1"/>')]
    drive = '<transmission name="t"><type>simple</type><joint name="l"/><actuator name="m"/></transmission>'
    urdf.write_text(urdf.read_text().replace("</robot>", f"{''.join(fingers)}{drive}</robot>"))
    errors = imported(urdf).errors
    assert errors is not None
    assert errors.closed
    assert errors.largest < 1e-12
    one, other = files.load(sdf), files.load(urdf)
    order = [other.mechanism.freedoms.index(name.removeprefix("grip_")) for name in one.mechanism.freedoms]
    q, qd, qdd = np.random.default_rng(3).uniform(-0.05, 0.05, (3, 8, 3))
    forces = inverse_dynamics(one, q=q[:, order], qd=qd[:, order], qdd=qdd[:, order])
    expected = inverse_dynamics(other, q=q, qd=qd, qdd=qdd)
    reached = (forces.status == 0) & (expected.status == 0)
    assert reached.sum() >= 5
    columns = [other.mechanism.actuators.index(name.removeprefix("grip_")) for name in one.mechanism.actuators]
    np.testing.assert_allclose(forces.force[reached], expected.force[reached][:, columns], rtol=1e-9, atol=1e-9)


TOOL = """<mujoco model="tool"><compiler angle="degree"/><worldbody><body name="hand" pos="0 0 .1" euler="10 20 0">
<joint name="spin" axis="0 0 1"/><inertial pos="0 .1 .05" mass="20" diaginertia="1 1.2 .8"/>
<body name="tip" pos="0 .1 .1"><joint name="bend" axis="0 1 0" range="-30 30"/>
<geom type="capsule" fromto="0 0 0 0 .1 .2" size=".05"/></body></body></worldbody>
<actuator><motor joint="spin"/><motor joint="bend"/></actuator></mujoco>"""


@pytest.mark.slow
def test_a_tool_of_another_model_of_mujoco_on_a_parallel_robot(tmp_path: Path) -> None:
    """Attach a model to the plate of a hexapod by another model, with a frame and in other units of angles."""
    path = tmp_path / "whole.xml"
    files.write(robot_named("gough_stewart"), path)
    (tmp_path / "tool.xml").write_text(TOOL)
    plate, rest = path.read_text().split("</body>", 1)
    attach = '<frame pos="0 0 .3" euler=".1 0 .2"><attach model="tool" body="hand" prefix="t_"/></frame></body>'
    asset = '<asset><model name="tool" file="tool.xml"/></asset><worldbody>'
    path.write_text((plate + attach + rest).replace("<worldbody>", asset))
    found = imported(path)
    assert found.joints == 6 + 18 + 2
    assert found.errors is not None
    assert found.errors.closed
    assert found.errors.largest < 1e-12
