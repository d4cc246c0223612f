"""Parallel robots of the literature that translate and turn about one axis: 4-RUU."""

from __future__ import annotations

from collections.abc import Mapping

from robots import geometry
from robots.catalog.layout import DECLARED, GROUND, LimbPlacement, axes, beside, declared_length, declared_mass, rod
from robots.geometry import around_z, circle, shifted, sqrt
from robots.model import Family, Instance, Limb, Mechanism, Platform
from robots.parameters import Parameter
from robots.types import ZERO, Number, Vector


def _limb(p: Mapping[str, Number], sign: float) -> tuple[Limb, Number]:
    """Return a limb whose elbow is left or right of its motor, and the distance of the platform below the motor."""
    cos, sin = circle(p["home_angle"])
    arm, across = p["arm_length"], p["base_radius"] - p["platform_radius"]
    elbow: Vector = (arm * cos, sign * arm * sin, 0.0)
    dx, dy = across - elbow[0], -elbow[1]
    level = sqrt(dx * dx + dy * dy)
    drop = sqrt(p["rod_length"] * p["rod_length"] - level * level)
    end: Vector = (across, 0.0, -drop)
    swung = axes((-dy, dx, 0.0), (dx, dy, 0.0))  # x level, across the rod; y level along it
    limb = LimbPlacement(end)
    limb.joint("1", "arm", GROUND, "revolute", ZERO, "z", rod(p["arm_mass"], ZERO, elbow))
    limb.joint("2", "cross", "arm", "revolute", elbow, "z", turned=swung)
    limb.joint("3", "rod", "cross", "revolute", elbow, "x", rod(p["rod_mass"], elbow, end), swung)
    # its axes are x of the rod and the vertical of the platform, y of this frame
    tip = limb.cut("4", "universal", "rod", end, axes((-dy, dx, 0.0), (0.0, 0.0, 1.0)))
    name = "left" if sign > 0 else "right"
    return Limb(f"RUU_{name}", tuple(limb.links), (), (tip,), ("1",)), drop


def _four_ruu(p: Mapping[str, Number]) -> Mechanism:
    """Return Schoenflies 4-RUU: four arms in a level plane, rods with universal joints; platform translates and turns.

    A limb: 1 the motor, about z; 2 and 3 the axes of the universal joint at the elbow, about z and level across the
    rod; 4 the universal joint at the platform, level as the one before, then vertical. Elbows are to the left and to
    the right of their motors by turns: if all were on one side the platform could sink while it turns.
    """
    (left, drop), (right, _) = _limb(p, 1.0), _limb(p, -1.0)
    instances = tuple(
        Instance(f"limb{k + 1}", side, beside(mount, p["base_radius"]), beside(mount, p["platform_radius"]))
        for k, (mount, side) in enumerate(zip(around_z(4), (0, 1, 1, 0), strict=True))
    )
    plate = geometry.bar(p["platform_mass"], 0.0, "z", diameter=2.0 * p["platform_radius"])
    platform = Platform(plate, ("wz", "vx", "vy", "vz"), shifted((0.0, 0.0, -drop)))
    return Mechanism((left, right), instances, platform)


FOUR_RUU = Family(
    name="schoenflies_4ruu",
    title="Schoenflies robot 4-RUU with vertical motors",
    source="Amine, Tale Masouleh, Caro, Wenger, Gosselin, Singularity conditions of 3T1R parallel manipulators with "
    "identical limb structures, Journal of Mechanisms and Robotics 4 (1), 2012; numbers declared here",
    parameters=(
        declared_length("base_radius", 0.30, "middle of the base to the motors"),
        declared_length("platform_radius", 0.08, "middle of the platform to its joints"),
        declared_length("arm_length", 0.20, "length of the driven arms"),
        declared_length("rod_length", 0.40, "length of the rods"),
        Parameter(
            "home_angle",
            "deg",
            120.0,
            5.0,
            175.0,
            "of an arm with the line to the middle, at the reference",
            DECLARED,
        ),
        declared_mass("arm_mass", 0.5, "mass of an arm"),
        declared_mass("rod_mass", 0.2, "mass of a rod"),
        declared_mass("platform_mass", 0.8, "mass of the platform, a thin disc"),
    ),
    assemble=_four_ruu,
)

FAMILIES = (FOUR_RUU,)
