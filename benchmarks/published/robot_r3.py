"""An arm of the Modelica Standard Library with motors and drives, in closed loop, against MAP-LIB's results by Dymola.

Six axes go from point to point on trapezoids of speed. A controller of position, and a drive with controllers of speed
and current, move each motor, through a gear with friction, which is elastic in the first three axes. Everything is in
continuous time. Errors within Dymola's tolerance are largest in currents, which follow from differences of speeds.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.published.modelica import DYMOLA
from benchmarks.published.rows import Array, Compared, RefusedError, Row, published_robot, reference
from limbsweep import Environment, Forces, State, Status, drive_deflection, on_supply, simulate, torque_constants
from robots.loads.declared import ElasticDrive
from robots.model import Robot

GAIN = 5.0
"""Speed per error of the position of a motor [1/s]."""

STEP = 8e-4
"""Step [s]; half of it changes currents by 2e-5 of the largest."""


@dataclass(frozen=True)
class Path:
    """Motion of axes together from point to point [rad], one of them at its largest speed or acceleration."""

    begin: Array
    end: Array
    speed: Array
    acceleration: Array

    def at(self, time: Array) -> tuple[Array, Array]:
        """Return positions and rates (*batch, axis) at times (*batch,) [s]."""
        way = self.end - self.begin
        most, growth = 1.0 / np.abs(way / self.speed).max(), 1.0 / np.abs(way / self.acceleration).max()
        rise = min(most / growth, growth**-0.5)
        fall = max(1.0 / most, rise)
        t = np.minimum(np.asarray(time, dtype=float), fall + rise)[..., None]
        up, level, down = np.minimum(t, rise), np.clip(t - rise, 0.0, fall - rise), np.maximum(t - fall, 0.0)
        gone = growth * (0.5 * up**2 + rise * level + rise * down - 0.5 * down**2)
        return self.begin + way * gone, way * growth * (up - down)


@dataclass(frozen=True)
class Axes:
    """A robot whose motors follow a path: ratios of its gears, and numbers of the elastic and of the rigid ones.

    gears: stiffness [N m/rad] and damping [N m s/rad] of the first ones, seen from the motor. friction: Coulomb's
    [N m], viscous [N m s/rad] and starting [N m] of each axis; of motors with an elastic gear, else of joints.
    """

    robot: str
    path: Path
    ratios: Array
    gears: tuple[tuple[float, float], ...]
    friction: tuple[tuple[float, float, float], ...]

    def built(self) -> Robot:
        """Return the robot with its elastic gears."""
        names = published_robot(self.robot).mechanism.actuators
        gears = {f"gear_{name}": ElasticDrive(name, *gear) for name, gear in zip(names, self.gears, strict=False)}
        return published_robot(self.robot, gears)

    def rubbing(self, robot: Robot) -> list[dict[str, object]]:
        """Return the friction of all axes."""
        free, count = robot.mechanism.freedoms, len(self.ratios)
        joints = [*free[count:], *free[len(self.gears) : count]]
        return [
            {"law": "coulomb_viscous", "joints": joint, "coulomb": dry, "viscous": wet, "starting": most}
            for joint, (dry, wet, most) in zip(joints, self.friction, strict=True)
        ]

    def motors(self, q: Array) -> Array:
        """Return positions of motors (*batch, axis) from those of all freedoms."""
        soft, count = len(self.gears), len(self.ratios)
        return np.concatenate([q[..., count:], self.ratios[soft:] * q[..., soft:count]], axis=-1)

    def speeds(self, time: Array, q: Array, qd: Array) -> Array:
        """Return the speeds that controllers of position ask of the drives."""
        goal, rate = self.path.at(time)
        return self.ratios * rate + GAIN * (self.ratios * goal - self.motors(q))


def driven(axes: Axes, case: str, gravity: tuple[float, float, float]) -> Iterator[Compared]:
    """Compare positions, speeds, currents and twists of gears of a motion that begins in equilibrium."""
    table, robot, count = reference(case), axes.built(), len(axes.ratios)
    begin, soft = axes.path.begin, len(axes.gears)
    held = drive_deflection(robot, q=begin, gravity=gravity)
    start = State(q=np.concatenate([begin, held.rotor[:soft]]))
    motors = on_supply(robot, axes.speeds, of="speed", start=held.force / torque_constants(robot))
    forces = Forces(actuator=motors, friction=axes.rubbing(robot))
    times, around = np.concatenate([[0.0], table["t"]]), Environment(gravity=gravity)
    course = simulate(robot, start, forces, times, environment=around, step=STEP)
    if course.status:
        raise RefusedError(f"motion: {Status(int(course.status)).name}")
    q, qd, current = (values[1:] for values in (course.q, course.qd, course.current))
    yield Compared("angles", q[:, :count], table["phi"].reshape(-1, count))
    yield Compared("speeds", qd[:, :count], table["w"].reshape(-1, count))
    yield Compared("currents", current, table["i"].reshape(-1, count))
    twist = axes.ratios[:soft] * q[:, :soft] - q[:, count:]
    yield Compared("twists of gears", twist, table["twist"].reshape(-1, soft))


ONE = Axes(
    "robot_r3_axis",
    Path(np.zeros(1), np.radians([120.0]), np.array([3.0]), np.array([10.0])),
    np.array([210.0]),
    ((8.0, 0.01),),
    ((0.5, 0.1 / 130, 0.0),),
)
SIX = Axes(
    "robot_r3",
    Path(
        np.radians([-60.0, 20.0, 90.0, 0.0, -110.0, 0.0]),
        np.radians([60.0, -70.0, -35.0, 45.0, 110.0, 45.0]),
        np.array([3.0, 1.5, 5.0, 3.1, 3.1, 4.1]),
        np.array([15.0, 15.0, 15.0, 60.0, 60.0, 60.0]),
    ),
    np.array([-105.0, 210.0, 60.0, -99.0, 79.2, -99.0]),
    ((43.0, 0.005), (8.0, 0.01), (58.0, 0.04)),
    (
        (0.4, 0.13 / 160, 0.0),
        (0.5, 0.1 / 130, 0.0),
        (0.7, 0.2 / 130, 0.0),
        (21.8, 9.8, 26.7),
        (30.1, 0.03, 39.6),
        (10.9, 3.92, 16.8),
    ),
)


def _row(case: str, model: str, digits: float, title: str, compute: Callable[[], Iterator[Compared]]) -> Row:
    source = f"Modelica Standard Library and MAP-LIB, MultiBody.Examples.Systems.RobotR3.{model}"
    return Row(case, title, source, digits, DYMOLA, compute)


ROWS = tuple(
    _row(case, model, digits, title, functools.partial(driven, axes, case, gravity))
    for case, model, digits, title, axes, gravity in (
        ("modelica_one_axis", "OneAxis", 3.3, "Motor and drive of one axis", ONE, (0.0, 0.0, 0.0)),
        ("modelica_full_robot", "FullRobot", 4.5, "Arm of six axes with motors and drives", SIX, (0.0, -9.81, 0.0)),
    )
)
