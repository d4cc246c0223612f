"""Links, joints and frames of an SDF file as records, by the conventions of its version; `sdf` makes a tree of them.

Names of a single model have no prefix; in a world with several models or with joints they are `model::name`. Source:
sdformat.org, specification 1.4 to 1.12.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping

import numpy as np

from robots.data_classes import dataclass, field, replace
from robots.formats import effects, elements
from robots.formats.poses import AS_RADIANS, HERE, Pose, compose, in_degrees, inverse, of_angles, of_quaternion
from robots.formats.ratings import Rating
from robots.formats.sdf_words import unclear_words
from robots.formats.urdf_file import UNLIMITED
from robots.formats.xml_tree import Element, FormatError, ImportedError, is_true
from robots.parameter_errors import nearest
from robots.types import JointKind

KINDS: Mapping[str, JointKind] = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "screw": "screw",
}
FIXED, BALL = "fixed", "ball"
TWO_AXES = ("universal", "revolute2")
ALL_KINDS = (*KINDS, FIXED, BALL, *TWO_AXES)

CUTS: Mapping[str, JointKind] = {**KINDS, FIXED: "fixed", BALL: "spherical", **dict.fromkeys(TWO_AXES, "universal")}
"""Kinds of joints that close loops."""

WORLD = "world"
DRAKE = "drake:"
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


@dataclass(frozen=True)
class SdfMimic:
    """The joint that another follows, by its ratio, and the position of the follower where that joint is at zero."""

    of: str
    ratio: float
    offset: float = 0.0


@dataclass(frozen=True)
class SdfJoint:
    """A joint: parent and child, pose in the model, axes there, and its ratings."""

    name: str
    line: int
    kind: str
    parent: str
    child: str
    at: Pose
    axes: tuple[np.ndarray, ...]
    ratings: tuple[Rating, ...]
    pitch: float | None = None
    armature: float = 0.0
    mimic: SdfMimic | None = None
    idle: bool = False
    """True if its effort is limited to zero: it is not driven."""


@dataclass
class Frames:
    """Named frames of a model: each is a pose in another frame, resolved on first use."""

    model: Pose = HERE
    stated: dict[str, tuple[str, Pose, int]] = field(default_factory=dict)

    resolved: dict[str, Pose] = field(default_factory=dict, repr=False)
    """Poses in the model that have been computed."""

    def pose(self, name: str) -> Pose:
        """Return the pose in the model. Raises KeyError for an unknown frame, ValueError for one that needs itself."""
        chain: dict[str, Pose] = {}
        while name in self.stated and name not in self.resolved and name != "__model__":
            if name in chain:
                raise ValueError(name)
            chain[name] = self.stated[name][1]
            name = self.stated[name][0]
        result = self._outermost(name)
        for inner, pose in reversed(chain.items()):
            result = self.resolved[inner] = compose(result, pose)
        return result

    def _outermost(self, name: str) -> Pose:
        if name == "__model__":
            return self.model
        return HERE if name == WORLD and name not in self.stated else self.resolved[name]


@dataclass
class SdfModel:
    """A model that is read: its frames, links and joints, with problems and warnings."""

    version: tuple[int, ...]
    frames: Frames = field(default_factory=Frames)
    links: dict[str, Element] = field(default_factory=dict)
    elements: list[tuple[str, Element]] = field(default_factory=list)
    joints: list[SdfJoint] = field(default_factory=list)
    problems: list[FormatError] = field(default_factory=list)
    warnings: list[FormatError] = field(default_factory=list)
    bodies: dict[str, str] = field(default_factory=dict)
    """Frames and models by name, and the frame or link that each is attached to."""

    standing: set[str] = field(default_factory=set)
    """Links of static models."""

    joint_frames: dict[str, str] = field(default_factory=dict)
    """Names of the frames of joints that share their name with a link, a frame or a model."""

    placed: list[tuple[str, str, Element]] = field(default_factory=list)
    """Models that are placed by a frame inside them: model, frame, element; outer models first."""

    def refuse(self, at: Element, place: str, got: str, expected: str, hint: str = "") -> None:
        """Add a problem at the line of an element."""
        self.problems.append(FormatError(at.line, place, got, expected, hint))

    def warn(self, at: Element, place: str, got: str, expected: str, hint: str = "") -> None:
        """Add a warning there."""
        self.warnings.append(FormatError(at.line, place, got, expected, hint))

    def numbers(self, at: Element | None, place: str, count: int, default: tuple[float, ...]) -> tuple[float, ...]:
        """Return the numbers in the text of an element."""
        if at is None or not at.text.strip():
            return default
        parts = at.text.split()
        if (plain := [part.strip("\"'") for part in parts]) != parts:
            hint = "They are passed over, as libsdformat does."
            self.warn(at, place, f"quotes in {at.tag} {at.text[:60]!a}", "numbers alone", hint)
            parts = plain
        if len(parts) != count or not all(_NUMBER.fullmatch(part) for part in parts):
            hint = "Use a decimal point, not a comma." if "," in at.text else ""
            rule = "a finite number" if count == 1 else f"{count} finite numbers"
            self.refuse(at, place, f"{at.tag} {at.text[:60]!a}", rule, hint)
            return default
        return tuple(map(float, parts))

    def finite(self, parent: Element | None, tag: str, place: str, default: float = 0.0) -> float:
        """Return the number in a child."""
        at = parent.first(tag) if parent is not None else None
        return self.numbers(at, place, 1, (default,))[0]

    def number(self, parent: Element | None, tag: str, place: str, default: float = 0.0) -> float:
        """Return the number in a child, of a limit or rating; an infinite one where it says so."""
        at = parent.first(tag) if parent is not None else None
        if at is not None and re.fullmatch(r"[-+]?inf(inity)?", at.text.strip(), re.IGNORECASE):
            return -math.inf if at.text.strip().startswith("-") else math.inf
        return self.numbers(at, place, 1, (default,))[0]

    def pose(self, parent: Element, place: str, frame: str) -> tuple[str, Pose]:
        """Return the frame that a pose is in, `frame` where it names none, and the pose there."""
        at = parent.first("pose")
        if at is None:
            return frame, HERE
        outer = at.attributes.get("relative_to", at.attributes.get("frame", "")) or frame
        if at.attributes.get("rotation_format", "euler_rpy") == "quat_xyzw":
            *position, x, y, z, w = self.numbers(at, place, 7, (0.0,) * 6 + (1.0,))
            if not any((x, y, z, w)):
                self.refuse(at, place, "a quaternion 0 0 0 0", "one of length 1")
                return outer, HERE
            return outer, (of_quaternion((w, x, y, z)), np.array(position))
        values = np.array(self.numbers(at, place, 6, (0.0,) * 6))
        if is_true(at.attributes.get("degrees", "")):
            values[3:] = np.deg2rad(values[3:])
        elif in_degrees(values[3:]):
            hint = f'{AS_RADIANS} <pose degrees="true"> has degrees.'
            self.warn(at, place, f"a pose with angles {values[3]:g}, {values[4]:g}, {values[5]:g}", "a turn", hint)
        return outer, (of_angles(values[3:]), values[:3])

    def body(self, name: str) -> str:
        """Return the link that a frame, a model or a link belongs to, by name; the name itself if there is no such."""
        seen = set[str]()
        while name not in self.links and name in self.bodies and name not in seen:
            seen.add(name)
            name = self.bodies[name]
        return name


def read(root: Element, leave_out: Collection[str] = ()) -> tuple[SdfModel, Element]:
    """Return the models in the root of an SDF file, and its model or world. Raises ImportedError."""
    version = tuple(int(part) for part in re.findall(r"\d+", root.attributes.get("version", "1.6"))[:2])
    reading = SdfModel(version)
    whole = _whole(reading, root)
    if whole is not None:
        problems, warnings = effects.judged([*effects.found(root, effects.SDF)], leave_out)
        reading.problems += [*problems, *unclear_words(root)]
        reading.warnings += [*warnings, *elements.unread(root, "SDF")]
        _tell_gravity(reading, root)
        reading.frames.model = HERE if whole.tag == WORLD else reading.pose(whole, "model", WORLD)[1]
        _collect(reading, whole, "")
        _place_models(reading)
        reading.joints = [
            joint for scope, at in reading.elements if (joint := read_joint(reading, at, scope)) is not None
        ]
    if reading.problems or whole is None:
        raise ImportedError(reading.problems)
    return reading, whole


def _whole(reading: SdfModel, root: Element) -> Element | None:
    """Return the element to read: the only model with joints, or the world with several models and their joints."""
    worlds = [*root.all(WORLD)]
    models = [*root.all("model"), *(model for world in worlds for model in world.all("model"))]
    moving = [model for model in models if _has_joint(model)]
    if not models and root.first("include") is None and all(world.first("include") is None for world in worlds):
        reading.refuse(root, "", "no model", "one model with links and joints")
        return None
    if len(worlds) > 1:
        reading.refuse(worlds[1], "", "several worlds", "one", "Make a file of each.")
        return None
    world = worlds[0] if worlds else Element(WORLD, root.line, root.column, {}, [*root.children])
    among = any(True for tag in ("joint", "include") for _ in world.all(tag))  # the include of a file without folders
    if among or len(moving) > 1 or any(_placed(model) for model in moving):
        name = world.attributes.get("name") or models[0].attributes.get("name", "robot") if models else "robot"
        return replace(world, attributes={**world.attributes, "name": name})
    whole = (moving or [model for model in models if not _stands(model)] or models)[0]
    for model in models:
        if model is not whole:
            name = model.attributes.get("name", "?")
            reading.warn(model, f"model {name}", "a model without joints", "one model", "It is left out.")
    return whole


def _has_joint(model: Element) -> bool:
    return any(True for _ in model.all("joint")) or any(_has_joint(inner) for inner in model.all("model"))


def _placed(model: Element) -> bool:
    """Return whether a model stands in a frame of its world."""
    pose = model.first("pose")
    return pose is not None and (pose.attributes.get("relative_to") or pose.attributes.get("frame") or WORLD) != WORLD


def _tell_gravity(reading: SdfModel, root: Element) -> None:
    """Add a warning that the gravity of a world is not part of the robot."""
    for world in root.all(WORLD):
        at = world.first("gravity")
        if at is not None:
            reading.warnings += effects.gravity(at.line, WORLD, reading.numbers(at, WORLD, 3, effects.EARTH))


def _collect(reading: SdfModel, model: Element, scope: str) -> None:
    """Collect links, joints and frames of a model or world and of models inside it, by names with `::` between."""
    inner = "__model__" if not scope else scope.removesuffix("::")
    _attach_model(reading, model, scope, inner)
    taken = {child.attributes.get("name") for child in model.children if child.tag in ("link", "frame", "model")}
    for child in model.children:
        name = scope + child.attributes.get("name", "")
        place = f"{child.tag} {name}"
        if child.tag in ("link", "joint", "frame", "model") and not child.attributes.get("name"):
            reading.refuse(child, place.strip(), "no name", "a name", "Add it.")
        elif child.tag == "link":
            if name in reading.links:
                reading.refuse(child, place, f"{name} again", "a name for each link", "Rename one.")
            reading.links.setdefault(name, child)
            _state(reading, child, scope, inner)
        elif child.tag == "joint":
            _collect_joint(reading, child, scope, taken)
        elif child.tag == "frame":
            attached = child.attributes.get("attached_to", "") or inner
            reading.bodies[name] = _scoped(reading, scope, attached)
            _state(reading, child, scope, attached)
        elif child.tag == "model":
            _state(reading, child, scope, inner)
            _collect(reading, child, f"{name}::")
        elif child.tag == "include":
            hint = "Import the file by its name, so that files beside it can be found."
            reading.refuse(child, "", "an <include>", "a file that has all of the model", hint)


def _collect_joint(reading: SdfModel, joint: Element, scope: str, taken: Collection[str | None]) -> None:
    """Note a joint and its frame, which has another name than the joint if a link, frame or model has that one."""
    reading.elements.append((scope, joint))
    end, name = joint.first("child"), scope + joint.attributes["name"]
    frame, pose = reading.pose(joint, f"joint {name}", "")
    body = _scoped(reading, scope, end.text.strip() if end is not None else "")
    if joint.attributes["name"] in taken:
        reading.joint_frames[name] = name = f"{name}_joint_frame"
    reading.frames.stated[name] = _scoped(reading, scope, frame) if frame else body, pose, joint.line
    reading.bodies[name] = body


def _place_models(reading: SdfModel) -> None:
    """Put models in the place where another of their frames has the pose that they state."""
    for model, frame, at in reversed(reading.placed):
        stated = reading.frames.stated
        try:
            inner = Frames(HERE, {**stated, model: (WORLD, HERE, at.line)}).pose(frame)
        except (KeyError, ValueError):
            reading.refuse(at, f"model {model}", f"placement_frame {frame!a}", "a frame, link or joint of this model")
            continue
        if model in stated:
            outer, pose, line = stated[model]
            stated[model] = outer, compose(pose, inverse(inner)), line
        else:
            reading.frames.model = compose(reading.frames.model, inverse(inner))


def _stands(model: Element) -> bool:
    """Return whether a model is said to stand still."""
    static = model.first("static")
    return static is not None and is_true(static.text)


def _first_link(model: Element) -> str:
    """Return the name of the first link of a model, or of the models inside it; empty without links."""
    if (link := model.first("link")) is not None:
        return link.attributes.get("name", "")
    inside = ((inner.attributes.get("name", ""), _first_link(inner)) for inner in model.all("model"))
    return next((f"{outer}::{name}" for outer, name in inside if name), "")


def _attach_model(reading: SdfModel, model: Element, scope: str, inner: str) -> None:
    """Note the link that the frame of a model belongs to, and whether its links stand still."""
    if model.tag == WORLD:
        reading.bodies[inner] = WORLD
        return
    if (frame := model.attributes.get("placement_frame", "__model__")) != "__model__":
        reading.placed.append((inner, scope + frame, model))
    canonical = model.attributes.get("canonical_link", "") or _first_link(model)
    if canonical:
        reading.bodies[inner] = scope + canonical
    if _stands(model) and not effects.moves(model):
        reading.standing |= {scope + link.attributes.get("name", "") for link in model.all("link")}


def _state(reading: SdfModel, child: Element, scope: str, inner: str) -> None:
    """Note the pose of a link, frame or model, in the frame that it names or in `inner`."""
    name = scope + child.attributes["name"]
    frame, pose = reading.pose(child, f"{child.tag} {name}", inner)
    reading.frames.stated[name] = _scoped(reading, scope, frame), pose, child.line


def _scoped(reading: SdfModel, scope: str, name: str) -> str:
    """Return the whole name of a frame that is named inside a model."""
    if name == "__model__":
        return scope.removesuffix("::") or name
    return name if name in (WORLD, scope.removesuffix("::")) else scope + name


def read_joint(reading: SdfModel, at: Element, scope: str) -> SdfJoint | None:
    """Read a joint of a model; None for a wrong joint, with its problem added."""
    name, kind = scope + at.attributes["name"], at.attributes.get("type", "")
    place = f"joint {name}"
    if kind not in ALL_KINDS:
        small = "Kinds are in small letters." if kind.lower() in ALL_KINDS else ""
        hint = "Write it as a coupling, in a robot file." if kind == "gearbox" else small
        reading.refuse(at, place, f"type {kind[:60]!a}", f"one of {', '.join(ALL_KINDS)}", hint)
        return None
    parent, child = (_end(reading, at, tag, scope, place) for tag in ("parent", "child"))
    try:
        where = reading.frames.pose(reading.joint_frames.get(name, name))
    except (KeyError, ValueError) as error:
        if not reading.problems:
            reading.refuse(at, place, f"a pose in frame {error.args[0]!a}", "a frame of this model that leads to it")
        return None
    axes = _axes(reading, at, kind, scope, where)
    if axes is None:
        return None
    return SdfJoint(
        name,
        at.line,
        kind,
        parent,
        child,
        where,
        axes,
        ratings=tuple(_rating(reading, at, tag, place) for tag in ("axis", "axis2")),
        armature=_armature(reading, at, kind, place),
        mimic=_mimic(reading, at, scope, place),
        pitch=_pitch(reading, at, place),
        idle=_is_idle(reading, at, place),
    )


def _end(reading: SdfModel, at: Element, tag: str, scope: str, place: str) -> str:
    """Return the whole name of the body at one end of a joint; a wrong one is refused."""
    end = at.first(tag)
    body = "" if end is None else end.text.strip()
    whole = body if body == WORLD and WORLD not in reading.links else reading.body(_scoped(reading, scope, body))
    if not body:
        reading.refuse(end or at, place, f"no {tag}", f"<{tag}>, the name of a link", "Add it.")
    elif whole != WORLD and whole not in reading.links:
        hint = nearest(body, reading.links)
        reading.refuse(end or at, place, f"{tag} {body!a}", "a link of this model", f"{hint[:1].upper()}{hint[1:]}.")
    return whole


def _is_idle(reading: SdfModel, at: Element, place: str) -> bool:
    """Return whether the effort of a joint is limited to zero."""
    axis = at.first("axis")
    limit = axis.first("limit") if axis is not None else None
    return limit is not None and reading.number(limit, "effort", place, -1.0) == 0.0


def _armature(reading: SdfModel, at: Element, kind: str, place: str) -> float:
    """Return the inertia of a rotor times the square of its gear ratio, as in Drake [kg m^2 or kg]."""
    rotor, gear = at.first(f"{DRAKE}rotor_inertia"), at.first(f"{DRAKE}gear_ratio")
    inertia = reading.finite(at, f"{DRAKE}rotor_inertia", place)
    ratio = reading.finite(at, f"{DRAKE}gear_ratio", place, 1.0)
    if inertia and kind not in KINDS:
        reading.refuse(rotor or at, place, f"a rotor of a {kind} joint", f"one of {', '.join(KINDS)}", "Take it out.")
    if inertia < 0.0 or ratio < 0.0:
        reading.refuse(rotor or gear or at, place, f"rotor {inertia:g}, gear {ratio:g}", "numbers of at least 0")
    return inertia * ratio**2


def _mimic(reading: SdfModel, at: Element, scope: str, place: str) -> SdfMimic | None:
    """Return the joint that this one follows, from its first axis."""
    axis = at.first("axis")
    mimic = axis.first("mimic") if axis is not None else None
    if mimic is None:
        return None
    second = at.first("axis2") is not None or mimic.attributes.get("axis", "axis") != "axis"
    ratio = reading.finite(mimic, "multiplier", place, 1.0)
    offset = reading.finite(mimic, "offset", place) - ratio * reading.finite(mimic, "reference", place)
    if second or (offset and at.attributes.get("type") == "screw"):
        got = "a mimic of a second axis" if second else "a mimic of a screw with an offset"
        reading.refuse(mimic, place, got, "joints of one variable", "Write it as a coupling, in a robot file.")
    return SdfMimic(scope + mimic.attributes.get("joint", ""), ratio, offset)


def _pitch(reading: SdfModel, at: Element, place: str) -> float | None:
    """Return the way per angle of a screw [m/rad]; a metre per turn where the file has none, as in libsdformat."""
    if at.attributes.get("type") != "screw":
        return None
    old = at.first("screw_thread_pitch") is None and at.first("thread_pitch") is not None
    stated = reading.finite(at, "thread_pitch" if old else "screw_thread_pitch", place, 1.0)
    if not stated:
        got, unit = ("thread_pitch 0", "radians per metre") if old else ("screw_thread_pitch 0", "metres per turn")
        reading.refuse(at, place, got, unit, "Write screw_thread_pitch [m].")
        return 0.0
    return -1.0 / stated if old else stated / (2.0 * math.pi)  # the old one is in rad/m, and left-handed


def _axes(reading: SdfModel, at: Element, kind: str, scope: str, where: Pose) -> tuple[np.ndarray, ...] | None:
    """Return the axes of a joint, as many as its kind needs or more; None where one is missing or wrong."""
    problems = len(reading.problems)
    axes = [_axis(reading, at, tag, scope, where) for tag in ("axis", "axis2")]
    moving = tuple(axis for axis in axes if axis is not None)
    needed_axes = 0 if kind in (BALL, FIXED) else 2 if kind in TWO_AXES else 1
    if len(moving) >= needed_axes:
        return moving
    if len(reading.problems) == problems:  # else an axis is there, and wrong
        got = f"{len(moving)} axes" if len(moving) != 1 else "one axis"
        place = f"joint {scope}{at.attributes['name']}"
        reading.refuse(at, place, got, f"{needed_axes} of a {kind} joint", "Add <axis><xyz>.")
    return None


def _axis(reading: SdfModel, joint: Element, tag: str, scope: str, where: Pose) -> np.ndarray | None:
    """Return the direction of an axis in the whole, of a joint that stands there at a pose in the model of a scope."""
    at, place = joint.first(tag), f"joint {scope}{joint.attributes['name']}"
    if at is None:
        return None
    xyz = at.first("xyz")
    problems = len(reading.problems)
    values = np.array(reading.numbers(xyz, place, 3, (0.0, 0.0, 1.0)))
    size = float(np.linalg.norm(values))
    if len(reading.problems) > problems:
        return None
    if not size > 0:
        reading.refuse(xyz or at, place, "axis 0 0 0", "a direction", "Give it a length of 1.")
        return None
    frame = xyz.attributes.get("expressed_in", "") if xyz is not None else ""
    old = at.first("use_parent_model_frame")
    of_model = reading.version < (1, 5) if old is None else is_true(old.text)
    if frame:
        try:
            turn = reading.frames.pose(_scoped(reading, scope, frame))[0]
        except (KeyError, ValueError):
            reading.refuse(xyz or at, place, f"an axis in frame {frame!a}", "a frame of this model")
            return None
    else:
        turn = reading.frames.pose(scope.removesuffix("::") or "__model__")[0] if of_model else where[0]
    return turn @ (values / size)


def _rating(reading: SdfModel, joint: Element, tag: str, place: str) -> Rating:
    """Return the range, speed, force and friction of an axis, under the name of the joint."""
    at, numbers = joint.first(tag), dict[str, float]()
    limit = at.first("limit") if at is not None else None
    dynamics = at.first("dynamics") if at is not None else None
    if limit is not None:
        low, high = (reading.number(limit, key, place, d) for key, d in (("lower", -math.inf), ("upper", math.inf)))
        if low < high and max(abs(low), abs(high)) < UNLIMITED and joint.attributes.get("type") != "continuous":
            numbers |= {"low": low, "high": high}
            if joint.attributes.get("type") == "revolute" and in_degrees((low, high)):
                reading.warn(limit, place, f"a range of {low:g} to {high:g}", "a few turns at most", AS_RADIANS)
        for key, name in (("force", "effort"), ("velocity", "velocity")):
            value = reading.number(limit, name, place, -1.0)
            numbers |= {key: value} if 0.0 < value < UNLIMITED else {}
    for key, name in (("viscous", "damping"), ("coulomb", "friction")):
        value = reading.number(dynamics, name, place)
        numbers |= {key: value} if 0.0 < value < UNLIMITED else {}
    return Rating(joint.attributes["name"], **numbers)
