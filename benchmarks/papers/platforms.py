"""Published Gough-Stewart platforms: stiffness of cubic ones, strokes that a mobility needs; and five-bar robots.

The platforms are those of the documentation of a public toolbox, with all parameters: cubic ones (Geng and Haynes
1994), whose legs lie on edges of a cube, have diagonal stiffness matrices about the centre of the cube. The largest
circle in which a symmetric five-bar robot is not singular has a closed form (Liu, Wang and Pritschow 2006).
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from applications.studies.workspaces.workspace import workspace
from benchmarks.papers.results import Line, Outcome, Result
from robots import catalog
from robots.criteria.elasticity import Elasticity
from robots.model import Robot
from tasks.dynamics.criteria import cartesian_stiffness
from tasks.dynamics.inverse import actuator_positions
from tasks.mathematics.rotations import roll_pitch_yaw

CUBIC = (
    ("centred, about the centre of the cube", (0.1, 0.1, 0.05, -0.05), (2.0, 0.015, 0.06, 0.0)),
    ("centred, about a point above the platform", (0.1, 0.1, 0.05, 0.02), (2.0, 0.025, 0.06, -0.14)),
    ("not centred, about its own centre", (0.1, 0.15, 0.06, -0.05), (2.0, 0.034, 0.14, 0.02)),
)
"""Height of the platform, that of the cube between its planes of corners, height of its centre over the base and of the
point of the stiffness over the platform [m]; printed stiffness of shifts, of turns about x, y and z, and of coupling,
for legs of 1 N/m."""

PARTS = ("stiffness of shifts", "of turns about x and y", "of turns about z", "coupling of x with turns about y")

MOBILITY, STROKE = (5e-5, 3e-5), (76.1, 177.2)
"""Shifts [m] and turns about x and y [rad] of the platform; total strokes [um] for each alone and for all at once."""

FIVE_BARS = ((1.0, 1.5, 0.5), (1.2, 1.2, 0.6), (1.3, 1.2, 0.5))
"""Lengths of the links and half the base, with sum 3."""

NEAR = "a thousandth of the regularity counts as singular"


def cubic(height: float, size: float, centre: float) -> Robot:
    """Return a platform whose legs lie on six edges of a cube that stands on a corner, between base and platform."""
    edge = math.sqrt(3.0) * size
    corners = math.sqrt(2.0 / 3.0) * edge  # radius of the planes of three corners, at `size` from each other
    low, high = (np.array([math.cos(angle), math.sin(angle)]) * corners for angle in (0.0, math.pi / 3.0))
    ends = [low + (at - centre + size / 2.0) / size * (high - low) for at in (0.0, height)]
    radii = [float(np.hypot(*end)) for end in ends]
    angles = [math.degrees(math.atan2(end[1], end[0])) for end in ends]
    return catalog.build(
        "gough_stewart",
        base_radius=radii[0],
        platform_radius=radii[1],
        home_height=height,
        base_half_angle=angles[0],
        platform_half_angle=60.0 - angles[1],
    )


def stiffness(robot: Robot, above: float) -> np.ndarray:
    """Return the stiffness (6, 6) of (shift, turn) of a point above the platform, legs of 1 N/m."""
    springs = Elasticity.of(robot.mechanism, actuators={"all": 1.0})
    home = np.array(robot.mechanism.platform.home.position, dtype=float)
    compliance = cartesian_stiffness(robot, springs, position=home).compliance
    moved = np.eye(6)  # (turn, shift) of the point by those of the platform
    moved[3:, :3] = [[0.0, above, 0.0], [-above, 0.0, 0.0], [0.0, 0.0, 0.0]]
    whole = np.linalg.inv(moved @ compliance @ moved.T)
    order = [3, 4, 5, 0, 1, 2]
    return whole[np.ix_(order, order)]


def cubic_platforms() -> Outcome:
    """Compute stiffness matrices of cubic platforms, and strokes of a platform for a given mobility."""
    lines = []
    for name, (height, size, centre, above), printed in CUBIC:
        own = stiffness(cubic(height, size, centre), above)
        assert np.allclose(np.diag(own)[:3], own[0, 0])
        assert np.isclose(own[3, 3], own[4, 4])
        numbers = (own[0, 0], own[3, 3], own[5, 5], own[0, 4])
        lines += [
            Line(f"{name}: {part}", f"{value:g}", f"{number + 0.0:.4g}", _to_two_digits(number, value))
            for part, value, number in zip(PARTS, printed, numbers, strict=True)
            if value
        ]
    return Outcome([*lines, *_strokes()])


def _to_two_digits(own: float, printed: float) -> str:
    half = 0.5 * 10.0 ** (math.floor(math.log10(abs(printed))) - 1)
    agrees = abs(own - printed) <= half * (1.0 + 1e-9)
    return "agrees to the digits printed" if agrees else f"differs by {own - printed:.2g}"


def _strokes() -> list[Line]:
    """Compute the strokes of legs for shifts and turns about a point above the platform, single and combined."""
    above = 0.06  # 45 mm over the plate, whose joints are 15 mm lower
    robot = catalog.build(
        "gough_stewart", base_radius=0.115, platform_radius=0.09, home_height=0.06,
        base_half_angle=10.0, platform_half_angle=10.0,
    )  # fmt: skip
    shift, turn = MOBILITY
    most = np.array([shift, shift, shift, turn, turn])
    alone = np.concatenate([np.diag(most), -np.diag(most)])
    together = np.array(list(itertools.product((-1.0, 1.0), repeat=5))) * most
    lines = []
    for name, poses, printed in zip(("one at a time", "all at once"), (alone, together), STROKE, strict=True):
        rotation = np.array([roll_pitch_yaw(np.array([*pose[3:], 0.0])).rotation for pose in poses], dtype=float)
        home = np.array([0.0, 0.0, 0.06 + above])
        position = home + poses[:, :3] - rotation @ np.array([0.0, 0.0, above])
        legs = actuator_positions(robot, position=position, rotation=rotation).position
        own = 1e6 * float(legs.max() - legs.min())
        verdict = "agrees to the digits printed" if f"{own:.1f}" == f"{printed:.1f}" else f"{own - printed:+.1f} um"
        lines.append(Line(f"stroke for 50 um and 30 urad, {name}", f"{printed} um", f"{own:.1f} um", verdict))
    return lines


def five_bars() -> Outcome:
    """Return the largest circle without a singularity in front of the motors, and its place."""
    lines = []
    for near, far, half in FIVE_BARS:
        radius, place = inscribed(near, far, half)
        lengths = {"proximal_length": near, "distal_length": far, "base_half_width": half, "home_height": place}
        reach = near + far + 0.1
        space = workspace("five_bar", within=[[-reach, 0.0, -reach], [reach, 0.0, 0.0]], levels=0, parameters=lengths)
        name = f"links {near:g} and {far:g}, motors {2 * half:g} apart"
        for what, printed, own in (("radius", radius, space.size), ("centre", place, -space.centre[2])):
            less = (printed - own) / radius
            verdict = (
                "agrees to 1e-5 of the radius" if abs(less) < 1e-5 else f"{abs(less):.1e} of the radius away: {NEAR}"
            )
            lines.append(Line(f"{name}: {what}", f"{printed:.6f}", f"{own:.6f}", verdict))
    return Outcome(lines)


def inscribed(near: float, far: float, half: float) -> tuple[float, float]:
    """Return radius and place of the maximal inscribed circle of a symmetric five-bar robot, elbows outside."""
    inner = abs(near - far)
    radius = (near + far - inner) / 2.0
    if near + half >= far:
        lowest = math.sqrt(near**2 - (far - half) ** 2)  # both outer links in a line
        span = near + far + lowest
        place = (span**2 - half**2) / (2.0 * span)
        if place - lowest <= radius:
            return place - lowest, place
    return radius, math.sqrt((inner + radius) ** 2 - half**2)


RESULTS = (
    Result(
        "cubic-platforms",
        "T. Dehaeze, Stewart platforms, a toolbox for Simscape (2020), on cubic configurations and on strokes; "
        "cubic platforms: Z. Geng, L. Haynes, Six degree-of-freedom active vibration control using the Stewart "
        "platforms, IEEE Transactions on Control Systems Technology 2 (1994)",
        "Stiffness of cubic Gough-Stewart platforms, and a stroke",
        cubic_platforms,
    ),
    Result(
        "five-bars",
        "X.-J. Liu, J. Wang, G. Pritschow, Kinematics, singularity and workspace of planar 5R symmetrical parallel "
        "mechanisms, Mechanism and Machine Theory 41 (2006), its closed form",
        "The maximal inscribed circle of five-bar robots",
        five_bars,
    ),
)
