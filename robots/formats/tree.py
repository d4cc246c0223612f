"""Trees of bodies as other formats have them, made trees of the model: joints of several freedoms become several.

Frames of the model sit on joints; where an axis is no coordinate axis, the frame is turned so that it is z. Bodies
behind fixed joints are merged with their parents. Faults of a tree are reported at a line of its file: `lines` of
bodies and joints lead there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from robots.data_classes import dataclass, field, replace
from robots.formats import assembly, checks
from robots.formats.assembly import Setting, close_from_rough
from robots.formats.closing import ClosingJoint
from robots.formats.description import Description
from robots.formats.inertias import kept_about, nearest_tensor
from robots.formats.poses import Pose, compose, frame_of, pose_of, rows
from robots.formats.ratings import Rating, known
from robots.formats.writing import AXES
from robots.formats.xml_tree import FormatError, ImportedError
from robots.geometry import joined, point
from robots.model import Closure, Coupling, Frame, Inertia, Limb, Link, Mechanism
from robots.parameter_errors import nearest
from robots.types import BASE, JointKind, Vector

Place = tuple[int, Pose]
"""A frame: the index of its body, or BASE, and its pose there."""

Base = Literal["fixed", "floating"]
"""Support of the root link: fixed, or floating on six joints with the positions and forces of the base."""

Inertias = Literal["checked", "repaired", "as they are"]
"""Treatment of physically impossible inertias: report as problems, repair with warnings, or leave unchanged."""

RESERVED = ("base", "platform")
"""Names that no body of a robot file may have."""

STEPS: Mapping[str, tuple[tuple[str, JointKind, int], ...]] = {
    "planar": (("x", "prismatic", 0), ("y", "prismatic", 1), ("turn", "revolute", 2)),
    "spherical": (("yaw", "revolute", 2), ("pitch", "revolute", 1), ("roll", "revolute", 0)),
    "floating": (
        *(("x", "prismatic", 0), ("y", "prismatic", 1), ("z", "prismatic", 2)),
        *(("yaw", "revolute", 2), ("pitch", "revolute", 1), ("roll", "revolute", 0)),
    ),
}
"""Joints of several freedoms as joints of one, from the parent outwards: end of the name, kind, axis of the frame."""


@dataclass(frozen=True)
class Tree:
    """The tree of a file: links of the model, the place of each body frame of the file, and its warnings.

    `couplings` are joints that follow others; `driven` is None if the file does not tell which joints are driven.
    `massless` are bodies at the end of the tree that have no inertia.
    """

    name: str
    links: tuple[Link, ...]
    bodies: dict[str, Place]
    warnings: tuple[FormatError, ...]
    source: str = "imported"
    couplings: tuple[Coupling, ...] = ()
    ratings: tuple[Rating, ...] = ()
    massless: tuple[str, ...] = ()
    loops: tuple[ClosingJoint, ...] = ()
    driven: tuple[str, ...] | None = None
    gears: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints that move."""
        return tuple(link.joint for link in self.links)

    @property
    def free(self) -> tuple[str, ...]:
        """Names of the joints that follow no other one."""
        followers = {entry.joint for entry in self.couplings}
        return tuple(name for name in self.joints if name not in followers)

    def description(
        self,
        loops: Iterable[ClosingJoint] = (),
        actuated: Sequence[str] | None = None,
        independent: Sequence[str] = (),
        reference: Mapping[str, float] | None = None,
    ) -> Description:
        """Return the robot with its loops and `loops`, closed from rough joint positions if there is a `reference`.

        Without `actuated`, joints with actuators in the file are driven, or else independent joints. Raises ValueError
        for names that are not in the file.
        """
        for name in (*(actuated or ()), *independent):
            if name not in self.free:
                raise ValueError(f"joint {name!r} is no movable joint of {self.name}; {nearest(name, self.free)}")
        closures = tuple(map(self._closure, (*self.loops, *loops)))
        driven = (self.driven or self.free) if actuated is None else tuple(actuated)
        values = np.array([(reference or {}).get(name, 0.0) for name in self.joints])
        setting = self.setting(closures) if closures else None
        if setting is not None and reference is not None:
            held = tuple(independent or (driven if actuated is not None or self.driven else ()))
            values = self._closed(setting, values, held, alone=not reference)
        if setting is not None and actuated is None and not independent:
            leaders = {entry.of for entry in self.couplings}
            independent = assembly.independent(setting, values, leaders, self.driven or ())
            driven = driven if self.driven and set(independent) <= set(driven) else independent
            independent = () if set(independent) == set(driven) else independent
        built = self._chain(closures, driven, tuple(independent))
        places = {name: float(x) for name, x in zip(self.joints, values, strict=True) if reference is not None and x}
        return Description(
            self.name,
            "",
            self.source,
            (),
            (),
            built,
            ratings=tuple(entry.shifted(places.get(entry.joint, 0.0)) for entry in self.ratings),
            massless=self._loose(built.limbs[0]),
            reference=((self.name, tuple(places.items())),) if places else (),
        )

    def _closed(self, setting: Setting, rough: np.ndarray, held: Sequence[str], *, alone: bool) -> np.ndarray:
        """Return joint positions with closed loops near rough ones, with some joints held where they are.

        alone: where the loops do not close so, no joint is held.
        """
        values, error = close_from_rough(setting, rough, [self.joints.index(name) for name in held])
        if alone and held and not (error <= assembly.ASSEMBLED and setting.facing(values)):
            values, _ = close_from_rough(setting, rough)
        return values

    def setting(self, closures: tuple[Closure, ...] | None = None) -> Setting:
        """Return the tree in numbers, with closures, else with its own."""
        closures = tuple(map(self._closure, self.loops)) if closures is None else closures
        whole = self._chain(closures, self.free)
        return Setting(whole.limbs[0], whole.instances[0], whole.platform.home, counted=True)

    def _chain(
        self, closures: tuple[Closure, ...], actuated: tuple[str, ...], independent: tuple[str, ...] = ()
    ) -> Mechanism:
        """Return the chain of the tree with these loops."""
        limb = Limb(self.name, self.links, closures, (), actuated, independent=independent, couplings=self.couplings)
        return Mechanism.standing(limb)

    def _loose(self, limb: Limb) -> tuple[str, ...]:
        return tuple(link.body for k, link in enumerate(limb.links) if checks.is_loose(limb, k))

    def _closure(self, loop: ClosingJoint) -> Closure:
        a, b = self._end(loop, loop.a, loop.frame_a), self._end(loop, loop.b, loop.frame_b)
        return Closure(loop.joint, loop.kind, *a, *b, loop.pitch)

    def _end(self, loop: ClosingJoint, name: str, frame: Frame) -> tuple[int, Frame]:
        """Return the body of the model that contains a link of the file, and the pose of the link's frame there."""
        if name not in self.bodies:
            hint = nearest(name, self.bodies)
            raise ValueError(f"link {name!r} of loop {loop.joint} is no link of {self.name}; {hint}")
        body, pose = self.bodies[name]
        return body, frame_of(compose(pose, pose_of(frame)))


