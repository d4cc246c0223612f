"""Read limbs, platforms and redundancy of robot files: links with joints, cut joints, drives, couplings, instances.

An instance of a limb has its mount frames and its differences from the limb. The section of redundancy has the posture
and the tasks that decide the joints that the coordinates of a platform leave free. Paths of keys lead to the place of a
problem; `links` and closures of platforms of several bodies are read by the same functions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Got, Report, sentence
from pipeline.robot_files.sections import (
    ClosureSection,
    ControllerGains,
    InstanceSection,
    LimbSection,
    LinkSection,
    MotorSection,
    RedundancySection,
    RobotFile,
    SpinSection,
    TaskSection,
)
from pipeline.robot_files.values import ValueReader
from robots.coupled import BODY, COORDINATES, NAME, CoupledPlatform
from robots.drives import Drive, Motor, PIController, Spin
from robots.expressions.expression import ParsedExpression
from robots.formats import writing
from robots.formats.description import Variant
from robots.model import NO_PLATFORM, PLATFORM, Closure, Coupling, Frame, Instance, Limb, Link, Platform
from robots.parameter_errors import nearest
from robots.parameters import Parameter
from robots.redundancy import ArmAngle, LinearTask, Task
from robots.types import BASE, TWIST, Number

BODIES = {"base": BASE, "platform": PLATFORM}
"""Names that no body may have."""


def _keys(value: object) -> Collection[str]:
    """Return the keys of a mapping; none of another value."""
    return value.keys() if isinstance(value, dict) else ()


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
        return Spin(inertia, carrier, self.values.triple(section.axis, (*path, "axis")), share, coupling)

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


PATH = ("platform", "redundancy")

Redundancy = tuple[tuple[str, ...], tuple[tuple[str, Number, Number], ...], tuple[Task, ...]]


class RedundancyReader:
    """Reads joints that are redundant, and the posture and the tasks that decide them."""

    def __init__(self, values: ValueReader) -> None:
        self.values = values
        self.report: Report = values.report

    def read(self, section: RedundancySection | None, path: KeyPath) -> Redundancy:
        """Read the posture's joints by name (joint, position, weight), and the tasks; none without the section."""
        if section is None:
            return (), (), ()
        self.report.require_once((*path, "joints"), section.joints, "every joint once")
        for joint in section.weights:
            if joint not in section.posture:
                hint = "Give its position under posture."
                self.report((*path, "weights", joint), joint, "a joint of the posture", hint, key=True)
        numbers = {
            key: {joint: self.values.number(value, (*path, key, joint)) for joint, value in values.items()}
            for key, values in (("posture", section.posture), ("weights", section.weights))
        }
        for joint, weight in numbers["weights"].items():
            if not isinstance(weight, ParsedExpression) and not weight > 0:
                self.report((*path, "weights", joint), weight, "a weight above 0", "Leave the joint out for none.")
        weights = numbers["weights"]
        posture = tuple((name, at, weights.get(name, 1.0)) for name, at in numbers["posture"].items())
        tasks = tuple(self._task(name, task, (*path, "tasks", name)) for name, task in section.tasks.items())
        self._count(section, path)
        return section.joints, posture, tasks

    def _task(self, name: str, section: TaskSection, path: KeyPath) -> Task:
        """Read one task."""
        value = None if section.value is None else self.values.number(section.value, (*path, "value"))
        angle = section.arm_angle
        if (angle is None) == (not section.coefficients):
            got = "neither coefficients nor arm_angle" if angle is None else "both coefficients and arm_angle"
            self.report(path, Got(got), "one of coefficients and arm_angle", "They say which quantity has the value.")
        if angle is None:
            where = (*path, "coefficients")
            numbers = {joint: self.values.number(x, (*where, joint)) for joint, x in section.coefficients.items()}
            for joint, number in section.coefficients.items():
                if number == 0:
                    self.report((*where, joint), number, "a number other than zero", "Leave the joint out for none.")
            return LinearTask(name, tuple(numbers), tuple(numbers.values()), value)
        where = (*path, "arm_angle")
        joints = (angle.shoulder, angle.elbow, angle.wrist)
        for k, key in enumerate(("shoulder", "elbow", "wrist")):
            if joints[k] in joints[:k]:
                self.report((*where, key), Got(f"{joints[k]} again"), "three joints", "Name another one.")
        reference = self.values.triple(angle.reference, (*where, "reference"))
        if all(x == 0 for x in angle.reference):
            self.report(
                (*where, "reference"), list(angle.reference), "a direction other than zero", "Such as [0, 0, 1]."
            )
        return ArmAngle(name, *joints, reference, value)

    def _count(self, section: RedundancySection, path: KeyPath) -> None:
        """Report tasks that are too many, or too few to decide all joints."""
        tasks, joints = len(section.tasks), len(section.joints)
        where = (*path, "tasks")
        if tasks > joints or (tasks and tasks < joints and not section.posture):
            hint = "With fewer tasks a posture decides the rest."
            got = f"{tasks} task{'s' if tasks > 1 else ''} for {joints} joint{'s' if joints > 1 else ''}"
            self.report(where, Got(got), "as many tasks as joints", hint)
        elif tasks == joints and section.posture:
            got, rule = "a posture beside as many tasks as joints", "one for the freedoms that tasks leave, or none"
            self.report((*path, "posture"), Got(got), rule, "Remove it, or a task.")

    def check(self, platform: CoupledPlatform, limbs: Sequence[Limb], instances: Sequence[Instance]) -> None:
        """Report joints that the robot does not have, or whose motion is given already."""
        others = [link.joint for link in (*platform.carriers, *platform.links)]
        known = [f"{entry.name}.{link.joint}" for entry in instances for link in limbs[entry.limb].links]
        for k, joint in enumerate(platform.redundant):
            where = (*PATH, "joints", k)
            self._known(joint, [*known, *others], where, key=False)
            if joint in platform.independent:
                self.report(where, joint, "no joint under independent as well", "Remove one of them.")
        for joint, _, _ in platform.posture:
            self._known(joint, [*known, *others], (*PATH, "posture", joint))
        self._check_tasks(platform.tasks, [*known, *others])

    def _check_tasks(self, tasks: Sequence[Task], known: Sequence[str]) -> None:
        """Report tasks of joints that the robot does not have, or that are called as one of them."""
        every = [*known, *(f"{NAME}_{entry}" for entry in COORDINATES)]
        for task in tasks:
            path = (*PATH, "tasks", task.name)
            if task.name in every:
                self.report(path, task.name, "a name that no joint has", "Rename it.", key=True)
            if isinstance(task, LinearTask):
                for joint in task.joints:
                    self._known(joint, every, (*path, "coefficients", joint))
            else:
                for key in ("shoulder", "elbow", "wrist"):
                    self._known(getattr(task, key), known, (*path, "arm_angle", key), key=False)

    def _known(self, joint: str, known: Sequence[str], where: KeyPath, *, key: bool = True) -> None:
        rule, hint = "a joint of a limb, of the base or of the platform's links", "Joints of limbs are INSTANCE.JOINT."
        self.report.require_known(where, joint, known, rule, key=key, hint=hint)


def weights_above_zero(report: Report, platform: CoupledPlatform, known: Mapping[str, Any]) -> None:
    """Report weights that are not above zero with the defaults of the parameters."""
    for joint, _, weight in platform.posture:
        if isinstance(weight, ParsedExpression) and not (value := float(weight(known))) > 0:
            got = Got(f"{weight.text}, which is {value:g}")
            report((*PATH, "weights", joint), got, "a weight above 0", "With the defaults of the parameters.")


class PlatformReader:
    """Reads the platform of a file and its instances; `parts` reads links and cut joints of its bodies."""

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
        path = ("platform",)
        if not section.coordinates:
            for key in ("links", "loops", "independent", "actuated", "within", "redundancy"):
                if key in section.model_fields_set:
                    hint = "Name the coordinates in which its motion is given, in place of mobility."
                    self.report((*path, key), Got(f"{key} without coordinates"), "coordinates beside it", hint)
            if not section.mobility and not self.report.problems:
                hint = "Add it; or coordinates, where others follow from the limbs."
                self.report(path, Got("no key 'mobility'"), "'mobility', which is required", hint)
            return None
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
