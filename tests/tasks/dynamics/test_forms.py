"""The three forms at one state: the same acceleration, speeds there and back, and the step that closes limbs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from robots import catalog
from robots.model import Robot
from tasks import forward_dynamics
from tasks.dynamics.forces_over_step import Push
from tasks.dynamics.forward import opened
from tasks.dynamics.free_motion import Form, FreeSystem, MotionState
from tasks.dynamics.integration import MotionSystem
from tasks.dynamics.records import GRAVITY, Forces, State
from tests.catalogue import PARALLEL
from tests.tasks.regions import States, close, freedoms, states

FORMS: tuple[Form, ...] = ("task_space", "joint", "actuator")
COUNT = 16


@pytest.fixture(params=PARALLEL)
def robot(request: pytest.FixtureRequest) -> Robot:
    return catalog.build(request.param)


def forces(robot: Robot) -> np.ndarray:
    count = len(robot.mechanism.actuators)
    return np.random.default_rng(5).normal(size=(COUNT, count)) * (1e3 if robot.name == "gough_stewart" else 5.0)


def opened_in(robot: Robot, form: Form, moving: Any) -> tuple[FreeSystem, MotionState, Push]:
    """The robot in a form, at a state, and what acts on it."""
    inner = MotionSystem.of(robot, None, GRAVITY)
    system = FreeSystem(robot, form, GRAVITY, inner)
    cases = opened(robot, inner, State(**moving), Forces(actuator=forces(robot)))
    return system, system.start(cases.state), cases.pushes.over(0.0, 1.0, cases.state)


def systems(robot: Robot, motion: States) -> Iterator[tuple[FreeSystem, MotionState]]:
    for form in FORMS:
        if form == "actuator" and len(robot.mechanism.actuators) != len(freedoms(robot)):
            continue
        yield opened_in(robot, form, motion.moving)[:2]


def test_speeds_of_actuators_are_those_of_the_platform(robot: Robot) -> None:
    motion = states(robot, COUNT)
    for system, state in systems(robot, motion):
        close(system.twist(system.speed(state)).T, motion.twist, 1e-9)


def test_rates_are_those_of_forward_dynamics(robot: Robot) -> None:
    """Of the speed in the first two forms; in the last the platform's acceleration by a short step."""
    motion, free = states(robot, COUNT), freedoms(robot)
    expected = forward_dynamics(robot, forces=Forces(actuator=forces(robot)), **motion.moving).acceleration[:, free]
    for system, state in systems(robot, motion):
        rate = system.rate(state, opened_in(robot, system.form, motion.moving)[2])
        np.testing.assert_allclose(rate.position.T, motion.twist[:, 3:], rtol=0, atol=1e-8)
        if system.form != "actuator":
            close(rate.speed.T, expected, 1e-9)
            continue
        ahead, behind = (system.speed(state.moved(rate, h)).T for h in (1e-5, -1e-5))
        close((ahead - behind) / 2e-5, expected, 1e-5)


def test_joints_move_as_inverse_kinematics_says(robot: Robot) -> None:
    motion = states(robot, COUNT)
    for system, state in itertools.islice(systems(robot, motion), 1, None):
        rate = system.rate(state, opened_in(robot, system.form, motion.moving)[2])
        ahead = States(**motion.at(1e-6), twist=motion.twist, acceleration=motion.acceleration)
        later = opened_in(robot, system.form, ahead.at_rest)[1]
        for now, change, then in zip(state.angles, rate.angles, later.angles, strict=True):
            assert np.abs(now + 1e-6 * change - then).max() < 1e-8


def test_a_step_closes_limbs_to_second_order(robot: Robot) -> None:
    motion = states(robot, COUNT)
    for system, state in itertools.islice(systems(robot, motion), 1, None):
        torn = MotionState(state.position, state.quaternion, state.speed, tuple(a + 1e-5 for a in state.angles))
        closed, before = system.closed(torn)
        again, after = system.closed(closed)
        assert (before > 1e-7).all()
        assert (after < 1e-3 * before).all()
        assert (system.closed(again)[1] < 1e-12).all()


def test_what_does_not_suit_is_refused() -> None:
    robot = catalog.build("delta_4rr2rrr")
    system = MotionSystem.of(robot, None, GRAVITY)
    with pytest.raises(ValueError, match="form: got 'tasks'; expected one of task_space, joint, actuator"):
        FreeSystem(robot, "tasks", GRAVITY, system)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="form: got 'actuator', but delta_4rr2rrr has more actuators than freedoms"):
        FreeSystem(robot, "actuator", GRAVITY, system)
