"""Write a robot as URDF: links, inertias, joints of a tree, limits that are as wide as numbers allow."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping

import numpy as np

from robots.formats.description import Description
from robots.model import Inertia, Link
from robots.types import BASE
from tasks.dynamics.inertial_parameters import TENSOR

KINDS = {"revolute": "continuous", "prismatic": "prismatic"}
WIDE = "1e9"
LOCKED = 1e-9
"""Sine of the angle between x and z below which one of them is enough."""


def urdf_text(description: Description, friction: Mapping[str, tuple[float, float]] | None = None) -> str:
    """Return the text of a URDF file; friction: viscous and dry, of joints. Raises ValueError if it is not a tree.

    Frames are those of the robot's links, so that axes of joints are coordinate axes. Inertias of drives are not a
    matter of URDF, and left out.
    """
    mechanism = description({})
    if not mechanism.is_chain or mechanism.limbs[0].loops or len(mechanism.limbs) != 1:
        raise ValueError(f"{description.name} has closed loops or a platform, which URDF cannot say; expected a tree")
    links = mechanism.limbs[0].links
    robot = ElementTree.Element("robot", name=description.name)
    ElementTree.SubElement(robot, "link", name="base")
    for link in links:
        if link.kind not in KINDS:
            raise ValueError(f"joint {link.joint} is {link.kind}, which URDF cannot say; expected {', '.join(KINDS)}")
        _add_link(robot, link)
        parent = "base" if link.parent == BASE else links[link.parent].body
        _add_joint(robot, link, parent, (friction or {}).get(link.joint))
    ElementTree.indent(robot)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(robot, encoding="unicode") + "\n"


def _add_link(robot: ElementTree.Element, link: Link) -> None:
    element = ElementTree.SubElement(robot, "link", name=link.body)
    inertia: Inertia = link.inertia
    if not inertia.mass:
        return
    body = ElementTree.SubElement(element, "inertial")
    ElementTree.SubElement(body, "origin", xyz=spaced(inertia.centre), rpy="0 0 0")
    ElementTree.SubElement(body, "mass", value=spaced([inertia.mass]))
    names = {f"i{'xyz'[i]}{'xyz'[j]}": spaced([inertia.tensor[i][j]]) for i, j in TENSOR}
    ElementTree.SubElement(body, "inertia", names)


def _add_joint(robot: ElementTree.Element, link: Link, parent: str, friction: tuple[float, float] | None) -> None:
    joint = ElementTree.SubElement(robot, "joint", name=link.joint, type=KINDS[link.kind])
    angles = roll_pitch_yaw(np.array(link.placement.rotation, dtype=float))
    ElementTree.SubElement(joint, "origin", xyz=spaced(link.placement.position), rpy=spaced(angles))
    ElementTree.SubElement(joint, "parent", link=parent)
    ElementTree.SubElement(joint, "child", link=link.body)
    ElementTree.SubElement(joint, "axis", xyz=spaced(link.axis))
    if link.kind == "prismatic":
        ElementTree.SubElement(joint, "limit", lower=f"-{WIDE}", upper=WIDE, effort=WIDE, velocity=WIDE)
    if friction is not None:
        ElementTree.SubElement(joint, "dynamics", damping=spaced([friction[0]]), friction=spaced([friction[1]]))


def roll_pitch_yaw(rotation: np.ndarray) -> tuple[float, float, float]:
    """Return the angles about fixed axes x, y, z of a rotation (3, 3); where x and z coincide, that about z is zero."""
    across = float(np.hypot(rotation[0, 0], rotation[1, 0]))
    pitch = float(np.arctan2(-rotation[2, 0], across))
    if across < LOCKED:
        return float(np.arctan2(-rotation[1, 2], rotation[1, 1])), pitch, 0.0
    return (
        float(np.arctan2(rotation[2, 1], rotation[2, 2])), pitch, float(np.arctan2(rotation[1, 0], rotation[0, 0]))
    )  # fmt: skip


def spaced(values: object) -> str:
    """Return numbers as attributes of XML have them."""
    return " ".join(repr(float(x)) for x in np.asarray(values, dtype=float).ravel())
