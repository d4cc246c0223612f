"""Read the section `shapes` of a sweep file: profiles and materials of links, from which masses and inertias follow.

shapes:
arm: {tube: [arm_diameter, 0.9 * arm_diameter], material: aluminium}
'rod_*': {tube: [0.02, 0.017], density: 1600, joint_mass: 0.05}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.validation import AboveZero, ByPattern, Number, Positive, Section, Three, Two, ZeroOrMore
from pipeline.sweep.axes.kinds import NOTHING
from pipeline.sweep.design_axis import DesignAxis
from pipeline.sweep.formulas import FormulaReader
from pipeline.sweep.reading import FamilyContent, SweepReading
from robots.criteria.shapes import MATERIALS, LinkShape, Material
from robots.formats.description import Description
from robots.formulas import checked, ordered
from robots.loads.shaped import ShapedDescription, shaped
from robots.model import Family
from robots.parameter_errors import ParameterError

KEY = "shapes"


class ShapeSection(Section):
    """Profile and material of links, along the lines between their joints."""

    tube: Annotated[tuple[ZeroOrMore, ...], Field(min_length=1, max_length=2)] | None = None
    """diameters outside and inside [m]; one alone for a rod"""
    box: Two[AboveZero] | None = None
    """width and height of a profile [m], the height along `across`"""
    wall: AboveZero | None = None
    """thickness of a hollow box [m]; default: solid"""
    across: Three[Number] | None = None
    """direction of the height of a box, in the axes of the link"""
    material: Literal["aluminium", "steel"] | None = None
    """density, Young's modulus and Poisson's ratio of Eurocodes; these keys come before"""
    density: AboveZero | None = None
    """density [kg/m^3]"""
    young: Positive | None = None
    """Young's modulus [Pa]"""
    poisson: Annotated[Number, Field(gt=-1, le=0.5)] | None = None
    """Poisson's ratio"""
    shear: Annotated[Number, Field(ge=0, le=1)] = 0.0
    """Timoshenko's coefficient; default: no flexibility in shear"""
    joint_mass: ZeroOrMore = 0.0
    """mass at every joint of the link, such as a rod end [kg]"""


class ShapesContent(FamilyContent[Mapping[str, LinkShape], Mapping[str, ShapeSection]]):
    """Shapes of links by names and patterns: their masses and inertias, and stiffness if the criteria include links."""

    key = KEY
    field: ClassVar[tuple[Any, Any]] = (
        ByPattern[ShapeSection],
        Field(
            default_factory=dict,
            description="profiles and materials of links under names and patterns, in place of their masses",
        ),
    )

    @classmethod
    def extend_family(cls, reading: SweepReading, family: Family) -> Description | None:
        """Return the robot with the masses of the shapes; mistakes are reported when the section is read."""
        report = Report(reading.report.document)
        shapes = _shapes(FormulaReader(report, DesignAxis(family, {}, NOTHING)), reading.said(cls))
        try:
            return shaped(family, shapes) if shapes and not report.problems else None
        except ParameterError:
            return None

    @classmethod
    def read(cls, reading: SweepReading) -> Self:
        """Read the shapes, and hold their numbers to all designs."""
        sections, design = reading.said(cls), reading.design
        if not sections or design is None:
            return cls({})
        shapes = _shapes(FormulaReader(reading.report, design), sections)
        _report_unused(reading, design)
        try:
            shaped(design.family, shapes)
        except ParameterError as error:
            wrong = next((name for name in shapes if repr(name) in str(error)), None)
            path = (KEY,) if wrong is None else (KEY, wrong)
            rule, hint = "links of the robot, each named once", sentence(str(error))
            reading.report(path, Got("these" if wrong is None else repr(wrong)), rule, hint, key=wrong is not None)
            return cls({})
        return cls(shapes)


