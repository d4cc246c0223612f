"""Parallel robots of the literature whose platforms translate: linear Delta, Orthoglide, Tripteron."""

from __future__ import annotations

from collections.abc import Mapping

from robots import geometry
from robots.catalog.layout import GROUND, LimbPlacement, bent, beside, declared_length, declared_mass, rod
from robots.geometry import AXIS_MINUS_Y, AXIS_X, about, around_z, shifted, sqrt
from robots.model import Family, Frame, Instance, Limb, Mechanism, Platform
from robots.types import IDENTITY, TRANSLATION, ZERO, Matrix, Number, Vector

CYCLIC: tuple[Matrix, ...] = (
    IDENTITY,
    ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)),
)
"""Rotations that permute the axes: x of a mount frame lies along x, y or z of the base."""


def _cyclic(p: Mapping[str, Number], limb: Limb, start: Vector, end: Vector) -> Mechanism:
    """Return three limbs of one kind along x, y and z; the platform is at the origin."""

    def turned(rotation: Matrix, point: Vector) -> Frame:
        x, y, z = (sum(a * b for a, b in zip(row, point, strict=True)) for row in rotation)
        return Frame(rotation, (x, y, z))

    instances = tuple(
        Instance(f"limb_{axis}", 0, turned(rotation, start), turned(rotation, end))
        for axis, rotation in zip("xyz", CYCLIC, strict=True)
    )
    return Mechanism((limb,), instances, Platform(geometry.point(p["platform_mass"]), TRANSLATION, Frame()))


def _linear_delta(p: Mapping[str, Number]) -> Mechanism:
    """Return the linear Delta 3-PUU: carriages on three vertical rails, rods with universal joints at both ends.

    A limb: 1 the rail, 2 and 3 the axes of the universal joint at the carriage, the first one level along the tangent;
    4 the universal joint at the platform, whose outer axis is parallel to that. The reference pose has the carriages
    at z = 0.
    """
    across, span = p["base_radius"] - p["platform_radius"], p["rod_length"]
    drop = sqrt(span * span - across * across)
    tilt = about("y", drop / span, -across / span)  # z axis along the rods, upward
    end: Vector = (across, 0.0, -drop)
    limb = LimbPlacement(end)
    limb.joint("1", "carriage", GROUND, "prismatic", ZERO, "z", geometry.point(p["carriage_mass"]))
    limb.joint("2", "cross", "carriage", "revolute", ZERO, "-y", turned=tilt)
    limb.joint("3", "rod", "cross", "revolute", ZERO, "x", rod(p["rod_mass"], ZERO, end), tilt)
    tip = limb.cut("4", "universal", "rod", end, tilt)
    instances = tuple(
        Instance(f"limb{k + 1}", 0, beside(mount, p["base_radius"]), beside(mount, p["platform_radius"]))
        for k, mount in enumerate(around_z(3))
    )
    plate = geometry.bar(p["platform_mass"], 0.0, "z", diameter=2.0 * p["platform_radius"])
    platform = Platform(plate, TRANSLATION, shifted((0.0, 0.0, -drop)))
    return Mechanism((Limb("PUU", tuple(limb.links), (), (tip,), ("1",)),), instances, platform)


def _orthoglide(p: Mapping[str, Number]) -> Mechanism:
    """Return the Orthoglide 3-PRPaR: three rails at right angles, limbs with parallelograms like those of a Delta.

    A limb, in axes whose x is its rail: 1 the rail, 2 about y, then a parallelogram that turns about z: 3 and 4 at the
    carriage, 5 at the platform and the cut joint 6; 7 about y at the platform. The reference pose is the isotropic one,
    in which each limb lies along its rail and J_IK is the identity.
    """
    span, half = p["rod_length"], 0.5 * p["rod_distance"]
    end: Vector = (span, 0.0, 0.0)
    limb = LimbPlacement(end)
    limb.joint("1", "carriage", GROUND, "prismatic", ZERO, "x", geometry.point(p["carriage_mass"]))
    limb.joint("2", "bar_a", "carriage", "revolute", ZERO, "y", rod(p["bar_mass"], (0.0, -half, 0.0), (0.0, half, 0.0)))
    for joint, side, name in (("3", -half, "rod_a"), ("4", half, "rod_b")):
        start, far = (0.0, side, 0.0), (span, side, 0.0)
        limb.joint(joint, name, "bar_a", "revolute", start, "z", rod(p["rod_mass"], start, far))
    corner, mirrored = (span, -half, 0.0), (span, half, 0.0)
    limb.joint("5", "bar_b", "rod_a", "revolute", corner, "z", rod(p["bar_mass"], corner, mirrored))
    pin = limb.cut("6", "revolute", "rod_b", mirrored, b="bar_b")
    tip = limb.cut("7", "revolute", "bar_b", end, AXIS_MINUS_Y)
    start = (-span - p["platform_offset"], 0.0, 0.0)
    described = Limb("PRPaR", tuple(limb.links), (pin,), (tip,), ("1",))
    return _cyclic(p, described, start, (-p["platform_offset"], 0.0, 0.0))


