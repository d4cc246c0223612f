"""Published designs: the cube of the Orthoglide, a Delta of Clavel; and a function with published shares of variance.

The rods of the Orthoglide follow from a cube in which velocities change by at most a factor of 2.
Chablat and Wenger (2003) ask that a cube of 200 mm has velocity transmission factors from 1/2 to 2, and print the
length of the rods and two corners of the cube. Factors are inverse singular values of J_IK, which are 1 at the origin.

The Delta is the ABB FlexPicker with the lengths of Williams (2016), whose closed form gives the angles of its motors.
"""

from __future__ import annotations

import math

import numpy as np

from applications.studies.sensitivity import sobol
from applications.studies.workspaces.workspace import workspace
from benchmarks.papers.results import Line, Outcome, Result
from robots import catalog
from tasks.dynamics.inverse import actuator_positions

EDGE, LENGTH, CORNERS, FACTOR = 200.0, 310.58, (-73.21, 126.79), 2.0
"""Edge of the cube, length of the rods, coordinates of the corners on the diagonal, all in mm, and the factor."""


def orthoglide() -> Outcome:
    """Return the largest cube of the printed design, its place, and factors in its corners."""
    robot = catalog.build("orthoglide", rod_length=LENGTH / 1000.0)
    bound = 1.0 / FACTOR
    where = [f"platform_singularity_margin >= {bound}", f"limb_singularity_margin >= {bound}"]
    space = workspace(robot, "box", where, levels=0)
    # coordinates of the paper grow towards the side on which the cube reaches further
    corners = sorted(np.sign(space.centre[0]) * (space.centre[0] + np.array([-1.0, 1.0]) * space.size) * 1000.0)
    edge = 2000.0 * space.size
    lines = [
        Line("edge of the largest cube", f"{EDGE:.0f} mm", f"{edge:.1f} mm", _agrees(edge, EDGE)),
        *(
            Line(f"corner Q{k}, each coordinate", f"{printed} mm", f"{own:.1f} mm", _agrees(own, printed))
            for k, (printed, own) in enumerate(zip(CORNERS, corners, strict=True), 1)
        ),
        Line(
            "length of the rods for that cube",
            f"{LENGTH} mm",
            f"{LENGTH * EDGE / edge:.1f} mm",
            _agrees(LENGTH * EDGE / edge, LENGTH),
        ),
    ]
    return Outcome(lines)


TRIANGLES, ARM, ROD = (0.567, 0.076), 0.524, 1.244
"""Edges of the triangles of base and platform, lengths of arms and rods of the Delta [m]."""
POSES = ((0.0, 0.0, -0.9), (0.3, 0.5, -1.1), (-0.2, 0.4, -1.0))
"""Positions of its platform [m] in the axes of the source, whose first motor lies on the negative y axis."""


def delta_of_clavel() -> Outcome:
    """Return the angles of the motors of a Delta beside those of the closed form of the source."""
    base, platform = (edge / math.sqrt(3.0) for edge in TRIANGLES)
    robot = catalog.build(
        "delta_3rr2rrr", base_radius=base / 2.0, platform_radius=platform, upper_arm=ARM, rod_length=ROD
    )
    lines = []
    for pose in POSES:
        x, y, z = pose
        turned = np.array([y, -x, z])  # the first motor of the catalogue lies on the negative x axis
        angles = np.degrees(actuator_positions(robot, position=turned).position)
        printed = closed_form(pose)
        apart = float(np.abs(angles - printed).max())
        verdict = "agrees to 1e-9 deg" if apart < 1e-9 else f"differs by {apart:.1e} deg"
        one, two = (", ".join(f"{angle:.4f}" for angle in numbers) for numbers in (printed, angles))
        lines.append(Line(f"motors with the platform at {x:g}, {y:g}, {z:g} m [deg]", one, two, verdict))
    return Outcome(lines)


def closed_form(pose: tuple[float, float, float]) -> np.ndarray:
    """Return the angles of the motors [deg] by E cos q + F sin q + G = 0 for each limb, arms outside."""
    x, y, z = pose
    side = math.sqrt(3.0) * TRIANGLES[0] / 6.0
    angles = []
    for turn in np.radians((0.0, 120.0, 240.0)):
        across = x * math.cos(turn) + y * math.sin(turn)
        along = y * math.cos(turn) - x * math.sin(turn)
        offset = along + side - TRIANGLES[1] / math.sqrt(3.0)
        e, f = 2.0 * ARM * offset, 2.0 * ARM * z
        g = across**2 + offset**2 + z**2 + ARM**2 - ROD**2
        angles.append(2.0 * math.atan((-f - math.sqrt(e * e + f * f - g * g)) / (g - e)))
    return np.degrees(angles)


FIRST, TOTAL = (0.3139, 0.4424, 0.0), (0.5576, 0.4424, 0.2437)
"""Shares of the variance of the function with a = 7 and b = 0.1: of each number alone, and with its interactions."""


def ishigami() -> Outcome:
    """Return the shares of a function whose shares are known, through the door of studies of designs."""
    bounds = dict.fromkeys(("x1", "x2", "x3"), (-np.pi, np.pi))
    found = sobol(_ishigami, bounds, n=16384, seed=1)
    lines = []
    for what, own, ends, printed in (
        ("alone", found.first, found.first_bounds, FIRST),
        ("with all interactions", found.total, found.total_bounds, TOTAL),
    ):
        for k, name in enumerate(found.names):
            inside = ends[k, 0] - 5e-5 <= printed[k] <= ends[k, 1] + 5e-5
            verdict = "inside its interval" if inside else "outside its interval"
            interval = f"{own[k]:.4f} ({ends[k, 0]:.4f} to {ends[k, 1]:.4f})"
            lines.append(Line(f"share of {name} {what}", f"{printed[k]:.4f}", interval, verdict))
    return Outcome(lines)


def _ishigami(x: np.ndarray) -> np.ndarray:
    value: np.ndarray = np.sin(x[:, 0]) * (1.0 + 0.1 * x[:, 2] ** 4) + 7.0 * np.sin(x[:, 1]) ** 2
    return value


def _agrees(own: float, printed: float) -> str:
    return "agrees to 0.01 mm" if abs(own - printed) < 0.011 else f"differs by {own - printed:.2f} mm"


RESULTS = (
    Result(
        "designs",
        "D. Chablat, P. Wenger, Architecture optimization of a 3-DOF translational parallel mechanism for machining "
        "applications, the Orthoglide, IEEE Transactions on Robotics and Automation 19 (2003)",
        "The cube of the Orthoglide",
        orthoglide,
    ),
    Result(
        "delta",
        "R. L. Williams, The Delta parallel robot: kinematics solutions, Ohio University (2016), with lengths of the "
        "ABB FlexPicker; the robot: R. Clavel, Delta, a fast robot with parallel geometry, ISIR (1988)",
        "The motors of a Delta of Clavel",
        delta_of_clavel,
    ),
    Result(
        "sensitivity",
        "A. Saltelli et al., Global Sensitivity Analysis: The Primer, Wiley 2008, for the function of T. Ishigami, "
        "T. Homma, An importance quantification technique in uncertainty analysis for computer models, ISUMA 1990",
        "Shares of variance of a published function",
        ishigami,
    ),
)
