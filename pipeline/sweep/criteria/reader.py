"""Read the section `criteria` of a sweep file, and refuse metrics for which it lacks data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Self, TypeVar

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Got, Report, sentence
from pipeline.sweep.criteria.sections import (
    AccuracySection,
    BearingSection,
    CapsuleSection,
    ClearancesSection,
    CriteriaSection,
    DeviationSection,
    LinkMaterialSection,
    StiffnessSection,
)
from pipeline.sweep.design_axis import DesignAxis
from pipeline.sweep.formulas import FormulaReader
from pipeline.sweep.reading import SectionContent, SweepReading, optional
from pipeline.sweep.shapes import ShapesContent
from robots.criteria.elasticity import Beam, Elasticity, LinkCompliance
from robots.criteria.parts import NO_CRITERIA, Capsule, Capsules, Clearances, CriteriaParameters, Errors, JointClearance
from robots.criteria.shapes import LinkShape
from robots.formulas import checked, described, formulas_of, ordered
from robots.model import Family, Mechanism
from robots.parameter_errors import ParameterError
from robots.quantities import CRITERIA, Need
from robots.types import TWIST

KEY = "criteria"
Value = TypeVar("Value")
KINDS: Mapping[str, tuple[str, ...]] = {
    "tube": ("young",),
    "box": ("young", "across"),
    "bending": ("axial", "torsion"),
    "matrix": (),
}
"""Kinds of links: the key that names each kind, and the keys that it requires."""
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "tube": ("poisson", "shear"),
    "box": ("poisson", "shear", "wall"),
    "bending": ("across",),
    "matrix": (),
}


class CriteriaContent(SectionContent[CriteriaParameters, CriteriaSection | None]):
    """Elasticity and sizes of parts, for criteria of design."""

    key = KEY
    is_input = True
    field = optional(
        CriteriaSection, "elasticity and thickness of the parts, for criteria of design; default: not known"
    )

    @classmethod
    def read(cls, reading: SweepReading) -> Self:
        """Read the criteria of the robot; refuse metrics that the section lacks something for."""
        report, section = reading.report, reading.said(cls)
        parameters = read_criteria(report, section, reading.design, reading.value(ShapesContent) or {})
        mechanism = reading.mechanism
        if mechanism is not None and (section is not None or KEY not in report.document.data):  # else reported
            reading.refuse_metrics(lambda need: lacks_of(need, section, mechanism))
        if reading.file.simulation is not None and parameters.reactions and any(formulas_of(parameters.elasticity)):
            rule = "numbers that are the same for all designs beside a simulation"
            report((KEY, "stiffness"), Got("expressions of parameters"), rule, "Make a sweep for each of them.")
        return cls(parameters)

    def describe(self) -> dict[str, Any]:
        """Describe criteria that there are."""
        return {KEY: describe_criteria(self.value)} if self.value != NO_CRITERIA else {}


def read_criteria(
    report: Report, section: CriteriaSection | None, design: DesignAxis | None, shapes: Mapping[str, LinkShape]
) -> CriteriaParameters:
    """Read the section; none without a robot. Problems go to `report`; `shapes` are those of links by pattern."""
    if section is None or design is None:
        return NO_CRITERIA
    family, before = design.family, len(report.problems)
    mechanism, reader = family.reference, FormulaReader(report, design)
    section = reader.section(section, (KEY,))
    _check_shapes(report, section, shapes)
    stiff = section.stiffness
    if mechanism.is_chain and (stiff is None or not stiff.reactions or of_platforms(section)):
        hint = "Of a chain the section has stiffness with reactions alone; else leave it out."
        report((KEY,), Got("criteria of a chain"), "a robot with a platform", hint)
        return NO_CRITERIA
    elasticity = None if section.stiffness is None else _elasticity(reader, section.stiffness, mechanism, shapes)
    load = section.stiffness.load if section.stiffness is not None else None
    capsules = None if section.capsules is None else _capsules(report, section, mechanism, shapes)
    errors = None if section.accuracy is None else _errors(report, section.accuracy, mechanism)
    clearances = None if section.clearances is None else _clearances(report, section.clearances, mechanism)
    reactions = stiff is not None and stiff.reactions
    result = CriteriaParameters(elasticity, load, capsules, errors, reactions, clearances)
    wrong_shapes = any(problem.key.partition(".")[0] == "shapes" for problem in report.problems)
    if len(report.problems) == before and not wrong_shapes:  # which may be why parts lack
        _check(report, family, result)
    return result


def of_platforms(section: CriteriaSection) -> bool:
    """Return whether the section has criteria that need a platform."""
    return any(part is not None for part in (section.accuracy, section.clearances, section.capsules))


def _attempt(report: Report, path: KeyPath, make: Callable[[], Value], *, key: bool = False) -> Value | None:
    """Call a constructor and return its result; report an error that it raises and return None."""
    try:
        return make()
    except ParameterError as error:
        got, of_number, rule = str(error).partition("; expected ")
        if of_number:
            report(path, Got(got.replace(": got ", ": ", 1)), rule, key=key)
            return None
        report(path, Got(str(path[-1])), "names of the robot, each once", sentence(str(error)), key=key)
        return None


def _check_shapes(report: Report, section: CriteriaSection, shapes: Mapping[str, LinkShape]) -> None:
    """Refuse criteria of shapes that the sweep does not have."""
    for name in ("stiffness", "capsules"):
        part = getattr(section, name)
        if part is not None and part.shapes and not shapes and "shapes" not in report.document.data:
            report((KEY, name, "shapes"), True, "shapes of links", "Add a section shapes.")


def _elasticity(
    reader: FormulaReader, section: StiffnessSection, mechanism: Mechanism, shapes: Mapping[str, LinkShape]
) -> Elasticity:
    path, report = (KEY, "stiffness"), reader.report
    if not (section.actuators or section.joints or section.links or section.shapes):
        report(path, Got("nothing that gives way"), "actuators, joints or links", "Leave stiffness out for none.")
    joints = {name: _bearing(report, bearing, (*path, "joints", name)) for name, bearing in section.joints.items()}
    links = {name: _link(reader, link, (*path, "links", name)) for name, link in section.links.items()}
    known = {name: link for name, link in links.items() if link is not None}
    for name, shape in shapes.items() if section.shapes else ():
        beam = _attempt(report, ("shapes", name), shape.beam)
        known |= {name: beam} if beam is not None else {}
    parts: dict[str, Mapping[str, Any]] = {"actuators": section.actuators, "joints": joints, "links": known}
    return Elasticity.of(mechanism, **_sound(report, path, partial(Elasticity.of, mechanism), parts))


def _sound(
    report: Report, path: KeyPath, make: Callable[..., object], parts: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Return the entries of each part that a constructor takes, one after the other; refused ones are reported."""
    sound: dict[str, dict[str, Any]] = {kind: {} for kind in parts}
    for kind, entries in parts.items():
        for name, value in entries.items():
            tried = {kind: {**sound[kind], name: value}}
            if _attempt(report, (*path, kind, name), partial(make, **tried), key=True) is not None:
                sound |= tried
    return sound


