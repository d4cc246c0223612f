"""Gough-Stewart platform 6-UPS: six telescopic legs, universal joints at the base, spherical ones at the platform.

A leg: 1, 2 the axes of the universal joint, 3 the driven slide. Mount frames stand at the joints, z along the leg at
the reference pose, so that all legs are one limb.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from robots import geometry
from robots.geometry import along, length, minus, polar, shifted
from robots.model import PLATFORM, Closure, Family, Frame, Inertia, Instance, Limb, Link, Mechanism, Platform
from robots.parameters import Parameter
from robots.types import BASE, IDENTITY, SPATIAL, Number, Vector

CASE_STUDY = "public case study of a 6-UPS platform (base 3 m, platform 1 m, height 2 m)"
LEGS = 6
NOTHING = geometry.point(0.0)


def _tube(p: Mapping[str, Number], span: Number) -> Inertia:
    """Return the outer tube: a hollow cylinder from the base joint along z."""
    outer = geometry.cylinder(p["density"], span, 2.0 * p["tube_radius"], "z")
    inner = geometry.cylinder(p["density"], span, 2.0 * p["tube_bore"], "z")
    mass = outer.mass - inner.mass
    moments = (outer.tensor[k][k] - inner.tensor[k][k] for k in range(3))
    return Inertia(mass, (0.0, 0.0, 0.5 * span), geometry.diagonal(*moments))


def _joint_points(p: Mapping[str, Number], leg: int) -> tuple[Vector, Vector]:
    """Return the base point, and the platform point relative to the platform, of a leg at the reference pose."""
    pair, side = divmod(leg, 2)
    sign = -1.0 if side == 0 else 1.0
    base = polar(p["base_radius"], 120.0 * pair + sign * p["base_half_angle"])
    platform = polar(p["platform_radius"], 120.0 * pair + sign * (60.0 - p["platform_half_angle"]))
    return base, platform


def _assemble(p: Mapping[str, Number]) -> Mechanism:
    height: Vector = (0.0, 0.0, p["home_height"])
    instances = []
    for leg in range(LEGS):
        base, platform = _joint_points(p, leg)
        direction = minus((platform[0], platform[1], p["home_height"]), base)
        turned = along(direction)
        instances.append(Instance(f"leg{leg + 1}", 0, Frame(turned, base), Frame(turned, platform)))
    base, platform = _joint_points(p, 0)  # all legs are of one length at the reference pose
    span = length(minus((platform[0], platform[1], p["home_height"]), base))
    part = p["tube_share"] * span
    rod = geometry.cylinder(p["density"], part, 2.0 * p["rod_radius"], "z", (0.0, 0.0, -0.5 * part))
    links = (
        Link("1", "cross", BASE, "revolute", (1.0, 0.0, 0.0), Frame(), NOTHING),
        Link("2", "tube", 0, "revolute", (0.0, 1.0, 0.0), Frame(), _tube(p, part)),
        Link("3", "rod", 1, "prismatic", (0.0, 0.0, 1.0), shifted((0.0, 0.0, span)), rod),
    )
    tip = Closure("4", "spherical", 2, Frame(), PLATFORM, Frame())
    thick = p["plate_thickness"]
    plate = geometry.cylinder(p["density"], thick, 2.0 * p["platform_radius"], "z")
    limb = Limb("UPS", links, (), (tip,), ("3",))
    return Mechanism((limb,), tuple(instances), Platform(plate, SPATIAL, Frame(IDENTITY, height)))


_length = partial(Parameter.length, source=CASE_STUDY)

GOUGH_STEWART = Family(
    name="gough_stewart",
    title="Gough-Stewart platform 6-UPS, steel tubes",
    source=CASE_STUDY,
    parameters=(
        _length("base_radius", 3.0, "centre to the base joints"),
        _length("platform_radius", 1.0, "centre to the platform joints, and radius of the plate"),
        _length("home_height", 2.0, "platform above the base at the reference pose"),
        Parameter("base_half_angle", "deg", 2.5, 0.0, 60.0, "half the angle of a pair of base joints", CASE_STUDY),
        Parameter(
            "platform_half_angle", "deg", 10.0, 0.0, 60.0, "half the angle of a pair of platform joints", CASE_STUDY
        ),
        Parameter("tube_share", "1", 0.75, 0.1, 1.0, "length of tube and rod, each, in that of the leg", CASE_STUDY),
        _length("tube_radius", 0.05, "outer radius of the tube"),
        _length("tube_bore", 0.03, "inner radius of the tube"),
        _length("rod_radius", 0.03, "radius of the rod"),
        _length("plate_thickness", 0.05, "thickness of the platform"),
        Parameter("density", "kg/m^3", 76e3 / 9.81, 1.0, 1e5, "density of all bodies", CASE_STUDY),
    ),
    assemble=_assemble,
)

FAMILIES = (GOUGH_STEWART,)
