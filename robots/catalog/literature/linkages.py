"""Chains with loops, screws and rods: SCARA with a ball screw spline, palletiser, ankle of a humanoid, six-bar."""

from __future__ import annotations

import math
from collections.abc import Mapping

from robots import geometry
from robots.catalog.layout import DECLARED, GROUND, LimbPlacement, Pair, bent, declared_length, declared_mass, rod
from robots.drives import Drive, Spin
from robots.geometry import AXIS_MINUS_Y, circle
from robots.model import Closure, Family, Mechanism
from robots.parameters import Parameter
from robots.types import ZERO, Number, Vector


def _scara(p: Mapping[str, Number]) -> Mechanism:
    """Return a SCARA whose shaft is both ball screw and spline: one nut lifts it, the other one turns it.

    Joints `shoulder` and `elbow` turn about z, `lift` slides along z, `turn` is the rotation of the shaft. Motors are
    drives. The spline's nut turns the shaft. The screw's nut, with a right-hand thread, turns by the angle of the
    shaft, less 2 pi times the lift over the lead. So a pure turn moves both motors, and a pure lift moves one.
    """
    upper, fore = p["upper_arm"], p["forearm"]
    elbow, wrist = (upper, 0.0, 0.0), (upper + fore, 0.0, 0.0)
    arm = LimbPlacement()
    arm.joint("shoulder", "upper_arm", GROUND, "revolute", ZERO, "z", rod(p["upper_arm_mass"], ZERO, elbow))
    arm.joint("elbow", "forearm", "upper_arm", "revolute", elbow, "z", rod(p["forearm_mass"], elbow, wrist))
    shaft = geometry.bar(p["shaft_mass"], p["shaft_length"], "z", wrist, p["shaft_diameter"])
    arm.joint("lift", "slide", "forearm", "prismatic", wrist, "z")
    arm.joint("turn", "shaft", "slide", "revolute", wrist, "z", shaft)
    per_way = 2.0 * math.pi / p["lead"]
    drives = [
        Drive(f"motor_{joint}", ((joint, p["gear"]),), (Spin(p["rotor"], k - 1, (0.0, 0.0, 1.0)),))
        for k, joint in enumerate(("shoulder", "elbow"))
    ]
    for name, ratios in (
        ("screw_motor", (("lift", -p["belt"] * per_way), ("turn", p["belt"]))),
        ("spline_motor", (("turn", p["belt"]),)),
    ):
        drives.append(Drive(name, ratios, (Spin(p["nut_rotor"], 1, (0.0, 0.0, 1.0)),)))
    joints = tuple(link.joint for link in arm.links)
    return Mechanism.chain("arm", tuple(arm.links), joints, drives=tuple(drives))


def _pin(layout: LimbPlacement, name: str, a: str, at: Vector, b: str) -> Closure:
    return layout.cut(name, "revolute", a, at, AXIS_MINUS_Y, b)


