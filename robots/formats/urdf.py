"""URDF files as descriptions: a chain of the model, with loops given beside the file, as URDF has no loops.

The root link is the base, so its mass has no effect, unless the base floats: then six joints lead to it.
Links behind fixed joints become one body with their parent, and inertias are checked after that. Joints that mimic
others follow them; planar, spherical and floating ones become several joints of one variable.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from robots.formats import effects, elements, urdf_file
from robots.formats.closing import ClosingJoint
from robots.formats.description import Description
from robots.formats.poses import HERE, Pose, compose, moved, rows, vector, with_z
from robots.formats.tree import Base, GrowingTree, Inertias, Place, Tree, finished, plain_name
from robots.formats.urdf_file import COMPOSED, FIXED, KINDS, UrdfFile, UrdfJoint, UrdfLink, advice, pose_of_origin
from robots.formats.urdf_loops import with_loops
from robots.formats.xml_tree import Element, FormatError, ImportedError, parse
from robots.geometry import point
from robots.joint_kinds import URDF_KINDS
from robots.model import Coupling, Inertia
from robots.types import BASE

FLOATING = "base"
"""Name of the six joints of a floating base, before `_x`, `_y`, `_z`, `_yaw`, `_pitch` and `_roll`."""


def read(
    data: bytes,
    loops: Iterable[ClosingJoint] = (),
    actuated: Sequence[str] | None = None,
    independent: Sequence[str] = (),
) -> Description:
    """Read the robot in a URDF file's bytes. Raises ImportedError with all problems, ValueError for unknown names."""
    return read_tree(data).description(loops, actuated, independent)


def read_tree(
    data: bytes | Element, base: Base = "fixed", inertias: Inertias = "checked", leave_out: Collection[str] = ()
) -> Tree:
    """Return the tree of links in the bytes of a URDF file, or in its root. Raises ImportedError with all problems."""
    try:
        root = data if isinstance(data, Element) else parse(data)
        file = urdf_file.read(root)
    except FormatError as error:
        raise ImportedError([error]) from None
    problems, warnings = effects.judged([*effects.found(root, effects.URDF)], leave_out)
    file.problems += problems
    file.warnings += [*warnings, *elements.unread(root, "URDF")]
    order = _ordered(file, base)
    couplings = _couplings(file)
    if file.problems:
        raise ImportedError(file.problems)
    return with_loops(_tree(file, order, couplings, base, inertias), root)


def _ordered(file: UrdfFile, base: Base) -> list[UrdfJoint]:
    """Return the joints from the root outwards; report links and joints that form no tree."""
    _check_ends(file)
    children = {joint.child for joint in file.joints.values()}
    roots = [name for name in file.links if name not in children]
    is_broken = any(problem.place.startswith("joint ") for problem in file.problems)  # which leaves links alone
    for name in roots[1:] if not is_broken else ():
        hint = "Join it to the others, or take it out."
        file.refuse(file.links[name].line, f"link {name}", f"a second root beside {roots[0]}", "one root", hint)
    order = _outwards(file, roots)
    reached = {*roots, *(joint.child for joint in order)}
    lost = [] if file.problems else [name for name in file.links if name not in reached]
    for name in lost[:1]:
        hint = "Take one joint out, and declare it as a loop in a file of loops."
        file.refuse(file.links[name].line, f"link {name}", "a cycle of parents", "a tree", hint)
    if not file.problems and not file.links:
        file.refuse(0, "", "no link", "links and joints")
    if not file.problems and base == "fixed" and not any(joint.kind != FIXED for joint in order):
        hint = f"Kinds are {', '.join(KINDS)}; --base floating lets the whole move."
        file.refuse(0, "", "no joint that moves", "at least one", hint)
    return order


def _check_ends(file: UrdfFile) -> None:
    """Report joints at links that the file lacks, and links with a second parent."""
    above: dict[str, UrdfJoint] = {}
    for joint in file.joints.values():
        place = f"joint {joint.name}"
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name and name not in file.links:
                hint = advice(name, file.links) if file.links else "There are no links."
                file.refuse(joint.line, place, f"{role} {name!a}", "a link of this file", hint)
        if (first := above.setdefault(joint.child, joint)) is not joint and joint.child:
            got = f"a second parent of {joint.child}, after joint {first.name} in line {first.line}"
            file.refuse(joint.line, place, got, "one parent for each link", "Declare it as a loop, in a file of loops.")


def _outwards(file: UrdfFile, roots: Sequence[str]) -> list[UrdfJoint]:
    """Return the joints of links that are reached from roots, parents first, depth first."""
    below: dict[str, list[UrdfJoint]] = {name: [] for name in file.links}
    for joint in file.joints.values():
        below.get(joint.parent, []).append(joint)
    order, reached = list[UrdfJoint](), set(roots)
    stack = [joint for name in reversed(roots) for joint in reversed(below[name])]
    while stack:
        joint = stack.pop()
        if joint.child in below and joint.child not in reached:
            reached.add(joint.child)
            order.append(joint)
            stack += reversed(below[joint.child])
    return order


