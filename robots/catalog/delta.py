"""Delta robots with parallelogram limbs of revolute joints, RR[2RR]R: three translations of the platform.

The robot has three limbs as usual, or four. With four it has more motors than freedoms, and the motors share the load.

A limb: 1 base-arm, 2 arm-elbow link, 3 and 5 elbow link-rods, 4 rod-platform link, 6 platform link-platform; joint 7
between the second rod and the platform link is cut. Reference pose: all arms level, pointing away from the axis of the
robot.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace

from robots import geometry
from robots.drives import Drive, Motor, Spin
from robots.geometry import AXIS_MINUS_Y, AXIS_X, about, around_z, product, shifted, sqrt, transpose
from robots.model import PLATFORM, Closure, Family, Frame, Inertia, Instance, Limb, Link, Mechanism, Platform
from robots.parameters import Parameter
from robots.types import BASE, TRANSLATION, Number, Vector

X: Vector = (1.0, 0.0, 0.0)
MINUS_Y: Vector = (0.0, -1.0, 0.0)

PAPER = "Mueller, Dynamics of Parallel Manipulators with Hybrid Complex Limbs, section 9"
DATASET = "testbedCIIRC/delta-robot-public (Autonox RL5-1450-6kg)"
DECLARED = "declared here; not published"


def _delta(
    p: Mapping[str, Number],
    *,
    arm: Inertia,
    elbow: Inertia,
    rod: Inertia,
    wrist: Inertia,
    platform: Inertia,
    armature: Number = 0.0,
    limbs: int = 3,
) -> Mechanism:
    """Return the mechanism from lengths p and the inertias of its bodies, each in the frame of its link."""
    a, b, c = p["upper_arm"], p["link_length"], p["rod_length"]
    d = a + p["base_radius"] - p["platform_radius"]
    h = sqrt(c * c - d * d)
    tilt = about("y", h / c, -d / c)  # z axis along the rods
    rod_end: Vector = (0.0, 0.0, -c)
    links = (
        Link("1", "arm", BASE, "revolute", MINUS_Y, shifted((-p["base_radius"], 0.0, 0.0)), arm, armature),
        Link("2", "elbow", 0, "revolute", MINUS_Y, Frame(tilt, (-a, 0.0, 0.0)), elbow),
        Link("3", "rod_a", 1, "revolute", X, shifted((0.0, -0.5 * b, 0.0)), rod),
        Link("4", "wrist", 2, "revolute", X, shifted(rod_end), wrist),
        Link("5", "rod_b", 1, "revolute", X, shifted((0.0, 0.5 * b, 0.0)), rod),
    )
    parallelogram = Closure("7", "revolute", 4, Frame(AXIS_X, rod_end), 3, Frame(AXIS_X, (0.0, b, 0.0)))
    tip = Closure(
        "6",
        "revolute",
        3,
        Frame(product(transpose(tilt), AXIS_MINUS_Y), (0.0, 0.5 * b, 0.0)),
        PLATFORM,
        Frame(AXIS_MINUS_Y, (-p["platform_radius"], 0.0, 0.0)),
    )
    limb = Limb("RR[2RR]R", links, (parallelogram,), (tip,), ("1",))
    instances = tuple(Instance(f"limb{k + 1}", 0, mount, mount) for k, mount in enumerate(around_z(limbs)))
    return Mechanism((limb,), instances, Platform(platform, TRANSLATION, shifted((0.0, 0.0, -h))))


def _lengths(base: float, platform: float, arm: float, rod: float, link: float, source: str) -> tuple[Parameter, ...]:
    return (
        Parameter.length("base_radius", base, "axis of the robot to the motor axes", source),
        Parameter.length("platform_radius", platform, "axis of the platform to its joints", source),
        Parameter.length("upper_arm", arm, "length of the driven arms", source),
        Parameter.length("rod_length", rod, "length of the rods of the parallelograms", source),
        Parameter.length("link_length", link, "distance of the two rods of a limb", source),
    )


def _mass(name: str, default: float, text: str, source: str, lower: float = 1e-6) -> Parameter:
    return Parameter(name, "kg", default, lower, 1e6, text, source)


def _cylinders(p: Mapping[str, Number], limbs: int = 3) -> Mechanism:
    density, a, b, c = p["density"], p["upper_arm"], p["link_length"], p["rod_length"]
    return _delta(
        p,
        arm=geometry.cylinder(density, a, p["arm_diameter"], "x", (-0.5 * a, 0.0, 0.0)),
        elbow=geometry.cylinder(density, b, p["link_diameter"], "y"),
        rod=geometry.cylinder(density, c, p["rod_diameter"], "z", (0.0, 0.0, -0.5 * c)),
        wrist=geometry.cylinder(density, b, p["link_diameter"], "y", (0.0, 0.5 * b, 0.0)),
        platform=geometry.cylinder(density, p["platform_height"], p["platform_diameter"], "z"),
        limbs=limbs,
    )


def _geared(p: Mapping[str, Number]) -> Mechanism:
    """Return the published robot, driven by its motors: the armature of the arms becomes rotors on the base."""
    mechanism = _published({**p, "gearbox_inertia": 0.0})
    spin = Spin(p["gearbox_inertia"], BASE, MINUS_Y)
    drive = Drive("motor", (("1", p["gear_ratio"]),), (spin,), Motor(p["torque_constant"], p["resistance"]))
    return replace(mechanism, limbs=(replace(mechanism.limbs[0], drives=(drive,)),))


def _published(p: Mapping[str, Number]) -> Mechanism:
    return _delta(
        p,
        arm=Inertia(
            p["arm_mass"],
            (-p["arm_centre_along"], 0.0, -p["arm_centre_below"]),
            geometry.diagonal(0.0, p["arm_inertia"], p["arm_inertia"]),
        ),
        elbow=geometry.point(p["elbow_mass"]),
        rod=Inertia(
            p["rod_mass"],
            (0.0, 0.0, -p["rod_centre"]),
            geometry.diagonal(p["rod_inertia_across"], p["rod_inertia_across"], p["rod_inertia_along"]),
        ),
        wrist=geometry.point(0.0, (0.0, 0.5 * p["link_length"], 0.0)),
        platform=geometry.point(p["platform_mass"]),
        armature=p["gear_ratio"] * p["gear_ratio"] * p["gearbox_inertia"],
    )


def _inertia(name: str, default: float, text: str, source: str = DATASET) -> Parameter:
    return Parameter(name, "kg m^2", default, 0.0, 1e6, text, source)


CYLINDERS = (
    *_lengths(0.150, 0.070, 0.250, 1.000, 0.080, PAPER),
    Parameter.length("arm_diameter", 0.030, "diameter of the arms", PAPER),
    Parameter.length("rod_diameter", 0.010, "diameter of the rods", PAPER),
    Parameter.length("link_diameter", 0.020, "diameter of the links between the rods", PAPER),
    Parameter.length("platform_diameter", 0.090, "diameter of the platform", PAPER),
    Parameter.length("platform_height", 0.100, "height of the platform", PAPER),
    Parameter("density", "kg/m^3", 2700.0, 1.0, 1e5, "density of all bodies", "aluminium; not printed in the paper"),
)
"""Parameters of a Delta whose bodies are cylinders."""

DELTA_3RR2RRR = Family(
    name="delta_3rr2rrr",
    title="Delta with parallelograms of revolute joints (like the Motoman MPP3H), aluminium cylinders",
    source=PAPER,
    parameters=CYLINDERS,
    assemble=_cylinders,
)

DELTA_4RR2RRR = Family(
    name="delta_4rr2rrr",
    title="Delta with a fourth limb: four motors for three translations, aluminium cylinders",
    source=PAPER + ", with limbs at right angles; " + DECLARED,
    parameters=CYLINDERS,
    assemble=functools.partial(_cylinders, limbs=4),
)

DELTA_RL5_1450 = Family(
    name="delta_rl5_1450",
    title="Industrial Delta Autonox RL5-1450-6kg, published inertias and gear",
    source=DATASET,
    parameters=(
        *_lengths(0.330, 0.125, 0.420, 1.055, 0.100, DATASET + "; link_length declared here"),
        _mass("arm_mass", 3.696, "mass of an arm", DATASET),
        Parameter("arm_centre_along", "m", 0.2463, -1e2, 1e2, "centre of mass along the arm", DATASET),
        Parameter("arm_centre_below", "m", 0.027, -1e2, 1e2, "centre of mass below a level arm", DATASET),
        _inertia("arm_inertia", 0.06541, "inertia of an arm about its centre of mass, across the arm"),
        _mass("elbow_mass", 0.226, "mass of the elbow pin", DATASET),
        _mass("rod_mass", 0.525, "mass of one rod", DATASET),
        Parameter("rod_centre", "m", 0.5275, 0.0, 1e2, "centre of mass of a rod from the elbow", DATASET),
        _inertia("rod_inertia_across", 0.043009, "inertia of a rod across its length"),
        _inertia("rod_inertia_along", 5.229e-5, "inertia of a rod about its length"),
        _mass("platform_mass", 2.916, "mass of the platform", DATASET),
        Parameter("gear_ratio", "1", 55.0, 1e-4, 1e4, "motor turns per turn of the arm", DATASET),
        _inertia("gearbox_inertia", 2.07e-4, "inertia of motor and gear on the motor side"),
    ),
    assemble=_published,
)

DELTA_RL5_1450_MOTORS = Family(
    name="delta_rl5_1450_motors",
    title="Industrial Delta Autonox RL5-1450-6kg, its actuators are the motors behind the gears",
    source=DATASET,
    parameters=(
        *DELTA_RL5_1450.parameters,
        Parameter("torque_constant", "N m/A", 1.0, 1e-6, 1e3, "torque of a motor per current", DECLARED),
        Parameter("resistance", "ohm", 1.5, 0.0, 1e6, "of a motor's winding", DECLARED),
    ),
    assemble=_geared,
)

FAMILIES = (DELTA_3RR2RRR, DELTA_RL5_1450, DELTA_4RR2RRR, DELTA_RL5_1450_MOTORS)
