"""Andrews' squeezing mechanism of the test set for solvers of initial value problems.

Positions, velocities, accelerations and multipliers at 0.03 s: the multipliers are the forces in the three joints where
K3, K4 and K6 meet K2.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.published.motion import moved
from benchmarks.published.rows import Compared, Row, published_robot, reference
from limbsweep import inverse_kinematics
from robots.loads.declared import SpringLoad

MOMENT = 0.033
ANGLES = ("beta", "theta", "gamma", "phi", "delta", "omega", "epsilon")
MULTIPLIERS = (
    199.1753333731910,
    -29.75531228015052,
    23.06654119098399,
    31.45271365475927,
    22.64249232082739,
    11.61740700019673,
)
SPRING = SpringLoad("K3", stiffness=4530.0, at=(0.02, -0.018, 0.0), to=(0.014, 0.072, 0.0), rest_length=0.07785)


def squeezer() -> Iterator[Compared]:
    """Compare the whole solution, angle by angle."""
    table = reference("ivp_andrews")
    robot = published_robot("andrews_squeezer", {"spring": SPRING})
    course = moved(robot, [0.03], (0.0, 0.0, 0.0), forces=[MOMENT])
    joints = inverse_kinematics(robot, course.motion)
    (limb,) = robot.mechanism.limbs
    places = [limb.index(name) for name in ANGLES]
    start = [robot.values[name] for name in ANGLES]
    yield Compared("angles", joints.position[0, 0, places] + start, table["q"])
    yield Compared("angular velocities", joints.velocity[0, 0, places], table["v"])
    yield Compared("angular accelerations", joints.acceleration[0, 0, places], table["w"])
    forces = [course.reactions[joint][0, 3:5] for joint in ("to_K3", "to_K4", "to_K6")]
    yield Compared("multipliers", np.concatenate(forces), MULTIPLIERS)


ROWS = (
    Row(
        "ivp_andrews",
        "Andrews' squeezer: angles, velocities, accelerations, multipliers",
        "CWI test set for IVP solvers, problem andrews",
        6.0,
        "multipliers and accelerations of the source agree with its angles to 1e-7",
        squeezer,
        quick=True,
    ),
)
