"""Parallel robots of the literature with coupled coordinates: 3-RPS, 3-PRS, Tricept."""

from __future__ import annotations

from collections.abc import Mapping

from robots import geometry
from robots.catalog.layout import DECLARED, GROUND, LimbPlacement, beside, declared_length, declared_mass, rod
from robots.coupled import CoupledPlatform, closed
from robots.geometry import about, around_z, shifted, sqrt
from robots.model import Family, Inertia, Instance, Limb, Mechanism
from robots.parameters import Parameter
from robots.types import ZERO, Number, Vector


def _disc(p: Mapping[str, Number]) -> Inertia:
    return geometry.bar(p["platform_mass"], 0.0, "z", diameter=2.0 * p["platform_radius"])


def _around(p: Mapping[str, Number]) -> tuple[Instance, ...]:
    return tuple(
        Instance(f"limb{k + 1}", 0, beside(mount, p["base_radius"]), beside(mount, p["platform_radius"]))
        for k, mount in enumerate(around_z(3))
    )


def _three_rps(p: Mapping[str, Number]) -> Mechanism:
    """Return 3-RPS: three telescopic legs, each in its own plane; the platform lifts and tilts, with parasitic shifts.

    A leg: 1 about the tangent at the base, 2 the driven slide, 3 the spherical joint at the platform. The motion is
    given in z, pitch and roll of the platform; x, y and yaw follow from the planes of the legs.
    """
    across, height = p["base_radius"] - p["platform_radius"], p["home_height"]
    span = sqrt(across * across + height * height)
    tilt = about("y", height / span, across / span)
    end: Vector = (across, 0.0, height)
    part = p["tube_share"]
    knee: Vector = (part * across, 0.0, part * height)
    neck: Vector = ((1.0 - part) * across, 0.0, (1.0 - part) * height)
    leg = LimbPlacement(end)
    leg.joint("1", "tube", GROUND, "revolute", ZERO, "y", rod(p["tube_mass"], ZERO, knee), tilt)
    leg.joint("2", "rod", "tube", "prismatic", end, "z", rod(p["rod_mass"], neck, end), tilt)
    tip = leg.cut("3", "spherical", "rod", end)
    described = Limb("RPS", tuple(leg.links), (), (tip,), ("2",))
    platform = CoupledPlatform(_disc(p), shifted((0.0, 0.0, height)), ("z", "pitch", "roll"))
    return closed("3rps", (described,), _around(p), platform)


def _three_prs(p: Mapping[str, Number]) -> Mechanism:
    """Return 3-PRS: carriages on vertical rails, rods that turn about the tangent, spherical joints at the platform.

    A limb: 1 the rail, 2 about the tangent at the carriage, 3 the spherical joint at the platform. The motion is given
    in z, pitch and roll of the platform; x, y and yaw follow.
    """
    across, span = p["base_radius"] - p["platform_radius"], p["rod_length"]
    height = sqrt(span * span - across * across)
    tilt = about("y", height / span, across / span)
    end: Vector = (across, 0.0, height)
    limb = LimbPlacement(end)
    limb.joint("1", "carriage", GROUND, "prismatic", ZERO, "z", geometry.point(p["carriage_mass"]))
    limb.joint("2", "rod", "carriage", "revolute", ZERO, "y", rod(p["rod_mass"], ZERO, end), tilt)
    tip = limb.cut("3", "spherical", "rod", end)
    described = Limb("PRS", tuple(limb.links), (), (tip,), ("1",))
    platform = CoupledPlatform(_disc(p), shifted((0.0, 0.0, height)), ("z", "pitch", "roll"))
    return closed("3prs", (described,), _around(p), platform)


