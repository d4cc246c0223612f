"""SDF files as trees of bodies and loops: links, joints and frames of models, by the conventions of their version.

Names of a single model have no prefix; in a world with several models or with joints they are `model::name`. Poses of
links are given in the model or in the frames that they name, poses of joints by default in the frame of their child. A
link with two joints that lead to it closes a loop: the second joint is cut. A joint whose child is nearer to the base
than its parent is reversed. A link `world`, a joint to it, or a `static` model without joints is the base; without
these, the first link is the base. Source: sdformat.org, specification 1.4 to 1.12.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from robots.formats.closing import ClosingJoint, between
from robots.formats.poses import HERE, Pose, compose, inverse, moved, rows, vector
from robots.formats.sdf_file import BALL, CUTS, FIXED, KINDS, TWO_AXES, WORLD, SdfJoint, SdfMimic, SdfModel, read
from robots.formats.sdf_includes import IncludedFiles, with_includes
from robots.formats.tree import STEPS, Base, GrowingTree, Inertias, Place, Tree, body_before, finished, plain_name
from robots.formats.xml_tree import Element, FormatError, ImportedError, is_true, parse
from robots.geometry import point
from robots.model import Coupling, Inertia
from robots.types import BASE

FLOATING = "base"


def read_tree(
    data: bytes | Element,
    base: Base = "fixed",
    inertias: Inertias = "checked",
    leave_out: Collection[str] = (),
    path: str = "",
    files: IncludedFiles | None = None,
) -> Tree:
    """Return the tree of the model in the bytes of an SDF file, or in its root, that stands at `path`.

    files: models that it may include; None: includes are refused. Raises ImportedError with all problems.
    """
    try:
        root = data if isinstance(data, Element) else parse(data)
    except FormatError as error:
        raise ImportedError([error]) from None
    root, warnings = (root, []) if files is None else with_includes(root, path, files)
    reading, whole = read(root, leave_out)
    reading.warnings += warnings
    return _Growth(reading, whole, base).tree(inertias)


class _Growth:
    """The tree that joints make of the links, from the base outwards."""

    def __init__(self, reading: SdfModel, model: Element, base: Base) -> None:
        self.reading, self.model, self.base = reading, model, base
        self.growing = GrowingTree()
        self.poses: dict[str, Pose] = {}
        for name, at in reading.links.items():
            try:
                self.poses[name] = reading.frames.pose(name)
            except (KeyError, ValueError) as error:
                reading.refuse(at, f"link {name}", f"a pose in frame {error.args[0]!a}", "a frame of this model")
        if reading.problems:
            raise ImportedError(reading.problems)
        self.growing.lines = {name: (at.line, f"link {name}") for name, at in reading.links.items()}
        self.growing.lines |= {joint.name: (joint.line, f"joint {joint.name}") for joint in reading.joints}
        self.loops: list[ClosingJoint] = []

    def tree(self, inertias: Inertias) -> Tree:
        """Return the tree, with loops closed by the remaining joints. Raises ImportedError."""
        waiting = self._start()
        while waiting:
            reached = [joint for joint in waiting if {joint.parent, joint.child} & self.growing.bodies.keys()]
            if not reached:
                self._island(waiting)
                continue
            # joints in the direction of the file first: a joint is reversed only if no other joint leads to its bodies
            joint = next((entry for entry in reached if entry.parent in self.growing.bodies), reached[0])
            waiting.remove(joint)
            if {joint.parent, joint.child} <= self.growing.bodies.keys():
                self._close(joint)
            else:
                self._join(joint)
        for name, at in self.reading.links.items():
            if name not in self.growing.bodies and self.base == "floating":
                self._root(name, at)
            elif name not in self.growing.bodies:
                self.reading.warn(at, f"link {name}", "a link that no joint leads to", "one body", "It is left out.")
        if not self.growing.links:
            hint = "--base floating lets the whole move."
            self.reading.refuse(self.model, "", "no joint that moves", "at least one", hint)
        name = plain_name(self.model.attributes.get("name", "robot"))
        couplings = tuple(self._couplings())
        driven = self._driven() if self.loops else None
        tree = Tree(name, (), {}, (), "imported from SDF", couplings, loops=tuple(self.loops), driven=driven)
        return finished(tree, self.growing, self.reading.problems, self.reading.warnings, inertias)

    def _driven(self) -> tuple[str, ...] | None:
        """Return the driven joints: no balls, no limit of effort of zero. None if no effort is limited to zero."""
        idle, passive = set[str](), set[str]()
        for joint in self.reading.joints:
            name = _plain(joint.name)
            if joint.kind == BALL:
                passive |= {f"{name}_{end}" for end, _, _ in STEPS["spherical"]}
            elif joint.idle:
                idle |= {name, f"{name}_1", f"{name}_2"} if joint.kind in TWO_AXES else {name}
        followers = {_plain(joint.name) for joint in self.reading.joints if joint.mimic is not None}
        joints = [link.joint for link in self.growing.links]
        if not idle & {*joints, *(loop.joint for loop in self.loops if passive)}:
            return None  # the file does not say
        return tuple(name for name in joints if name not in idle | passive | followers) or None

    def _couplings(self) -> Iterator[Coupling]:
        """Yield the couplings: joints that follow other joints."""
        joined = {link.joint for link in self.growing.links}
        children = {joint.name: joint.child for joint in self.reading.joints}
        for name, law in self._laws.items():
            if law.of in self._laws or not {_plain(name), _plain(law.of)} <= joined:
                got, rule = (
                    f"a mimic of {law.of!a}",
                    "a joint of one variable in the tree, which does not follow this one",
                )
                at = self.reading.links.get(children[name], self.model)
                self.reading.refuse(at, f"joint {name}", got, rule, "Write it as a coupling, in a robot file.")
            else:
                yield Coupling(_plain(name), _plain(law.of), law.ratio)

    @cached_property
    def _laws(self) -> Mapping[str, SdfMimic]:
        """The joint that moves on its own behind each follower, and the whole ratio and offset."""
        followers = {joint.name: joint.mimic for joint in self.reading.joints if joint.mimic is not None}
        laws = dict(followers)
        for name, law in followers.items():
            seen = {name}
            while law.of in followers and law.of not in seen:
                seen.add(law.of)
                further = followers[law.of]
                law = SdfMimic(further.of, law.ratio * further.ratio, law.offset + law.ratio * further.offset)
            laws[name] = law
        return laws

    def _start(self) -> list[SdfJoint]:
        """Place the root, and return the joints that are still to be placed."""
        joints, links = list(self.reading.joints), self.reading.links
        world = WORLD in links or any(WORLD in (joint.parent, joint.child) for joint in joints)
        children = {joint.child for joint in joints}
        roots = [name for name in links if name not in children] or list(links)
        self.growing.bodies[WORLD] = (BASE, HERE)
        if WORLD in links:
            self.growing.bodies[WORLD] = (BASE, self.poses[WORLD])
        for name in self.reading.standing:
            self.growing.bodies[name] = (BASE, self.poses[name])
        if roots and not world and not self.reading.standing:
            self._root(roots[0], self.reading.links[roots[0]])
        return joints

    def _root(self, name: str, at: Element) -> None:
        """Put a link that nothing joins to the base in its place, on six joints where it floats."""
        place = (BASE, self.poses[name])
        if self.base == "floating":
            first = all(link.joint != f"{FLOATING}_x" for link in self.growing.links)
            joints = FLOATING if first else f"{_plain(name)}_{FLOATING}"
            place = self.growing.joints(place, joints, "floating", np.eye(3), _plain(name))
        inertia = self._inertia(name, place[1])
        if self.base == "fixed" and inertia.mass > 0:
            hint = "It stands still, and its mass does not matter; --base floating gives it six joints."
            self.reading.warn(at, f"link {name}", "a root with mass", "a base that stands still", hint)
        self.growing.bodies[name] = place
        self.growing.load(place, inertia)

    def _island(self, waiting: list[SdfJoint]) -> None:
        """Put the first link of a part that nothing joins to the base in its place."""
        children = {joint.child for joint in waiting}
        name = next((joint.parent for joint in waiting if joint.parent not in children), waiting[0].parent)
        at = self.reading.links[name]
        if self.base == "fixed":
            hint = "Join it to the others: its first link stands still."
            self.reading.warn(at, f"link {name}", "a part that nothing joins to the base", "one part", hint)
        self._root(name, at)

    def _join(self, joint: SdfJoint) -> None:
        """Join the body that is not in the tree yet."""
        turned = joint.parent not in self.growing.bodies
        near, far = (joint.child, joint.parent) if turned else (joint.parent, joint.child)
        body, pose = self.growing.bodies[near]
        outer = self.poses.get(near, HERE)
        at = body, compose(pose, compose(inverse(outer), joint.at))
        sign = -1.0 if turned else 1.0
        axes = [sign * (joint.at[0].T @ axis) for axis in joint.axes]
        place = self._moved(joint, at, axes[::-1] if turned else axes, far, turned)
        place = place[0], compose(place[1], compose(inverse(joint.at), self.poses[far]))
        self.growing.bodies[far] = place
        self.growing.load(place, self._inertia(far, place[1]))

    def _moved(self, joint: SdfJoint, at: Place, axes: list[np.ndarray], body: str, turned: bool) -> Place:
        """Return the frame of a joint on the body beyond it."""
        growing, name = self.growing, _plain(joint.name)
        growing.lines[name] = (joint.line, f"joint {joint.name}")
        if joint.kind == FIXED:
            return at
        if joint.kind == BALL:
            self._tell(joint, "three joints", f"{name}_yaw and so on")
            return growing.joints(at, name, "spherical", np.eye(3), _plain(body))
        if joint.kind in TWO_AXES:
            self._tell(joint, "two joints", f"{name}_1 and {name}_2")
            order = (2, 1) if turned else (1, 2)
            for number, axis in zip(order, axes, strict=True):
                growing.ratings.append(replace(joint.ratings[number - 1], joint=f"{name}_{number}"))
                growing.lines[f"{name}_{number}"] = growing.lines[name]
                on = _plain(body) if number == order[-1] else body_before(_plain(body), f"{name}_cross")
                place = growing.joint(at, f"{name}_{number}", "revolute", axis.tolist(), on)
                at = place[0], place[1]
            return at
        kind, offset = KINDS[joint.kind], self._laws[joint.name].offset if joint.name in self._laws else 0.0
        if offset:
            at = at[0], compose(at[1], moved(kind, axes[0].tolist(), offset))
            got, hint = (
                f"a mimic with offset {offset:g}",
                f"Its variable counts from there: it is {offset:g} less than in the file.",
            )
            self.reading.warnings.append(FormatError(joint.line, f"joint {joint.name}", got, "no offset", hint))
        growing.ratings.append(replace(joint.ratings[0].shifted(offset), joint=name))
        return growing.joint(at, name, kind, axes[0].tolist(), _plain(body), joint.armature, joint.pitch)

    def _tell(self, joint: SdfJoint, what: str, names: str) -> None:
        hint = f"It became {what}, {names}."
        place = f"joint {joint.name}"
        self.reading.warnings.append(FormatError(joint.line, place, f"a {joint.kind} joint", "one variable", hint))

    def _close(self, joint: SdfJoint) -> None:
        """Cut a joint between two bodies of the tree."""
        at, kind = (joint.at, joint.axes), CUTS[joint.kind]
        bodies = joint.parent, joint.child
        self.loops.append(between(_plain(joint.name), kind, bodies, at, self.poses, joint.pitch))

    def _inertia(self, name: str, at: Pose) -> Inertia:
        """Return the inertia of a link whose frame is at a pose in its body."""
        link = self.reading.links.get(name)
        inertial = link.first("inertial") if link is not None else None
        if link is None:
            return point(0.0)
        place = f"link {name}"
        if inertial is None:
            hint = "The specification gives it 1 kg, and 1 kg m^2 about each axis."
            self.reading.warn(link, place, "no <inertial>", "<inertial>", hint)
            inertial = Element("inertial", link.line, link.column, {})
        if is_true(inertial.attributes.get("auto", "")):
            got, hint = "an inertia of shapes and a density (auto)", "Write mass and inertia, as gz sdf --print does."
            self.reading.refuse(inertial, place, got, "mass and inertia in numbers", hint)
        frame, pose = self.reading.pose(inertial, place, "")
        if frame:
            self.reading.refuse(inertial, place, f"an <inertial> in frame {frame!a}", "one in the frame of its link")
        mass = self.reading.finite(inertial, "mass", place, 1.0)
        matrix = inertial.first("inertia")
        keys = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
        xx, yy, zz, xy, xz, yz = (
            self.reading.finite(matrix, key, place, 1.0 if len({*key[1:]}) == 1 else 0.0) for key in keys
        )
        if mass < 0:
            self.reading.refuse(inertial, place, f"mass {mass:g}", "a mass of at least 0 kg")
        rotation, centre = compose(at, pose)
        tensor = rotation @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ rotation.T
        return Inertia(mass, vector(centre), rows(0.5 * (tensor + tensor.T)))


def _plain(name: str) -> str:
    """Return a name without the marks of nested models."""
    return name.replace("::", "_")
