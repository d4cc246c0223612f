"""Models of the section `criteria` of a sweep file; `pipeline.sweep.criteria.reader` interprets them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pipeline.documents.validation import (
    AboveZero,
    AnyNumber,
    ByPattern,
    Flag,
    Number,
    Section,
    Three,
    Two,
    ZeroOrMore,
)

Six = Annotated[tuple[Number, ...], Field(min_length=6, max_length=6)]
Matrix = Annotated[tuple[Six, ...], Field(min_length=6, max_length=6)]


class LinkMaterialSection(Section):
    """Material and profile of a link: a tube, a box, a beam of known stiffness, or a matrix."""

    tube: Annotated[tuple[ZeroOrMore, ...], Field(min_length=1, max_length=2)] | None = None
    """diameters outside and inside [m]; one alone for a rod"""
    box: Two[AboveZero] | None = None
    """width and height of a profile [m], the height along `across`"""
    wall: AboveZero | None = None
    """thickness of a hollow box [m]; default: solid"""
    across: Three[Number] | None = None
    """direction of the first principal axis, axes of the link"""
    young: AboveZero | None = None
    """Young's modulus of tube or box [Pa]"""
    poisson: Annotated[Number, Field(gt=-1, le=0.5)] = 0.3
    """Poisson's ratio of tube or box"""
    shear: Annotated[Number, Field(ge=0, le=1)] = 0.0
    """Timoshenko's coefficient of tube or box; default: no flexibility in shear"""
    axial: AboveZero | None = None
    """EA of a beam [N]"""
    torsion: AboveZero | None = None
    """GJ of a beam [N m^2]"""
    bending: Two[AboveZero] | None = None
    """EI of a beam about its two principal axes [N m^2]"""
    matrix: Matrix | None = None
    """stiffness of each arm, (moment, force) by (turn, shift), in the axes of the link"""


class BearingSection(Section):
    """Stiffness of a joint about and along the axes of its frame; absent: rigid."""

    moments: Three[AboveZero] | None = None
    """about x, y, z [N m/rad]"""
    forces: Three[AboveZero] | None = None
    """along x, y, z [N/m]"""


class StiffnessSection(Section):
    """Stiffness of the parts that deform under load. Parts without an entry are rigid."""

    actuators: ByPattern[AboveZero] = Field(default_factory=dict)
    """stiffness [N m/rad or N/m] under `all`, or names and patterns of actuators"""
    joints: ByPattern[BearingSection] = Field(default_factory=dict)
    """bearings under `all`, or names and patterns of joints"""
    links: ByPattern[LinkMaterialSection] = Field(default_factory=dict)
    """links under `all`, or names and patterns such as `'rod_*'`"""
    shapes: Flag = False
    """whether links of the section `shapes` are beams of their profiles and materials"""
    reactions: Flag = False
    """whether elastic parts decide reactions that statics leaves open; default: the least norm does"""
    load: Annotated[tuple[AnyNumber, ...], Field(min_length=6, max_length=6)] | None = None
    """moment and force on the platform, axes of the world [N m, N], for `deflection`"""


class CapsuleSection(Section):
    """A capsule of platform or base: all within `radius` of a line."""

    start: Three[AnyNumber]
    """one end of the line [m], in the frame of the platform, or that of the base"""
    end: Three[AnyNumber]
    """the other end [m]"""
    radius: AboveZero
    """radius [m]"""


class CapsulesSection(Section):
    """Capsules for the least distance between limbs, platform and base."""

    links: ByPattern[AboveZero] = Field(default_factory=dict)
    """radius [m] of links under `all`, or names and patterns such as `'rod_*'`"""
    shapes: Flag = False
    """whether links of the section `shapes` are capsules around their profiles"""
    platform: Annotated[tuple[CapsuleSection, ...], Field(max_length=100)] = ()
    """capsules of the platform"""
    base: Annotated[tuple[CapsuleSection, ...], Field(max_length=100)] = ()
    """capsules of the base"""


class DeviationSection(Section):
    """Standard deviations of a joint or a link; absent: zero."""

    turns: Three[ZeroOrMore] | None = None
    """about x, y, z [rad]"""
    shifts: Three[ZeroOrMore] | None = None
    """along x, y, z [m]"""


class AccuracySection(Section):
    """Errors of parts, as standard deviations: a tolerance of +- t that three of them fill is t / 3."""

    resolution: ByPattern[ZeroOrMore] = Field(default_factory=dict)
    """step of encoders [rad or m] under `all`, or names and patterns of actuators"""
    backlash: ByPattern[ZeroOrMore] = Field(default_factory=dict)
    """width of play [rad or m] under `all`, or names and patterns of actuators"""
    lengths: ByPattern[ZeroOrMore] = Field(default_factory=dict)
    """deviation of lengths of links [m] under `all`, or names and patterns"""
    links: ByPattern[DeviationSection] = Field(default_factory=dict)
    """deviations of the ends of links, in the axes of the link"""
    joints: ByPattern[DeviationSection] = Field(default_factory=dict)
    """deviations of joints: their places, or their play, in the axes of the joint"""
    expansion: ByPattern[ZeroOrMore] = Field(default_factory=dict)
    """thermal expansion of links [1/K] under `all`, or names and patterns"""
    warming: AnyNumber = 0.0
    """how much warmer links are than where they were measured [K]"""


class JointClearanceSection(Section):
    """Largest offsets in a joint, either way; absent: none."""

    radial: ZeroOrMore = 0.0
    """shift across the axis [m]: half of the diametral clearance"""
    axial: ZeroOrMore = 0.0
    """shift along the axis [m]: half of the end float"""
    tilt: ZeroOrMore = 0.0
    """tilt of the axis [rad]"""


class ClearancesSection(Section):
    """Bounds of joint clearances and drive backlash, for `clearance_shift` and `clearance_turn`."""

    joints: ByPattern[JointClearanceSection] = Field(default_factory=dict)
    """clearances under `all`, or names and patterns of joints"""
    backlash: ByPattern[ZeroOrMore] = Field(default_factory=dict)
    """width of play [rad or m] under `all`, or names and patterns of actuators"""


class CriteriaSection(Section):
    """Properties of the robot for criteria of design and their metrics."""

    stiffness: StiffnessSection | None = None
    """elastic parts, for metrics of stiffness"""
    accuracy: AccuracySection | None = None
    """errors of parts, for metrics of accuracy"""
    clearances: ClearancesSection | None = None
    """bounds of loose parts, for metrics of clearances"""
    capsules: CapsulesSection | None = None
    """how thick links are, for `clearance`"""
