"""Fastest motions within limits of power, acceleration and jerk: closed forms, another method, another solver."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from limbsweep import robots
from robots.loads.motors import with_motor_conditions
from robots.model import Robot
from tasks.dynamics.fastest import RobotOnPath, fastest_motion
from tasks.dynamics.inverse import actuator_positions, inverse_dynamics
from tasks.dynamics.paths.path import RobotPath
from tasks.dynamics.paths.power import Curves, FastestMotion, PathLimits, Plane, curved_passes
from tests.tasks.dynamics.test_fastest import case

FREE = 1e9


def unlimited(count: int) -> PathLimits:
    """Limits of nothing but, by far, of forces."""
    sizes: dict[str, None] = dict.fromkeys(("velocity", "acceleration", "power", "jerk"))
    return PathLimits.of([""] * count, force=FREE, speed=None, **sizes)


def turning() -> tuple[Robot, np.ndarray]:
    """A chain of which the first joint alone turns: its motor's position is linear in the progress."""
    robot = robots.build("irb6")
    q = np.zeros((3, len(robot.mechanism.freedoms)))
    q[:, 0] = [0.0, 0.5, 1.0]
    return robot, q


@pytest.mark.parametrize("jerk", [2000.0, 900.0])
def test_seven_segments(jerk: float) -> None:
    robot, q = turning()
    way = abs(
        RobotOnPath(robot, RobotPath.through(robot, None, None, q), unlimited(5)).forces(np.array([0.0])).rate[0, 0]
    )
    v, a = 128.0, 300.0
    result = fastest_motion(robot, q=q, force=FREE, velocity=v, acceleration=a, jerk=jerk, points=101)
    expected = way / v + v / a + a / jerk  # both limits are reached
    assert v >= a * a / jerk
    assert expected <= result.duration < expected * (1.0 + 1e-3)
    # some mean of the acceleration and of the jerk between points, by divided differences
    rate, time = result.velocity[:, 0], result.time
    slope = np.diff(rate) / np.diff(time)
    assert np.abs(slope).max() <= a * (1.0 + 1e-9)
    bend = 2.0 * np.diff(slope) / (time[2:] - time[:-2])
    assert np.abs(bend).max() <= jerk * (1.0 + 1e-6)
    assert np.abs(result.jerk).max() <= jerk * (1.0 + 1e-9)


def test_a_mass_that_power_limits() -> None:
    robot = robots.build("gough_stewart")
    home = np.asarray(robot.mechanism.platform.home.position, float)
    way, still = 1e-3, (0.0, 0.0, 0.0)
    line = np.linspace(home, home + np.array([0, 0, way]), 5)
    full = inverse_dynamics(
        robot, position=home, twist=[0, 0, 0, 0, 0, 1.0], acceleration=[0, 0, 0, 0, 0, 1.0], gravity=still
    )
    bare = inverse_dynamics(robot, position=home, acceleration=[0, 0, 0, 0, 0, 1.0], gravity=still).force
    inertia, rate = abs(bare[0]), abs(full.velocity[0])
    force = 300.0
    power = 0.4 * force * rate * math.sqrt(force / inertia * way)
    result = fastest_motion(robot, position=line, force=force, power=power, gravity=still, points=401)
    first, constant = power / (force * rate), power / (inertia * rate)
    before = first * first * inertia / (2.0 * force)
    last = (3.0 * constant * (0.5 * way - before) + first**3) ** (1.0 / 3.0)
    expected = 2.0 * (first * inertia / force + (last**2 - first**2) / (2.0 * constant))
    assert result.duration == pytest.approx(expected, rel=4e-3)
    assert np.abs(result.power).max() <= power * (1.0 + 1e-9)