def _tripteron(p: Mapping[str, Number]) -> Mechanism:
    """Return Tripteron 3-PRRR: all axes of a limb are parallel to its rail, so that each rail moves one coordinate.

    A limb, in axes whose x is its rail: 1 the rail, 2 at the carriage, 3 the elbow, 4 at the platform, all along x.
    J_IK is the identity everywhere.
    """
    across = p["base_offset"] - p["platform_offset"]
    y, z = bent((p["proximal_length"], p["distal_length"]), (across, 0.0))
    elbow, end = (0.0, y, z), (0.0, across, 0.0)
    limb = LimbPlacement(end)
    limb.joint("1", "carriage", GROUND, "prismatic", ZERO, "x", geometry.point(p["carriage_mass"]))
    limb.joint("2", "proximal", "carriage", "revolute", ZERO, "x", rod(p["proximal_mass"], ZERO, elbow))
    limb.joint("3", "distal", "proximal", "revolute", elbow, "x", rod(p["distal_mass"], elbow, end))
    tip = limb.cut("4", "revolute", "distal", end, AXIS_X)
    described = Limb("PRRR", tuple(limb.links), (), (tip,), ("1",))
    return _cyclic(p, described, (0.0, -p["base_offset"], 0.0), (0.0, -p["platform_offset"], 0.0))


CARRIAGE = declared_mass("carriage_mass", 1.2, "mass of a carriage with the moving part of its motor")
PLATE = declared_mass("platform_mass", 0.6, "mass of the platform")

LINEAR_DELTA = Family(
    name="linear_delta",
    title="Linear Delta 3-PUU with vertical rails",
    source="Tsai, Robot Analysis, Wiley 1999, chapter 3; numbers declared here",
    parameters=(
        declared_length("base_radius", 0.30, "middle of the machine to the rails"),
        declared_length("platform_radius", 0.06, "middle of the platform to its joints"),
        declared_length("rod_length", 0.50, "length of the rods"),
        CARRIAGE,
        declared_mass("rod_mass", 0.25, "mass of a rod"),
        declared_mass("platform_mass", 0.6, "mass of the platform, a disc"),
    ),
    assemble=_linear_delta,
)

ORTHOGLIDE = Family(
    name="orthoglide",
    title="Orthoglide 3-PRPaR, three rails at right angles",
    source="Chablat, Wenger, Architecture optimization of a 3-DOF translational parallel mechanism, IEEE Transactions "
    "on Robotics and Automation 19 (3), 2003; numbers declared here",
    parameters=(
        declared_length("rod_length", 0.31, "length of the parallelograms"),
        declared_length("rod_distance", 0.08, "width of the parallelograms"),
        declared_length("platform_offset", 0.05, "middle of the platform to the joints of its limbs"),
        CARRIAGE,
        declared_mass("rod_mass", 0.15, "mass of a rod of a parallelogram"),
        declared_mass("bar_mass", 0.05, "mass of a short bar of a parallelogram"),
        PLATE,
    ),
    assemble=_orthoglide,
)

TRIPTERON = Family(
    name="tripteron",
    title="Tripteron 3-PRRR, whose coordinates are decoupled",
    source="Kong, Gosselin, Kinematics and singularity analysis of a novel type of 3-CRR 3-DOF translational parallel "
    "manipulator, International Journal of Robotics Research 21 (9), 2002; numbers declared here",
    parameters=(
        declared_length("proximal_length", 0.30, "length of the link at the carriage"),
        declared_length("distal_length", 0.30, "length of the link at the platform"),
        declared_length("base_offset", 0.45, "middle of the machine to the rails"),
        declared_length("platform_offset", 0.05, "middle of the platform to its joints"),
        CARRIAGE,
        declared_mass("proximal_mass", 0.8, "mass of the link at the carriage"),
        declared_mass("distal_mass", 0.6, "mass of the link at the platform"),
        PLATE,
    ),
    assemble=_tripteron,
)

FAMILIES = (LINEAR_DELTA, ORTHOGLIDE, TRIPTERON)