def _errors(report: Report, section: AccuracySection, mechanism: Mechanism) -> Errors:
    path = (KEY, "accuracy")
    parts: dict[str, Mapping[str, Any]] = {
        "resolution": section.resolution,
        "backlash": section.backlash,
        "lengths": section.lengths,
        "expansion": section.expansion,
    }
    for kind, entries in (("joints", section.joints), ("links", section.links)):
        parts[kind] = {name: _deviations(report, entry, (*path, kind, name)) for name, entry in entries.items()}
    if not any(parts.values()):
        report(path, Got("no errors"), ", ".join(parts), "Leave accuracy out for none.")
    if bool(section.expansion) != bool(section.warming):
        report(path, Got("expansion or warming alone"), "both of them, or neither", "Growth is their product.")
    return Errors.of(mechanism, **_sound(report, path, partial(Errors.of, mechanism), parts), warming=section.warming)


def _clearances(report: Report, section: ClearancesSection, mechanism: Mechanism) -> Clearances | None:
    path = (KEY, "clearances")
    joints = {name: JointClearance(bound.radial, bound.axial, bound.tilt) for name, bound in section.joints.items()}
    parts: dict[str, Mapping[str, Any]] = {"joints": joints, "backlash": section.backlash}
    if not any(parts.values()):
        report(path, Got("nothing that is loose"), "joints or backlash", "Leave clearances out for none.")
    sound = _sound(report, path, partial(Clearances.of, mechanism), parts)
    return Clearances.of(mechanism, **sound) if any(sound.values()) else None


def _deviations(report: Report, section: DeviationSection, path: KeyPath) -> tuple[float, ...]:
    if section.turns is None and section.shifts is None:
        report(path, Got("neither turns nor shifts"), "one of them, or both")
    none = (0.0,) * 3
    return *(section.turns or none), *(section.shifts or none)