def test_a_motor_on_a_limited_voltage() -> None:
    robot, q = turning()
    q, voltage, still = 0.1 * q, 4.0, (0.0, 0.0, 0.0)
    supplied = with_motor_conditions(robot, voltage=voltage)
    motor = robot.mechanism.motors[0]
    one = inverse_dynamics(robot, q=q[0], qdd=[1.0, 0, 0, 0, 0], gravity=still)
    ratio = inverse_dynamics(robot, q=q[0], qd=[1.0, 0, 0, 0, 0], gravity=still).velocity[0]
    inertia, way = one.force[0] / ratio, 0.1 * abs(ratio)
    top, lag = voltage / motor.torque_constant, motor.resistance * inertia / motor.torque_constant**2

    def missing(fast: float) -> float:
        """Return the rest of the way after reaching a speed against the back voltage, and braking from it."""
        rise, fall = -lag * math.log(1.0 - fast / top), lag * math.log(1.0 + fast / top)
        return top * rise - fast * lag + (fast * lag - top * fall) - way

    fast = brentq(missing, 1e-6 * top, top * (1.0 - 1e-12))
    expected = lag * (math.log(1.0 + fast / top) - math.log(1.0 - fast / top))
    result = fastest_motion(supplied, q=q, force=FREE, gravity=still, points=201)
    used = motor.resistance * result.force / motor.torque_constant + motor.torque_constant * result.velocity
    assert np.abs(used).max() <= voltage * (1.0 + 1e-9)
    assert result.duration == pytest.approx(expected, rel=5e-3)
    smooth = fastest_motion(supplied, q=q, force=FREE, gravity=still, jerk=FREE, points=101)
    assert smooth.duration == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize("name", ["delta_3rr2rrr", "five_bar", "irb6"])
def test_passes_and_interior_points_agree(name: str) -> None:
    robot, asked = case(name)
    free = fastest_motion(robot, **asked, points=101)
    power = 0.4 * np.abs(free.power).max()
    limited = fastest_motion(robot, **asked, power=power, points=101)
    assert free.duration * 1.01 < limited.duration
    assert np.abs(limited.power).max() <= power * (1.0 + 1e-9)
    assert np.abs(limited.force / asked["force"]).max() <= 1.0 + 1e-9
    other = fastest_motion(robot, **asked, power=power, jerk=FREE, points=61)
    assert other.duration == pytest.approx(limited.duration, rel=6e-3)
    assert np.abs(other.power).max() <= power * (1.0 + 1e-9)
    assert np.abs(other.force / asked["force"]).max() <= 1.0 + 1e-9


def test_limits_of_acceleration_and_speed() -> None:
    robot, asked = case("delta_3rr2rrr")
    asked["force"] = FREE
    result = fastest_motion(robot, **asked, acceleration=40.0, speed=0.7, points=101)
    assert math.isfinite(result.duration)
    samples = RobotPath.through(robot, asked["position"], None, None).at(result.progress)
    speed = np.linalg.norm(samples.first[:, 3:], axis=1) * result.rate
    slope = np.abs(np.diff(result.velocity, axis=0) / np.diff(result.time)[:, None]).max(axis=1)
    assert speed.max() <= 0.7 * (1.0 + 1e-9)
    assert slope.max() <= 40.0 * 1.01  # mean between points, at which it is kept
    near = np.maximum(slope / 40.0, speed[1:] / 0.7)
    assert np.median(near) > 0.98
    powered = fastest_motion(robot, **asked, acceleration=40.0, speed=0.7, power=1e6, points=101)
    assert powered.duration == pytest.approx(result.duration, rel=1e-2)  # on another grid


def by_transcription(robot: Robot, asked: dict[str, Any], jerk: float, power: float, steps: int) -> float:
    """The duration by IPOPT: equal steps of time, each with a jerk of the progress; the path as polynomials."""
    casadi = pytest.importorskip("casadi", reason="no other solver: casadi is missing")
    s = np.linspace(0.0, 1.0, 101)
    path = RobotPath.through(robot, asked["position"], None, None)
    count = len(robot.mechanism.actuators)
    forces = RobotOnPath(robot, path, unlimited(count)).forces(s)
    position = np.unwrap(actuator_positions(robot, position=path.at(s).pose["position"]).position, axis=0)

    def series(values: np.ndarray, order: int = 0) -> Any:
        fitted = np.polynomial.Polynomial.fit(s, values, 14, domain=[0.0, 1.0])
        np.testing.assert_allclose(fitted(s), values, rtol=0.0, atol=1e-6 * np.abs(values).max())
        coefficients = fitted.deriv(order).coef[::-1] if order else fitted.coef[::-1]
        return lambda x: casadi.polyval(casadi.DM(coefficients), 2.0 * x - 1.0)

    rates = [[series(position[:, k], order) for order in (1, 2, 3)] for k in range(count)]
    parts = [[series(values[:, k]) for values in forces[:3]] for k in range(count)]
    opti = casadi.Opti()
    state, input_, time = opti.variable(3, steps + 1), opti.variable(steps), opti.variable()
    h = time / steps
    most = np.broadcast_to(asked["force"], (count,))
    for i in range(steps):
        p, v, a = state[0, i], state[1, i], state[2, i]
        j = input_[i]
        after = casadi.vertcat(p + h * (v + h * (a / 2 + h * j / 6)), v + h * (a + h * j / 2), a + h * j)
        opti.subject_to(state[:, i + 1] == after)
        for k in range(count):
            for node in (i, i + 1):
                p, v, a = casadi.vertsplit(state[:, node])
                first, second, third = (rate(p) for rate in rates[k])
                opti.subject_to(opti.bounded(-1.0, (third * v**3 + 3 * second * v * a + first * j) / jerk, 1.0))
                if i < node < steps:
                    u = parts[k][0](p) * a + parts[k][1](p) * v**2 + parts[k][2](p)
                    opti.subject_to(opti.bounded(-1.0, u / most[k], 1.0))
                    opti.subject_to(opti.bounded(-1.0, u * first * v / power, 1.0))
    opti.subject_to(state[:, 0] == [0.0, 0.0, 0.0])
    opti.subject_to(state[:, -1] == [1.0, 0.0, 0.0])
    opti.subject_to(time >= 0.05)
    r = np.linspace(0.0, 1.0, steps + 1)
    opti.set_initial(state[0, :], r**3 * (10 + r * (6 * r - 15)))
    opti.set_initial(state[1, :], 30 * (r * (1 - r)) ** 2)
    opti.set_initial(state[2, :], 60 * r * (1 - r) * (1 - 2 * r))
    opti.set_initial(time, 1.0)
    opti.minimize(time)
    opti.solver(
        "ipopt",
        {"print_time": False},
        {"print_level": 0, "sb": "yes", "max_iter": 300, "max_cpu_time": 20.0, "tol": 1e-6},
    )
    return float(opti.solve().value(time))