def _couplings(file: UrdfFile) -> dict[str, tuple[str, float, float]]:
    """Return the joints that mimic others: the joint that each one follows, the ratio to it, and the offset."""
    result: dict[str, tuple[str, float, float]] = {}
    for joint in file.joints.values():
        if joint.mimic is None or joint.kind == FIXED:
            continue
        name, ratio, offset, seen = joint.mimic.of, joint.mimic.ratio, joint.mimic.offset, [joint.name]
        place = f"joint {joint.name}"
        while name in file.joints and name not in seen and (further := file.joints[name].mimic) is not None:
            seen.append(name)
            name, ratio, offset = further.of, ratio * further.ratio, offset + ratio * further.offset
        if name in seen:
            got = f"a joint that mimics itself, by {', '.join(seen)}"
            file.refuse(joint.mimic.line, place, got, "another joint", "One of them has to move on its own.")
        elif name not in file.joints or file.joints[name].kind in (FIXED, *COMPOSED):
            hint = f"{joint.name} moves on its own. " + advice(
                name, [entry.name for entry in file.joints.values() if entry.kind in URDF_KINDS]
            )
            file.warn(joint.mimic.line, place, f"a mimic of {name!a}", "a joint of one variable in this file", hint)
        elif joint.kind in COMPOSED:
            file.refuse(
                joint.mimic.line, place, f"a mimic of a {joint.kind} joint", "a joint of one variable", "Take it out."
            )
        else:
            result[joint.name] = (name, ratio, offset)
    return result


def _tree(
    file: UrdfFile,
    order: Sequence[UrdfJoint],
    couplings: dict[str, tuple[str, float, float]],
    base: Base,
    inertias: Inertias,
) -> Tree:
    root = next(name for name in file.links if all(joint.child != name for joint in order))
    growing, place = GrowingTree(), (BASE, HERE)
    growing.lines = {link.name: (link.line, f"link {link.name}") for link in file.links.values()}
    growing.lines |= {joint.name: (joint.line, f"joint {joint.name}") for joint in file.joints.values()}
    if base == "floating":
        place = growing.joints(place, FLOATING, "floating", np.eye(3), root)
    growing.bodies[root] = place
    growing.load(place, _inertia(file.links[root], place[1]))
    gears = {}
    for joint in order:
        place = _joined(file, growing, joint, couplings)
        growing.bodies[joint.child] = place
        growing.load(place, _inertia(file.links[joint.child], place[1]))
        gear = joint.gear.merged(file.gears.get(joint.name, urdf_file.Gear()))
        if gear.rotor and joint.kind in URDF_KINDS:
            gears[joint.name] = (gear.rotor, 1.0 if gear.ratio is None else gear.ratio)
    if base == "fixed":
        _tell_root(file, growing, root)
    follow = tuple(
        Coupling(link.joint, *couplings[link.joint][:2]) for link in growing.links if link.joint in couplings
    )
    tree = Tree(plain_name(file.name), (), {}, (), "imported from URDF", follow, gears=gears)
    return finished(tree, growing, file.problems, file.warnings, inertias)


def _joined(
    file: UrdfFile, growing: GrowingTree, joint: UrdfJoint, couplings: dict[str, tuple[str, float, float]]
) -> Place:
    """Add a joint to the tree unless it is fixed, and return the frame of its child."""
    body, pose = growing.bodies[joint.parent]
    at = body, compose(pose, pose_of_origin(joint.origin))
    if joint.kind == FIXED:
        return at
    if joint.kind in COMPOSED:
        kind = "spherical" if joint.kind == "ball" else joint.kind
        turn = with_z(joint.axis) if kind == "planar" else np.eye(3)
        ends = "three" if kind != "floating" else "six"
        got, hint = f"a {joint.kind} joint", f"It became {ends} joints, {joint.name}_x or {joint.name}_yaw and so on."
        file.warn(joint.line, f"joint {joint.name}", got, "joints of one variable", hint)
        return growing.joints(at, joint.name, kind, turn, joint.child)
    kind = URDF_KINDS[joint.kind]
    if joint.name in couplings and (offset := couplings[joint.name][2]):
        at = body, compose(at[1], moved(kind, joint.axis, offset))
        hint = f"Its variable counts from there: it is {offset:g} less than in the file."
        file.warn(joint.line, f"joint {joint.name}", f"a mimic with offset {offset:g}", "no offset", hint)
        growing.ratings.append(joint.rating.shifted(offset))
    else:
        growing.ratings.append(joint.rating)
    gear = joint.gear.merged(file.gears.get(joint.name, urdf_file.Gear()))
    armature = (gear.rotor or 0.0) * (1.0 if gear.ratio is None else gear.ratio) ** 2
    return growing.joint(at, joint.name, kind, joint.axis, joint.child, armature)


def _tell_root(file: UrdfFile, growing: GrowingTree, root: str) -> None:
    """Warn that a base with mass stands still, as it may have been meant to move."""
    mass = sum(file.links[name].mass for name, (body, _) in growing.bodies.items() if body == BASE)
    if mass > 0:
        hint = "It stands still, and its mass does not matter; --base floating gives it six joints."
        file.warn(file.links[root].line, f"link {root}", f"a root of {mass:g} kg", "a base that stands still", hint)


def _inertia(link: UrdfLink, at: Pose) -> Inertia:
    """Return the inertia of a URDF link whose frame is `at` a pose in its body."""
    if not link.mass and not any(link.tensor):
        return point(0.0)
    rotation, centre = compose(at, pose_of_origin(link.origin))
    xx, yy, zz, xy, xz, yz = link.tensor
    tensor = rotation @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ rotation.T
    return Inertia(link.mass, vector(centre), rows(0.5 * (tensor + tensor.T)))
