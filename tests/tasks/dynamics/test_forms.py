"""The three forms at one state: the same acceleration, speeds there and back, and the step that closes limbs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from robots import catalog
from robots.model import Robot
from tasks import forward_dynamics
from tasks.dynamics.forces_over_step import Push
from tasks.dynamics.forms import Form, FormSystem, check_form
from tasks.dynamics.forward import opened
from tasks.dynamics.instant.moments import JointModes
from tasks.dynamics.motion_system import MotionSystem
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


def opened_in(robot: Robot, form: Form, moving: Any) -> tuple[MotionSystem, np.ndarray, Push]:
    """The robot in a form, at a state, and what acts on it."""
    system = MotionSystem.of(robot, None, GRAVITY)
    if form != "task_space":
        system = FormSystem(system, robot, form, GRAVITY)
    cases = opened(robot, system, State(**moving), Forces(actuator=forces(robot)))
    cases = system.started(cases) if isinstance(system, FormSystem) else cases
    return system, cases.state, cases.pushes.over(0.0, 1.0, cases.state)


def systems(robot: Robot, motion: States) -> Iterator[tuple[Form, MotionSystem, np.ndarray]]:
    for form in FORMS:
        if form == "actuator" and len(robot.mechanism.actuators) != len(freedoms(robot)):
            continue
        yield form, *opened_in(robot, form, motion.moving)[:2]


def with_joints(robot: Robot, motion: States) -> Iterator[tuple[FormSystem, np.ndarray]]:
    """Forms of the equations that have joints as states, of `systems`."""
    for _, system, state in systems(robot, motion):
        if isinstance(system, FormSystem):
            yield system, state


def rate_of(system: MotionSystem, state: np.ndarray, push: Push) -> np.ndarray:
    none = np.zeros((0, state.shape[1]))
    return system.rates(state, JointModes.of(none, none), push(np.zeros(state.shape[1]), state)).rate


def speed_of(system: MotionSystem, state: np.ndarray, robot: Robot) -> np.ndarray:
    return system.seen(state)[2].T[:, freedoms(robot)]


def test_speeds_of_actuators_are_those_of_the_platform(robot: Robot) -> None:
    motion = states(robot, COUNT)
    for _, system, state in systems(robot, motion):
        close(system.seen(state)[2].T, motion.twist, 1e-9)


def test_rates_are_those_of_forward_dynamics(robot: Robot) -> None:
    """Compare rates of the speed in the first two forms, in the last the platform's acceleration by a short step."""
    motion, free = states(robot, COUNT), freedoms(robot)
    expected = forward_dynamics(robot, forces=Forces(actuator=forces(robot)), **motion.moving).acceleration[:, free]
    for form, system, state in systems(robot, motion):
        rate = rate_of(system, state, opened_in(robot, form, motion.moving)[2])
        np.testing.assert_allclose(rate[:3].T, motion.twist[:, 3:], rtol=0, atol=1e-8)
        if form != "actuator":
            close(rate[system.layout.at["qd"]].T, expected, 1e-9)
            continue
        ahead, behind = (speed_of(system, state + h * rate, robot) for h in (1e-5, -1e-5))
        close((ahead - behind) / 2e-5, expected, 1e-5)


def test_joints_move_as_inverse_kinematics_says(robot: Robot) -> None:
    motion = states(robot, COUNT)
    for system, state in with_joints(robot, motion):
        rate = rate_of(system, state, opened_in(robot, system.form, motion.moving)[2])
        ahead = States(**motion.at(1e-6), twist=motion.twist, acceleration=motion.acceleration)
        later = opened_in(robot, system.form, ahead.at_rest)[1]
        angles = system.layout.at["angles"]
        assert np.abs(state[angles] + 1e-6 * rate[angles] - later[angles]).max() < 1e-8


def test_actuators_and_load_do_the_work_that_moves_the_platform(robot: Robot) -> None:
    """Check that the power is the same in each form."""
    motion = states(robot, COUNT)
    powers = [rate_of(system, *opened_in(robot, form, motion.moving)[1:]) for form, system, _ in systems(robot, motion)]
    work = MotionSystem.of(robot, None, GRAVITY).layout.at["work"]
    for power in powers[1:]:
        close(power[work].T, powers[0][work].T, 1e-9)


def test_a_step_closes_limbs_to_second_order(robot: Robot) -> None:
    motion = states(robot, COUNT)
    for system, state in with_joints(robot, motion):
        torn = state.copy()
        torn[system.layout.at["angles"]] += 1e-5
        closed = system.normalised(torn.copy())
        before, after = system.gap(torn), system.gap(closed)
        assert (before > 1e-7).all()
        assert (closed[system.layout.at["drift"]] == before).all()
        assert (after < 1e-3 * before).all()
        assert (system.gap(system.normalised(closed)) < 1e-12).all()


def test_what_does_not_suit_is_refused() -> None:
    robot = catalog.build("delta_4rr2rrr")
    system = MotionSystem.of(robot, None, GRAVITY)
    with pytest.raises(ValueError, match="form: got 'tasks'; expected one of task_space, joint, actuator"):
        check_form(robot, "tasks")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="form: got 'actuator', but delta_4rr2rrr has more actuators than freedoms"):
        FormSystem(system, robot, "actuator", GRAVITY)
