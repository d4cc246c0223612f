"""Read robot files: from YAML to a description, with line and column of every problem.

Keys and types are in `pipeline.robot_files.sections`, numbers in `pipeline.robot_files.values`, what makes no sense in
a mechanism in `robots.formats.checks`. A description is plain data: nothing in a file is run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from pipeline.documents.files import read_text
from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.units import UNITS
from pipeline.documents.validation import validate_keys
from pipeline.documents.yaml import MAX_BYTES, Document, KeyPath, parse_yaml
from pipeline.robot_files.places import Places
from pipeline.robot_files.sections import (
    ClosureSection,
    InstanceSection,
    LimbSection,
    LinkSection,
    MotorSection,
    RobotFile,
    SpinSection,
)
from pipeline.robot_files.solvable import check_solvable
from pipeline.robot_files.values import NO_PITCH, PITCH, ValueReader
from robots import limits
from robots.coupled import CoupledPlatform, homes_of
from robots.drives import Drive, Motor, Spin
from robots.expressions.expression import GEOMETRIC, Expression
from robots.formats import assembly, checks, mobility, writing
from robots.formats.assembly import Setting
from robots.formats.description import CONSTANTS, Description
from robots.formats.ratings import Rating
from robots.formats.templates import fill
from robots.formats.variants import PLAIN, Variant
from robots.model import NO_PLATFORM, PLATFORM, Closure, Coupling, Frame, Instance, Limb, Link, Mechanism, Platform
from robots.parameters import LARGEST, Parameter, nearest
from robots.types import BASE, TWIST

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = {"and", "or", "not", *GEOMETRIC, *CONSTANTS}
BODIES = {"base": BASE, "platform": PLATFORM}
"""Names that no body may have."""


def read_robot(path: str | os.PathLike[str]) -> Description:
    """Read the robot in a file. Raises InputError with all problems."""
    name = os.fspath(path)
    return parse_robot(read_text(name, MAX_BYTES), name)


def parse_robot(text: str, name: str) -> Description:
    """Read the robot in a text; `name` is what messages call it. Raises InputError with all problems."""
    return describe(parse_yaml(text, name))


def describe(document: Document) -> Description:
    """Read the robot in a document. Raises InputError with all problems."""
    report = Report(document)
    require_format(report)
    file, problems = validate_keys(RobotFile, document)
    report.take(problems)
    description = _RobotReader(report, file).description()
    report.raise_if_any()
    assert description is not None
    return description


def require_format(report: Report) -> None:
    """Refuse a file of another version. Raises InputError."""
    if (version := report.document.data.get("limbsweep")) != writing.FORMAT and isinstance(version, int):
        hint = "Use the limbsweep that wrote it, or a newer one."
        report(("limbsweep",), version, f"version {writing.FORMAT} of the format", hint)
        report.raise_if_any()


class _RobotReader:
    """Reads a robot file section by section; `file` is the sound part of it."""

    def __init__(self, report: Report, file: RobotFile) -> None:
        self.report, self.file = report, file
        self.values = ValueReader(report, set(CONSTANTS))
        self.platform_bodies: dict[str, int] = {"platform": BASE}

    def description(self) -> Description | None:
        """Read all sections; None where something was wrong, which is reported."""
        parameters = tuple(self._parameters())
        derived = tuple(self._derived())
        limbs = self._limbs()
        coupled = self._coupled()
        platform = NO_PLATFORM if coupled else self._platform()
        instances = self._instances(limbs)
        joined, variants = self._joined(), self._variants(parameters, derived)
        if coupled is not None:
            self._check_coupled(coupled, limbs, instances)
        if self.report.problems:
            return None
        mechanism = Mechanism(tuple(limbs.values()), instances, platform)
        file = self.file
        description = Description(
            file.name,
            file.title,
            file.source,
            parameters,
            derived,
            mechanism,
            () if coupled else tuple(self._ratings(mechanism)),
            file.massless,
            platform=coupled,
            joined=joined if any(body != BASE for body in joined) else (),
            variants=variants if any(variant != PLAIN for variant in variants) else (),
        )
        self._check_massless(description)
        if self.report.problems:
            return None
        self._try_values(description)
        self._check_axes(description)
        if self.report.problems:
            return None
        if any(section.reference is not None for section in file.limbs.values()):
            description = replace(description, reference=tuple(self._references(description)))
        if coupled is not None:
            description = replace(description, ratings=tuple(self._ratings(description.family.reference)))
        self._try(description)
        return description

    def _references(self, description: Description) -> Iterator[tuple[str, tuple[tuple[str, float], ...]]]:
        """Close the loops of limbs that have rough positions of joints."""
        mechanism, platform = description.parts({entry.name: entry.scalar for entry in description.parameters})
        homes = dict(enumerate(homes_of(platform))) if platform else {}
        places = Places(description.template, None)
        for k, limb in enumerate(mechanism.limbs):
            source = places.limb(limb.name)
            stated = self.file.limbs[source].reference
            if stated is None:
                continue
            path, names = ("limbs", source, "reference"), [link.joint for link in limb.links]
            for name in stated:
                if name not in names:
                    hint = sentence(nearest(name, names))
                    self.report((*path, name), name, "a joint of a link of this limb", hint, key=True)
            number, instance = next((n, entry) for n, entry in enumerate(mechanism.instances) if entry.limb == k)
            body = description.joined[number] if description.joined else BASE
            home = platform.home if platform else mechanism.platform.home
            setting = Setting(limb, instance, homes.get(body, home))
            guess = np.array([float(stated.get(name, 0.0)) for name in names])
            given = (limb.independent or limb.actuated) if mechanism.is_chain and platform is None else ()
            held = (*given, *(entry.joint for entry in limb.couplings))
            values, left = assembly.close(setting, guess, [names.index(name) for name in held])
            if left > checks.GAP:
                got = f"loops that stay open by {left:.3g} from there"
                hint = "Move the rough positions, or those of the joints that are driven, which stay as they are."
                self.report(path, Got(got), "positions near which all loops can be closed", hint)
            yield limb.name, tuple((name, float(x)) for name, x in zip(names, values, strict=True) if x)

    def _parameters(self) -> Iterator[Parameter]:
        for name, section in self.file.parameters.items():
            path = ("parameters", name)
            self._new_name(name, path)
            lower = -LARGEST if section.lower is None else float(section.lower)
            upper = LARGEST if section.upper is None else float(section.upper)
            parameter = Parameter(
                name, section.unit, float(section.default), lower, upper, section.text, section.source
            )
            if lower > upper:
                self.report((*path, "lower"), section.lower, f"at most upper, {upper:g}", "Swap them.")
            elif problem := parameter.problem(parameter.scalar):
                self.report((*path, "default"), Got(f"{parameter.default!r}, which {problem}"), parameter.bounds)
            unit = UNITS.get(section.unit)
            if unit is None or (unit.si != unit.name and unit.name != "deg"):
                known = sorted({*(unit.si for unit in UNITS.values()), "deg"})
                hint = f"Write it in {unit.si}." if unit else sentence(nearest(section.unit, known))
                self.report((*path, "unit"), section.unit, "an SI unit, or deg", hint)
            yield parameter

    def _new_name(self, name: str, path: KeyPath) -> None:
        """Check that expressions can use a name, and add it to those that they may use."""
        if not _IDENTIFIER.fullmatch(name) or len(name) > 80:
            self.report(path, name, "letters, digits and '_', not starting with a digit, at most 80", key=True)
        elif name in _RESERVED or name in self.values.names:
            self.report(path, name, "a name that is free", "Expressions have it for something else.", key=True)
        elif same := [known for known in self.values.names if known.casefold() == name.casefold()]:
            hint = "They are names of folders in a store, where some file systems see no capitals."
            self.report(path, name, f"a name that differs from {same[0]} in more than capitals", hint, key=True)
        self.values.names.add(name)

    def _derived(self) -> Iterator[tuple[str, Expression]]:
        for name, value in self.file.derived.items():
            path = ("derived", name)
            constant = isinstance(value, int | float) and not isinstance(value, bool)
            number = self.values.number(repr(value) if constant else value, path)
            self._new_name(name, path)
            if isinstance(number, Expression):
                yield name, number

    def _limbs(self) -> dict[str, Limb]:
        sections = self.file.limbs if "limbs" in self.file.model_fields_set else {}
        return {name: self._limb(name, section, ("limbs", name)) for name, section in sections.items()}

    def _limb(self, name: str, section: LimbSection, path: KeyPath) -> Limb:
        bodies: dict[str, int] = {"base": BASE}
        links: list[Link] = []
        for k, link in enumerate(section.links):
            links.append(self._link(link, bodies, (*path, "links", k)))
            bodies.setdefault(link.body, len(bodies) - 1)
        loops = self._closures(section.loops, bodies, (*path, "loops"), tips=False)
        tips = self._closures(section.tips, bodies, (*path, "tips"), tips=True)
        places = [(*path, "links", k) for k in range(len(links))]
        places += [(*path, key, k) for key in ("tips", "loops") for k in range(len(getattr(section, key)))]
        self._once([link.joint for link in links] + [cut.joint for cut in (*tips, *loops)], places)
        names = [link.joint for link in links]
        for key in ("actuated", "independent", "coordinates"):
            joints = getattr(section, key)
            for k, joint in enumerate(joints):
                if joint not in names:
                    hint = sentence(nearest(joint, names))
                    self.report((*path, key, k), joint, "a joint of a link of this limb", hint)
                elif joint in joints[:k]:
                    self.report((*path, key, k), Got(f"{joint} again"), "every joint once", "Remove one.")
                elif key == "coordinates" and joint in section.actuated:
                    self.report((*path, key, k), joint, "no actuated joint: nothing is there to drive", "Remove it.")
        if section.coordinates and section.tips:
            self.report((*path, "coordinates"), section.coordinates, "no key of a limb with tips", "Remove it.")
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
                if joint not in joints:
                    hint = sentence(nearest(joint, joints))
                    self.report((*place, "ratios", joint), joint, "a joint of a link of this limb", hint, key=True)
            spins = tuple(self._spin(spin, bodies, (*place, "spins", i)) for i, spin in enumerate(entry.spins))
            ratios = [(joint, self.values.number(x, (*place, "ratios", joint))) for joint, x in entry.ratios.items()]
            motor = None if entry.motor is None else self._motor(entry.motor, (*place, "motor"))
            curve = None if entry.position is None else self.values.curve(entry.position, (*place, "position"), joints)
            yield Drive(entry.name, tuple(ratios), spins, motor, entry.kind, curve)

    def _spin(self, section: SpinSection, bodies: Mapping[str, int], path: KeyPath) -> Spin:
        carrier = self._body(section.carrier, bodies, (*path, "carrier"), "a body of this limb, or base")
        inertia = self.values.number(section.inertia, (*path, "inertia"))
        share, coupling = (self.values.number(getattr(section, key), (*path, key)) for key in ("share", "coupling"))
        return Spin(inertia, carrier, self.values.triple(section.axis, (*path, "axis")), share, coupling)

    def _motor(self, section: MotorSection, path: KeyPath) -> Motor:
        keys = ("torque_constant", "resistance")
        return Motor(*(self.values.number(getattr(section, key), (*path, key)) for key in keys))

    def _couplings(self, section: LimbSection, names: Sequence[str], path: KeyPath) -> Iterator[Coupling]:
        followers = [entry.joint for entry in section.couplings]
        for k, entry in enumerate(section.couplings):
            place = (*path, "couplings", k)
            for key in ("joint", "of"):
                if (name := getattr(entry, key)) not in names:
                    hint = sentence(nearest(name, names))
                    self.report((*place, key), name, "a joint of a link of this limb", hint)
            if entry.joint in followers[:k]:
                self.report((*place, "joint"), Got(f"{entry.joint} again"), "one coupling of a joint", "Remove one.")
            if entry.of in followers:
                hint = "Name the joint at the end, with the product of the ratios."
                self.report((*place, "of"), entry.of, "a joint that follows no other one", hint)
            for key in ("actuated", "independent"):
                if entry.joint in getattr(section, key):
                    at = getattr(section, key).index(entry.joint)
                    self.report((*path, key, at), entry.joint, "no joint that follows another", "Remove it.")
            yield Coupling(entry.joint, entry.of, self.values.number(entry.ratio, (*place, "ratio")))

    def _ratings(self, mechanism: Mechanism) -> Iterator[Rating]:
        known = limits.joints(mechanism)
        for name, section in self.file.ratings.items():
            path = ("ratings", name)
            if name not in known:
                self.report(path, name, "a joint of one variable", sentence(nearest(name, known)), key=True)
            low, high = section.position or (None, None)
            if low is not None and high is not None and low >= high:
                self.report((*path, "position"), [low, high], "[low, high] with low below high", "Exchange them.")
            for key in ("velocity", "force", "viscous", "coulomb"):
                if (value := getattr(section, key)) is not None and value < 0:
                    self.report((*path, key), value, "a number of at least 0")
            numbers = (low, high, section.velocity, section.force, section.viscous, section.coulomb)
            yield Rating(name, *(None if entry is None else float(entry) for entry in numbers))

    def _check_massless(self, description: Description) -> None:
        """Refuse names under massless that no body has."""
        bodies = [link.body for limb in description.template.limbs for link in limb.links]
        for k, name in enumerate(description.massless):
            if name not in bodies:
                self.report(("massless", k), name, "a body of the robot", sentence(nearest(name, bodies)))

    def _once(self, joints: Sequence[str], places: Sequence[KeyPath]) -> None:
        first: dict[str, KeyPath] = {}
        for joint, place in zip(joints, places, strict=True):
            if joint in first:
                line = self.report.document.where((*first[joint], "joint"))[0]
                hint = f"Rename one; the first is in line {line}."
                self.report((*place, "joint"), Got(f"joint {joint} again"), "a name for each joint", hint)
            first.setdefault(joint, place)

    def _link(self, section: LinkSection, bodies: Mapping[str, int], path: KeyPath) -> Link:
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

    def _axis(self, axis: str | tuple[Any, ...], path: KeyPath) -> Any:
        """Read an axis: a coordinate axis, or a direction of any length, which may be of expressions."""
        if isinstance(axis, str):
            return writing.AXES[axis]
        direction = self.values.triple(axis, path)
        if all(isinstance(x, float) for x in direction) and not any(direction) and not self.report.problems:
            self.report(path, list(direction), "a direction other than zero")
        return direction

    def _body(self, name: str, bodies: Mapping[str, int], path: KeyPath, rule: str) -> int:
        if name not in bodies:
            hint = "Parents come first; a joint that closes a loop belongs under loops. "
            self.report(path, name, rule, hint + sentence(nearest(name, bodies)))
        return bodies.get(name, BASE)

    def _closures(
        self, sections: Sequence[ClosureSection], bodies: Mapping[str, int], path: KeyPath, *, tips: bool
    ) -> tuple[Closure, ...]:
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

    def _platform(self) -> Platform:
        section = self.file.platform
        if section is None:
            return NO_PLATFORM
        order = [TWIST.index(name) for name in section.mobility]
        if order != sorted(set(order)):
            hint = f"The order is {', '.join(TWIST)}."
            self.report(("platform", "mobility"), section.mobility, "every component once, in order", hint)
        inertia = self.values.inertia(section.inertia, ("platform", "inertia"))
        return Platform(inertia, section.mobility, self.values.frame(section.home, ("platform", "home")))

    def _coupled(self) -> CoupledPlatform | None:
        """Read a platform whose coordinates follow from the limbs; None for another one, or none."""
        section = self.file.platform
        if section is None:
            return None
        path = ("platform",)
        if not section.coordinates:
            for key in ("links", "loops", "independent", "actuated"):
                if key in section.model_fields_set:
                    hint = "Name the coordinates in which its motion is given, in place of mobility."
                    self.report((*path, key), Got(f"{key} without coordinates"), "coordinates beside it", hint)
            if not section.mobility and not self.report.problems:
                hint = "Add it; or coordinates, where others follow from the limbs."
                self.report(path, Got("no key 'mobility'"), "'mobility', which is required", hint)
            return None
        if section.mobility:
            self.report((*path, "mobility"), section.mobility, "mobility or coordinates", "Remove one of them.")
        for k, name in enumerate(section.coordinates):
            if name in section.coordinates[:k]:
                self.report((*path, "coordinates", k), Got(f"{name} again"), "every one once", "Remove one.")
        links: list[Link] = []
        bodies = self.platform_bodies
        for k, link in enumerate(section.links):
            links.append(self._link(link, bodies, (*path, "links", k)))
            bodies.setdefault(link.body, len(bodies) - 1)
        loops = self._closures(section.loops, bodies, (*path, "loops"), tips=False)
        places = [(*path, "links", k) for k in range(len(links))] + [(*path, "loops", k) for k in range(len(loops))]
        self._once([link.joint for link in links] + [cut.joint for cut in loops], places)
        names = [link.joint for link in links]
        for key in ("independent", "actuated"):
            for k, joint in enumerate(getattr(section, key)):
                if joint not in names:
                    hint = sentence(nearest(joint, names))
                    self.report((*path, key, k), joint, "a joint of the platform's links", hint)
        inertia = self.values.inertia(section.inertia, (*path, "inertia"))
        home = self.values.frame(section.home, (*path, "home"))
        return CoupledPlatform(
            inertia, home, section.coordinates, tuple(links), loops, section.independent, section.actuated
        )

    def _joined(self) -> tuple[int, ...]:
        """The bodies of the platform that instances join."""
        result = []
        for name, section in (self.file.instances or {}).items():
            if section.body not in self.platform_bodies:
                hint = sentence(nearest(section.body, self.platform_bodies))
                self.report(("instances", name, "body"), section.body, "a body of the platform", hint)
            result.append(self.platform_bodies.get(section.body, BASE))
        return tuple(result)

    def _variants(
        self, parameters: Sequence[Parameter], derived: Sequence[tuple[str, Expression]]
    ) -> tuple[Variant, ...]:
        """What is different in the limbs of instances."""
        names = {parameter.name for parameter in parameters} - {name for name, _ in derived}
        result = []
        for name, section in (self.file.instances or {}).items():
            values = []
            for parameter, value in section.values.items():
                path = ("instances", name, "values", parameter)
                if parameter not in names:
                    hint = sentence(nearest(parameter, names)) if names else "The file has no parameters."
                    self.report(path, parameter, "a parameter of the robot", hint, key=True)
                values.append((parameter, self.values.number(value, path)))
            result.append(Variant(tuple(values), section.mirror))
        return tuple(result)

    def _check_coupled(
        self, platform: CoupledPlatform, limbs: Mapping[str, Limb], instances: Sequence[Instance]
    ) -> None:
        """Report couplings in limbs of a platform whose coordinates follow, and too few actuators."""
        for name in limbs:
            if self.file.limbs[name].couplings:
                hint = "Their joints follow from the coordinates already."
                rule = "couplings beside mobility, or in chains"
                self.report(
                    ("limbs", name, "couplings"), Got("a coupling in a limb at a platform with coordinates"), rule, hint
                )
        order = list(limbs.values())
        driven = len(platform.actuated) + sum(len(order[instance.limb].actuators) for instance in instances)
        given = len(platform.coordinates) + len(platform.independent)
        if not self.report.problems and driven < given:
            got = f"{given} coordinates that are given and {driven} actuators"
            hint = "Name the driven joints of each limb under actuated, or give fewer coordinates."
            self.report(("platform", "coordinates"), Got(got), "at least as many actuators", hint)

    def _instances(self, limbs: Mapping[str, Limb]) -> tuple[Instance, ...]:
        sections = self.file.instances
        chain = "platform" not in self.report.document.data
        self._shape(limbs, sections, chain=chain)
        if sections is None:
            return (Instance(next(iter(limbs)), 0, Frame(), Frame()),) if limbs else ()
        order, instances = list(limbs), []
        for name, section in sections.items():
            path = ("instances", name)
            if section.limb not in limbs:
                self.report((*path, "limb"), section.limb, "one of limbs", sentence(nearest(section.limb, limbs)))
                continue
            frames = (self.values.frame(getattr(section, key), (*path, key)) for key in ("base", "platform"))
            instances.append(Instance(name, order.index(section.limb), *frames))
        return tuple(instances)

    def _shape(self, limbs: Mapping[str, Limb], sections: Mapping[str, InstanceSection] | None, *, chain: bool) -> None:
        """Check that limbs, instances and platform are those of a chain, or of a robot with a platform."""
        report = self.report
        if chain:
            if len(limbs) > 1 or len(sections or ()) > 1:
                report((), Got("several limbs and no platform"), "a platform, or one limb", "Add the key platform.")
            if any(limb.tips for limb in limbs.values()):
                report((), Got("tips and no platform"), "a platform, or no tips", "Add the key platform.")
            if any(not limb.actuated for limb in limbs.values()):
                report((), Got("a chain that nothing drives"), "at least one joint under actuated", "Name it.")
        elif sections is None and "instances" not in report.document.data:
            report((), Got("no key 'instances'"), "'instances', which a robot with a platform needs", "Add it.")
        for name, limb in limbs.items():
            if not chain and not limb.tips:
                report(("limbs", name), Got("no tips"), "joints at the platform under tips", "Add them.")
            if limb.independent and not chain:
                report(("limbs", name, "independent"), limb.independent, "no key of a limb with tips", "Remove it.")

    def _check_axes(self, description: Description) -> None:
        """Report directions of axes that are zero with the default parameters."""
        if self.report.problems:
            return
        known = description.known({parameter.name: parameter.scalar for parameter in description.parameters})
        lists: list[tuple[KeyPath, Sequence[Link]]] = [
            (("limbs", limb.name), limb.links) for limb in description.template.limbs
        ]
        lists += [(("platform",), description.platform.links)] if description.platform else []
        for path, links in lists:
            for k, link in enumerate(links):
                if not np.any(np.array(fill(link.axis, known), dtype=float)):
                    got = "a direction that is zero with the defaults of the parameters"
                    self.report((*path, "links", k, "axis"), Got(got), "a direction other than zero")

    def _try_values(self, description: Description) -> None:
        """Evaluate all expressions with the default parameters, and report what is not finite."""
        known: dict[str, Any] = CONSTANTS | {parameter.name: parameter.scalar for parameter in description.parameters}
        rules = dict(description.derived)
        for path, expression in self.values.expressions:
            value = np.asarray(expression(known))
            if not abs(value) <= LARGEST:
                hint = "With the defaults of the parameters; look for a division by zero or the root of a negative."
                rule = f"a finite number of at most {LARGEST:g}"
                self.report(path, Got(f"{expression.text}, which is {value:g}"), rule, hint)
            elif path[-1] == PITCH and value == 0:
                self.report(
                    path, Got(f"{expression.text}, which is 0"), NO_PITCH, "With the defaults of the parameters."
                )
            if path[0] == "derived" and rules[str(path[1])] == expression:
                known[str(path[1])] = float(value)

    def _try(self, description: Description) -> None:
        """Evaluate the robot with the default parameters, and report what makes no mechanism."""
        if self.report.problems:
            return
        if description.platform is not None:
            limbs, _ = description.parts({parameter.name: parameter.scalar for parameter in description.parameters})
            for finding in (finding for findings in checks.check_instances(limbs) for finding in findings):
                self.report(finding.path, Got(finding.got), finding.expected, finding.hint)
            if self.report.problems:
                return
        reference = description.family.reference
        defaults = {parameter.name: parameter.scalar for parameter in description.parameters}
        places = Places(description.template, description.platform, description.parts(defaults)[0])
        for find in (partial(checks.check, massless=description.massless), checks.check_loops, mobility.check_home):
            for finding in find(reference):
                self.report(places.of(finding.path), Got(finding.got), finding.expected, finding.hint)
            if self.report.problems:
                return
        check_solvable(self.report, description)
