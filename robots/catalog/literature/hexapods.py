"""Hexapods of the literature with motors on the base: 6-RUS with cranks, Hexaglide with rails."""

from __future__ import annotations

from collections.abc import Mapping

from robots import geometry
from robots.catalog.layout import DECLARED, GROUND, LimbPlacement, axes, bent, declared_length, declared_mass, rod
from robots.geometry import about, length, minus, polar, shifted, sqrt
from robots.model import Family, Frame, Instance, Limb, Mechanism, Platform
from robots.parameters import Parameter
from robots.types import IDENTITY, SPATIAL, ZERO, Number, Vector

SIDES = ((1, 1), (-1, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
"""Signs of each leg of the Hexaglide: 1 where its carriage is behind the platform's joint, 1 where its rail is to the
left."""


def _pairs(p: Mapping[str, Number], name: str, middle: float = 0.0) -> list[Number]:
    """Return the angles in degrees of six joints in three pairs, the middle of the first pair at an angle."""
    half_angle = p[name]
    return [120.0 * pair + middle + side * half_angle for pair in range(3) for side in (-1.0, 1.0)]


def _corners(p: Mapping[str, Number]) -> list[Vector]:
    """Return the platform joints relative to the platform: limbs paired at the base join different pairs there."""
    six = _pairs(p, "platform_half_angle", 60.0)
    return [polar(p["platform_radius"], six[k]) for k in (5, 0, 1, 2, 3, 4)]


def _hexa(p: Mapping[str, Number]) -> Mechanism:
    """Return the hexapod 6-RUS: six cranks; the rods have universal joints at the cranks, spherical at the platform.

    A limb: 1 the crank, 2 and 3 the axes of the universal joint, 4 the spherical one. Mount frames stand at the crank's
    axis with z up; x is level and points to where the platform's joint is at the reference pose, so crank and rod move
    in its plane of x and z there, and all limbs are alike.
    """
    crank, span, height = p["crank_length"], p["rod_length"], p["home_height"]
    instances, reach = [], p["platform_radius"]
    for leg, (angle, corner) in enumerate(zip(_pairs(p, "base_half_angle"), _corners(p), strict=True)):
        base = polar(p["base_radius"], angle)
        way = minus(corner, base)
        reach = length(way)
        turned = axes(way, (-way[1], way[0], 0.0))
        instances.append(Instance(f"limb{leg + 1}", 0, Frame(turned, base), Frame(turned, corner)))
    x, z = bent((crank, span), (reach, height))
    elbow, end = (x, 0.0, z), (reach, 0.0, height)
    tilt = about("y", (height - z) / span, (reach - x) / span)  # z axis along the rod
    limb = LimbPlacement(end)
    limb.joint("1", "crank", GROUND, "revolute", ZERO, "-y", rod(p["crank_mass"], ZERO, elbow))
    limb.joint("2", "cross", "crank", "revolute", elbow, "-y", turned=tilt)
    limb.joint("3", "rod", "cross", "revolute", elbow, "x", rod(p["rod_mass"], elbow, end), tilt)
    tip = limb.cut("4", "spherical", "rod", end)
    plate = geometry.bar(p["platform_mass"], 0.0, "z", diameter=2.0 * p["platform_radius"])
    platform = Platform(plate, SPATIAL, shifted((0.0, 0.0, height)))
    return Mechanism((Limb("RUS", tuple(limb.links), (), (tip,), ("1",)),), tuple(instances), platform)


def _hexaglide(p: Mapping[str, Number]) -> Mechanism:
    """Return the Hexaglide 6-PUS: carriages on parallel level rails along x, rods of fixed length down to the platform.

    A limb: 1 the rail, 2 and 3 the axes of the universal joint at the carriage, 4 the spherical one at the platform.
    The x axis of a mount frame lies along its rail, towards the platform, and its z axis such that the rod is in the
    plane of x and z at the reference pose. Rails are `rail_offset` beside the platform's joints, so all limbs are
    alike there. Carriages stand before and behind the platform, by turns.
    """
    span, aside, height = p["rod_length"], p["rail_offset"], p["home_depth"]
    level = sqrt(aside * aside + height * height)
    along = sqrt(span * span - level * level)
    instances = []
    for leg, ((ahead, left), corner) in enumerate(zip(SIDES, _corners(p), strict=True)):
        base = (corner[0] - ahead * along, corner[1] + left * aside, 0.0)
        down = (0.0, -left * aside, -height)  # from the rail to the joint at the platform
        turned = axes((float(ahead), 0.0, 0.0), (0.0, -ahead * down[2], ahead * down[1]))
        instances.append(Instance(f"limb{leg + 1}", 0, Frame(turned, base), Frame(turned, corner)))
    end: Vector = (along, 0.0, -level)
    tilt = about("y", level / span, -along / span)  # z axis along the rod, upward
    limb = LimbPlacement(end)
    limb.joint("1", "carriage", GROUND, "prismatic", ZERO, "x", geometry.point(p["carriage_mass"]))
    limb.joint("2", "cross", "carriage", "revolute", ZERO, "-y", turned=tilt)
    limb.joint("3", "rod", "cross", "revolute", ZERO, "x", rod(p["rod_mass"], ZERO, end), tilt)
    tip = limb.cut("4", "spherical", "rod", end)
    plate = geometry.bar(p["platform_mass"], 0.0, "z", diameter=2.0 * p["platform_radius"])
    platform = Platform(plate, SPATIAL, Frame(IDENTITY, (0.0, 0.0, -height)))
    return Mechanism((Limb("PUS", tuple(limb.links), (), (tip,), ("1",)),), tuple(instances), platform)


def _angle(name: str, default: float, text: str) -> Parameter:
    return Parameter(name, "deg", default, 0.0, 60.0, text, DECLARED)


HEXA = Family(
    name="hexa",
    title="Hexapod 6-RUS with cranks, Hexa",
    source="Pierrot, Dauchez, Fournier, HEXA: a fast six-DOF fully parallel robot, International Conference on "
    "Advanced Robotics, 1991; numbers declared here",
    parameters=(
        declared_length("base_radius", 0.25, "middle of the base to the axes of the cranks"),
        declared_length("platform_radius", 0.08, "middle of the platform to its joints"),
        declared_length("home_height", 0.35, "platform above the cranks' axes at the reference pose"),
        _angle("base_half_angle", 15.0, "half the angle of a pair of base joints"),
        _angle("platform_half_angle", 12.0, "half the angle of a pair of platform joints"),
        declared_length("crank_length", 0.15, "length of the cranks"),
        declared_length("rod_length", 0.36, "length of the rods"),
        declared_mass("crank_mass", 0.4, "mass of a crank"),
        declared_mass("rod_mass", 0.2, "mass of a rod"),
        declared_mass("platform_mass", 1.0, "mass of the platform, a thin disc"),
    ),
    assemble=_hexa,
)

HEXAGLIDE = Family(
    name="hexaglide",
    title="Hexaglide 6-PUS, carriages on parallel rails",
    source="Honegger, Codourey, Burdet, Adaptive control of the Hexaglide, IEEE International Conference on Robotics "
    "and Automation, 1997; numbers declared here",
    parameters=(
        declared_length("platform_radius", 0.15, "middle of the platform to its joints"),
        _angle("platform_half_angle", 15.0, "half the angle of a pair of platform joints"),
        declared_length("rail_offset", 0.20, "rails beside the platform's joints at the reference pose"),
        declared_length("home_depth", 0.40, "platform below the rails at the reference pose"),
        declared_length("rod_length", 0.65, "length of the rods"),
        declared_mass("carriage_mass", 3.0, "mass of a carriage"),
        declared_mass("rod_mass", 0.8, "mass of a rod"),
        declared_mass("platform_mass", 4.0, "mass of the platform, a thin disc"),
    ),
    assemble=_hexaglide,
)

FAMILIES = (HEXA, HEXAGLIDE)
