"""Loops and couplings that URDF files have beside their tree, in the extensions of other programs.

`loop_joint` (Drake, Isaac Sim) and `loop` (URDF+) join frames of two links; a `joint` of SDF inside `gazebo` joins two
links at their poses where all variables are zero. `coupling` (URDF+) lets the joint of one link follow the joint of
another link.
Source: Chignoli et al. 2024, URDF+.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from robots.formats import sdf_file
from robots.formats.closing import ClosingJoint, between
from robots.formats.poses import HERE, Pose, compose, frame_of, pose_of, with_z
from robots.formats.tree import Tree
from robots.formats.urdf_file import ElementReader, UrdfFile, advice, pose_of_origin
from robots.formats.xml_tree import Element, ImportedError
from robots.model import Coupling
from robots.types import BASE, JointKind

KINDS: Mapping[str, JointKind] = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "spherical": "spherical",
    "ball": "spherical",
}
"""Kinds of joints that close loops, by their types in URDF."""

_ENDS = {"loop_joint": ("link1", "link2"), "loop": ("predecessor", "successor")}


def with_loops(tree: Tree, root: Element) -> Tree:
    """Return the tree of a file with the loops and couplings that stand beside it. Raises ImportedError."""
    file = UrdfFile()
    loops = [loop for tag in _ENDS for at in root.all(tag) if (loop := _loop(file, at, tree)) is not None]
    loops += _of_gazebo(file, root, tree)
    couplings = [entry for at in root.all("coupling") if (entry := _coupling(file, at, root, tree)) is not None]
    names = [*tree.joints, *(loop.joint for loop in loops)]
    for loop in loops:
        if names.count(loop.joint) > 1:
            file.refuse(0, f"loop {loop.joint}", f"joint {loop.joint} again", "a name for each joint", "Rename it.")
    if file.problems:
        raise ImportedError(file.problems)
    whole = replace(tree, loops=(*tree.loops, *loops), couplings=(*tree.couplings, *couplings))
    return replace(whole, driven=_with_transmissions(whole, root)) if loops else whole


def _with_transmissions(tree: Tree, root: Element) -> tuple[str, ...] | None:
    """Return the joints of a tree with loops that transmissions move; None where the file has none."""
    driven = {joint.attributes.get("name") for drive in root.all("transmission") for joint in drive.all("joint")}
    return tuple(name for name in tree.free if name in driven) or None


def _loop(file: UrdfFile, at: Element, tree: Tree) -> ClosingJoint | None:
    """Return the joint that closes a loop between frames of two links."""
    reader, kind = ElementReader(file, at), at.attributes.get("type", "")
    if not reader.named(None):
        return None
    if kind not in KINDS:
        reader.refuse(at, f"type {kind[:60]!a}", f"one of {', '.join(KINDS)}", "Write it in a file of loops: --loops.")
        return None
    ends = [_end(reader, at, tag, tree) for tag in _ENDS[at.tag]]
    turn: Pose = HERE
    if KINDS[kind] in ("revolute", "prismatic"):
        turn = with_z(reader.axis(kind)), HERE[1]
    if len(joined := [end for end in ends if end is not None]) < 2:
        return None
    (a, pose_a), (b, pose_b) = joined
    frame_a, frame_b = (frame_of(compose(pose, turn)) for pose in (pose_a, pose_b))
    return ClosingJoint(reader.name, KINDS[kind], a, frame_a, b, frame_b)


def _end(reader: ElementReader, at: Element, tag: str, tree: Tree) -> tuple[str, Pose] | None:
    """Return the link of an end of a loop, and the frame of the loop in it."""
    end = at.first(tag)
    if end is None or not (link := end.attributes.get("link")):
        reader.refuse(end or at, f"no {tag}", f'<{tag} link="...">', "Add it.")
        return None
    if link not in tree.bodies:
        reader.refuse(end, f"link {link!a}", "a link of this file", advice(link, tree.bodies))
        return None
    origin = reader.pose(end) if at.tag == "loop_joint" else reader.origin(end)
    return link, pose_of_origin(origin)


def _coupling(file: UrdfFile, at: Element, root: Element, tree: Tree) -> Coupling | None:
    """Return a coupling of two joints; the file names the child links of these joints."""
    reader = ElementReader(file, at)
    above = {end.attributes.get("link"): joint for joint in root.all("joint") for end in joint.all("child")}
    ends = [_end(reader, at, tag, tree) for tag in ("predecessor", "successor")]
    if any(end is None for end in ends):
        return None
    joints = [above.get(end[0]) for end in ends if end is not None]
    names = [joint.attributes.get("name", "") if joint is not None else "" for joint in joints]
    parents = {joint.first("parent").attributes.get("link") for joint in joints if joint is not None}  # type: ignore[union-attr]
    if len(parents) != 1 or not set(names) <= set(tree.free) or names[0] == names[1]:
        hint = "Write it as a coupling, in a robot file."
        reader.refuse(at, f"a coupling of joints {names!a}", "two free joints on one link", hint)
        return None
    ratio = at.first("ratio")
    return Coupling(names[1], names[0], 1.0 if ratio is None else reader.number(ratio, "value"))


def _of_gazebo(file: UrdfFile, root: Element, tree: Tree) -> Iterator[ClosingJoint]:
    """Yield joints of SDF that a URDF file hands to Gazebo, between links of its tree."""
    reading, poses = sdf_file.SdfModel((1, 7)), _poses(tree)
    of_gazebo = {link.attributes.get("name", "") for at in root.all("gazebo") for link in at.all("link")}
    reading.links = dict.fromkeys(tree.bodies, root)
    reading.frames.stated = {name: ("__model__", pose, 0) for name, pose in poses.items()}
    elements = [joint for at in root.all("gazebo") for joint in at.all("joint") if not _joins(joint, of_gazebo)]
    for at in elements:
        name, end = at.attributes.get("name", ""), at.first("child")
        frame, pose = reading.pose(at, f"joint {name}", "" if end is None else end.text.strip())
        reading.frames.stated[name] = frame, pose, at.line
    joints = [joint for at in elements if at.attributes.get("name") and (joint := sdf_file.read_joint(reading, at, ""))]
    file.problems += reading.problems
    for at in elements:
        if not at.attributes.get("name"):
            file.refuse(at.line, "gazebo", "a joint without name", "a name", "Add it.")
    for joint in joints if not file.problems else ():
        if joint.mimic is not None:
            hint = "Write it as a coupling, in a robot file."
            file.refuse(joint.line, f"joint {joint.name}", "a mimic of a loop", "a joint", hint)
        bodies, kind = (joint.parent, joint.child), sdf_file.CUTS[joint.kind]
        yield between(joint.name, kind, bodies, (joint.at, joint.axes), poses, joint.pitch)


def _joins(joint: Element, links: Collection[str]) -> bool:
    """Return whether a joint of SDF has one of some links as an end."""
    return any(end.text.strip() in links for tag in ("parent", "child") for end in joint.all(tag))


def _poses(tree: Tree) -> Mapping[str, Pose]:
    """Return the poses of all bodies of a file where all variables are zero."""
    of_links: dict[int, Pose] = {BASE: HERE}
    for k, link in enumerate(tree.links):
        of_links[k] = compose(of_links[link.parent], pose_of(link.placement))
    return {name: compose(of_links[body], pose) for name, (body, pose) in tree.bodies.items()}
