"""Read platforms of robot files, the bases on which limbs stand, and instances of limbs.

A platform has a mobility, or coordinates that follow from its limbs. An instance of a limb has its mount frames and its
differences from the limb. Links and cut joints of a platform are read as those of a limb.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Got, Report, sentence
from pipeline.robot_files.limbs import LimbReader
from pipeline.robot_files.redundancy import RedundancyReader
from pipeline.robot_files.sections import InstanceSection, PlatformSection, RobotFile
from pipeline.robot_files.values import ValueReader
from robots.coupled import BODY, COORDINATES, NAME, CoupledPlatform
from robots.expressions.expression import ParsedExpression
from robots.formats import writing
from robots.formats.description import Variant
from robots.model import NO_PLATFORM, Frame, Instance, Limb, Link, Platform
from robots.parameter_errors import nearest
from robots.parameters import Parameter
from robots.types import BASE, TWIST


class PlatformReader:
    """Reader of the platform of a file and its instances; `parts` reads links and cut joints of its bodies."""

    def __init__(self, file: RobotFile, parts: LimbReader) -> None:
        self.file, self.parts = file, parts
        self.values: ValueReader = parts.values
        self.report: Report = parts.report
        self.platform_bodies: dict[str, int] = {"platform": BASE}
        self.carriers: dict[str, int] = {"base": BASE}

    def platform(self) -> Platform:
        """Read a platform with a mobility; none of a chain."""
        section = self.file.platform
        if section is None:
            return NO_PLATFORM
        mobility = tuple(name for name in TWIST if name in section.mobility)
        if len(mobility) < len(section.mobility):
            self.report(
                ("platform", "mobility"), section.mobility, "every component once", "Remove the repeated components."
            )
        inertia = self.values.inertia(section.inertia, ("platform", "inertia"))
        return Platform(inertia, mobility, self.values.frame(section.home, ("platform", "home")))

    def coupled(self) -> CoupledPlatform | None:
        """Read a platform whose coordinates follow from the limbs; None for another one, or none."""
        section, base = self.file.platform, self.file.base
        if base is not None and (section is None or not section.coordinates):
            hint = "The base of other robots moves as a sweep says, in its section base."
            self.report(("base",), Got("base without coordinates of a platform"), "coordinates under platform", hint)
        if section is None:
            return None
        if not section.coordinates:
            self._check_keys_of_mobility(section)
            return None
        path = ("platform",)
        if section.mobility:
            self.report((*path, "mobility"), section.mobility, "mobility or coordinates", "Remove one of them.")
        self.report.require_once((*path, "coordinates"), section.coordinates, "every one once")
        links: list[Link] = []
        bodies = self.platform_bodies
        for k, link in enumerate(section.links):
            links.append(self.parts.link(link, bodies, (*path, "links", k)))
            bodies.setdefault(link.body, len(bodies) - 1)
        loops = self.parts.closures(section.loops, bodies, (*path, "loops"), tips=False)
        carriers = self._carriers()
        places: list[KeyPath] = [("base", "links", k) for k in range(len(carriers))]
        places += [(*path, "links", k) for k in range(len(links))] + [(*path, "loops", k) for k in range(len(loops))]
        self.parts.once([link.joint for link in (*carriers, *links)] + [cut.joint for cut in loops], places)
        names = [link.joint for link in links]
        for key in ("independent", "actuated"):
            for k, joint in enumerate(getattr(section, key)):
                self.report.require_known((*path, key, k), joint, names, "a joint of the platform's links")
        inertia = self.values.inertia(section.inertia, (*path, "inertia"))
        home = self.values.frame(section.home, (*path, "home"))
        motors = self.file.base.actuated if self.file.base else ()
        within = self._named(section.within, self.carriers, (*path, "within"), "base, or a body of the file's base")
        redundancy = RedundancyReader(self.values).read(section.redundancy, (*path, "redundancy"))
        return CoupledPlatform(
            *(inertia, home, section.coordinates, tuple(links), loops, section.independent),
            (*motors, *section.actuated),
            carriers,
            within,
            *redundancy,
        )

    def _check_keys_of_mobility(self, section: PlatformSection) -> None:
        """Report keys that a platform with a mobility must not have, and a mobility that is not there."""
        path = ("platform",)
        for key in ("links", "loops", "independent", "actuated", "within", "redundancy"):
            if key in section.model_fields_set:
                hint = "Name the coordinates in which its motion is given, in place of mobility."
                self.report((*path, key), Got(f"{key} without coordinates"), "coordinates beside it", hint)
        if not section.mobility and not self.report.problems:
            hint = "Add it; or coordinates, where others follow from the limbs."
            self.report(path, Got("no key 'mobility'"), "'mobility', which is required", hint)

    def _carriers(self) -> tuple[Link, ...]:
        """Read the bodies on which limbs stand."""
        if self.file.base is None:
            return ()
        links: list[Link] = []
        for k, section in enumerate(self.file.base.links):
            link = self.parts.link(section, self.carriers, ("base", "links", k))
            if link.axis not in writing.AXES.values():
                rule, hint = "a coordinate axis, such as x or -z", "Turn its placement."
                self.report(("base", "links", k, "axis"), list(section.axis), rule, hint)
            self.carriers.setdefault(link.body, len(self.carriers) - 1)
            links.append(link)
        names = [link.joint for link in links]
        for k, joint in enumerate(self.file.base.actuated):
            self._named(joint, dict.fromkeys(names, 0), ("base", "actuated", k), "a joint of the links of the base")
        return tuple(links)

    def _named(self, name: str, known: Mapping[str, int], path: KeyPath, rule: str) -> int:
        """Return the number of a body by its name."""
        self.report.require_known(path, name, known, rule)
        return known.get(name, BASE)

    def joined(self) -> tuple[int, ...]:
        """Return the bodies of the platform that instances join."""
        return self._of_instances("body", self.platform_bodies, "a body of the platform")

    def standing(self) -> tuple[int, ...]:
        """Return the bodies of the base on which instances stand."""
        return self._of_instances("carrier", self.carriers, "base, or a body of the file's base")

    def _of_instances(self, key: str, known: Mapping[str, int], rule: str) -> tuple[int, ...]:
        sections = (self.file.instances or {}).items()
        return tuple(
            self._named(getattr(section, key), known, ("instances", name, key), rule) for name, section in sections
        )

    def variants(
        self, parameters: Sequence[Parameter], derived: Sequence[tuple[str, ParsedExpression]]
    ) -> tuple[Variant, ...]:
        """Return the differences between the limbs of instances: parameter values, and an axis that is mirrored."""
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

    def check_coupled(
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
        self._check_names(platform, [(entry.name, order[entry.limb]) for entry in instances])
        driven = len(platform.actuated) + sum(len(order[instance.limb].actuators) for instance in instances)
        joints = {*platform.independent, *platform.redundant, *(link.joint for link in platform.carriers)}
        given = len(platform.coordinates) + len(joints)
        RedundancyReader(self.values).check(platform, order, instances)
        if not self.report.problems and driven < given:
            got = f"{given} coordinates that are given and {driven} actuators"
            hint = "Name the driven joints of each limb under actuated, or give fewer coordinates."
            self.report(("platform", "coordinates"), Got(got), "at least as many actuators", hint)

    def _check_names(self, platform: CoupledPlatform, limbs: Sequence[tuple[str, Limb]]) -> None:
        """Report joints and bodies of base and platform whose names occur elsewhere in the closed chain."""
        stand_ins = {f"{NAME}_{entry}" for entry in COORDINATES}
        joints = stand_ins | {f"{name}.{joint}" for name, limb in limbs for joint in limb.joints}
        bodies = stand_ins | {BODY} | {f"{name}.{link.body}" for name, limb in limbs for link in limb.links}
        for key, links in (("base", platform.carriers), ("platform", platform.links)):
            for k, link in enumerate(links):
                for what, name, others in (("joint", link.joint, joints), ("body", link.body, bodies)):
                    if name in others:
                        rule = f"a name that no other {what} of the robot has"
                        self.report((key, "links", k, what), name, rule, "Rename it.")
            bodies = bodies | {link.body for link in links}

    def instances(self, limbs: Mapping[str, Limb]) -> tuple[Instance, ...]:
        """Read which limbs the robot has, and where they are mounted."""
        sections = self.file.instances
        chain = "platform" not in self.report.document.data
        self._shape(limbs, sections, chain=chain)
        if sections is None:
            return (Instance(next(iter(limbs)), 0, Frame(), Frame()),) if limbs else ()
        order, instances = list(limbs), []
        for name, section in sections.items():
            path = ("instances", name)
            if section.limb not in limbs:
                if section.limb not in _keys(self.report.document.data.get("limbs")):  # a wrong one is reported there
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
                hint = "Name one: without a force it moves freely."
                report((), Got("a chain that nothing drives"), "at least one joint under actuated", hint)
        elif sections is None and "instances" not in report.document.data:
            report((), Got("no key 'instances'"), "'instances', which a robot with a platform needs", "Add it.")
        for name, limb in limbs.items():
            if not chain and not limb.tips:
                report(("limbs", name), Got("no tips"), "joints at the platform under tips", "Add them.")
            if limb.independent and not chain:
                report(("limbs", name, "independent"), limb.independent, "no key of a limb with tips", "Remove it.")


def _keys(value: object) -> Collection[str]:
    """Return the keys of a mapping; none of another value."""
    return value.keys() if isinstance(value, dict) else ()
