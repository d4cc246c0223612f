"""IRSBot-2: two limbs of a parallelogram and two distal rods each, two translations of the platform along x and z.

A limb: 1 base-arm, 2 arm-elbow, 3 base-bar, 7 (cut) between bar and elbow make the parallelogram that keeps the elbow
upright. From the elbow two rods converge to the platform, with universal joints at both ends: 4.1, 4.2 and 5.1, 5.2 at
the elbow, 6 and 8 at the platform, with a cross without mass in each. Numbers are those of the paper's example 6.

The axes of the universal joints that are fixed to elbow and platform are parallel for one rod, and lean to opposite
sides for the two rods. So one rod lets the platform translate. Both rods together leave it two freedoms: one in the
plane of motion, and one out of this plane, which the other limb removes. Reference pose: arms level, pointing away from
the middle. There the four universal joints must not stand in one vertical plane.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from robots import geometry
from robots.geometry import AXIS_MINUS_Y, about, around_z, circle, cross, dot, length, shifted, sqrt, transpose, unit
from robots.model import PLATFORM, Closure, Family, Frame, Instance, Limb, Link, Mechanism, Platform
from robots.parameters import Parameter
from robots.types import BASE, Matrix, Number, Vector

X: Vector = (1.0, 0.0, 0.0)
Y: Vector = (0.0, 1.0, 0.0)
MINUS_Y: Vector = (0.0, -1.0, 0.0)

PAPER = "topology: Mueller, Dynamics of Parallel Manipulators with Hybrid Complex Limbs, examples 3 and 6"
DECLARED = "declared here; no lengths are public"
NOTHING = geometry.point(0.0)


def _drop(p: Mapping[str, Number]) -> tuple[Number, Number]:
    """Return the inward and the downward offset of the platform's joints from the elbow's, at the reference pose."""
    inward = p["base_radius"] + p["upper_arm"] - p["platform_radius"]
    across = p["elbow_half_width"] - p["platform_half_width"]
    return inward, sqrt(p["rod_length"] * p["rod_length"] - across * across - inward * inward)


def _rod(
    p: Mapping[str, Number], side: float, joints: tuple[str, str], name: str, index: int
) -> tuple[list[Link], Closure]:
    """Return cross and rod on the side y < 0 (-1) or y > 0 (+1), and the platform joint; `index` of the cross."""
    inward, below = _drop(p)
    run: Vector = (inward, side * (p["platform_half_width"] - p["elbow_half_width"]), -below)
    cos, sin = circle(p["axis_tilt"])
    fixed: Vector = (0.0, cos, side * sin)  # the axis on elbow and platform
    turning = unit(cross(run, fixed))
    columns: Matrix = (turning, fixed, cross(turning, fixed))
    seat, up = transpose(columns), length(run)
    # about the turning axis, so that the rod lies along -z of its frame
    lean = about("x", -dot(run, columns[2]) / up, dot(run, fixed) / up)
    solid = geometry.bar(p["rod_mass"], p["rod_length"], "z", (0.0, 0.0, -0.5 * p["rod_length"]))
    elbow = Frame(seat, (0.0, side * p["elbow_half_width"], 0.0))
    links = [
        Link(f"{joints[0]}.1", f"cross_{name}", 1, "revolute", Y, elbow, NOTHING),
        Link(f"{joints[0]}.2", f"rod_{name}", index, "revolute", X, Frame(lean), solid),
    ]
    at_platform = Frame(seat, (-p["platform_radius"], side * p["platform_half_width"], 0.0))
    end = shifted((0.0, 0.0, -p["rod_length"]))
    return links, Closure(joints[1], "universal", index + 1, end, PLATFORM, at_platform)


def _assemble(p: Mapping[str, Number]) -> Mechanism:
    a, offset = p["upper_arm"], p["link_offset"]
    middle: Vector = (-0.5 * a, 0.0, 0.0)
    arm, bar = geometry.bar(p["arm_mass"], a, "x", middle), geometry.bar(p["bar_mass"], a, "x", middle)
    elbow = geometry.bar(p["elbow_mass"], 2.0 * p["elbow_half_width"], "y")
    proximal = (
        Link("1", "arm", BASE, "revolute", MINUS_Y, shifted((-p["base_radius"], 0.0, 0.0)), arm),
        Link("2", "elbow", 0, "revolute", MINUS_Y, shifted((-a, 0.0, 0.0)), elbow),
        Link("3", "bar", BASE, "revolute", MINUS_Y, shifted((-p["base_radius"], 0.0, offset)), bar),
    )
    parallelogram = Closure(
        "7", "revolute", 2, Frame(AXIS_MINUS_Y, (-a, 0.0, 0.0)), 1, Frame(AXIS_MINUS_Y, (0.0, 0.0, offset))
    )
    first, tip_a = _rod(p, -1.0, ("4", "6"), "a", 3)
    second, tip_b = _rod(p, 1.0, ("5", "8"), "b", 5)
    limb = Limb("[RRRR][4U]", (*proximal, *first, *second), (parallelogram,), (tip_a, tip_b), ("1",))
    instances = tuple(
        Instance(name, 0, mount, mount) for name, mount in zip(("left", "right"), around_z(2), strict=True)
    )
    home = shifted((0.0, 0.0, -_drop(p)[1]))
    return Mechanism((limb,), instances, Platform(geometry.point(p["platform_mass"]), ("vx", "vz"), home))


_length, _mass = partial(Parameter.length, source=DECLARED), partial(Parameter.mass, source=DECLARED)

IRSBOT2 = Family(
    name="irsbot2",
    title="IRSBot-2: parallelograms and spatial distal loops, two translations",
    source=PAPER,
    parameters=(
        _length("base_radius", 0.09, "middle of the robot to the motor axes"),
        _length("upper_arm", 0.28, "length of the driven arms and of the bars beside them"),
        _length("link_offset", 0.06, "bar above the arm"),
        _length("rod_length", 0.52, "length of the distal rods"),
        _length("elbow_half_width", 0.10, "plane of motion to the universal joints of the elbow"),
        _length("platform_half_width", 0.04, "plane of motion to the universal joints of the platform"),
        _length("platform_radius", 0.05, "middle of the platform to its joints, along x"),
        Parameter(
            "axis_tilt", "deg", 45.0, 5.0, 85.0, "lean of the fixed axes of the universal joints from y", DECLARED
        ),
        _mass("arm_mass", 0.60, "mass of an arm"),
        _mass("bar_mass", 0.15, "mass of a bar beside an arm"),
        _mass("elbow_mass", 0.25, "mass of an elbow"),
        _mass("rod_mass", 0.10, "mass of a distal rod"),
        _mass("platform_mass", 0.70, "mass of the platform and what it carries"),
    ),
    assemble=_assemble,
)

FAMILIES = (IRSBOT2,)