def _palletiser(p: Mapping[str, Number]) -> Mechanism:
    """Return a palletiser with four axes: a crank drives the forearm by a parallelogram, two keep the wrist level.

    Reference pose: lower arm upright, forearm level and forward (x). `waist` turns about z; `shoulder` and `crank`,
    both at the shoulder, about y; `flange` about z. The coupler transmits the crank's angle to the forearm. A rod
    beside the lower arm keeps the triangle at the elbow level, and a rod above the forearm keeps the wrist level.
    """
    height, arm, forearm = p["shoulder_height"], p["lower_arm"], p["forearm"]
    throw, back, above = p["crank_length"], p["rod_offset"], p["triangle_height"]
    column, shoulder, elbow = (0.0, 0.0, 0.5 * height), (0.0, 0.0, height), (0.0, 0.0, height + arm)
    wrist: Vector = (forearm, 0.0, height + arm)
    top: Vector = (0.0, 0.0, height + arm + above)
    foot: Vector = (-throw, 0.0, height)
    heel: Vector = (-throw, 0.0, height + arm)
    low: Vector = (-back, 0.0, height)
    rear: Vector = (-back, 0.0, height + arm)
    tool: Vector = (forearm, 0.0, height + arm - p["flange_drop"])
    over: Vector = (forearm, 0.0, height + arm + above)
    robot = LimbPlacement()
    turret = geometry.bar(p["column_mass"], height, "z", column, p["column_diameter"])
    robot.joint("waist", "column", GROUND, "revolute", ZERO, "z", turret)
    robot.joint("shoulder", "lower_arm", "column", "revolute", shoulder, "y", rod(p["lower_arm_mass"], shoulder, elbow))
    robot.joint("crank", "crank", "column", "revolute", shoulder, "y", rod(p["crank_mass"], foot, shoulder))
    robot.joint("coupler_foot", "coupler", "crank", "revolute", foot, "y", rod(p["rod_mass"], foot, heel))
    robot.joint("elbow", "forearm", "lower_arm", "revolute", elbow, "y", rod(p["forearm_mass"], heel, wrist))
    robot.joint("rod_foot", "lower_rod", "column", "revolute", low, "y", rod(p["rod_mass"], low, rear))
    robot.joint("triangle", "triangle", "lower_arm", "revolute", elbow, "y", rod(p["triangle_mass"], rear, top))
    robot.joint("rod_middle", "upper_rod", "triangle", "revolute", top, "y", rod(p["rod_mass"], top, over))
    robot.joint("wrist", "wrist", "forearm", "revolute", wrist, "y", rod(p["wrist_mass"], over, tool))
    plate = geometry.bar(p["flange_mass"], 0.0, "z", tool, 0.15)
    robot.joint("flange", "flange", "wrist", "revolute", tool, "z", plate)
    loops = (
        _pin(robot, "coupler_head", "coupler", heel, "forearm"),
        _pin(robot, "rod_head", "lower_rod", rear, "triangle"),
        _pin(robot, "rod_end", "upper_rod", over, "wrist"),
    )
    return Mechanism.chain("arm", tuple(robot.links), ("waist", "shoulder", "crank", "flange"), loops)


def _ankle(p: Mapping[str, Number]) -> Mechanism:
    """Return the ankle of a humanoid: a foot on a universal joint, moved by two cranks behind the shin through rods.

    The shin stands still, z up. The motion is given in `pitch` about y and `roll` about x of the foot; the cranks turn
    about y. A rod has a universal joint at its crank and a spherical one at the foot. Reference pose: foot level,
    cranks level and backward.
    """
    pieces, ends = LimbPlacement(), []
    for side, sign in (("left", 1.0), ("right", -1.0)):
        y, height = sign * p["half_width"], p[f"{side}_height"]
        axis = (-p["motor_offset"], y, height)
        pin: Vector = (-p["motor_offset"] - p["crank_length"], y, height)
        heel: Vector = (-p["heel_length"], y, -p["heel_depth"])
        pieces.joint(f"crank_{side}", f"crank_{side}", GROUND, "revolute", axis, "y", rod(p["crank_mass"], axis, pin))
        pieces.joint(f"rod_{side}_y", f"cross_{side}", f"crank_{side}", "revolute", pin, "y")
        pieces.joint(
            f"rod_{side}_x", f"rod_{side}", f"cross_{side}", "revolute", pin, "x", rod(p["rod_mass"], pin, heel)
        )
        ends.append((side, heel))
    pieces.joint("pitch", "cross", GROUND, "revolute", ZERO, "y")
    sole = geometry.bar(p["foot_mass"], p["foot_length"], "x", (p["foot_centre"], 0.0, -p["foot_depth"]), 0.08)
    pieces.joint("roll", "foot", "cross", "revolute", ZERO, "x", sole)
    loops = [pieces.cut(f"ball_{side}", "spherical", f"rod_{side}", heel, b="foot") for side, heel in ends]
    return Mechanism.chain(
        "ankle", tuple(pieces.links), ("crank_left", "crank_right"), tuple(loops), independent=("pitch", "roll")
    )


