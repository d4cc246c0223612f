"""The links and joints of a URDF file as records, every number checked; `urdf` makes a tree of them.

All problems of a file are collected. The elements that are read are listed in `robots.formats.elements`. Limits,
damping and friction of joints are kept beside the mechanism; rotors and gears of transmissions become armatures.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

import numpy as np

from robots.data_classes import dataclass, field
from robots.formats.elements import GEARS, ROTORS
from robots.formats.poses import AS_RADIANS, in_degrees, of_angles, of_quaternion
from robots.formats.ratings import Rating
from robots.formats.xacro.expansion import EXPAND
from robots.formats.xml_tree import Element, FormatError
from robots.joint_kinds import URDF_KINDS
from robots.parameter_errors import nearest
from robots.parameters import LARGEST

Numbers = tuple[float, ...]
FIXED = "fixed"
COMPOSED = ("planar", "spherical", "ball", "floating")
"""Kinds that become several joints of one variable; `spherical` and `ball` are extensions that some tools write."""

KINDS = (*URDF_KINDS, FIXED, *COMPOSED)
_UNLIMITED = ("continuous", FIXED, *COMPOSED)
GROUND = "world"
"""Parent name that means the ground if no link has this name."""

UNLIMITED = 1e10
"""Size of a limit from which on it means unlimited."""

_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_TENSOR = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")


@dataclass(frozen=True)
class Origin:
    """A pose: xyz [m], and roll, pitch, yaw about fixed axes [rad], or a quaternion (x, y, z, w) in their place."""

    xyz: Numbers = (0.0, 0.0, 0.0)
    rpy: Numbers = (0.0, 0.0, 0.0)
    quaternion: Numbers | None = None


@dataclass(frozen=True)
class UrdfLink:
    """A link: mass [kg], pose of its inertial frame, ixx iyy izz ixy ixz iyz in that frame [kg m^2]."""

    name: str
    line: int
    mass: float = 0.0
    origin: Origin = Origin()
    tensor: Numbers = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Mimic:
    """A joint that follows another one: its variable is `ratio` times that of the joint `of`, plus `offset`."""

    line: int
    of: str
    ratio: float
    offset: float


@dataclass(frozen=True)
class Gear:
    """Gear of a joint: inertia of the rotor [kg m^2 or kg], and its turns per unit of the joint's variable."""

    rotor: float | None = None
    ratio: float | None = None

    def merged(self, gear: Gear) -> Gear:
        """Return a gear with the values of both, each of which may lack some."""
        rotor = self.rotor if self.rotor is not None else gear.rotor
        return Gear(rotor, self.ratio if self.ratio is not None else gear.ratio)


@dataclass(frozen=True)
class UrdfJoint:
    """A joint: kind, links, pose of its frame in the parent, unit vector of its axis in that frame."""

    name: str
    line: int
    kind: str
    parent: str
    child: str
    origin: Origin
    axis: Numbers
    rating: Rating
    mimic: Mimic | None = None
    gear: Gear = Gear()


@dataclass
class UrdfFile:
    """Content of a file, and the problems found in it. Warnings are reported and change nothing."""

    name: str = ""
    links: dict[str, UrdfLink] = field(default_factory=dict)
    joints: dict[str, UrdfJoint] = field(default_factory=dict)
    problems: list[FormatError] = field(default_factory=list)
    warnings: list[FormatError] = field(default_factory=list)
    gears: dict[str, Gear] = field(default_factory=dict)

    def refuse(self, line: int, place: str, got: str, expected: str, hint: str = "") -> None:
        """Add a problem."""
        self.problems.append(FormatError(line, place, got, expected, hint))

    def warn(self, line: int, place: str, got: str, expected: str, hint: str = "") -> None:
        """Add a warning."""
        self.warnings.append(FormatError(line, place, got, expected, hint))


OTHER_FORMATS = {
    "gazebo": "It is an SDF file older than 1.4: `gz sdf --print` writes a newer one.",
    "element": "It describes elements of SDF, and is no robot.",
}
"""Advice for files of related formats, by the tag of their root."""


