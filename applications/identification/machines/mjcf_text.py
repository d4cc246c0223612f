"""Write a robot as MJCF, the files of MuJoCo: bodies in their tree, inertias, armatures, friction, loops, motors."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from applications.identification.machines.urdf_text import spaced
from robots.formats.description import Description
from robots.model import Closure, Inertia, Limb, Link
from robots.types import BASE

KINDS = {"revolute": "hinge", "prismatic": "slide"}
WORLD = "world"
ARM = 0.1
"""Distance [m] of the two points that a revolute loop joins: an error at one of them, over it, is an angle."""
UPPER = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
"""Order of the elements of `fullinertia`."""


def mjcf_text(
    description: Description,
    friction: Mapping[str, tuple[float, float]] | None = None,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
) -> str:
    """Return MJCF text; friction: viscous and dry, of joints. Raises ValueError for a robot beyond MJCF.

    Loops are equality constraints, which MuJoCo keeps softly: revolute ones join two points of their axis. Frames are
    those of the robot's links.
    """
    mechanism = description({})
    if not mechanism.is_chain:
        raise ValueError(f"{description.name} has a platform, which this file cannot say; expected a chain")
    (limb,) = mechanism.limbs
    if limb.drives or limb.couplings:
        raise ValueError(f"{description.name} has drives or couplings between joints, which this file cannot say")
    root = ElementTree.Element("mujoco", model=description.name)
    ElementTree.SubElement(
        root, "compiler", angle="radian", inertiafromgeom="false", boundmass="1e-9", boundinertia="1e-12"
    )
    ElementTree.SubElement(root, "option", gravity=spaced(gravity))
    bodies = {BASE: ElementTree.SubElement(root, "worldbody")}
    for number, link in enumerate(limb.links):
        bodies[number] = _body(bodies[link.parent], link, (friction or {}).get(link.joint))
    _add_loops(root, limb)
    motors = ElementTree.SubElement(root, "actuator")
    for joint in limb.actuated:
        ElementTree.SubElement(motors, "motor", name=joint, joint=joint)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _body(parent: ElementTree.Element, link: Link, friction: tuple[float, float] | None) -> ElementTree.Element:
    if link.kind not in KINDS:
        raise ValueError(f"joint {link.joint} is {link.kind}, which MJCF cannot say; expected {', '.join(KINDS)}")
    turned = _quaternion(np.array(link.placement.rotation, dtype=float))
    body = ElementTree.SubElement(parent, "body", name=link.body, pos=spaced(link.placement.position), quat=turned)
    inertia: Inertia = link.inertia
    if inertia.mass:
        tensor = spaced([inertia.tensor[i][j] for i, j in UPPER])
        mass = spaced([inertia.mass])
        ElementTree.SubElement(body, "inertial", pos=spaced(inertia.centre), mass=mass, fullinertia=tensor)
    damping, dry = friction or (0.0, 0.0)
    numbers = {"armature": float(link.armature), "damping": damping, "frictionloss": dry}
    attributes = {name: repr(float(value)) for name, value in numbers.items() if value}
    joint = {"name": link.joint, "type": KINDS[link.kind], "axis": spaced(link.axis), **attributes}
    ElementTree.SubElement(body, "joint", joint)
    return body


def _add_loops(root: ElementTree.Element, limb: Limb) -> None:
    if not limb.loops:
        return
    equality = ElementTree.SubElement(root, "equality")
    for loop in limb.loops:
        a, b = (WORLD if number == BASE else limb.links[number].body for number in (loop.a, loop.b))
        for place in _points(loop):
            ElementTree.SubElement(equality, "connect", body1=a, body2=b, anchor=spaced(place))


def _points(loop: Closure) -> list[np.ndarray]:
    """Return the points of body a, in its frame, that body b shares."""
    origin = np.array(loop.frame_a.position, dtype=float)
    axis = np.array(loop.frame_a.rotation, dtype=float)[:, 2]
    if loop.kind == "spherical":
        return [origin]
    if loop.kind == "revolute":
        return [origin, origin + ARM * axis]
    raise ValueError(f"loop {loop.joint} is {loop.kind}, which this file cannot say; expected revolute or spherical")


def _quaternion(rotation: np.ndarray) -> str:
    x, y, z, w = Rotation.from_matrix(rotation).as_quat()
    return spaced([w, x, y, z])