def _six_bar(p: Mapping[str, Number]) -> Mechanism:
    """Return the six-bar of Stephenson's third kind: a four-bar whose coupler moves a second rocker through a link.

    In the plane of x and z, all joints about -y, the crank's axis at the origin. The crank turns all the way round. At
    the reference pose it stands at its home angle from x towards z; the other points follow from the lengths.
    """
    cos, sin = circle(p["home_angle"])
    crank = (p["crank"] * cos, p["crank"] * sin)
    ground, far = (p["rocker_x"], p["rocker_z"]), (p["output_x"], p["output_z"])
    head = _meeting(crank, ground, (p["coupler"], p["rocker"]))
    across, up = (head[0] - crank[0]) / p["coupler"], (head[1] - crank[1]) / p["coupler"]
    u, v = p["coupler_point_u"], p["coupler_point_v"]
    point = (crank[0] + u * across - v * up, crank[1] + u * up + v * across)
    knee = _meeting(point, far, (p["link_length"], p["output"]))
    a, b, c, d, e, f = ((x, 0.0, z) for x, z in (crank, head, point, ground, knee, far))
    bars = LimbPlacement()
    bars.joint("crank", "crank", GROUND, "revolute", ZERO, "-y", rod(p["crank_mass"], ZERO, a))
    bars.joint("coupler", "coupler", "crank", "revolute", a, "-y", rod(p["coupler_mass"], a, b))
    bars.joint("link", "link", "coupler", "revolute", c, "-y", rod(p["link_mass"], c, e))
    bars.joint("rocker", "rocker", GROUND, "revolute", d, "-y", rod(p["rocker_mass"], d, b))
    bars.joint("output", "output", GROUND, "revolute", f, "-y", rod(p["output_mass"], f, e))
    loops = (_pin(bars, "head", "coupler", b, "rocker"), _pin(bars, "knee", "link", e, "output"))
    return Mechanism.chain("six_bar", tuple(bars.links), ("crank",), loops)


def _meeting(a: Pair, b: Pair, lengths: Pair) -> Pair:
    """Compute the point where two rods from `a` and `b` meet, to the left of the line from `a` to `b`."""
    x, z = bent(lengths, (b[0] - a[0], b[1] - a[1]))
    return a[0] + x, a[1] + z


SCARA = Family(
    name="scara",
    title="SCARA with a ball screw spline",
    source="Makino, Furuya, Selective compliance assembly robot arm, International Conference on Assembly Automation, "
    "1980; shaft as of a THK ball screw spline; numbers declared here",
    parameters=(
        declared_length("upper_arm", 0.30, "shoulder to elbow"),
        declared_length("forearm", 0.25, "elbow to shaft"),
        Parameter("lead", "m", 0.02, 1e-4, 1.0, "way of the shaft per turn of the screw's nut", DECLARED),
        declared_mass("upper_arm_mass", 6.0, "mass of the upper arm"),
        declared_mass("forearm_mass", 5.0, "mass of the forearm with nuts and motors"),
        declared_mass("shaft_mass", 0.8, "mass of the shaft, a solid cylinder"),
        declared_length("shaft_length", 0.40, "length of the shaft"),
        declared_length("shaft_diameter", 0.02, "diameter of the shaft"),
        Parameter("gear", "1", 50.0, 1.0, 1e4, "turns of a motor per turn of shoulder or elbow", DECLARED),
        Parameter("belt", "1", 2.0, 0.1, 1e3, "turns of a motor per turn of its nut", DECLARED),
        Parameter("rotor", "kg m^2", 2e-5, 0.0, 1.0, "inertia of a motor of shoulder or elbow", DECLARED),
        Parameter("nut_rotor", "kg m^2", 2e-5, 0.0, 1.0, "inertia of a motor with its nut, at the motor", DECLARED),
    ),
    assemble=_scara,
)