@dataclass
class GrowingTree:
    """A tree that grows joint by joint, parents first; `lines` say where the file has a joint or a body."""

    links: list[Link] = field(default_factory=list)
    bodies: dict[str, Place] = field(default_factory=dict)
    ratings: list[Rating] = field(default_factory=list)
    lines: dict[str, tuple[int, str]] = field(default_factory=dict)

    def joint(
        self,
        at: Place,
        name: str,
        kind: JointKind,
        direction: Sequence[float],
        body: str,
        armature: float = 0.0,
        pitch: float | None = None,
    ) -> Place:
        """Join a body at a frame, about or along a direction there; the same frame on the body, where it is zero."""
        if body in RESERVED:
            body = f"{body}_link"
        outer, pose = at
        axis, turned = _axis(direction)
        placement = frame_of((pose[0] @ turned, pose[1]))
        self.links.append(Link(name, body, outer, kind, axis, placement, point(0.0), armature, pitch))
        return len(self.links) - 1, (turned.T, np.zeros(3))

    def joints(self, at: Place, name: str, kind: str, turn: np.ndarray, body: str) -> Place:
        """Join a body by a joint of several freedoms, along the axes `turn` (3, 3) of a frame."""
        steps = STEPS[kind]
        for end, single, axis in steps:
            last = end == steps[-1][0]
            on = body if last else body_before(body, f"{name}_{end}")
            at = self.joint(at, f"{name}_{end}", single, turn[:, axis].tolist(), on)
            self.lines[f"{name}_{end}"] = self.lines.get(name, (0, ""))
        return at

    def load(self, at: Place, inertia: Inertia) -> None:
        """Add the inertia of a body whose frame is at a place; the inertia of the base has no effect."""
        body, _ = at
        if body != BASE:
            link = self.links[body]
            bare = not link.inertia.mass and not np.any(link.inertia.tensor)
            self.links[body] = replace(link, inertia=inertia) if bare else _heavier(link, inertia)

    def problems(self, mechanism: Mechanism) -> Iterator[FormatError]:
        """Yield the problems of the mechanism, each at its line of the file."""
        (limb,) = mechanism.limbs
        for finding in checks.check(mechanism, [link.body for link in limb.links], strict=True):
            link = limb.links[int(finding.path[3])] if finding.path[2:3] == ("links",) else limb.links[0]
            of_body = "inertia" in finding.path
            name, kind = (link.body, "link") if of_body else (link.joint, "joint")
            line, place = self.lines.get(name, (0, f"{kind} {name}"))
            hint = finding.hint
            if of_body and finding.got.startswith("principal moments"):
                hint = "Without --strict-inertia they become the nearest ones that a body can have."
            got = finding.got
            if {"position", "centre"} & set(finding.path):
                got = f"{'an origin' if 'position' in finding.path else 'a centre of mass'} {got} away"
            yield FormatError(line, place, got, finding.expected, hint)

    def repaired(self) -> Iterator[FormatError]:
        """Replace physically impossible moments of inertia by the nearest possible ones, and yield a warning for each.

        For a body that turns about one axis alone, the moment and the products of that axis are kept, as the other
        entries have no effect.
        """
        for k, link in enumerate(self.links):
            wrong = [entry for entry in checks.check_inertia(link.inertia) if entry.got.startswith("principal moments")]
            if wrong:
                axis, tensor = checks.only_axis(self.links, k), link.inertia.tensor
                tensor = nearest_tensor(tensor) if axis is None else kept_about(tensor, axis)
                self.links[k] = replace(link, inertia=replace(link.inertia, tensor=tensor))
                line, place = self.lines.get(link.body, (0, f"link {link.body}"))
                shown = ", ".join(f"{x:g}" for x in np.linalg.eigvalsh(np.array(tensor, dtype=float)))
                yield FormatError(line, place, wrong[0].got, wrong[0].expected, f"They became {shown}.")