def _tricept(p: Mapping[str, Number]) -> Mechanism:
    """Return the Tricept: three telescopic legs, and a passive one in the middle that is fixed to the platform.

    A leg: 1 and 2 the axes of the universal joint at the base, 3 the driven slide, 4 the spherical joint at the
    platform. The passive leg has the axes of a universal joint at the base and a slide, and is welded to the platform.
    The motion is given in x, y and z of the middle of the platform; its orientation follows from the passive leg, whose
    universal joint lets it turn in no other way.
    """
    across, height = p["base_radius"] - p["platform_radius"], p["home_height"]
    span = sqrt(across * across + height * height)
    tilt = about("y", height / span, across / span)
    end: Vector = (across, 0.0, height)
    part = p["tube_share"]
    knee: Vector = (part * across, 0.0, part * height)
    neck: Vector = ((1.0 - part) * across, 0.0, (1.0 - part) * height)
    leg = LimbPlacement(end)
    leg.joint("1", "cross", GROUND, "revolute", ZERO, "y", turned=tilt)
    leg.joint("2", "tube", "cross", "revolute", ZERO, "x", rod(p["tube_mass"], ZERO, knee), tilt)
    leg.joint("3", "rod", "tube", "prismatic", end, "z", rod(p["rod_mass"], neck, end), tilt)
    tip = leg.cut("4", "spherical", "rod", end)
    top: Vector = (0.0, 0.0, height)
    middle = LimbPlacement(top)
    middle.joint("1", "cross", GROUND, "revolute", ZERO, "x")
    middle.joint("2", "tube", "cross", "revolute", ZERO, "y", rod(p["middle_mass"], ZERO, (0.0, 0.0, part * height)))
    middle.joint(
        "3", "rod", "tube", "prismatic", top, "z", rod(p["middle_mass"], (0.0, 0.0, (1.0 - part) * height), top)
    )
    weld = middle.cut("4", "fixed", "rod", top)
    limbs = (
        Limb("UPS", tuple(leg.links), (), (tip,), ("3",)),
        Limb("UP", tuple(middle.links), (), (weld,), ()),
    )
    instances = (*_around(p), Instance("middle", 1, shifted(ZERO), shifted(ZERO)))
    platform = CoupledPlatform(_disc(p), shifted(top), ("x", "y", "z"))
    return closed("tricept", limbs, instances, platform)


SHARE = Parameter("tube_share", "1", 0.7, 0.1, 1.0, "length of tube and rod, each, in that of the leg", DECLARED)

THREE_RPS = Family(
    name="coupled_3rps",
    title="3-RPS with telescopic legs, coupled coordinates",
    source="Hunt, Structural kinematics of in-parallel-actuated robot-arms, Journal of Mechanisms, Transmissions and "
    "Automation in Design 105 (4), 1983; numbers declared here",
    parameters=(
        declared_length("base_radius", 0.30, "middle of the base to its joints"),
        declared_length("platform_radius", 0.15, "middle of the platform to its joints"),
        declared_length("home_height", 0.50, "platform above the base at the reference pose"),
        SHARE,
        declared_mass("tube_mass", 2.0, "mass of a tube"),
        declared_mass("rod_mass", 1.0, "mass of a rod"),
        declared_mass("platform_mass", 3.0, "mass of the platform, a thin disc"),
    ),
    assemble=_three_rps,
)

THREE_PRS = Family(
    name="coupled_3prs",
    title="3-PRS with vertical rails, coupled coordinates",
    source="Carretero, Podhorodeski, Nahon, Gosselin, Kinematic analysis and optimization of a new three "
    "degree-of-freedom spatial parallel manipulator, Journal of Mechanical Design 122 (1), 2000; numbers declared here",
    parameters=(
        declared_length("base_radius", 0.35, "middle of the base to the rails"),
        declared_length("platform_radius", 0.20, "middle of the platform to its joints"),
        declared_length("rod_length", 0.50, "length of the rods"),
        declared_mass("carriage_mass", 2.0, "mass of a carriage"),
        declared_mass("rod_mass", 1.0, "mass of a rod"),
        declared_mass("platform_mass", 3.0, "mass of the platform, a thin disc"),
    ),
    assemble=_three_prs,
)

TRICEPT = Family(
    name="tricept",
    title="Tricept 3-UPS with a passive leg, coupled coordinates",
    source="Siciliano, The Tricept robot: inverse kinematics, manipulability analysis and closed-loop direct "
    "kinematics algorithm, Robotica 17 (4), 1999; numbers declared here",
    parameters=(
        declared_length("base_radius", 0.50, "middle of the base to the joints of the legs"),
        declared_length("platform_radius", 0.20, "middle of the platform to the joints of the legs"),
        declared_length("home_height", 1.20, "platform above the base at the reference pose"),
        SHARE,
        declared_mass("tube_mass", 8.0, "mass of a leg's tube"),
        declared_mass("rod_mass", 4.0, "mass of a leg's rod"),
        declared_mass("middle_mass", 10.0, "mass of tube and rod, each, of the passive leg"),
        declared_mass("platform_mass", 12.0, "mass of the platform, a thin disc"),
    ),
    assemble=_tricept,
)

FAMILIES = (THREE_RPS, THREE_PRS, TRICEPT)
