"""Robots on robots: an arm on the platform of another, in a robot file and in SDF, with the same forces."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from ruamel.yaml import YAML

from pipeline.robot_files import importing, reader
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
    importing.write(robot_named(CARRIERS[name][0]), path)
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
        importing.write(robot, folder / file)
        texts.append((folder / file).read_text())
    parts = texts[1][texts[1].index("<link") : texts[1].index("</model>")]
    body = re.findall(r'<joint name="platform_.*?<child>([^<]*)<', texts[0], re.DOTALL)[-1]
    parts = parts.replace('relative_to="__model__"', f'relative_to="{body}"').replace(">world<", f">{body}<")
    whole = folder / "whole.sdf"
    whole.write_text(texts[0].replace("</model>", f"{parts}</model>"))
    return importing.load(whole)


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