def _bearing(report: Report, section: BearingSection, path: KeyPath) -> tuple[float, ...]:
    if section.moments is None and section.forces is None:
        report(path, Got("neither moments nor forces"), "one of them, or both")
    rigid = (math.inf,) * 3
    return *(section.moments or rigid), *(section.forces or rigid)


def _link(reader: FormulaReader, section: LinkMaterialSection, path: KeyPath) -> Beam | LinkCompliance | None:
    present, report = section.model_fields_set, reader.report
    kinds = [kind for kind in KINDS if kind in present]
    if len(kinds) != 1:
        got = " and ".join(kinds) or "none of them"
        report(path, Got(got), f"one of {', '.join(KINDS)}", "A link has one description.")
        return None
    (kind,) = kinds
    missing = [key for key in KINDS[kind] if key not in present]
    other = sorted(present - {kind, *KINDS[kind], *OPTIONS[kind]})
    for key in missing:
        report(path, Got(f"{kind} without {key}"), f"{', '.join((kind, *KINDS[kind]))}", f"Add {key}.")
    for key in other:
        report((*path, key), Got(f"{key} beside {kind}"), f"a key of {kind}", "Remove it.", key=True)
    return None if missing or other else _attempt(report, path, lambda: _body(kind, section, reader, path))


def _body(kind: str, section: LinkMaterialSection, reader: FormulaReader, path: KeyPath) -> Beam | LinkCompliance:
    s = section
    if kind == "tube":
        outer, inner = (*(s.tube or ()), 0.0, 0.0)[:2]
        outer = reader.require(checked(outer, outer - inner), (*path, kind), "a wall for every design")
        return Beam.tube(outer, s.young or 0.0, inner=inner, poisson=s.poisson, shear=s.shear)
    if kind == "box":
        width, height = s.box or (0.0, 0.0)
        across, wall = s.across or (), s.wall
        if wall is not None:
            room = ordered(width, height)[0] - 2.0 * wall
            wall = reader.require(checked(wall, room), (*path, "wall"), "below half of the profile for every design")
        return Beam.box(width, height, s.young or 0.0, across, wall=wall, poisson=s.poisson, shear=s.shear)
    if kind == "bending":
        first, second = s.bending or (0.0, 0.0)
        side = None if s.across is None else (s.across[0], s.across[1], s.across[2])
        return Beam(1.0 / (s.axial or 0.0), 1.0 / (s.torsion or 0.0), (1.0 / first, 1.0 / second), across=side)
    return LinkCompliance.of_stiffness(s.matrix or ())


def _capsules(
    report: Report, section: CriteriaSection, mechanism: Mechanism, shapes: Mapping[str, LinkShape]
) -> Capsules:
    assert section.capsules is not None
    path, sound = (KEY, "capsules", "links"), dict[str, float]()
    of_shapes = {name: shape.radius for name, shape in shapes.items()} if section.capsules.shapes else {}
    if not section.capsules.links and not section.capsules.shapes:
        report((KEY, "capsules"), Got("no links"), "links with a radius, or shapes: true")
    for name, radius in {**of_shapes, **section.capsules.links}.items():
        tried = {**sound, name: radius}
        if _attempt(report, (*path, name), partial(Capsules.of, mechanism, tried), key=True) is not None:
            sound = tried
    bodies = ([_capsule(body) for body in part] for part in (section.capsules.platform, section.capsules.base))
    platform, base = bodies
    return Capsules.of(mechanism, sound, platform=platform, base=base)


def _capsule(section: CapsuleSection) -> Capsule:
    (a, b, c), (x, y, z) = section.start, section.end
    return Capsule((a, b, c), (x, y, z), section.radius)


def _check(report: Report, family: Family, parameters: CriteriaParameters) -> None:
    """Refuse a robot without stiffness at the reference pose, and capsules without a pair to compare."""
    from tasks.features import capsules, criteria  # few sweeps ask for it, and it takes kernels and scipy

    for problem in criteria.sharing_problems(family, parameters) if parameters.reactions else ():
        rule = "elastic joints or links wherever they share loads"
        report((KEY, "stiffness", "reactions"), Got(problem), rule)
    sections = {"stiffness": parameters.elasticity, "accuracy": parameters.errors, "clearances": parameters.clearances}
    if not family.reference.is_chain and (key := next((name for name, x in sections.items() if x is not None), "")):
        for problem in criteria.stiffness_problems(family, parameters):
            report((KEY, key), Got(problem), "parts that give way under all that limbs carry", _HINT)
    asked = capsules.capsules_told(family.reference, parameters.capsules)
    if parameters.capsules is not None and not capsules.pairs(family, asked):
        hint = "Give a radius to links of several limbs, or capsules to platform or base."
        report((KEY, "capsules"), Got("no two capsules to compare"), "capsules of several limbs", hint)


