"""Read limbs of robot files: links with joints, cut joints, drives and couplings.

Links and cut joints of platforms of several bodies are read by the same functions. Paths of keys lead to the place of a
problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Got, Report, sentence
from pipeline.robot_files.sections import (
    ClosureSection,
    ControllerGains,
    LimbSection,
    LinkSection,
    MotorSection,
    SpinSection,
)
from pipeline.robot_files.values import ValueReader
from robots.drives import Drive, Motor, PIController, Spin
from robots.formats import writing
from robots.model import PLATFORM, Closure, Coupling, Limb, Link
from robots.parameter_errors import nearest
from robots.types import BASE

BODIES = {"base": BASE, "platform": PLATFORM}
"""Names that no body may have."""


class LimbReader:
    """Reader of limbs and their parts; problems go to the report of its values."""

    def __init__(self, values: ValueReader) -> None:
        self.values = values
        self.report: Report = values.report

    def limb(self, name: str, section: LimbSection, path: KeyPath) -> Limb:
        """Read a limb: its bodies in order, then its loops and tips."""
        bodies: dict[str, int] = {"base": BASE}
        links: list[Link] = []
        for k, link in enumerate(section.links):
            links.append(self.link(link, bodies, (*path, "links", k)))
            bodies.setdefault(link.body, len(bodies) - 1)
        loops = self.closures(section.loops, bodies, (*path, "loops"), tips=False)
        tips = self.closures(section.tips, bodies, (*path, "tips"), tips=True)
        places = [(*path, "links", k) for k in range(len(links))]
        places += [(*path, key, k) for key in ("tips", "loops") for k in range(len(getattr(section, key)))]
        self.once([link.joint for link in links] + [cut.joint for cut in (*tips, *loops)], places)
        names = [link.joint for link in links]
        self._check_named_joints(section, names, path)
        drives = tuple(self._drives(section, names, bodies, path))
        couplings = tuple(self._couplings(section, names, path))
        return Limb(
            name,
            tuple(links),
            loops,
            tips,
            section.actuated,
            section.every_row,
            section.independent,
            drives=() if self.report.problems else drives,
            couplings=() if self.report.problems else couplings,
            coordinates=() if self.report.problems else section.coordinates,
        )

    def _check_named_joints(self, section: LimbSection, names: Sequence[str], path: KeyPath) -> None:
        """Report actuated joints, independent joints and coordinates that are no joints of links, or named twice."""
        for key in ("actuated", "independent", "coordinates"):
            joints = getattr(section, key)
            for k, joint in enumerate(joints):
                if not self.report.require_known((*path, key, k), joint, names, "a joint of a link of this limb"):
                    continue
                if joint in joints[:k]:
                    self.report((*path, key, k), Got(f"{joint} again"), "every joint once", "Remove one.")
                elif key == "coordinates" and joint in section.actuated:
                    self.report((*path, key, k), joint, "no actuated joint, so no drive", "Remove it.")
        if section.coordinates and section.tips:
            self.report((*path, "coordinates"), section.coordinates, "no key of a limb with tips", "Remove it.")

    def _drives(
        self, section: LimbSection, joints: Sequence[str], bodies: Mapping[str, int], path: KeyPath
    ) -> Iterator[Drive]:
        names = [entry.name for entry in section.drives]
        for k, entry in enumerate(section.drives):
            place = (*path, "drives", k)
            if entry.name in names[:k]:
                self.report((*place, "name"), Got(f"drive {entry.name} again"), "a name for each drive", "Rename one.")
            if entry.name in joints:
                self.report((*place, "name"), entry.name, "another name than those of joints", "Such as motor.")
            if not entry.ratios and entry.position is None:
                self.report(place, Got("a drive that moves nothing"), "ratios of joints, or position", "Add them.")
            for joint in entry.ratios:
                rule = "a joint of a link of this limb"
                self.report.require_known((*place, "ratios", joint), joint, joints, rule, key=True)
            spins = tuple(self._spin(spin, bodies, (*place, "spins", i)) for i, spin in enumerate(entry.spins))
            ratios = [(joint, self.values.number(x, (*place, "ratios", joint))) for joint, x in entry.ratios.items()]
            motor = None if entry.motor is None else self._motor(entry.motor, (*place, "motor"))
            curve = None if entry.position is None else self.values.curve(entry.position, (*place, "position"), joints)
            yield Drive(entry.name, tuple(ratios), spins, motor, entry.kind, curve)

    def _spin(self, section: SpinSection, bodies: Mapping[str, int], path: KeyPath) -> Spin:
        carrier = self._body(section.carrier, bodies, (*path, "carrier"), "a body of this limb, or base")
        inertia = self.values.number(section.inertia, (*path, "inertia"))
        share, coupling = (self.values.number(getattr(section, key), (*path, key)) for key in ("share", "coupling"))
        return Spin(inertia, carrier, self.values.direction(section.axis, (*path, "axis")), share, coupling)

    def _motor(self, section: MotorSection, path: KeyPath) -> Motor:
        keys = ("torque_constant", "resistance", "bandwidth", *(() if section.inductance is None else ("inductance",)))
        numbers = {key: self.values.number(getattr(section, key), (*path, key)) for key in keys}
        return Motor(
            **numbers,
            current_controller=self._gains(section.current_controller, (*path, "current_controller")),
            speed_controller=self._gains(section.speed_controller, (*path, "speed_controller")),
        )

    def _gains(self, section: ControllerGains | None, path: KeyPath) -> PIController | None:
        if section is None:
            return None
        keys = ("proportional", "integral")
        return PIController(**{key: self.values.number(getattr(section, key), (*path, key)) for key in keys})

    def _couplings(self, section: LimbSection, names: Sequence[str], path: KeyPath) -> Iterator[Coupling]:
        followers = [entry.joint for entry in section.couplings]
        for k, entry in enumerate(section.couplings):
            place = (*path, "couplings", k)
            leaders = entry.of if isinstance(entry.of, dict) else {entry.of: entry.ratio}
            if isinstance(entry.of, dict) == (entry.ratio is not None):
                got = Got("a ratio beside several" if entry.ratio is not None else "no ratio")
                hint = "Write of: NAME and ratio, or of: {NAME: ratio, NAME: ratio}."
                self.report((*place, "ratio"), got, "a ratio of each joint that is followed", hint)
                continue
            for key, name in (("joint", entry.joint), *(("of", leader) for leader in leaders)):
                self.report.require_known((*place, key), name, names, "a joint of a link of this limb")
            if entry.joint in followers[:k]:
                hint = "Write all that it follows in one: of: {NAME: ratio, NAME: ratio}."
                self.report((*place, "joint"), Got(f"{entry.joint} again"), "one coupling of a joint", hint)
            for leader in leaders:
                if leader in followers:
                    hint = "Name the joint at the end, with the product of the ratios."
                    self.report((*place, "of"), leader, "a joint that follows no other one", hint)
            for key in ("actuated", "independent"):
                if entry.joint in getattr(section, key):
                    at = getattr(section, key).index(entry.joint)
                    self.report((*path, key, at), entry.joint, "no joint that follows another", "Remove it.")
            for leader, ratio in leaders.items():
                at = (*place, "of", leader) if isinstance(entry.of, dict) else (*place, "ratio")
                yield Coupling(entry.joint, leader, self.values.number(ratio, at))

    def once(self, joints: Sequence[str], places: Sequence[KeyPath]) -> None:
        """Report joints whose names were there before."""
        first: dict[str, KeyPath] = {}
        for joint, place in zip(joints, places, strict=True):
            if joint in first:
                line = self.report.document.where((*first[joint], "joint"))[0]
                hint = f"Rename one; the first is in line {line}."
                self.report((*place, "joint"), Got(f"joint {joint} again"), "a name for each joint", hint)
            first.setdefault(joint, place)

    def link(self, section: LinkSection, bodies: Mapping[str, int], path: KeyPath) -> Link:
        """Read a link and its joint; `bodies` are those above it, by name."""
        parent = self._body(section.parent, bodies, (*path, "parent"), "a body further up, or base")
        if section.body in bodies or section.body in BODIES:
            got = Got(f"body {section.body} again") if section.body not in BODIES else section.body
            hint = "A body has one parent; a second joint of it is a loop." if section.body not in BODIES else ""
            self.report((*path, "body"), got, "a name for each body", hint)
        return Link(
            section.joint,
            section.body,
            parent,
            section.kind,
            self._axis(section.axis, (*path, "axis")),
            self.values.frame(section.placement, (*path, "placement")),
            self.values.inertia(section.inertia, (*path, "inertia")),
            self.values.number(section.armature, (*path, "armature")),
            self.values.pitch(section, path),
        )

    def _axis(self, axis: str | tuple[object, ...], path: KeyPath) -> Any:
        """Read an axis: a coordinate axis, or a direction of any length, which may be of expressions."""
        if isinstance(axis, str):
            return writing.AXES[axis]
        return self.values.direction(axis, path)

    def _body(self, name: str, bodies: Mapping[str, int], path: KeyPath, rule: str) -> int:
        if name not in bodies:
            hint = "Parents come first; a joint that closes a loop belongs under loops. "
            self.report(path, name, rule, hint + sentence(nearest(name, bodies)))
        return bodies.get(name, BASE)

    def closures(
        self, sections: Sequence[ClosureSection], bodies: Mapping[str, int], path: KeyPath, *, tips: bool
    ) -> tuple[Closure, ...]:
        """Read joints that close loops, or with `tips` those at the platform."""
        return tuple(self._closure(closure, bodies, (*path, k), tip=tips) for k, closure in enumerate(sections))

    def _closure(self, section: ClosureSection, bodies: Mapping[str, int], path: KeyPath, *, tip: bool) -> Closure:
        a = self._body(section.a, bodies, (*path, "a"), "a body of this limb, or base")
        if tip and section.b is not None:
            self.report((*path, "b"), section.b, "no other body: a tip joins the platform", "Remove it.")
        if not tip and section.b is None:
            self.report(path, Got("no key 'b'"), "'b', which is required in loops", "Add it.")
        b = PLATFORM if tip else self._body(section.b or "base", bodies, (*path, "b"), "a body of this limb, or base")
        if a == b and not self.report.problems:
            self.report(path, Got(f"a joint of {section.a} with itself"), "two bodies", "Name another one.")
        frames = [self.values.frame(getattr(section, key), (*path, key)) for key in ("frame_a", "frame_b")]
        return Closure(section.joint, section.kind, a, frames[0], b, frames[1], self.values.pitch(section, path))
