"""Hexapod 6-RR-RP-RR with offset universal joints: the two axes of a joint at base or platform do not meet.

A leg: 1 and 2 the axes at the base, 3 the rotation about the leg that the ball screw allows, 4 its driven feed, 5 and 6
the axes at the platform. Bodies of the source: link 1 between joints 1 and 2; links 2 and 3, which count as one, after
joint 2; link 4 after the feed; link 5 between joints 5 and 6; the body between joints 3 and 4 has no mass. Mount frames
stand at the joint circles. At the reference pose their z axes lie along the leg, and their x axes, the axes of joints 1
and 6, are level. So all legs are one limb, and the offsets lie along the leg there. The force of joint 4 is the feed
force along the leg.

With ball screws, the actuators are motors on body "screw" that turn the screws. The nut is fixed to the feed, which
turns about the leg by joint 3. So the angle of a motor is 2 pi / lead times the feed, plus the angle of joint 3, and
its torque acts about joint 3 too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from robots import geometry
from robots.drives import Drive, Motor, Spin
from robots.geometry import AXIS_X, along, length, minus, polar, shifted
from robots.model import PLATFORM, Closure, Family, Frame, Inertia, Instance, Limb, Link, Mechanism, Platform
from robots.parameters import Parameter
from robots.types import BASE, SPATIAL, Number, Vector

PAPER = "Robotica 2024, doi 10.1017/S0263574724000365: 6-RR-RP-RR with offset universal joints"
DECLARED = "declared here; the tables of the source are lost"
LEGS = 6
X: Vector = (1.0, 0.0, 0.0)
Y: Vector = (0.0, 1.0, 0.0)
Z: Vector = (0.0, 0.0, 1.0)


def _joint_points(p: Mapping[str, Number], leg: int) -> tuple[Vector, Vector]:
    """Return the base point, and the platform point relative to the platform, of a leg at the reference pose."""
    pair, side = divmod(leg, 2)
    sign = -1.0 if side == 0 else 1.0
    base = polar(p["base_radius"], 120.0 * pair + sign * p["base_half_angle"])
    platform = polar(p["platform_radius"], 120.0 * pair + sign * p["platform_half_angle"])
    return base, platform


def _direction(p: Mapping[str, Number], leg: int) -> Vector:
    base, platform = _joint_points(p, leg)
    return minus((platform[0], platform[1], p["home_height"]), base)


def _upwards(mass: Number, span: Number, diameter: Number) -> Inertia:
    return geometry.bar(mass, span, "z", (0.0, 0.0, 0.5 * span), diameter)


def _leg(p: Mapping[str, Number]) -> Limb:
    low, high = p["base_offset"], p["platform_offset"]
    span = length(_direction(p, 0)) - low - high  # all legs are of one length at the reference pose
    part = p["body_share"] * span
    feed = geometry.bar(p["feed_mass"], part, "z", (0.0, 0.0, -0.5 * part), p["feed_diameter"])
    links = (
        Link("1", "base_link", BASE, "revolute", X, Frame(), _upwards(p["base_link_mass"], low, 0.0)),
        Link(
            "2",
            "screw",
            0,
            "revolute",
            Y,
            shifted((0.0, 0.0, low)),
            _upwards(p["screw_mass"], part, p["screw_diameter"]),
        ),
        Link("3", "turn", 1, "revolute", Z, Frame(), geometry.point(0.0)),
        Link("4", "feed", 2, "prismatic", Z, shifted((0.0, 0.0, span)), feed),
        Link("5", "platform_link", 3, "revolute", Y, Frame(), _upwards(p["platform_link_mass"], high, 0.0)),
    )
    tip = Closure("6", "revolute", 4, Frame(AXIS_X, (0.0, 0.0, high)), PLATFORM, Frame(AXIS_X))
    return Limb("RRRPRR", links, (), (tip,), ("4",))


def _assemble(p: Mapping[str, Number]) -> Mechanism:
    instances = []
    for leg in range(LEGS):
        base, platform = _joint_points(p, leg)
        turned = along(_direction(p, leg))
        instances.append(Instance(f"leg{leg + 1}", 0, Frame(turned, base), Frame(turned, platform)))
    level, upright = p["platform_inertia_level"], p["platform_inertia_upright"]
    body = Inertia(p["platform_mass"], (0.0, 0.0, 0.0), geometry.diagonal(level, level, upright))
    home = shifted((0.0, 0.0, p["home_height"]))
    return Mechanism((_leg(p),), tuple(instances), Platform(body, SPATIAL, home))


def _screws(p: Mapping[str, Number]) -> Mechanism:
    """Return the mechanism with a motor and a screw in each leg."""
    mechanism, ratio = _assemble(p), 2.0 * math.pi / p["lead"]
    spin = Spin(p["screw_inertia"], 1, Z, coupling=1.0)
    drive = Drive("motor", (("4", ratio), ("3", 1.0)), (spin,), Motor(p["torque_constant"], p["resistance"]))
    return replace(mechanism, limbs=(replace(mechanism.limbs[0], drives=(drive,)),))


_length, _mass = partial(Parameter.length, source=DECLARED), partial(Parameter.mass, source=DECLARED)


def _angle(name: str, default: float, text: str) -> Parameter:
    return Parameter(name, "deg", default, 0.0, 60.0, text, DECLARED)


HEXAPOD_6RRRPRR = Family(
    name="hexapod_6rrrprr",
    title="Hexapod 6-RR-RP-RR with offset universal joints and ball screws",
    source=PAPER,
    parameters=(
        _length("base_radius", 0.30, "centre to the joints of the base"),
        _length("platform_radius", 0.20, "centre to the joints of the platform"),
        _length("home_height", 0.40, "circle of the platform's joints above that of the base at the reference pose"),
        _length("base_offset", 0.015, "distance of the two axes at the base, U_b", lower=0.0),
        _length("platform_offset", 0.015, "distance of the two axes at the platform, U_p", lower=0.0),
        _angle("base_half_angle", 15.0, "half the angle of a pair of base joints"),
        _angle("platform_half_angle", 45.0, "the platform joints of that pair, from the middle of the pair"),
        Parameter(
            "body_share", "1", 0.6, 0.1, 1.0, "length of screw and feed, each, in that between the offsets", DECLARED
        ),
        _mass("base_link_mass", 0.15, "mass of link 1"),
        _mass("screw_mass", 1.2, "mass of links 2 and 3"),
        _mass("feed_mass", 0.5, "mass of link 4"),
        _mass("platform_link_mass", 0.15, "mass of link 5"),
        _length("screw_diameter", 0.05, "diameter of links 2 and 3", lower=0.0),
        _length("feed_diameter", 0.03, "diameter of link 4", lower=0.0),
        _mass("platform_mass", 8.0, "mass of the platform"),
        Parameter(
            "platform_inertia_level", "kg m^2", 0.06, 0.0, 1e6, "inertia of the platform about x and y", DECLARED
        ),
        Parameter("platform_inertia_upright", "kg m^2", 0.11, 0.0, 1e6, "inertia of the platform about z", DECLARED),
    ),
    assemble=_assemble,
)

HEXAPOD_BALL_SCREWS = Family(
    name="hexapod_ball_screws",
    title="The same hexapod, its actuators are the motors that turn the ball screws",
    source=PAPER,
    parameters=(
        *HEXAPOD_6RRRPRR.parameters,
        Parameter("lead", "m", 4e-3, 1e-5, 1.0, "feed per turn of the screw", "declared here: usual for such screws"),
        Parameter(
            "screw_inertia",
            "kg m^2",
            6e-5,
            0.0,
            1.0,
            "inertia of screw and rotor about the leg",
            "declared here: a steel screw of 16 mm and 0.25 m, and a servo rotor of 5e-5",
        ),
        Parameter("torque_constant", "N m/A", 0.5, 1e-6, 1e3, "torque of a motor per current", "declared here"),
        Parameter("resistance", "ohm", 1.5, 0.0, 1e6, "of a motor's winding", "declared here"),
    ),
    assemble=_screws,
)

FAMILIES = (HEXAPOD_6RRRPRR, HEXAPOD_BALL_SCREWS)