def _shapes(reader: FormulaReader, sections: Mapping[str, ShapeSection]) -> dict[str, LinkShape]:
    found: dict[str, LinkShape] = {}
    for name, section in sections.items():
        path = (KEY, name)
        shape = _shape(reader, reader.section(section, path), path)
        found |= {name: shape} if shape is not None else {}
    return found


def _shape(reader: FormulaReader, section: ShapeSection, path: KeyPath) -> LinkShape | None:
    report, before = reader.report, len(reader.report.problems)
    if (section.tube is None) == (section.box is None):
        got = "neither tube nor box" if section.box is None else "both tube and box"
        report(path, Got(got), "one of tube and box", "A link is made of one thing.")
        return None
    _check_box(report, section, path)
    material = MATERIALS.get(section.material or "", Material(0.0, 0.0, 0.3))
    density = section.density or material.density
    if not density:
        report(path, Got("no density"), f"density, or material: {' or '.join(MATERIALS)}", "Add one of them.")
    outside, inside = _sizes(reader, section, path)
    if len(report.problems) > before:
        return None
    across = None if section.across is None else (section.across[0], section.across[1], section.across[2])
    poisson = material.poisson if section.poisson is None else section.poisson
    young = section.young or material.young
    kind = "tube" if section.tube is not None else "box"
    return LinkShape(kind, outside, inside, across, density, young, poisson, section.shear, section.joint_mass)


def _check_box(report: Report, section: ShapeSection, path: KeyPath) -> None:
    for key in ("wall", "across") if section.tube is not None else ():
        if getattr(section, key) is not None:
            report((*path, key), Got(f"{key} beside tube"), "a key of a tube", "Remove it.", key=True)
    if section.box is not None and (section.across is None or not any(section.across)):
        report(path, Got("a box without across"), "across, a direction in the axes of the link", "Add it.")


def _sizes(reader: FormulaReader, section: ShapeSection, path: KeyPath) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the sizes of the profile outside and inside, with a wall above zero for every design."""
    if section.tube is not None:
        outer, inner = (*section.tube, 0.0, 0.0)[:2]
        if not outer > inner:
            reader.report((*path, "tube"), list(section.tube), "outside, inside: the larger one first", "Swap them.")
        outer = reader.require(checked(outer, outer - inner), (*path, "tube"), "a wall for every design")
        return (outer,), (inner,)
    width, height = section.box or (1.0, 1.0)
    if section.wall is None:
        return (width, height), (0.0, 0.0)
    room = ordered(width, height)[0] - 2.0 * section.wall
    if not room > 0.0:
        reader.report((*path, "wall"), section.wall, "less than half of the profile", "Leave it out for a solid one.")
    wall = reader.require(checked(section.wall, room), (*path, "wall"), "below half of the profile for every design")
    return (width, height), (width - 2.0 * wall, height - 2.0 * wall)


def _report_unused(reading: SweepReading, design: DesignAxis) -> None:
    """Report parameters that are swept or set, and change nothing any more, as shapes stand for their masses."""
    for name in _unused((*design.axis.names, *design.fixed), design.family):
        path: KeyPath = ("parameters", name) if name in design.fixed else ("design",)
        got = Got(f"{name}, a number of links whose masses follow from shapes")
        reading.report(path, got, "parameters that change something", "Remove it, or the shape of the link.")


def _unused(names: Sequence[str], family: Family) -> Iterator[str]:
    """Yield parameters by which the robot without shapes changes, and the robot with them does not."""
    description = family.assemble
    while isinstance(description, Description) and not isinstance(description, ShapedDescription):
        base = getattr(description, "base", None)
        if base is None:
            return
        description = base.assemble
    base = getattr(description, "base", None)
    if base is None:
        return
    values = {p.name: p.scalar for p in base.parameters}
    for name in names:
        if name in values:
            moved = {**values, name: values[name] + (1e-3 * abs(values[name]) or 1e-3)}
            changed = [repr(build(values)) != repr(build(moved)) for build in (base.assemble, description)]
            if changed == [True, False]:
                yield name