def read(root: Element) -> UrdfFile:
    """Return the links and joints of a file. Raises FormatError for a file that is no URDF."""
    if root.tag != "robot":
        part = "It is a part of a model of MuJoCo: import the file that includes it."
        hint = part if root.tag.startswith("mujoco") else OTHER_FORMATS.get(root.tag, "Convert it to URDF first.")
        raise FormatError(root.line, "", f"<{root.tag}>", "<robot>", hint)
    file = UrdfFile(root.attributes.get("name", "robot"))
    for key, value in root.attributes.items():
        other = f"{key.removeprefix('xmlns:')}:"
        if value.endswith("wiki/xacro") and any(child.tag.startswith(other) for child in root.children):
            file.refuse(root.line, "", f"macros under {other!a}", "macros under 'xacro:', as xacro knows them")
    for child in root.children:
        if child.tag.startswith("xacro:"):
            file.refuse(child.line, "", f"the macro {child.tag!a}", "plain URDF", EXPAND)
        elif child.tag == "link":
            _Link(file, child).read()
        elif child.tag == "joint":
            _Joint(file, child).read()
        elif child.tag == "transmission":
            _Transmission(file, child).read()
    if GROUND in file.links:
        return file
    if (joint := next((entry for entry in file.joints.values() if entry.parent == GROUND), None)) is not None:
        file.links[GROUND] = UrdfLink(GROUND, joint.line)
        hint = "It is the ground, as in Drake."
        file.warn(joint.line, f"joint {joint.name}", "parent 'world', which is no link", "a link of this file", hint)
    return file


def pose_of_origin(origin: Origin) -> tuple[np.ndarray, np.ndarray]:
    """Return the pose of an origin."""
    if origin.quaternion is not None:
        x, y, z, w = origin.quaternion
        return of_quaternion((w, x, y, z)), np.array(origin.xyz)
    return of_angles(origin.rpy), np.array(origin.xyz)


def advice(name: str, names: Iterable[str]) -> str:
    """Return advice for an unknown name, as a sentence."""
    hint = nearest(name, names)
    return hint[:1].upper() + hint[1:] + ("" if hint.endswith("?") else ".")


