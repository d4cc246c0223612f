"""URDF files as descriptions: a chain of the model, with loops that a URDF file cannot say given beside it.

The root link is the base, so what mass it has does not matter. Links behind fixed joints become one body with their
parent. Frames of the model sit on joints like those of URDF; where an axis is no coordinate axis, the frame is turned
so that it is z. Limits, friction and damping of joints are not kept.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from robots.formats import checks, urdf_file
from robots.formats.description import Description
from robots.formats.urdf_file import FIXED, KINDS, Origin, UrdfFile, UrdfJoint, UrdfLink, advice
from robots.formats.writing import AXES
from robots.formats.xml_tree import FormatError
from robots.inertia import joined, point
from robots.joint_kinds import URDF_KINDS
from robots.model import Closure, Frame, Inertia, Link, Mechanism
from robots.parameters import nearest
from robots.types import BASE, JointKind, Number, Vector

Pose = tuple[np.ndarray, np.ndarray]
"""Rotation (3, 3) and position (3,) [m] in an outer frame."""

HERE: Pose = (np.eye(3), np.zeros(3))


class UrdfError(ValueError):
    """A file that cannot be imported, with all its problems."""

    def __init__(self, problems: Sequence[FormatError]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


@dataclass(frozen=True)
class Loop:
    """A joint that closes a loop between two links, by name, with a frame in each of their URDF frames."""

    joint: str
    kind: JointKind
    a: str
    frame_a: Frame
    b: str
    frame_b: Frame
    pitch: Number | None = None


@dataclass(frozen=True)
class Tree:
    """The tree of a file: links of the model; the body of each URDF link, and the pose of its frame there."""

    name: str
    links: tuple[Link, ...]
    bodies: dict[str, tuple[int, Pose]]
    warnings: tuple[FormatError, ...]

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints that move."""
        return tuple(link.joint for link in self.links)

    def description(
        self, loops: Iterable[Loop] = (), actuated: Sequence[str] | None = None, independent: Sequence[str] = ()
    ) -> Description:
        """The robot with `loops`; all joints are driven where `actuated` does not say which.

        Raises ValueError for names that are not in the file.
        """
        for name in (*(actuated or ()), *independent):
            if name not in self.joints:
                raise ValueError(f"joint {name!r} is none of {self.name} that moves; {nearest(name, self.joints)}")
        closures = tuple(map(self._closure, loops))
        driven = self.joints if actuated is None else tuple(actuated)
        made = Mechanism.chain(self.name, self.links, driven, closures)
        if independent:
            (limb,) = made.limbs
            limb = type(limb)(limb.name, limb.links, limb.loops, (), limb.actuated, independent=tuple(independent))
            made = Mechanism((limb,), made.instances, made.platform)
        return Description(self.name, "", "imported from URDF", (), (), made)

    def _closure(self, loop: Loop) -> Closure:
        a, b = self._end(loop, loop.a, loop.frame_a), self._end(loop, loop.b, loop.frame_b)
        return Closure(loop.joint, loop.kind, *a, *b, loop.pitch)

    def _end(self, loop: Loop, name: str, frame: Frame) -> tuple[int, Frame]:
        """The body of a URDF link, and a frame of the link in the body."""
        if name not in self.bodies:
            hint = nearest(name, self.bodies)
            raise ValueError(f"link {name!r} of loop {loop.joint} is none of {self.name}; {hint}")
        body, pose = self.bodies[name]
        own = np.array(frame.rotation, dtype=float), np.array(frame.position, dtype=float)
        return body, _frame(_compose(pose, own))


def read(
    data: bytes, loops: Iterable[Loop] = (), actuated: Sequence[str] | None = None, independent: Sequence[str] = ()
) -> Description:
    """The robot in the bytes of a URDF file. Raises UrdfError with all problems, ValueError for unknown names."""
    return read_tree(data).description(loops, actuated, independent)


def read_tree(data: bytes) -> Tree:
    """The tree of links in the bytes of a URDF file. Raises UrdfError with all problems."""
    try:
        file = urdf_file.read(data)
    except FormatError as error:
        raise UrdfError([error]) from None
    order = _ordered(file)
    for link in file.links.values():
        for finding in checks.check_inertia(_inertia(link, HERE)):
            file.refuse(link.line, f"link {link.name}", finding.got, finding.expected, finding.hint)
    for joint in file.joints.values():
        if not math.hypot(*joint.origin.xyz) <= checks.LONGEST:
            hint = "Lengths are in metres: 500 mm are 0.5."
            got, rule = f"an origin {math.hypot(*joint.origin.xyz):g} m away", f"at most {checks.LONGEST:g} m"
            file.refuse(joint.line, f"joint {joint.name}", got, rule, hint)
    if file.problems:
        raise UrdfError(file.problems)
    return _tree(file, order)


