"""Mechanisms of textbooks against their closed forms: a straight line, a lift, a quick return, a constant velocity."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.published.rows import Array, Compared, Row, published_robot
from limbsweep import Environment, Motion, State, inverse_dynamics
from tasks.dynamics.body_motions import BodyMotions
from tasks.dynamics.inverse import RobotMotion, body_motion

GRAVITY, SPEED = 9.81, 3.0
ROUND = np.linspace(-7.0, 7.0, 57)


def _moved(name: str, angle: Array) -> RobotMotion:
    """Return the motions of all bodies at angles of the motor, which turns at 1 rad/s."""
    return body_motion(published_robot(name), State(q=angle[:, None], qd=np.ones((len(angle), 1))))


def _body(name: str, body: str, angle: Array) -> BodyMotions:
    """Return the motion of a body."""
    robot = published_robot(name)
    links = [link.body for link in robot.mechanism.limbs[0].links]
    return _moved(name, angle).limbs[0][links.index(body)]


def peaucellier() -> Iterator[Compared]:
    """Compare the point that draws the line: x = (long^2 - side^2) / (2 crank), y = x tan(angle / 2)."""
    angle, away = np.linspace(-1.2, 1.2, 25), (0.5**2 - 0.2**2) / 0.4
    point = _body("peaucellier", "far1", angle).point((0.2, 0.0, 0.0))
    line = np.stack([np.full_like(angle, away), away * np.tan(0.5 * angle)], axis=1)
    yield Compared("point", point[:, :2], line)


def sarrus() -> Iterator[Compared]:
    """Compare height and turn of the plate, and the torque that holds it, with those of one folding leg."""
    arm, angle = 0.3, np.linspace(-0.55, 0.8, 30)
    tilt, plate = angle + 0.6, _body("sarrus", "plate", angle)
    yield Compared("height", plate.position[:, 2], 2.0 * arm * np.cos(tilt))
    yield Compared("turn", plate.rotation, np.broadcast_to(np.eye(3), plate.rotation.shape))
    lift = 2.0 * (0.5 + 1.5) + 2.0 * 2.0  # masses times their heights, over arm cos(tilt)
    held = inverse_dynamics(published_robot("sarrus"), State(q=angle[:, None])).force[:, 0]
    yield Compared("torque", held, -GRAVITY * lift * arm * np.sin(tilt))


def whitworth() -> Iterator[Compared]:
    """Compare angle of the lever, and the torque at the crank at constant speed without gravity."""
    crank, distance, inertia = 0.1, 0.25, 0.06 + 2.0 * 0.3**2
    lever = _body("whitworth", "lever", ROUND).turned((1.0, 0.0, 0.0))
    sin, cos = np.sin(ROUND), np.cos(ROUND)
    gap = np.stack([crank * cos, distance + crank * sin], axis=1)
    square = (gap * gap).sum(axis=1)
    yield Compared("direction of the lever", lever[:, :2], gap / np.sqrt(square)[:, None])
    slope = (crank**2 + distance * crank * sin) / square
    bend = distance * crank * cos * (square - 2.0 * (crank**2 + distance * crank * sin)) / square**2
    turning = Motion(q=ROUND[:, None], qd=np.full((len(ROUND), 1), SPEED), qdd=np.zeros((len(ROUND), 1)))
    weightless = Environment(gravity=(0.0, 0.0, 0.0))
    torque = inverse_dynamics(published_robot("whitworth"), turning, environment=weightless).force[:, 0]
    yield Compared("torque", torque, inertia * SPEED**2 * slope * bend)


def double_cardan() -> Iterator[Compared]:
    """Compare angle and rate of the output with those of the input, and of the middle with one joint's rule."""
    bend = np.radians(20.0)
    motion = _moved("double_cardan", ROUND)
    joints = motion.joints
    yield Compared("output", np.abs(joints.position[:, 0, -1]), np.abs(ROUND))
    yield Compared("rate", np.abs(joints.velocity[:, 0, -1]), np.ones_like(ROUND))
    axis = np.array([np.cos(bend), np.sin(bend), 0.0])
    spin = motion.limbs[0][2].omega @ axis
    yield Compared("rate of the middle", spin, np.cos(bend) / (1.0 - (np.sin(bend) * np.cos(ROUND)) ** 2))


FORM = "closed form"
ROWS = (
    Row("peaucellier", "Inversor of Peaucellier and Lipkin", FORM, 13.0, FORM, peaucellier, quick=True),
    Row("sarrus", "Linkage of Sarrus, overconstrained", FORM, 13.0, FORM, sarrus, quick=True),
    Row("whitworth", "Quick return of Whitworth, turns counted", FORM, 12.0, FORM, whitworth, quick=True),
    Row("double_cardan", "Two universal joints in series", FORM, 12.0, FORM, double_cardan, quick=True),
)