PALLETISER = Family(
    name="palletiser",
    title="Palletiser with four axes, forearm and level wrist by parallelograms",
    source="arrangement of common palletising robots (class of 100 kg and 2.4 m); numbers declared here",
    parameters=(
        declared_length("shoulder_height", 0.80, "shoulder above the base"),
        declared_length("lower_arm", 0.95, "shoulder to elbow"),
        declared_length("forearm", 1.20, "elbow to wrist"),
        declared_length("crank_length", 0.40, "length of the crank and of the tail of the forearm"),
        declared_length("rod_offset", 0.25, "rod behind the lower arm, and the triangle's rear pin behind the elbow"),
        declared_length("triangle_height", 0.20, "rod above the forearm"),
        declared_length("flange_drop", 0.20, "flange below the wrist"),
        declared_mass("column_mass", 300.0, "mass of the column, a solid cylinder"),
        declared_length("column_diameter", 0.5, "diameter of the column"),
        declared_mass("lower_arm_mass", 90.0, "mass of the lower arm"),
        declared_mass("forearm_mass", 110.0, "mass of the forearm with its tail"),
        declared_mass("crank_mass", 25.0, "mass of the crank"),
        declared_mass("rod_mass", 12.0, "mass of the coupler and of each rod"),
        declared_mass("triangle_mass", 10.0, "mass of the triangle"),
        declared_mass("wrist_mass", 30.0, "mass of the wrist with its motor"),
        declared_mass("flange_mass", 5.0, "mass of the flange, a thin disc"),
    ),
    assemble=_palletiser,
)

ANKLE = Family(
    name="ankle",
    title="Ankle of a humanoid with two rods",
    source="arrangement of Lohmeier, Buschmann, Ulbrich, Humanoid robot LOLA, IEEE International Conference on "
    "Robotics and Automation, 2009; numbers declared here",
    parameters=(
        declared_length("half_width", 0.05, "rods beside the middle of the foot"),
        declared_length("heel_length", 0.06, "balls at the foot behind the ankle"),
        declared_length("heel_depth", 0.02, "balls at the foot below the ankle"),
        declared_length("motor_offset", 0.01, "axes of the cranks behind the ankle"),
        declared_length("crank_length", 0.05, "length of the cranks"),
        declared_length("left_height", 0.20, "axis of the left crank above the ankle"),
        declared_length("right_height", 0.28, "axis of the right crank above the ankle"),
        declared_length("foot_length", 0.22, "length of the foot"),
        declared_length("foot_depth", 0.06, "centre of mass of the foot below the ankle"),
        Parameter("foot_centre", "m", 0.03, -1.0, 1.0, "centre of mass of the foot before the ankle", DECLARED),
        declared_mass("foot_mass", 1.2, "mass of the foot, a bar"),
        declared_mass("crank_mass", 0.12, "mass of a crank"),
        declared_mass("rod_mass", 0.10, "mass of a rod"),
    ),
    assemble=_ankle,
)

SIX_BAR = Family(
    name="six_bar",
    title="Six-bar of Stephenson's third kind with a crank",
    source="McCarthy, Soh, Geometric design of linkages, Springer 2011, chapter 7; numbers declared here",
    parameters=(
        declared_length("crank", 0.10, "length of the crank"),
        declared_length("coupler", 0.30, "crank pin to rocker pin on the coupler"),
        declared_length("rocker", 0.25, "length of the rocker"),
        Parameter("rocker_x", "m", 0.30, -1e2, 1e2, "axis of the rocker, x", DECLARED),
        Parameter("rocker_z", "m", 0.0, -1e2, 1e2, "axis of the rocker, z", DECLARED),
        Parameter("coupler_point_u", "m", 0.15, -1e2, 1e2, "coupler point along the line of its pins", DECLARED),
        Parameter("coupler_point_v", "m", 0.15, -1e2, 1e2, "coupler point across that line, to its left", DECLARED),
        declared_length("link_length", 0.34, "coupler point to the end of the output link"),
        declared_length("output", 0.28, "length of the output link"),
        Parameter("output_x", "m", 0.45, -1e2, 1e2, "axis of the output link, x", DECLARED),
        Parameter("output_z", "m", 0.15, -1e2, 1e2, "axis of the output link, z", DECLARED),
        Parameter("home_angle", "deg", 60.0, -360.0, 360.0, "of the crank at the reference pose, from x", DECLARED),
        declared_mass("crank_mass", 0.4, "mass of the crank"),
        declared_mass("coupler_mass", 0.9, "mass of the coupler, as of a rod between its pins"),
        declared_mass("rocker_mass", 0.7, "mass of the rocker"),
        declared_mass("link_mass", 0.6, "mass of the link"),
        declared_mass("output_mass", 0.7, "mass of the output link"),
    ),
    assemble=_six_bar,
)

FAMILIES = (SCARA, PALLETISER, ANKLE, SIX_BAR)