def body_before(body: str, joint: str) -> str:
    """Return the name of a massless body between the joints to a body: body and joint, or the joint if too long."""
    return whole if len(whole := f"{body}_{joint}") <= 80 else f"of_{joint}"


def plain_name(name: str) -> str:
    """Return a name for a robot file."""
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:80]
    return plain if re.match(r"[A-Za-z]", plain) else f"robot_{plain}"[:80]


def rated(ratings: Iterable[Rating], joints: Sequence[str]) -> tuple[Rating, ...]:
    """Return the non-empty ratings of joints of the model, in the order of the joints."""
    table = {entry.joint: entry for entry in ratings}
    return known(table[name] for name in joints if name in table)


def _heavier(link: Link, more: Inertia) -> Link:
    inertia = link.inertia
    if inertia.mass and more.mass:
        inertia = joined(inertia, more)
    else:  # a body without mass may have an inertia, and adds it
        heavy = inertia if inertia.mass else more
        tensor: np.ndarray = np.array(inertia.tensor) + np.array(more.tensor)
        inertia = Inertia(heavy.mass, heavy.centre, rows(tensor))
    return replace(link, inertia=inertia)


def _axis(components: Sequence[float]) -> tuple[Vector, np.ndarray]:
    """Return the axis of the model, and the rotation (3, 3) from the frame in which it is that to the joint's frame."""
    direction = np.array(components)
    for axis in AXES.values():
        if np.array_equal(direction, axis):
            return axis, np.eye(3)
    across = np.cross(direction, np.eye(3)[np.argmin(np.abs(direction))])
    across /= np.linalg.norm(across)
    return AXES["z"], np.stack([across, np.cross(direction, across), direction], axis=1)


def finished(
    tree: Tree, growing: GrowingTree, problems: list[FormatError], warnings: list[FormatError], inertias: Inertias
) -> Tree:
    """Return a tree from its links and joints, checked. Raises ImportedError with all problems."""
    if inertias == "repaired":
        warnings = [*warnings, *growing.repaired()]
    joints, bodies = [link.joint for link in growing.links], [link.body for link in growing.links]
    for kind, names in (("joint", joints), ("link", bodies)):
        for k, name in enumerate(names):
            if name in names[:k]:
                got, rule = f"{name} again", f"a name for each {kind}"
                problems.append(
                    FormatError(growing.lines.get(name, (0, ""))[0], f"{kind} {name}", got, rule, "Rename one.")
                )
    whole = replace(
        tree,
        links=tuple(growing.links),
        bodies=growing.bodies,
        ratings=rated(growing.ratings, joints),
        warnings=tuple(warnings),
    )
    if inertias != "as they are" and not problems:
        limb = Limb(tree.name, whole.links, (), (), whole.free, couplings=tree.couplings)
        mechanism = Mechanism.standing(limb)
        problems = [*problems, *growing.problems(mechanism)]
    if problems:
        raise ImportedError(problems)
    return whole
