"""Joints and springs that Project Chrono compares with MSC ADAMS: motions, and reaction forces and torques.

Figures are of single precision with six digits; Chrono itself asks for 1e-2 to 1e-4 of agreement.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.published.motion import Course, moved
from benchmarks.published.rows import Array, Compared, Row, published_robot, reference
from limbsweep import Motion, inverse_dynamics, joint_reactions
from robots.loads.declared import JointSpringLoad, SpringLoad

Vector = tuple[float, float, float]
GRAVITY = (0.0, 0.0, -9.80665)
ADAMS = "accelerations and forces of ADAMS scatter by 1e-3"
DIGITS = {"revolute_spherical_2": 2.8}
"""Fewer than three digits: the bar turns over, and the error of ADAMS grows."""
QUICK = ("revolute_2", "prismatic_2", "rotational_spring_2")


def pendulum(case: str, robot: str, joint: str, centre: Vector, values: Mapping[str, float]) -> Iterator[Compared]:
    """Compare the motion of a bar on a joint from rest on, and the reaction on the ground."""
    table = reference(f"chrono_{case}")
    course = moved(published_robot(robot, values=values), table["t"], GRAVITY)
    yield from body(table, course, centre)
    yield from reaction(table, course, joint, [values.get(axis, 0.0) for axis in "xyz"])


def reaction(table: Mapping[str, Array], course: Course, joint: str, place: ArrayLike) -> Iterator[Compared]:
    """Compare the reaction on the ground at a point: a joint's moment is about its child's origin, which may slide."""
    moment, force = np.split(-course.reactions[joint], 2, axis=-1)
    links = {link.joint: link.body for link in course.robot.mechanism.limbs[0].links}
    arm = course.bodies[links[joint]].position - np.asarray(place, dtype=float)
    yield Compared("reaction force", force, table["rforce"], scale=9.80665)
    largest = max(9.80665, float(np.abs(table["rtorque"]).max()))
    yield Compared("reaction torque", moment + np.cross(arm, force), table["rtorque"], scale=largest)


def body(table: Mapping[str, Array], course: Course, centre: Vector, name: str = "bar") -> Iterator[Compared]:
    """Compare position, velocity, acceleration, orientation and turning of a body."""
    bar = course.bodies[name]
    arm = bar.turned(centre)
    yield Compared("position", bar.position + arm, table["pos"])
    yield Compared("velocity", bar.velocity_of(arm), table["vel"])
    yield Compared("acceleration", bar.acceleration_of(arm), table["acc"])
    yield Compared("orientation", bar.rotation, rotation(table["quat"]))
    for what, ours, name in (("angular velocity", bar.omega, "avel"), ("angular acceleration", bar.alpha, "aacc")):
        yield Compared(what, ours, table[name], scale=max(1.0, float(np.abs(table[name]).max())))


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


def free_spring(case: str, start: Mapping[str, float], spring: SpringLoad) -> Iterator[Compared]:
    """Compare the motion of a free bar on a spring to the ground, and the pull on the ground."""
    table = reference(f"chrono_{case}")
    course = moved(published_robot("free_body", {"spring": spring}, start), table["t"], GRAVITY)
    yield from body(table, course, (0.0, 0.0, 0.0))
    bar = course.bodies["bar"]
    weight = np.array([0.0, 0.0, GRAVITY[2]])
    yield Compared("pull on the ground", weight - bar.acceleration, table["rforce"], scale=-GRAVITY[2])


def turning_spring(case: str, load: JointSpringLoad) -> Iterator[Compared]:
    """Compare the motion of a bar on a revolute joint with a spring, and the force on the ground."""
    table = reference(f"chrono_{case}")
    course = moved(published_robot("revolute_pendulum", {"spring": load}, {"tilt": -90.0}), table["t"], GRAVITY)
    yield from body(table, course, ALONG)
    yield Compared("reaction force", -course.reactions["pin"][:, 3:], table["rforce"], scale=-GRAVITY[2])


def distance(case: str, start: Mapping[str, float]) -> Iterator[Compared]:
    """Compare the motion of a bar on a rod without mass, and the pull of the rod on the ground."""
    table = reference(f"chrono_{case}")
    course = moved(published_robot("distance_pendulum", values=start), table["t"], GRAVITY)
    yield from body(table, course, (-start.get("reach", 0.0), 0.0, 0.0))
    yield from reaction(table, course, "pin", [start.get(axis, 0.0) for axis in "xyz"])


def actuator(case: str) -> Iterator[Compared]:
    """Compare the reactions on a plate that an actuator moves with 0.5 m/s along a line between x and z."""
    table = reference(f"chrono_{case}")
    robot, angle = published_robot("pushed_plate"), 0.25 * np.pi
    way, axis = 0.5 * table["t"][:, None], np.array([np.sin(angle), 0.0, np.cos(angle)])
    motion = Motion(q=way, qd=np.full_like(way, 0.5), qdd=np.zeros_like(way))
    push = np.asarray(inverse_dynamics(robot, motion, gravity=GRAVITY).force) * axis
    moment, force = np.split(joint_reactions(robot, motion, gravity=GRAVITY).wrench[:, 0, 0], 2, axis=-1)
    ground = push - force
    yield Compared("force of the actuator", push, table["rforcea"], scale=-GRAVITY[2])
    yield Compared("force of the joint", ground, table["rforcep"], scale=-GRAVITY[2])
    yield Compared("torque of the joint", np.cross(way * axis, ground) - moment, table["rtorquep"])


def crank(case: str, start: Mapping[str, float]) -> Iterator[Compared]:
    """Compare the motion of a bar on a crank without mass, and the reactions on ground and bar."""
    table = reference(f"chrono_{case}")
    course = moved(published_robot("revolute_spherical_pendulum", values=start), table["t"], GRAVITY)
    yield from body(table, course, (0.0, 2.0, 0.0))
    ground, bar = -course.reactions["pin"], course.reactions["ball"]
    yield Compared("force on the ground", ground[:, 3:], table["rforce_body1"], scale=9.80665)
    yield Compared("torque on the ground", ground[:, :3], table["rtorque_body1"], scale=9.80665)
    yield Compared("force on the bar", bar[:, 3:], table["rforce_body2"], scale=9.80665)


PLACE = {"x": 1.0, "y": 2.0, "z": 3.0}
ALONG, DOWN = (2.0, 0.0, 0.0), (0.0, 0.0, -2.0)
PENDULUMS: Sequence[tuple[str, str, str, str, Vector, Mapping[str, float]]] = (
    ("revolute_1", "revolute_joint", "revolute_pendulum", "pin", ALONG, {"tilt": -90.0}),
    ("revolute_2", "revolute_joint", "revolute_pendulum", "pin", ALONG, {"tilt": -45.0, **PLACE}),
    ("spherical_1", "spherical_joint", "spherical_pendulum", "swing", ALONG, {}),
    ("spherical_2", "spherical_joint", "spherical_pendulum", "swing", ALONG, {"tilt": -45.0, **PLACE}),
    ("universal_1", "universal_joint", "universal_pendulum", "first", DOWN, {"turn_x": 90.0}),
    ("universal_2", "universal_joint", "universal_pendulum", "first", DOWN, {"turn_y": 90.0}),
    ("universal_3", "universal_joint", "universal_pendulum", "first", DOWN, {"turn_x": 90.0, "turn_z": 45.0}),
    ("prismatic_1", "prismatic_joint", "prismatic_bar", "slide", ALONG, {}),
    ("prismatic_2", "prismatic_joint", "prismatic_bar", "slide", ALONG, {"tilt": -45.0, **PLACE}),
    ("prismatic_3", "prismatic_joint", "prismatic_bar", "slide", ALONG, {"tilt": -90.0, **PLACE}),
    ("cylindrical_1", "cylindrical_joint", "cylindrical_pendulum", "slide", ALONG, {}),
    ("cylindrical_2", "cylindrical_joint", "cylindrical_pendulum", "slide", ALONG, {"tilt": -90.0}),
    ("cylindrical_3", "cylindrical_joint", "cylindrical_pendulum", "slide", ALONG, {"tilt": -45.0, **PLACE}),
)
"""Case, folder of the figures, robot file, joint to the ground, centre of mass, parameters."""


def _pendulum_row(case: str, folder: str, robot: str, joint: str, centre: Vector, values: Mapping[str, float]) -> Row:
    title = f"{case.replace('_', ' joint, case ')}: motion and reactions"
    compute = functools.partial(pendulum, case, robot, joint, centre, values)
    return Row(f"chrono_{case}", title, source(folder), DIGITS.get(case, 3.0), ADAMS, compute, quick=case in QUICK)


def hardening(at: Vector, to: Vector) -> SpringLoad:
    """Return the spring whose stiffness grows with its stretch, from a point of the bar to one of the ground."""
    return SpringLoad("bar", "50 + 10 * abs(s - 2)", at, to, 2.0, 5.0)


LOOSE, SOFT = SpringLoad("bar", 10.0, damping=0.5), SpringLoad("bar", 100.0, rest_length=2.0, damping=5.0)
TURNED = {"y": 4.0, "yaw": -90.0}
TORSION = JointSpringLoad("pin", stiffness=200.0, damping=10.0)
HARDENING_TORSION = JointSpringLoad("pin", stiffness="50 + 10 * abs(q)", damping=10.0)
END, ORIGIN = (2.0, 0.0, 0.0), (0.0, 0.0, 0.0)
OTHERS: Sequence[tuple[str, str, str, Callable[[str], Iterator[Compared]]]] = (
    ("spring_1", "transpring_force", "free bar on a spring without length",
     lambda c: free_spring(c, {}, LOOSE)),
    ("spring_2", "transpring_force", "free bar on a spring",
     lambda c: free_spring(c, {"y": 2.0}, SOFT)),
    ("spring_3", "transpringcb_force", "free bar on a hardening spring",
     lambda c: free_spring(c, {"x": -1.0, "y": 4.0, "z": 3.0}, hardening(END, (1.0, 2.0, 3.0)))),
    ("spring_4", "transpringcb_force", "free bar in line with a hardening spring",
     lambda c: free_spring(c, TURNED, hardening(END, ORIGIN))),
    ("rotational_spring_1", "rotspring_force", "bar on a torsion spring", lambda c: turning_spring(c, TORSION)),
    ("rotational_spring_2", "rotspring_force", "bar on a hardening torsion spring",
     lambda c: turning_spring(c, HARDENING_TORSION)),
    ("actuator_2", "lin_actuator", "plate that an actuator pushes", actuator),
    ("distance_1", "distance_constraint", "bar at a distance, held at its centre", lambda c: distance(c, {})),
    ("distance_2", "distance_constraint", "bar at a distance, across", lambda c: distance(c, {**PLACE, "reach": 2.0})),
    ("distance_3", "distance_constraint", "bar at a distance, in line",
     lambda c: distance(c, {"yaw": -90.0, "reach": 2.0})),
    ("revolute_spherical_1", "revsph_constraint", "bar on a crank without mass", lambda c: crank(c, {})),
    ("revolute_spherical_2", "revsph_constraint", "bar on an oblique crank",
     lambda c: crank(c, {**PLACE, "tilt": -45.0})),
)  # fmt: skip
"""Case, folder of the figures, title, the function that computes it."""


def _other_row(case: str, folder: str, title: str, compute: Callable[[str], Iterator[Compared]]) -> Row:
    return Row(
        f"chrono_{case}",
        title,
        source(folder),
        DIGITS.get(case, 3.0),
        ADAMS,
        functools.partial(compute, case),
        case in QUICK,
    )


ROWS = (*(_pendulum_row(*entry) for entry in PENDULUMS), *(_other_row(*entry) for entry in OTHERS))