_HINT = "Name all actuators, or where joints or links give way links enough that each limb has one in its way."


def lacks_of(need: Need, section: CriteriaSection | None, mechanism: Mechanism) -> Iterator[tuple[str, str]]:
    """Yield the entries that the section lacks for a need of a metric, with advice."""
    turning = bool({*TWIST[:3]} & {*mechanism.platform.mobility})
    if section is not None and mechanism.is_chain:
        if need in CRITERIA:
            hint = "A chain has no platform for this metric; use reactions."
            yield "a metric of a robot with a platform", hint
    elif need in _LACKS and not (need == "elastic turns" and turning) and (hint := _LACKS[need](section)):
        yield "a metric whose needs the section criteria has", hint


def _stiff(section: CriteriaSection | None) -> StiffnessSection | None:
    return None if section is None else section.stiffness


def _lacks_turns(section: CriteriaSection | None) -> str:
    stiffness = _stiff(section)
    alone = stiffness is None or not (stiffness.joints or stiffness.links or stiffness.shapes)
    return "Add links or joints to criteria.stiffness: with actuators alone all else is rigid." if alone else ""


_LACKS: Mapping[Need, Callable[[CriteriaSection | None], str]] = {
    "elasticity": lambda s: "" if _stiff(s) else "Add criteria.stiffness: the elastic parts.",
    "elastic turns": _lacks_turns,
    "test load": lambda s: "" if (part := _stiff(s)) is None or part.load else "Add criteria.stiffness.load.",
    "errors": lambda s: "" if s is not None and s.accuracy else "Add criteria.accuracy: errors of parts.",
    "clearances": lambda s: "" if s is not None and s.clearances else "Add criteria.clearances: the loose parts.",
    "capsules": lambda s: "" if s is not None and s.capsules else "Add criteria.capsules: how thick links are.",
}
"""Advice for each need that is not met; empty if the need is met."""


def describe_criteria(parameters: CriteriaParameters) -> dict[str, Any]:
    """Describe criteria in types of JSON."""
    return dict(described(dict(_described(parameters))))


def _described(parameters: CriteriaParameters) -> Iterator[tuple[str, Any]]:
    if (elastic := parameters.elasticity) is not None:
        yield (
            "compliance",
            {
                "actuators": {str(k): value for k, value in sorted(elastic.actuators.items())},
                "joints": {f"{k}, {j}": list(six) for (k, j), six in sorted(elastic.joints.items())},
                "links": {f"{k}, {i}": list(body.numbers) for (k, i), body in sorted(elastic.links.items())},
            },
        )
    if (errors := parameters.errors) is not None:
        yield (
            "errors",
            {
                "actuators": {str(k): value for k, value in sorted(errors.actuators.items())},
                "joints": {f"{k}, {j}": list(six) for (k, j), six in sorted(errors.joints.items())},
                "links": {f"{k}, {i}": list(six) for (k, i), six in sorted(errors.links.items())},
                "lengths": {f"{k}, {i}": value for (k, i), value in sorted(errors.lengths.items())},
                "growth": {f"{k}, {i}": value for (k, i), value in sorted(errors.growth.items())},
            },
        )
    if (loose := parameters.clearances) is not None:
        joints = {
            f"{k}, {j}": [[*entry.components, entry.bound] for entry in entries]
            for (k, j), entries in sorted(loose.joints.items())
        }
        drives = {str(k): value for k, value in sorted(loose.actuators.items())}
        yield "clearances", {"actuators": drives, "joints": joints}
    if parameters.load is not None:
        yield "load", list(parameters.load)
    if parameters.reactions:
        yield "reactions", True
    if (bodies := parameters.capsules) is not None:
        shown = {"links": {f"{k}, {i}": radius for (k, i), radius in sorted(bodies.links.items())}}
        fixed = {"platform": bodies.platform, "base": bodies.base}
        yield (
            "capsules",
            shown | {name: [[*body.numbers, body.radius] for body in part] for name, part in fixed.items() if part},
        )
