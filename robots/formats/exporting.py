"""Robots as files of other formats: URDF, SDF, and models of MuJoCo.

Frames of links are the frames of the model, so that no number changes except rotations, which become angles or
quaternions. A platform becomes a body on three slides and three hinges without drives; its limbs are joined to it by
closures of loops. Content that a format cannot express is refused: drives of several joints, springs and forces; in
URDF and MuJoCo also screws, and kinds of closures that these formats lack. For MuJoCo, a hinge that closes a loop
becomes two balls on its axis, a body without mass becomes further joints of the next body, and zero masses and moments
become 1e-12 of the largest ones. The robot that is read back has the same motion.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from robots.coupled import ALONG, NAME, over_coordinates
from robots.formats import checks
from robots.formats.inertias import kept_about
from robots.formats.mobility import freedoms_at_home
from robots.formats.poses import HERE, Pose, compose, frame_of, inverse, pose_of, rows, vector
from robots.formats.ratings import Rating
from robots.formats.urdf_file import UNLIMITED
from robots.geometry import joined
from robots.model import Closure, Coupling, Frame, Inertia, Limb, Link, Mechanism
from robots.types import BASE, Number

ROOT = "base_link"
SMALLEST = 2e-14
"""Mass [kg] and moment of inertia [kg m^2] with which MuJoCo accepts a body; it requires more than 1e-14."""

DUST = 1e-12
"""Mass and moments of bodies that have none, relative to the largest ones of the robot, in models of MuJoCo."""

SPAN = 0.1
"""Distance [m] of the two balls that stand for a hinge in a model of MuJoCo."""

_ENTRIES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
_TENSOR = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")


def text(mechanism: Mechanism, name: str, ratings: Collection[Rating], ending: str) -> str:
    """Return the text of a file with an ending of `WRITERS`. Raises ValueError for content that the format lacks."""
    chain = mechanism if mechanism.is_chain else _at_platform(name, mechanism)
    limb = _of_bodies(_renamed(_chain(chain)))
    place = pose_of(chain.instances[0].base)
    lines = WRITERS[ending](limb, name, place, {rating.joint: rating for rating in ratings})
    return "\n".join(lines) + "\n"


def _chain(mechanism: Mechanism) -> Limb:
    """Return the one limb of a chain. Raises ValueError for content that no other format can express."""
    (limb,) = mechanism.limbs
    missing = {
        "drives that move several joints": limb.drives,
        "a posture that resolves joints": limb.posture,
        "forces or springs": limb.forces or limb.springs,
    }
    for content, present in missing.items():
        if present:
            raise ValueError(f"{content}; expected content that other formats can express")
    return limb


def _at_platform(name: str, mechanism: Mechanism) -> Mechanism:
    """Return a robot with a platform as a closed chain; a platform that the limbs let turn freely does not turn."""
    chain = over_coordinates(name, mechanism)
    if freedoms_at_home(mechanism) == len(mechanism.platform.mobility):
        return chain
    (limb,) = chain.limbs
    moving = {f"{NAME}_{ALONG[freedom]}" for freedom in mechanism.platform.mobility}
    still = [joint for joint in limb.coordinates if joint not in moving]
    limb = replace(limb, coordinates=(), independent=())
    for joint in reversed(still):
        limb = _without_joint(limb, limb.index(joint))
    return replace(chain, limbs=(limb,))


def _without_joint(limb: Limb, index: int) -> Limb:
    """Return a limb without a joint that does not move; its body is one with the body before it."""
    link = limb.links[index]

    def body(number: int) -> int:
        return link.parent if number == index else number - int(number > index)

    def frame(number: int, inner: Frame) -> Frame:
        return frame_of(compose(pose_of(link.placement), pose_of(inner))) if number == index else inner

    links = [
        replace(each, parent=body(each.parent), placement=frame(each.parent, each.placement)) for each in limb.links
    ]
    moved = _moved_inertia(link.inertia, pose_of(link.placement))
    if link.parent != BASE:
        outer = links[link.parent]
        links[link.parent] = replace(outer, inertia=joined(outer.inertia, moved) if outer.inertia.mass else moved)
    del links[index]
    loops = tuple(
        replace(cut, a=body(cut.a), b=body(cut.b), frame_a=frame(cut.a, cut.frame_a), frame_b=frame(cut.b, cut.frame_b))
        for cut in limb.loops
    )
    return replace(limb, links=tuple(links), loops=loops)


def _moved_inertia(inertia: Inertia, pose: Pose) -> Inertia:
    """Return an inertia whose frame is at a pose, in the frame around it."""
    turn, tensor = pose[0], np.array(inertia.tensor, dtype=float)
    centre = compose(pose, (np.eye(3), np.array(inertia.centre, dtype=float)))[1]
    return Inertia(inertia.mass, vector(centre), rows(turn @ tensor @ turn.T))


def _of_bodies(limb: Limb) -> Limb:
    """Return a limb with physically possible moments of inertia for bodies that turn about one axis alone."""
    links = list(limb.links)
    for k, link in enumerate(links):
        if checks.counts_about_one_axis(limb, k) and (axis := checks.only_axis(links, k)) is not None:
            tensor = kept_about(link.inertia.tensor, axis)
            links[k] = replace(link, inertia=replace(link.inertia, tensor=tensor))
    return replace(limb, links=tuple(links))


def _renamed(limb: Limb) -> Limb:
    """Return a limb whose bodies are renamed where a joint has their name, since names of frames in SDF are unique."""
    joints = {link.joint for link in limb.links}
    links = (replace(link, body=f"{link.body}_body") if link.body in joints else link for link in limb.links)
    return replace(limb, links=tuple(links))


def _tag(tag: str, content: Collection[str] = (), **attributes: Any) -> str:
    """Return an element in one line."""
    shown = "".join(f" {key.replace('__', ':')}={quoteattr(_shown(value))}" for key, value in attributes.items())
    return f"<{tag}{shown}>{''.join(content)}</{tag}>" if content else f"<{tag}{shown}/>"


def _shown(value: object) -> str:
    """Return a text, or numbers with all their bits."""
    if isinstance(value, str):
        return value
    return " ".join(repr(float(x) + 0.0) for x in np.ravel(np.array(value, dtype=float)))


def _angles(turn: np.ndarray) -> np.ndarray:
    """Return roll, pitch and yaw [rad] of a rotation; roll makes up for the rounding of yaw where pitch is upright."""
    yaw = math.atan2(turn[1, 0], turn[0, 0])
    pitch = math.atan2(-turn[2, 0], math.hypot(turn[0, 0], turn[1, 0]))
    sin, cos = math.sin(yaw), math.cos(yaw)
    roll = math.atan2(sin * turn[0, 2] - cos * turn[1, 2], cos * turn[1, 1] - sin * turn[0, 1])
    return np.array([roll, pitch, yaw])


def _origin(pose: Pose, tag: str = "origin", **attributes: Any) -> str:
    return _tag(tag, xyz=pose[1], rpy=_angles(pose[0]), **attributes)


def _has_inertia(inertia: Inertia) -> bool:
    return bool(float(inertia.mass)) or bool(np.any(np.array(inertia.tensor, dtype=float)))


def _placed(link: Link, base: Pose) -> Pose:
    """Return the frame of a joint in its parent, on the base in the world."""
    pose = pose_of(link.placement)
    return compose(base, pose) if link.parent == BASE else pose


def _urdf(limb: Limb, name: str, base: Pose, ratings: Mapping[str, Rating]) -> Iterator[str]:
    root = next(text for text in (ROOT, f"{name}_{ROOT}") if text not in {link.body for link in limb.links})
    bodies = {BASE: root} | {k: link.body for k, link in enumerate(limb.links)}
    yield '<?xml version="1.0"?>'
    yield f'<robot name={quoteattr(name)} xmlns:drake="https://drake.mit.edu">'
    yield _tag("link", name=root)
    followers = {entry.joint: entry for entry in limb.couplings}
    for link in limb.links:
        yield _tag("link", _urdf_inertial(link.inertia), name=link.body)
        if link.pitch is not None:
            raise ValueError(f"joint {link.joint} is a screw; expected joints that URDF has")
        rating = ratings.get(link.joint, Rating(link.joint))
        parts = [_origin(_placed(link, base)), _tag("parent", link=bodies[link.parent]), _tag("child", link=link.body)]
        parts += [_tag("axis", xyz=link.axis), *_urdf_rating(rating, ranged=link.kind != "revolute")]
        if link.joint in followers:
            entry = _only(limb, followers[link.joint], "URDF")
            parts.append(_tag("mimic", joint=entry.of, multiplier=float(entry.ratio)))
        ranged = link.kind != "revolute" or rating.low is not None
        kind = "continuous" if not ranged else "revolute" if link.kind == "revolute" else link.kind
        yield _tag("joint", parts, name=link.joint, type=kind)
    yield from (_urdf_loop(cut, bodies, base) for cut in limb.loops)
    for link in limb.links:
        if link.joint in limb.actuated or float(link.armature):
            yield _transmission(link)
    yield "</robot>"


def _urdf_inertial(inertia: Inertia) -> list[str]:
    if not _has_inertia(inertia):
        return []
    tensor = np.array(inertia.tensor, dtype=float)
    moments = {key: tensor[place] for key, place in zip(_TENSOR, _ENTRIES, strict=True)}
    parts = [_origin((np.eye(3), np.array(inertia.centre, dtype=float))), _tag("mass", value=float(inertia.mass))]
    return [_tag("inertial", [*parts, _tag("inertia", **moments)])]


def _urdf_rating(rating: Rating, *, ranged: bool) -> list[str]:
    """Return limits and friction of a joint; a missing but required range becomes unlimited."""
    result = []
    if rating.low is not None or ranged or rating.force or rating.velocity:
        limits: dict[str, Any] = {"lower": -UNLIMITED, "upper": UNLIMITED} if ranged else {}
        limits |= {} if rating.low is None or rating.high is None else {"lower": rating.low, "upper": rating.high}
        result.append(_tag("limit", **limits, effort=rating.force or 0.0, velocity=rating.velocity or 0.0))
    if rating.viscous or rating.coulomb:
        result.append(_tag("dynamics", damping=rating.viscous or 0.0, friction=rating.coulomb or 0.0))
    return result


_URDF_CUTS = {"revolute": "revolute", "prismatic": "prismatic", "fixed": "fixed", "spherical": "spherical"}


def _urdf_loop(cut: Closure, bodies: Mapping[int, str], base: Pose) -> str:
    if cut.kind not in _URDF_CUTS:
        raise ValueError(f"a {cut.kind} joint closes a loop; expected one of {', '.join(_URDF_CUTS)}")
    ends = [
        _origin(_side(body, frame, base), f"link{k}", link=bodies[body])
        for k, (body, frame) in enumerate(((cut.a, cut.frame_a), (cut.b, cut.frame_b)), start=1)
    ]
    return _tag("loop_joint", [*ends, _tag("axis", xyz=(0, 0, 1))], name=cut.joint, type=_URDF_CUTS[cut.kind])


def _side(body: int, frame: Frame, base: Pose) -> Pose:
    return compose(base, pose_of(frame)) if body == BASE else pose_of(frame)


def _transmission(link: Link) -> str:
    rotor = _tag("drake:rotor_inertia", value=float(link.armature)), _tag("drake:gear_ratio", value=1.0)
    parts = ["<type>transmission_interface/SimpleTransmission</type>", _tag("joint", name=link.joint)]
    actuator = _tag("actuator", rotor if float(link.armature) else (), name=f"{link.joint}_motor")
    return _tag("transmission", [*parts, actuator], name=f"{link.joint}_transmission")


def _quaternion(turn: np.ndarray) -> np.ndarray:
    """Return the quaternion (w, x, y, z) of a rotation, by its largest component."""
    x, y, z = turn[0, 0], turn[1, 1], turn[2, 2]
    squares = np.array([1 + x + y + z, 1 + x - y - z, 1 - x + y - z, 1 - x - y + z])
    a, b, c = turn[2, 1], turn[0, 2], turn[1, 0]
    d, e, f = turn[1, 2], turn[2, 0], turn[0, 1]
    rows = np.array(
        [
            [squares[0], a - d, b - e, c - f],
            [a - d, squares[1], c + f, b + e],
            [b - e, c + f, squares[2], a + d],
            [c - f, b + e, a + d, squares[3]],
        ]
    )
    row: np.ndarray = rows[int(np.argmax(squares))]
    return row / np.linalg.norm(row)


def _only(limb: Limb, entry: Coupling, form: str) -> Coupling:
    """Return the coupling of a joint that follows one other joint. Raises ValueError where it follows several."""
    if sum(each.joint == entry.joint for each in limb.couplings) > 1:
        raise ValueError(f"joint {entry.joint} follows several joints; expected one, which {form} has; MJCF has more")
    return entry


def _mjcf(limb: Limb, name: str, base: Pose, ratings: Mapping[str, Rating]) -> Iterator[str]:
    yield f"<mujoco model={quoteattr(name)}>"
    yield '<compiler angle="radian" autolimits="true"/>'
    yield "<worldbody>"
    yield from (
        line for k, link in enumerate(limb.links) if link.parent == BASE for line in _body(limb, k, base, ratings)
    )
    yield "</worldbody>"
    bodies = {BASE: "world"} | {k: link.body for k, link in enumerate(limb.links)}
    equalities = [line for cut in limb.loops for line in _equalities(cut, bodies, base)]
    tendons: list[str] = []
    for joint, leaders in limb.followers.items():
        follower, of = limb.joints[joint], [(limb.joints[leader], float(ratio)) for leader, ratio in leaders]
        if len(of) == 1:
            law = (0.0, of[0][1], 0.0, 0.0, 0.0)
            equalities.append(_tag("joint", joint1=follower, joint2=of[0][0], polycoef=law))
            continue
        parts = [_tag("joint", joint=name, coef=share) for name, share in ((follower, -1.0), *of)]
        tendons.append(_tag("fixed", parts, name=f"{follower}_follows"))
        equalities.append(_tag("tendon", tendon1=f"{follower}_follows", polycoef=(0.0,) * 5))
    yield from (line for line in ("<tendon>", *tendons, "</tendon>") if tendons)
    yield from (line for line in ("<equality>", *equalities, "</equality>") if equalities)
    yield "<actuator>"
    yield from (_tag("motor", name=f"{joint}_motor", joint=joint) for joint in limb.actuated)
    yield "</actuator>"
    yield "</mujoco>"


def _body(limb: Limb, index: int, base: Pose, ratings: Mapping[str, Rating]) -> Iterator[str]:
    """Yield the elements of a body and of the bodies on it; of bodies without mass, joints of the next one."""
    run = [index]
    while (after := _only_child(limb, run[-1])) is not None:
        run.append(after)
    links = [limb.links[k] for k in run]
    link, poses = links[-1], [HERE]
    for outer in links[:0:-1]:
        poses.insert(0, compose(pose_of(outer.placement), poses[0]))
    turn, position = compose(_placed(links[0], base), poses[0])
    at = {"name": link.body, "pos": position, "quat": _quaternion(turn)}
    yield _tag("body", **at).removesuffix("/>") + ">"
    for each, below in zip(links, poses, strict=True):
        yield _mjcf_joint(each, inverse(below), ratings)
    mass, moments = _heavy_enough(limb, link.inertia)
    yield _tag("inertial", pos=link.inertia.centre, mass=mass, fullinertia=moments)
    for k, child in enumerate(limb.links):
        if child.parent == run[-1]:
            yield from _body(limb, k, HERE, ratings)
    yield "</body>"


def _heavy_enough(limb: Limb, inertia: Inertia) -> tuple[float, list[float]]:
    """Return mass and moments of a body, increased to the least values that MuJoCo accepts."""
    tensors = [np.array(link.inertia.tensor, dtype=float) for link in limb.links]
    tensor = np.array(inertia.tensor, dtype=float)
    mass = max(float(inertia.mass), SMALLEST, DUST * max(float(link.inertia.mass) for link in limb.links))
    least = max(SMALLEST, DUST * max(float(np.abs(entry).max()) for entry in tensors))
    if np.linalg.eigvalsh(tensor)[0] < least:
        tensor = tensor + least * np.eye(3)
    return mass, [float(tensor[place]) for place in _ENTRIES]


def _only_child(limb: Limb, index: int) -> int | None:
    """Return the only child of a body without mass and without loops; None for other bodies."""
    if _has_inertia(limb.links[index].inertia) or any(index in (cut.a, cut.b) for cut in limb.loops):
        return None
    children = [k for k, link in enumerate(limb.links) if link.parent == index]
    return children[0] if len(children) == 1 else None


def _mjcf_joint(link: Link, at: Pose, ratings: Mapping[str, Rating]) -> str:
    """Return a joint whose frame is at a pose in its body."""
    if link.pitch is not None:
        raise ValueError(f"joint {link.joint} is a screw; expected joints that MuJoCo has")
    rating, kind = ratings.get(link.joint, Rating(link.joint)), "hinge" if link.kind == "revolute" else "slide"
    more: dict[str, Number] = {"armature": link.armature} if float(link.armature) else {}
    more |= {"damping": rating.viscous} if rating.viscous else {}
    more |= {"frictionloss": rating.coulomb} if rating.coulomb else {}
    limits: dict[str, Any] = {} if rating.low is None or rating.high is None else {"range": (rating.low, rating.high)}
    forces: dict[str, Any] = {"actuatorfrcrange": (-rating.force, rating.force)} if rating.force else {}
    axis, place = at[0] @ np.array(link.axis, dtype=float), {"pos": at[1]} if np.any(at[1]) else {}
    return _tag("joint", name=link.joint, type=kind, **place, axis=axis, **more, **limits, **forces)


def _equalities(cut: Closure, bodies: Mapping[int, str], base: Pose) -> Iterator[str]:
    """Yield a closure as a weld, or as balls between points: one of a ball, two on the axis of a hinge."""
    if cut.kind == "fixed":
        yield _weld(cut, bodies, base)
        return
    if cut.kind not in ("spherical", "revolute"):
        raise ValueError(f"a {cut.kind} joint closes a loop; expected a ball, a hinge or a weld, which MuJoCo has")
    turn, at = _side(cut.a, cut.frame_a, base)
    ends = {"body1": bodies[cut.a], "body2": bodies[cut.b]}
    yield _tag("connect", name=cut.joint, anchor=at, **ends)
    if cut.kind == "revolute":
        yield _tag("connect", name=f"{cut.joint}_axis", anchor=at + SPAN * turn[:, 2], **ends)


def _weld(cut: Closure, bodies: Mapping[int, str], base: Pose) -> str:
    (turn_a, at_a), (turn_b, at_b) = _side(cut.a, cut.frame_a, base), _side(cut.b, cut.frame_b, base)
    ends = {"body1": bodies[cut.a], "body2": bodies[cut.b]}
    turn = turn_a @ turn_b.T
    pose = (*(at_a - turn @ at_b), *_quaternion(turn))
    return _tag("weld", name=cut.joint, anchor=at_b, relpose=pose, **ends)


_SDF_CUTS = {
    "revolute": "revolute",
    "prismatic": "prismatic",
    "screw": "screw",
    "fixed": "fixed",
    "spherical": "ball",
    "universal": "universal",
}


def _sdf(limb: Limb, name: str, base: Pose, ratings: Mapping[str, Rating]) -> Iterator[str]:
    yield '<sdf version="1.11" xmlns:drake="https://drake.mit.edu">'
    yield f"<model name={quoteattr(name)}>"
    bodies = {BASE: "world"} | {k: link.body for k, link in enumerate(limb.links)}
    followers = {entry.joint: entry for entry in limb.couplings}
    for link in limb.links:
        yield _tag("link", [_sdf_pose(HERE, link.joint), _sdf_inertial(link.inertia)], name=link.body)
        idle = bool(limb.loops) and link.joint not in limb.actuated
        axis = [_sdf_text("xyz", link.axis), *_sdf_rating(ratings.get(link.joint, Rating(link.joint)), idle)]
        if link.joint in followers:
            entry = _only(limb, followers[link.joint], "SDF")
            law = [
                _sdf_text(key, value) for key, value in (("multiplier", entry.ratio), ("offset", 0), ("reference", 0))
            ]
            axis.append(_tag("mimic", law, joint=entry.of))
        parts = [_sdf_pose(_placed(link, base), bodies[link.parent]), _tag("axis", axis)]
        parts += _sdf_pitch(link.pitch)
        parts += [_sdf_text("drake:rotor_inertia", link.armature)] if float(link.armature) else []
        parts += [_sdf_text("parent", bodies[link.parent]), _sdf_text("child", link.body)]
        kind = "continuous" if link.kind == "revolute" and not _ranged(ratings.get(link.joint)) else link.kind
        yield _tag("joint", parts, name=link.joint, type=kind)
    for cut in limb.loops:
        yield _sdf_loop(cut, bodies, base)
    yield "</model>"
    yield "</sdf>"


def _ranged(rating: Rating | None) -> bool:
    return rating is not None and rating.low is not None


def _sdf_text(tag: str, value: object) -> str:
    return f"<{tag}>{escape(_shown(value))}</{tag}>"


def _sdf_pose(pose: Pose, frame: str) -> str:
    inside = {"relative_to": "__model__" if frame == "world" else frame} if frame else {}
    return _tag("pose", [_shown((*pose[1], *_angles(pose[0])))], **inside)


def _sdf_inertial(inertia: Inertia) -> str:
    tensor = np.array(inertia.tensor, dtype=float)
    moments = [_sdf_text(key, tensor[place]) for key, place in zip(_TENSOR, _ENTRIES, strict=True)]
    pose = _sdf_pose((np.eye(3), np.array(inertia.centre, dtype=float)), "")
    return _tag("inertial", [pose, _sdf_text("mass", inertia.mass), _tag("inertia", moments)])


def _sdf_rating(rating: Rating, idle: bool) -> list[str]:
    """Return limits and friction; an `idle` joint, which nothing drives, has an effort of zero."""
    force = 0.0 if idle else rating.force
    limits = {"lower": rating.low, "upper": rating.high, "effort": force, "velocity": rating.velocity}
    friction = {"damping": rating.viscous, "friction": rating.coulomb}
    groups = (("limit", limits), ("dynamics", friction))
    said = [(tag, [_sdf_text(key, x) for key, x in row.items() if x is not None]) for tag, row in groups]
    return [_tag(tag, parts) for tag, parts in said if parts]


def _sdf_pitch(pitch: Number | None) -> list[str]:
    return [] if pitch is None else [_sdf_text("screw_thread_pitch", float(pitch) * 2.0 * math.pi)]


def _sdf_loop(cut: Closure, bodies: Mapping[int, str], base: Pose) -> str:
    """Return a closure as a joint at its frame on its second body, which the first one meets."""
    if cut.kind not in _SDF_CUTS:
        raise ValueError(f"a {cut.kind} joint closes a loop; expected one of {', '.join(_SDF_CUTS)}")
    names = {"universal": ((1, 0, 0), (0, 1, 0))}.get(cut.kind, ((0, 0, 1),))
    axes = [_tag(tag, [_sdf_text("xyz", axis)]) for tag, axis in zip(("axis", "axis2"), names, strict=False)]
    axes = [] if cut.kind in ("fixed", "spherical") else axes
    at = _sdf_pose(_side(cut.b, cut.frame_b, base), bodies[cut.b])
    ends = [_sdf_text("parent", bodies[cut.a]), _sdf_text("child", bodies[cut.b])]
    return _tag("joint", [at, *ends, *axes, *_sdf_pitch(cut.pitch)], name=cut.joint, type=_SDF_CUTS[cut.kind])


WRITERS: Mapping[str, Callable[[Limb, str, Pose, Mapping[str, Rating]], Iterator[str]]] = {
    ".urdf": _urdf,
    ".sdf": _sdf,
    ".xml": _mjcf,
}
"""Writers of formats by the endings of their files."""
