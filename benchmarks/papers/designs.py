"""Published designs: the Orthoglide, whose rods follow from a cube in which velocities change by at most a factor of 2.

Chablat and Wenger (2003) ask that a cube of 200 mm has velocity transmission factors from 1/2 to 2, and print the
length of the rods and two corners of the cube. Factors are inverse singular values of J_IK, which are 1 at the origin.
"""

from __future__ import annotations

import numpy as np

from applications.studies.workspaces.workspace import workspace
from benchmarks.papers.results import Line, Outcome, Result
from robots import catalog

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
)