class ElementReader:
    """Reader of one element; problems go to the file."""

    def __init__(self, file: UrdfFile, element: Element) -> None:
        self.file, self.element = file, element
        self.name = element.attributes.get("name", "")
        self.place = f"{element.tag} {self.name}"

    def refuse(self, at: Element, got: str, expected: str, hint: str = "") -> None:
        """Add a problem at an element."""
        self.file.refuse(at.line, self.place, got, expected, hint)

    def named(self, value: object) -> bool:
        """Return whether the element has a valid name that no other element has; report a problem otherwise."""
        if not self.name or not self.name.isprintable() or len(self.name) > 80:
            self.refuse(self.element, ascii(self.name[:60]), "a name of at most 80 visible characters")
        elif isinstance(value, dict) and self.name in value:
            hint = f"Rename one; the first is in line {value[self.name].line}."
            self.refuse(self.element, f"{self.name} again", f"a name for each {self.element.tag}", hint)
        else:
            return True
        return False

    def numbers(self, at: Element, key: str, count: int, default: Numbers | None = None) -> Numbers:
        """Return the numbers of an attribute; `default`, or zeros, for a missing or refused one."""
        text = at.attributes.get(key)
        if text is None:
            if default is None:
                self.refuse(at, f"no {key} in <{at.tag}>", f"{key}, which is required", "Add it.")
            return default or (0.0,) * count
        words = text.split()
        if len(words) == count > 1 and all(word.endswith(",") for word in words[:-1]):
            hint = "They were read as if there were spaces alone."
            self.file.warn(at.line, self.place, f"commas in {key} {text[:60]!a}", "spaces between numbers", hint)
            words = [word.removesuffix(",") for word in words]
        values = tuple(float(word) if _NUMBER.fullmatch(word) else math.nan for word in words)
        if len(words) == count and all(abs(value) <= LARGEST for value in values):
            return values
        hint = "Use a decimal point, not a comma." if "," in text else ""
        rule = "a finite number" if count == 1 else f"{count} finite numbers"
        self.refuse(at, f"{key} {text[:60]!a}", rule, hint)
        return (0.0,) * count

    def number(self, at: Element, key: str, default: float | None = None) -> float:
        """Return the number of an attribute."""
        return self.numbers(at, key, 1, None if default is None else (default,))[0]

    def origin(self, parent: Element) -> Origin:
        """Return the pose in the <origin> of an element."""
        at = parent.first("origin")
        return Origin() if at is None else self.pose(at)

    def pose(self, at: Element) -> Origin:
        """Return the pose in the attributes of an element."""
        zero = (0.0, 0.0, 0.0)
        xyz, rpy = self.numbers(at, "xyz", 3, zero), self.numbers(at, "rpy", 3, zero)
        if in_degrees(rpy):
            self.file.warn(at.line, self.place, f"rpy {at.attributes['rpy'][:60]}", "angles of a turn", AS_RADIANS)
        if "quat_xyzw" not in at.attributes:
            return Origin(xyz, rpy)
        quaternion = self.numbers(at, "quat_xyzw", 4)
        if "rpy" in at.attributes:
            self.refuse(at, "rpy and quat_xyzw", "one of them", "Take one out.")
        elif not math.hypot(*quaternion) > 0.0:
            self.refuse(at, "quat_xyzw 0 0 0 0", "a quaternion", "Give it a length of 1.")
            quaternion = (0.0, 0.0, 0.0, 1.0)
        return Origin(xyz, quaternion=quaternion)

    def axis(self, kind: str) -> Numbers:
        """Return the direction of the axis, of length 1; x if the file gives no axis."""
        at = self.element.first("axis")
        if at is None or kind == FIXED:
            return (1.0, 0.0, 0.0)
        problems = len(self.file.problems)
        direction = self.numbers(at, "xyz", 3)
        size = math.hypot(*direction)
        if not size > 0:
            if len(self.file.problems) == problems:  # else these are no three numbers
                self.refuse(at, "axis 0 0 0", "a direction", "Give it a length of 1.")
            return (1.0, 0.0, 0.0)
        if abs(size - 1.0) > 1e-6:
            self.file.warn(at.line, self.place, f"an axis of length {size:g}", "length 1", "It was made so.")
        return direction if size == 1.0 else tuple(x / size for x in direction)


class _Link(ElementReader):
    def read(self) -> None:
        if not self.named(self.file.links):
            return
        inertial = self.element.first("inertial")
        if inertial is None:
            self.file.links[self.name] = UrdfLink(self.name, self.element.line)
            return
        mass, tensor = 0.0, UrdfLink.tensor
        if (at := self.child(inertial, "mass")) is not None:
            mass = self.number(at, "value")
            if mass < 0:
                self.refuse(at, f"mass {mass:g}", "a mass of at least 0 kg")
        if (at := self.child(inertial, "inertia")) is not None:
            tensor = tuple(self.number(at, key, 0.0 if len(set(key)) == 3 else None) for key in _TENSOR)
        self.file.links[self.name] = UrdfLink(self.name, inertial.line, mass, self.origin(inertial), tensor)

    def child(self, parent: Element, tag: str) -> Element | None:
        if (found := parent.first(tag)) is None:
            self.refuse(parent, f"no <{tag}>", f"<{tag}>, which is required", "Add it.")
        return found


