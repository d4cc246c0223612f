"""Joints and springs that Project Chrono compares with MSC ADAMS: motions, and reaction forces and torques.

Figures are of single precision with six digits; Chrono itself asks for 1e-2 to 1e-4 of agreement.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.published.motion import Course, moved
from benchmarks.published.rows import Array, Compared, Row, published_robot, reference

GRAVITY = (0.0, 0.0, -9.80665)
ADAMS = "accelerations and forces of ADAMS scatter by 1e-3"
DIGITS = dict.fromkeys(("spherical_1", "universal_1", "universal_2"), 2.5)
"""Fewer than three: the bar swings as that of revolute_1 does, and ADAMS's own motions of both differ by 3e-4."""
QUICK = ("revolute_2", "prismatic_2")


def pendulum(
    case: str, robot: str, joint: str, centre: tuple[float, float, float], values: Mapping[str, float]
) -> Iterator[Compared]:
    """Compare the motion of a bar on a joint from rest on, and what the ground feels."""
    table = reference(f"chrono_{case}")
    course = moved(published_robot(robot, **values), table["t"], GRAVITY)
    yield from body(table, course, centre)
    yield from reaction(table, course, joint, [values.get(axis, 0.0) for axis in "xyz"])


def reaction(table: Mapping[str, Array], course: Course, joint: str, place: ArrayLike) -> Iterator[Compared]:
    """Compare what the ground feels at a place: a joint's moment counts from its child's origin, which may slide."""
    moment, force = np.split(-course.reactions[joint], 2, axis=-1)
    links = {link.joint: link.body for link in course.robot.mechanism.limbs[0].links}
    arm = course.bodies[links[joint]].position - np.asarray(place, dtype=float)
    yield Compared("reaction force", force, table["rforce"], scale=9.80665)
    largest = max(9.80665, float(np.abs(table["rtorque"]).max()))
    yield Compared("reaction torque", moment + np.cross(arm, force), table["rtorque"], scale=largest)


def body(
    table: Mapping[str, Array], course: Course, centre: tuple[float, float, float], name: str = "bar"
) -> Iterator[Compared]:
    """Compare position, velocity, acceleration, orientation and turning of a body."""
    bar = course.bodies[name]
    arm = bar.turned(centre)
    yield Compared("position", bar.position + arm, table["pos"])
    yield Compared("velocity", bar.velocity_of(arm), table["vel"])
    yield Compared("acceleration", bar.acceleration_of(arm), table["acc"])
    yield Compared("orientation", bar.rotation, rotation(table["quat"]))
    yield Compared("angular velocity", bar.omega, table["avel"], scale=1.0)
    yield Compared("angular acceleration", bar.alpha, table["aacc"], scale=1.0)


def rotation(quaternion: Array) -> Array:
    """Return the matrix (time, 3, 3) of unit quaternions (time, 4), scalars first."""
    w, x, y, z = (quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def source(name: str) -> str:
    """Return where a comparison stands in Chrono's repository."""
    return f"Project Chrono, data/testing/joints/{name}"


PLACE = {"x": 1.0, "y": 2.0, "z": 3.0}
ALONG, DOWN = (2.0, 0.0, 0.0), (0.0, 0.0, -2.0)
PENDULUMS: Sequence[tuple[str, str, str, str, tuple[float, float, float], Mapping[str, float]]] = (
    ("revolute_1", "revolute_joint", "revolute_pendulum", "pin", ALONG, {"tilt": -90.0}),
    ("revolute_2", "revolute_joint", "revolute_pendulum", "pin", ALONG, {"tilt": -45.0, **PLACE}),
    ("spherical_1", "spherical_joint", "spherical_pendulum", "swing", ALONG, {}),
    ("spherical_2", "spherical_joint", "spherical_pendulum", "swing", ALONG, {"tilt": -45.0, **PLACE}),
    ("universal_1", "universal_joint", "universal_pendulum", "first", DOWN, {"turn_x": 90.0}),
    ("universal_2", "universal_joint", "universal_pendulum", "first", DOWN, {"turn_y": 90.0}),
    ("prismatic_1", "prismatic_joint", "prismatic_bar", "slide", ALONG, {}),
    ("prismatic_2", "prismatic_joint", "prismatic_bar", "slide", ALONG, {"tilt": -45.0, **PLACE}),
    ("prismatic_3", "prismatic_joint", "prismatic_bar", "slide", ALONG, {"tilt": -90.0, **PLACE}),
    ("cylindrical_1", "cylindrical_joint", "cylindrical_pendulum", "slide", ALONG, {}),
    ("cylindrical_2", "cylindrical_joint", "cylindrical_pendulum", "slide", ALONG, {"tilt": -90.0}),
    ("cylindrical_3", "cylindrical_joint", "cylindrical_pendulum", "slide", ALONG, {"tilt": -45.0, **PLACE}),
)
"""Case, folder of the figures, robot file, joint to the ground, centre of mass, parameters."""


def _pendulum_row(
    case: str, folder: str, robot: str, joint: str, centre: tuple[float, float, float], values: Mapping[str, float]
) -> Row:
    title = f"{case.replace('_', ' joint, case ')}: motion and reactions"
    compute = functools.partial(pendulum, case, robot, joint, centre, values)
    return Row(f"chrono_{case}", title, source(folder), DIGITS.get(case, 3.0), ADAMS, compute, quick=case in QUICK)


ROWS = tuple(_pendulum_row(*entry) for entry in PENDULUMS)
