"""Four more studies made from the pages alone: metrics of their designs from the numbers, without the package.

A linear Delta with linear motors of a catalogue, a planar 3-RRR that has to reach a disc and be stiff, and gains of a
five-bar that follows a motion with new and worn bearings, which is integrated here in coordinates of its tip. A Delta
with gearboxes of a catalogue, whose motors share a bus, has to reach a box although lengths deviate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from benchmarks.studies import mechanisms
from benchmarks.studies.mechanisms import (
    Array,
    Body,
    Place,
    Robot,
    fastest,
    forces,
    jacobian,
    quintic,
    tube,
    with_ends,
)

Design = Mapping[str, float]
ALUMINIUM = 2700.0
TURNS = 2.0 * np.pi * np.arange(3) / 3.0
LENGTH = 0.1
"""Characteristic length of the 3-RRR: of its joints at the platform from the middle, by default [m]."""
UP = np.array([0.0, 1.0])
STIFFNESS = 8e3
"""Stiffness of a motor of the 3-RRR [N m/rad]."""


def linear_delta(design: Design, points: int = 101) -> dict[str, float]:
    """Return the cycle time [s], largest force [N] and condition number of a Delta with vertical rails."""
    span, far, near = design["rod_length"], design["base_radius"], 0.06
    outs = [-np.array([np.cos(a), np.sin(a), 0.0]) for a in TURNS]  # the first rail is on the side of -x
    sides = [np.array([-np.sin(a), np.cos(a), 0.0]) for a in TURNS]
    rod, still = tube(ALUMINIUM, span / 25.0, 0.8 * span / 25.0, span), np.zeros((3, 3))

    def carriages(x: Array) -> list[Array]:
        ways = [(far - near) * out - np.array([x[0], x[1], 0.0]) for out in outs]
        heights = [x[2] + np.sqrt(span**2 - way @ way) for way in ways]
        return [far * out + np.array([0.0, 0.0, z]) for out, z in zip(outs, heights, strict=True)]

    def places(x: Array) -> list[Place]:
        bodies_at: list[Place] = []
        for out, side, carriage in zip(outs, sides, carriages(x), strict=True):
            end = x + near * out
            z = (carriage - end) / span
            first = np.cross(side, z)
            first = first / np.linalg.norm(first)
            turned = np.stack([first, np.cross(z, first), z], axis=1)
            bodies_at += [(carriage, np.eye(3)), (0.5 * (carriage + end), turned)]
        return [*bodies_at, (x, np.eye(3))]

    bodies = [Body(design["carriage_mass"], still), rod] * 3 + [Body(0.6 + 0.5, still)]
    robot = Robot(bodies, places, lambda x: np.array([place[2] for place in carriages(x)]))
    start, end = np.array([-0.15, 0.0, 0.0]), np.array([0.15, 0.0, 0.05])
    motion, times = quintic(start, end, 0.3), np.linspace(0.0, 0.3, 31)
    most, speed = design["peak_thrust"], design["top_speed"]
    rates = [jacobian(robot, motion(t)) for t in times]
    if not np.isfinite(rates).all():
        return dict.fromkeys(("cycle_time", "peak_force", "condition"), np.nan)
    return {
        "cycle_time": fastest(robot, lambda s: start + (end - start) * s, most, speed, points),
        "peak_force": float(max(np.abs(forces(robot, motion, t)).max() for t in times)),
        "condition": float(max(map(np.linalg.cond, rates))),
    }


def planar_3rrr(design: Design) -> dict[str, float]:
    """Return the least stiffness [N/m], condition number and usable share of a 3-RRR over rings in a disc."""
    radii, angles = 0.1 * np.sqrt(np.arange(1, 5) / 4.0), 2.0 * np.pi * np.arange(12) / 12.0
    disc = [r * np.array([np.cos(a), np.sin(a)]) for r in radii for a in angles]
    middle = np.sign(np.linalg.det(_rates(design, np.zeros(2))))
    usable = [rates for x in disc if np.isfinite(rates := _rates(design, x)).all()]
    usable = [rates for rates in usable if np.sign(np.linalg.det(rates)) == middle]
    if not usable:
        return {"least_stiffness": np.nan, "condition": np.nan, "usable_share": 0.0}
    inverse = np.linalg.inv(usable)
    give = (inverse @ inverse.transpose(0, 2, 1) / STIFFNESS)[:, 1:, 1:]
    return {
        "least_stiffness": float(1.0 / np.linalg.eigvalsh(give).max()),
        "condition": float(np.linalg.cond(np.array(usable) / [LENGTH, 1.0, 1.0]).max()),
        "usable_share": len(usable) / len(disc),
    }


def _rates(design: Design, x: Array) -> Array:
    """Return the rates of the motors by turn and velocity of the platform (motor, 3); NaN where a limb cannot reach."""
    near, far, rows = design["proximal_length"], design["distal_length"], []
    for a in TURNS:
        out = np.array([np.cos(a), np.sin(a)])
        motor, arm_end = design["base_radius"] * out, x + design["platform_radius"] * out
        way = arm_end - motor
        reach = float(np.linalg.norm(way))
        along = (near**2 - far**2 + reach**2) / (2.0 * reach)
        with np.errstate(invalid="ignore"):
            bend = motor + along * way / reach + np.sqrt(near**2 - along**2) * _across(way) / reach
        rod, turn = arm_end - bend, _across(bend - motor)
        rows.append(np.array([rod @ _across(arm_end - x), *rod]) / (rod @ turn))
    return np.array(rows)


def _across(way: Array) -> Array:
    """Return a vector turned by a quarter."""
    return np.array([-way[1], way[0]])


@dataclass(frozen=True)
class Servo:
    """A five-bar in the plane of x and z: lengths, friction of its motors; coordinates: those of its tip."""

    near: float
    far: float
    coulomb: float
    viscous: float

    @cached_property
    def _links(self) -> tuple[Body, Body]:
        return tube(ALUMINIUM, 0.05, 0.044, self.near), tube(ALUMINIUM, 0.04, 0.036, self.far)

    def bends(self, x: Array) -> list[tuple[Array, Array]]:
        """Return motor and elbow of both arms, elbows on the outside."""
        joints = []
        for side in (-1.0, 1.0):
            motor = np.array([side * 0.15, 0.0])
            way = x - motor
            reach = float(np.hypot(*way))
            along = (self.near**2 - self.far**2 + reach**2) / (2.0 * reach)
            across = _across(way) / reach
            outwards = across * np.sign(across[0] * side)
            joints.append((motor, motor + along * way / reach + np.sqrt(self.near**2 - along**2) * outwards))
        return joints

    def angles(self, x: Array) -> Array:
        """Return the angles of both arms [rad]."""
        return np.array([np.arctan2(*(bend - motor)[::-1]) for motor, bend in self.bends(x)])

    def rates(self, x: Array) -> Array:
        """Return the rates of the angles by those of the tip (arm, 2)."""
        return np.array([(x - bend) / ((x - bend) @ _across(bend - motor)) for motor, bend in self.bends(x)])

    def mass(self, x: Array) -> Array:
        """Return the mass matrix of the tip (2, 2) [kg]."""
        proximal, distal = self._links
        total = 0.4 * np.eye(2)  # the platform and its load
        for (motor, bend), row in zip(self.bends(x), self.rates(x), strict=True):
            total += (proximal.inertia[0, 0] + proximal.mass * self.near**2 / 4.0) * np.outer(row, row)
            knee = np.outer(_across(bend - motor), row)  # velocity of the elbow by that of the tip
            centre, turn = 0.5 * (knee + np.eye(2)), _across(x - bend) @ (np.eye(2) - knee) / self.far**2
            total += distal.mass * centre.T @ centre + distal.inertia[0, 0] * np.outer(turn, turn)
        return total

    def weight(self, x: Array) -> Array:
        """Return the gradient of the potential energy (2,) [N]."""
        proximal, distal = self._links
        total = np.array([0.0, 9.81 * 0.4])
        for (motor, bend), row in zip(self.bends(x), self.rates(x), strict=True):
            lift = _across(bend - motor)[1] * row
            total += 9.81 * (proximal.mass * lift / 2.0 + distal.mass * (lift + UP) / 2.0)
        return total

    def acceleration(self, x: Array, v: Array, torques: Array) -> Array:
        """Return the acceleration of the tip under torques of the motors."""
        steps = 1e-5 * np.eye(2)
        slopes = np.array([(self.mass(x + step) - self.mass(x - step)) / 2e-5 for step in steps])
        rates = self.rates(x)
        turning = rates @ v
        left = torques - self.coulomb * np.tanh(turning / 0.05) - self.viscous * turning
        push = rates.T @ left - (slopes.T @ v) @ v + 0.5 * (slopes @ v) @ v - self.weight(x)
        return np.linalg.solve(self.mass(x), push)


def servo(design: Design) -> dict[str, float]:
    """Return the root mean square of the error of a motor [rad] and the largest torque [N m], worst friction."""
    runs = [_followed(design, *friction) for friction in ((0.1, 0.02), (0.4, 0.08))]
    return {key: max(run[key] for run in runs) for key in runs[0]}


def _followed(design: Design, coulomb: float, viscous: float) -> dict[str, float]:
    """Integrate 0.4 s by Runge-Kutta steps of 1 ms, in which the torques are held."""
    robot, step = Servo(design["proximal_length"], design["distal_length"], coulomb, viscous), 1e-3
    start, end = np.array([-0.1, -0.6]), np.array([0.1, -0.55])
    motion = quintic(start, end, 0.3)
    x, v, errors, torques = start, np.zeros(2), [], []
    for k in range(401):
        wanted, time = motion(k * step), k * step
        speed = (motion(time + 1e-6) - motion(time - 1e-6)) / 2e-6
        error, rates = robot.angles(wanted) - robot.angles(x), robot.rates(x)
        change = robot.rates(wanted) @ speed - rates @ v
        held = np.linalg.solve(rates.T, robot.weight(x))
        torque = np.clip(design["kp"] * error + design["kd"] * change + held, -40.0, 40.0)
        errors.append(error)
        torques.append(torque)
        a1 = robot.acceleration(x, v, torque)
        a2 = robot.acceleration(x + step / 2.0 * v, v + step / 2.0 * a1, torque)
        a3 = robot.acceleration(x + step / 2.0 * (v + step / 2.0 * a1), v + step / 2.0 * a2, torque)
        a4 = robot.acceleration(x + step * (v + step / 2.0 * a2), v + step * a3, torque)
        x = x + step * v + step**2 / 6.0 * (a1 + a2 + a3)
        v = v + step / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
    square = np.array(errors) ** 2
    mean = 0.5 * (square[1:] + square[:-1]).mean(axis=0)
    return {"rms_tracking_error": float(np.sqrt(mean.max())), "peak_force": float(np.abs(torques).max())}


HOME = np.array([0.0, 0.0, -np.sqrt(1.055**2 - (0.42 + 0.33 - 0.125) ** 2)])
"""Reference position of the Delta with its default lengths."""
TORQUE_CONSTANT, RESISTANCE, TOP_SPEED = 0.6, 0.9, 420.0


def cycle(time: float, duration: float = 0.6, lift: float = 0.025) -> Array:
    """Return the place on the cycle 25/305/25 mm, whose travels begin in the middle of the lifts."""
    start, way, up = np.array([-0.1525, 0.0, 0.0]), np.array([0.305, 0.0, 0.0]), np.array([0.0, 0.0, lift])
    ratio = np.sqrt(lift / 0.305)
    travel = 0.5 * duration / (1.0 + ratio)
    rising, begin, half = ratio * travel, 0.5 * ratio * travel, 0.5 * duration
    moves = [(up, 0.0, rising), (-up, half - rising, rising), (up, half, rising), (-up, duration - rising, rising)]
    moves += [(way, begin, travel), (-way, half + begin, travel)]
    return HOME + start + sum(quintic(np.zeros(3), step, length)(time - first) for step, first, length in moves)


def box_delta(design: Design) -> dict[str, float]:
    """Return energy on the cycle [J], margin, condition number, stiffness [N/m] and share of the box of a Delta."""
    arm = design["upper_arm"] + design["upper_arm_deviation"]
    rod = 1.055 + design["rod_length_deviation"]
    sizes = {"base_radius": design["base_radius"], "platform_radius": 0.125, "upper_arm": arm, "rod_length": rod}
    none = np.zeros((3, 3))
    links = [tube(ALUMINIUM, 0.07, 0.062, arm), *[with_ends(tube(1600.0, 0.018, 0.015, rod), 0.05, rod)] * 2]
    robot = mechanisms.delta({**sizes, "link_length": 0.1}, links[0], links[1], links[2], 4.2)
    robot = replace(robot, bodies=[*[*links, Body(0.226, none), Body(0.0, none)] * 3, Body(4.2, none)])
    times, rows, powers = np.linspace(0.0, 0.6, 61), [], []
    margins = []
    for time in times:
        torque, speed = _of_motors(robot, design, cycle, float(time))
        powers.append(max(float((RESISTANCE * (torque / TORQUE_CONSTANT) ** 2 + torque * speed).sum()), 0.0))
        margins += [1.0 - np.abs(torque).max() / design["gear_torque"], 1.0 - np.abs(speed).max() / TOP_SPEED]
        rows.append(jacobian(robot, cycle(float(time))))
    box = [HOME + np.array([x, y, z]) for x in (-0.35, 0.0, 0.35) for y in (-0.35, 0.0, 0.35) for z in (-0.05, 0.15)]
    with np.errstate(invalid="ignore"):
        usable = [place for place in box if np.isfinite(jacobian(robot, place)).all()]
    for place in usable:
        rows.append(jacobian(robot, place))
        torque = _of_motors(robot, design, partial(_resting, place), 0.0)[0]
        margins.append(1.0 - np.abs(torque).max() / design["gear_torque"])
    inverse = np.linalg.inv(rows)
    give = inverse @ inverse.transpose(0, 2, 1) / design["gear_stiffness"]
    return {
        "bus_energy_on_cycle": float(np.trapezoid(powers, times)),
        "condition": float(np.linalg.cond(np.array(rows)).max()),
        "least_stiffness": float(1.0 / np.linalg.eigvalsh(give).max()),
        "usable_share": len(usable) / len(box),
        "actuator_margin": float(min(margins)),
    }


def _resting(place: Array, time: float) -> Array:
    """Return a place at every time."""
    return place


def _of_motors(robot: Robot, design: Design, motion: Callable[[float], Array], time: float) -> tuple[Array, Array]:
    """Return torques and speeds of motors behind gearboxes, with the inertia of their rotors."""
    ratio, step = design["gear_ratio"], mechanisms.STEP
    turns = np.array([robot.actuators(motion(time + k * step)) for k in (-2, -1, 0, 1, 2)])
    speed, change = (mechanisms.WEIGHTS[order] @ turns / step**order for order in (1, 2))
    torque = forces(robot, motion, time) / ratio + design["gearbox_inertia"] * ratio * change
    return torque, ratio * speed