def test_limits_of_jerk_against_direct_transcription() -> None:
    robot, asked = case("delta_3rr2rrr")
    asked["position"] = asked["position"][[0, -1]]  # a line, along which actuators move smoothly
    jerk, power = 600.0, 30.0
    result: FastestMotion = fastest_motion(robot, **asked, jerk=jerk, power=power, points=101)
    assert result.duration == pytest.approx(by_transcription(robot, asked, jerk, power, 24), rel=1e-2)


def reachable(plane: Plane, rate: np.ndarray, power: np.ndarray, step: float, z: np.ndarray) -> float:
    """The duration on a grid of speeds: all pairs of neighbouring points, the fastest first."""
    points, best = len(plane.push), np.full(len(z), np.inf)
    best[0] = 0.0
    for point in range(points - 1):
        x = z**2
        a = (x[None] - x[:, None]) / (2.0 * step)
        u = plane.push[point] * a[..., None] + plane.sweep[point] * x[:, None, None] + plane.hold[point]
        good = (np.abs(u) <= plane.most).all(axis=-1)
        good &= (np.abs(u * rate[point]) * z[:, None, None] <= power).all(axis=-1)
        with np.errstate(divide="ignore"):
            time = 2.0 * step / (z[:, None] + z[None])
        best = np.where(good, best[:, None] + time, np.inf).min(axis=0)
    return float(best[0])


@pytest.mark.parametrize("seed", range(3))
def test_speeds_that_are_no_interval(seed: int) -> None:
    random, points = np.random.default_rng(seed), 9
    rows = lambda: 1.0 + 0.3 * random.uniform(-1.0, 1.0, (points, 2))  # noqa: E731
    plane = Plane(rows() * [1.0, -1.0], rows() * [2.0, 1.0], 0.2 * rows(), np.array([4.0, 3.0]))
    rate, power = rows(), np.array([2.0, 1.5])
    straight = Curves.of(plane.push, plane.sweep, plane.hold, most=plane.most)
    falling = Curves.of(plane.push, plane.sweep, plane.hold, falling=power / rate)
    steps = np.full(points - 1, 1.0 / (points - 1))
    solution = curved_passes(Curves.joined([straight, falling]), np.full(points, 9.0), steps)
    grid = reachable(plane, rate, power, 1.0 / (points - 1), np.linspace(0.0, 3.0, 601))
    if solution is None:
        assert grid == math.inf
        return
    x, a = solution
    speed = np.sqrt(x)
    duration = float(np.sum(2.0 / (points - 1) / (speed[1:] + speed[:-1])))
    used = np.abs(plane.force(x, a))[:-1]
    assert (used <= plane.most * (1.0 + 1e-9)).all()
    assert (used * rate[:-1] * speed[:-1, None] <= power * (1.0 + 1e-9)).all()
    assert duration == pytest.approx(grid, rel=1e-2)
    assert duration <= grid * (1.0 + 1e-9)
