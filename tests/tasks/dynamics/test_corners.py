"""Adaptive steps end at corners of one-sided springs and backlashes: closed forms, energy, all joints, effort."""

from __future__ import annotations

import math
from typing import Any
from unittest import mock

import numpy as np
import pytest

import limbsweep as ls
from robots.geometry import point, shifted
from robots.model import Family, Link, Mechanism, Robot
from robots.status import Status
from robots.types import BASE
from tasks.dynamics.adaptive import AdaptiveCase

MASS, STIFFNESS, REST, WALL = 2.0, 5e4, 0.1, 0.4
STILL = ls.Environment(gravity=(0.0, 0.0, 0.0))


def slider() -> Robot:
    links = (Link("slide", "cart", BASE, "prismatic", (1.0, 0.0, 0.0), shifted((0.0, 0.0, 0.0)), point(MASS)),)
    return Robot(Family("slider", "Slider", "test", (), lambda p: Mechanism.chain("slider", links, ("slide",), ())), {})


def simulated(robot: Robot, q: Any, qd: Any, times: Any, tolerance: float = 1e-10, **more: Any) -> Any:
    state, forces = ls.State(q=q, qd=qd), ls.Forces(actuator=np.zeros(len(robot.mechanism.actuators)))
    exact: dict[str, Any] = {"method": "adaptive", "rtol": tolerance, "atol": 1e-2 * tolerance, "environment": STILL}
    return ls.simulate(robot, state, forces, times, **exact, **more)


def test_a_cart_between_two_buffers_is_where_flights_and_half_swings_have_it() -> None:
    """Buffers at x = -WALL and WALL of length REST push alone; a cycle is two flights and two half swings."""
    buffers = {
        side: ls.robots.SpringLoad("cart", STIFFNESS, to=(place, 0.0, 0.0), rest_length=REST, acts="push")
        for side, place in (("low", -WALL), ("high", WALL))
    }
    speed, swing = 3.0, math.pi * math.sqrt(MASS / STIFFNESS)
    cycle = 2.0 * (2.0 * (WALL - REST) / speed + swing)
    times = cycle * np.linspace(0.0, 2.0, 5)
    moved = simulated(ls.robots.with_loads(slider(), buffers), [0.0], [speed], times)
    assert moved.status == Status.OK
    np.testing.assert_allclose(moved.q[:, 0], 0.0, atol=1e-9)
    np.testing.assert_allclose(moved.qd[:, 0], speed * (-1.0) ** np.arange(5), rtol=1e-9)


def test_a_damped_buffer_lets_go_where_its_force_would_pull() -> None:
    """With a damping ratio z the tension is zero at atan2(2 z sqrt(1 - z^2), 2 z^2 - 1) of the damped swing."""
    damping = 0.3 * 2.0 * math.sqrt(MASS * STIFFNESS)
    load = ls.robots.SpringLoad("cart", STIFFNESS, to=(WALL, 0.0, 0.0), rest_length=REST, acts="push", damping=damping)
    speed, natural, ratio = 3.0, math.sqrt(STIFFNESS / MASS), 0.3
    damped = natural * math.sqrt(1.0 - ratio**2)
    left = math.atan2(2.0 * ratio * math.sqrt(1.0 - ratio**2), 2.0 * ratio**2 - 1.0) / damped
    decay = math.exp(-ratio * natural * left)
    out = speed * decay * (math.cos(damped * left) - ratio * natural / damped * math.sin(damped * left))
    way = speed * decay / damped * math.sin(damped * left)
    arrival = (WALL - REST) / speed
    moved = simulated(ls.robots.with_loads(slider(), {"buffer": load}), [0.0], [speed], [0.0, arrival + left + 0.01])
    assert moved.status == Status.OK
    np.testing.assert_allclose(moved.qd[-1, 0], out, rtol=1e-8)
    np.testing.assert_allclose(moved.q[-1, 0], WALL - REST + way + 0.01 * out, rtol=1e-8)


def _loose(stretch: np.ndarray, backlash: float) -> np.ndarray:
    return np.sign(stretch) * np.maximum(np.abs(stretch) - 0.5 * backlash, 0.0)


def test_backlash_keeps_energy() -> None:
    arm = ls.robots.build("planar_3r")
    backlashes, stiffness = np.array([0.02, 0.01, 0.0]), np.array([5000.0, 3000.0, 3000.0])
    loads = {
        f"play_{k + 1}": ls.robots.JointSpringLoad(f"joint_{k + 1}", stiffness[k], backlash=backlashes[k] or None)
        for k in range(3)
    }
    moved = simulated(ls.robots.with_loads(arm, loads), np.zeros(3), [1.0, -2.0, 1.0], np.linspace(0.0, 0.1, 5))
    kinetic = ls.equations_of_motion(arm, q=moved.q, qd=moved.qd, gravity=(0.0, 0.0, 0.0)).kinetic_energy
    stored = np.stack([_loose(moved.q[:, k], backlashes[k]) for k in range(3)], axis=1)
    energy = kinetic + 0.5 * (stiffness * stored**2).sum(axis=1)
    assert moved.status == Status.OK
    np.testing.assert_allclose(energy, energy[0], rtol=1e-9)


@pytest.mark.slow
def test_all_joints_of_a_tree_meet_the_same_corners() -> None:
    robot = ls.robots.build("five_bar")
    home = np.array(robot.mechanism.platform.home.position, dtype=float)
    springs: dict[str, Any] = {
        "rope": ls.robots.SpringLoad(
            "platform", 2000.0, to=(home[0], 0.0, home[2] + 0.3), rest_length=0.305, acts="pull", damping=5.0
        ),
        "stop": ls.robots.SpringLoad("proximal", 3000.0, (0.1, 0.0, 0.0), (0.0, 0.1, 0.2), 0.24, acts="push"),
        "pin": ls.robots.JointSpringLoad("right.2", 50.0, backlash=0.1),
    }
    state = ls.State(position=home, twist=[0.0, 0.0, 0.0, 0.4, 0.0, -0.6])
    exact: dict[str, Any] = {"method": "adaptive", "rtol": 1e-10, "atol": 1e-12}
    run: list[Any] = [ls.robots.with_loads(robot, springs), state, ls.Forces(actuator=[0.0, 0.0]), [0.0, 0.1, 0.2]]
    plain, tree = ls.simulate(*run, **exact), ls.simulate(*run, **exact, integrator="spanning_tree")
    assert plain.status == tree.status == Status.OK
    np.testing.assert_allclose(plain.position, tree.position, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("damping", [None, 400.0])
def test_a_case_that_rests_at_a_corner_costs_little(damping: float | None) -> None:
    """Check a cart at rest where a buffer begins, and one that a second spring presses there."""
    buffer = ls.robots.SpringLoad(
        "cart", STIFFNESS, to=(WALL, 0.0, 0.0), rest_length=REST, acts="push", damping=damping
    )
    anchor = ls.robots.SpringLoad("cart", 100.0, to=(WALL - REST, 0.0, 0.0), damping=20.0)
    robot = ls.robots.with_loads(slider(), {"buffer": buffer, "anchor": anchor})
    with mock.patch.object(AdaptiveCase, "rates", autospec=True, side_effect=AdaptiveCase.rates) as called:
        for start in (WALL - REST, WALL - REST - 0.05):
            moved = simulated(robot, [start], [0.0], [0.0, 0.5], 1e-8)
            assert moved.status == Status.OK
            np.testing.assert_allclose(moved.q[-1, 0], WALL - REST, atol=1e-2)
    assert called.call_count < 20_000