class _Joint(ElementReader):
    def read(self) -> None:
        if not self.named(self.file.joints):
            return
        element, kind = self.element, self.element.attributes.get("type", "")
        if kind not in KINDS:
            several = "A joint of several freedoms is written as several joints with massless links."
            near = advice(kind.lower(), KINDS)
            hint = near if kind.lower() in KINDS else f"{near} {several}" if near.endswith("?") else several
            self.refuse(element, f"type {kind[:60]!a}", f"one of {', '.join(KINDS)}", hint)
        rating, gear = self.rating(kind), _gear(self, element)
        parent, child = self.link("parent"), self.link("child")
        origin, axis = self.origin(element), self.axis(kind)
        self.file.joints[self.name] = UrdfJoint(
            self.name, element.line, kind, parent, child, origin, axis, rating, self.mimic(), gear
        )

    def mimic(self) -> Mimic | None:
        at = self.element.first("mimic")
        if at is None:
            return None
        if "joint" not in at.attributes:
            self.refuse(at, "no joint in <mimic>", 'joint="..." that it follows', "Add it.")
        ratio, offset = self.number(at, "multiplier", 1.0), self.number(at, "offset", 0.0)
        return Mimic(at.line, at.attributes.get("joint", ""), ratio, offset)

    def link(self, tag: str) -> str:
        at = self.element.first(tag)
        if at is None or "link" not in at.attributes:
            self.refuse(at or self.element, f"no {tag} link", f'<{tag} link="...">', "Add it.")
            return ""
        return at.attributes["link"]

    def rating(self, kind: str) -> Rating:
        """Return range, speed and force, damping and friction of the joint."""
        at, found = self.element.first("limit"), dict[str, float]()
        if at is None:
            if kind in KINDS and kind not in _UNLIMITED:
                hint = "Add it, or make the joint continuous."
                self.refuse(self.element, f"a {kind} joint without <limit>", "<limit>", hint)
        else:
            lower, upper = (self.limit(at, key, 0.0) for key in ("lower", "upper"))
            if lower > upper:
                got, hint = f"lower {lower:g} above upper {upper:g}", "They are left out: the joint has no range."
                self.file.warn(at.line, self.place, got, "lower at most upper", hint)
            if kind not in _UNLIMITED and lower < upper:
                found |= {"low": lower, "high": upper}
                if kind == "revolute" and in_degrees((lower, upper)):
                    got = f"a range of {lower:g} to {upper:g}"
                    self.file.warn(at.line, self.place, got, "a few turns at most", AS_RADIANS)
            found |= {key: self.limit(at, name, 0.0) for key, name in (("force", "effort"), ("velocity", "velocity"))}
        if (at := self.element.first("dynamics")) is not None:
            found |= {key: self.limit(at, name, 0.0) for key, name in (("viscous", "damping"), ("coulomb", "friction"))}
        for key in ("force", "velocity", "viscous", "coulomb"):
            if found.get(key, 0.0) < 0:
                self.file.warn(
                    at.line if at else self.element.line,
                    self.place,
                    f"{key} {found[key]:g}",
                    "at least 0",
                    "It is left out.",
                )
        return Rating(self.name, **{key: value for key, value in found.items() if self.tells(key, value)})

    def tells(self, key: str, value: float) -> bool:
        """Return whether a limit is known. URDF writers use zero for an unknown limit of force or speed."""
        return abs(value) < UNLIMITED and (value > 0 or key in ("low", "high"))

    def limit(self, at: Element, key: str, default: float) -> float:
        """Return a number of any size, or none at all for infinite ones."""
        text = at.attributes.get(key)
        if text is not None and re.fullmatch(r"[-+]?(inf|infinity)", text.strip(), re.IGNORECASE):
            return -math.inf if text.strip().startswith("-") else math.inf
        if text is not None and _NUMBER.fullmatch(text.strip()):
            return float(text)
        return self.number(at, key, default)


class _Transmission(ElementReader):
    """A transmission: the joint that it moves, its gear ratio, and the inertia of its rotor."""

    def read(self) -> None:
        actuators = [*self.element.all("actuator")]
        gear = _gear(self, self.element)
        for actuator in actuators:
            gear = gear.merged(_gear(self, actuator))
        for joint in self.element.all("joint"):
            name = joint.attributes.get("name", "")
            whole = _gear(self, joint).merged(gear)
            self.file.gears[name] = self.file.gears.get(name, Gear()).merged(whole)


def _gear(reader: ElementReader, element: Element) -> Gear:
    """Return the rotor and the gear that are said inside an element, as text or in an attribute."""
    result: list[float | None] = []
    for tags in (ROTORS, GEARS):
        at = next((child for child in element.children if child.tag in tags), None)
        text = None if at is None else at.attributes.get("value", at.text).strip()
        if at is not None and text is not None and not _NUMBER.fullmatch(text):
            reader.file.warn(at.line, reader.place, f"{at.tag} {text[:60]!a}", "a finite number", "It is left out.")
            text = None
        result.append(None if text is None else float(text))
    return Gear(*result)