def _ordered(file: UrdfFile) -> list[UrdfJoint]:
    """Joints from the root outwards; reports what is no tree."""
    above: dict[str, UrdfJoint] = {}
    below: dict[str, list[UrdfJoint]] = {name: [] for name in file.links}
    for joint in file.joints.values():
        place = f"joint {joint.name}"
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name and name not in file.links:
                hint = advice(name, file.links) if file.links else "There are no links."
                file.refuse(joint.line, place, f"{role} {name!a}", "a link of this file", hint)
        if (first := above.setdefault(joint.child, joint)) is not joint and joint.child:
            got = f"a second parent of {joint.child}, after joint {first.name} in line {first.line}"
            file.refuse(joint.line, place, got, "one parent for each link", "Declare it as a loop, in a file of loops.")
        below.get(joint.parent, []).append(joint)
    roots = [name for name in file.links if name not in above]
    for name in roots[1:]:
        hint = "Join it to the others, or take it out."
        file.refuse(file.links[name].line, f"link {name}", f"a second root beside {roots[0]}", "one root", hint)
    order, reached = list[UrdfJoint](), set(roots)
    stack = [joint for name in reversed(roots) for joint in reversed(below[name])]
    while stack:
        joint = stack.pop()
        if joint.child in below and joint.child not in reached:
            reached.add(joint.child)
            order.append(joint)
            stack += reversed(below[joint.child])
    lost = [] if file.problems else [name for name in file.links if name not in reached]
    for name in lost[:1]:
        hint = "Take one joint out, and declare it as a loop in a file of loops."
        file.refuse(file.links[name].line, f"link {name}", "a cycle of parents", "a tree", hint)
    if not file.problems and not any(joint.kind != FIXED for joint in order):
        file.refuse(0, "", "no joint that moves", "at least one", f"Kinds are {', '.join(KINDS)}.")
    return order


def _tree(file: UrdfFile, order: Sequence[UrdfJoint]) -> Tree:
    root = next(name for name in file.links if all(joint.child != name for joint in order))
    bodies: dict[str, tuple[int, Pose]] = {root: (BASE, HERE)}
    links: list[Link] = []
    for joint in order:
        body, pose = bodies[joint.parent]
        at, link = _compose(pose, _pose(joint.origin)), file.links[joint.child]
        if joint.kind == FIXED:
            bodies[joint.child] = (body, at)
            if body != BASE:
                links[body] = _heavier(links[body], _inertia(link, at))
            continue
        axis, turned = _axis(joint.axis)
        own: Pose = (turned.T, np.zeros(3))
        placement = _frame((at[0] @ turned, at[1]))
        bodies[joint.child] = (len(links), own)
        kind, inertia = URDF_KINDS[joint.kind], _inertia(link, own)
        links.append(Link(joint.name, joint.child, body, kind, axis, placement, inertia))
    return Tree(_name(file.name), tuple(links), bodies, tuple(file.warnings))


def _name(name: str) -> str:
    """A name for a robot file."""
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:80]
    return plain if re.match(r"[A-Za-z]", plain) else f"robot_{plain}"[:80]


def _heavier(link: Link, more: Inertia) -> Link:
    inertia = link.inertia
    if inertia.mass and more.mass:
        inertia = joined(inertia, more)
    else:  # a body without mass may have an inertia, and adds it
        heavy = inertia if inertia.mass else more
        tensor: np.ndarray = np.array(inertia.tensor) + np.array(more.tensor)
        inertia = Inertia(heavy.mass, heavy.centre, _rows(tensor))
    return replace(link, inertia=inertia)


def _inertia(link: UrdfLink, at: Pose) -> Inertia:
    """The inertia of a URDF link whose frame is `at` a pose in its body."""
    if not link.mass and not any(link.tensor):
        return point(0.0)
    rotation, centre = _compose(at, _pose(link.origin))
    xx, yy, zz, xy, xz, yz = link.tensor
    tensor = rotation @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ rotation.T
    return Inertia(link.mass, _vector(centre), _rows(0.5 * (tensor + tensor.T)))


def _pose(origin: Origin) -> Pose:
    """Roll, pitch, yaw turn about fixed axes, in this order."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(origin.rpy), np.sin(origin.rpy)
    roll = np.array([[1.0, 0.0, 0.0], [0.0, cr, -sr], [0.0, sr, cr]])
    pitch = np.array([[cp, 0.0, sp], [0.0, 1.0, 0.0], [-sp, 0.0, cp]])
    yaw = np.array([[cy, -sy, 0.0], [sy, cy, 0.0], [0.0, 0.0, 1.0]])
    return yaw @ pitch @ roll, np.array(origin.xyz)


def _axis(given: Sequence[float]) -> tuple[Vector, np.ndarray]:
    """The axis of the model, and the rotation (3, 3) from the frame in which it is that to the joint's frame."""
    direction = np.array(given)
    for axis in AXES.values():
        if np.array_equal(direction, axis):
            return axis, np.eye(3)
    across = np.cross(direction, np.eye(3)[np.argmin(np.abs(direction))])
    across /= np.linalg.norm(across)
    return AXES["z"], np.stack([across, np.cross(direction, across), direction], axis=1)


def _compose(outer: Pose, inner: Pose) -> Pose:
    return outer[0] @ inner[0], outer[1] + outer[0] @ inner[1]


def _vector(values: np.ndarray) -> Vector:
    x, y, z = map(float, values)
    return x, y, z


def _rows(matrix: np.ndarray) -> tuple[Vector, Vector, Vector]:
    a, b, c = map(_vector, matrix)
    return a, b, c


def _frame(pose: Pose) -> Frame:
    return Frame(_rows(pose[0]), _vector(pose[1]))
