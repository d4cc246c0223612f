"""The direct problem of an arm with drives: from currents of its motors to a state at rest that currents hold."""

from __future__ import annotations

import numpy as np
import pytest

from robots import catalog
from robots.model import Robot
from robots.status import Status
from tasks import forward_dynamics, inverse_dynamics, profile
from tasks.dynamics.fed_motors import from_currents, torque_constants
from tasks.dynamics.inverse import actuator_positions
from tasks.dynamics.records import Forces
from tasks.dynamics.simulate import imbalance, simulate
from tests.tasks.bits import bits
from tests.tasks.sliders import block

END = np.array([-130.0, -66.7, -51.0, -199.0, -199.0])
"""Positions of the motors in the paper's static state [rad]."""

HOLDING = np.array([0.0, 3.18, -0.73, 0.0, 0.0])
"""Currents there [A]."""

FRICTION = {"law": "coulomb_viscous", "coulomb": 0.03, "starting": 0.05, "viscous": 2e-4}


def joints(robot: Robot, motors: np.ndarray) -> np.ndarray:
    """Independent joints for positions of the motors: the wrist counts from the column."""
    turned = motors / [robot.values[f"gear_{k}"] for k in range(1, 6)]
    return np.asarray(turned - [0.0, 0.0, 0.0, turned[2], turned[3]])


def way(robot: Robot, time: np.ndarray, length: float) -> dict[str, np.ndarray]:
    """From the reference pose to the static state, at rest at both ends."""
    goal, s = joints(robot, END), np.clip(time / length, 0.0, 1.0)[:, None]
    return {
        "q": goal * (10 * s**3 - 15 * s**4 + 6 * s**5),
        "qd": goal * (30 * s**2 - 60 * s**3 + 30 * s**4) / length,
        "qdd": goal * (60 * s - 180 * s**2 + 120 * s**3) / length**2,
    }


@pytest.mark.parametrize("method", ["euler", "rk4"])
def test_currents_bring_the_arm_to_its_static_state_and_hold_it(method: str) -> None:
    """Counterpart of the paper's Figs. 3 and 4, in its step of 1 ms, and beside it with Runge-Kutta steps."""
    robot, times, length = catalog.build("irb6"), np.linspace(0.0, 2.0, 401), 2.0
    turns = inverse_dynamics(robot, q=np.zeros(5)).jacobian
    law = {name: value for name, value in FRICTION.items() if name != "starting"}
    wanted = way(robot, times, length)
    feed = profile(
        times, inverse_dynamics(robot, forces=Forces(friction=law), **wanted).force / torque_constants(robot)
    )
    places = profile(times, wanted["q"])

    def current(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """A servo on the way, with 0.5 A per radian of a motor; the currents of the state from then on."""
        if t >= length:
            return HOLDING
        return np.asarray(feed(t) + 0.5 * (turns @ (places(t) - q)))

    found = simulate(
        robot,
        force=from_currents(robot, current),
        q=np.zeros(5),
        friction=FRICTION,
        step=1e-3,
        steps=2800,
        every=100,
        method=method,
    )
    assert found.status == Status.OK
    motors = actuator_positions(robot, q=found.q).position
    assert np.abs(motors[-1] - END).max() < 3.0
    assert found.stuck[-1].all()
    assert (bits(found.q[-4:]) == bits(found.q[-1:])).all()
    assert not found.qd[-1].any()
    assert (np.abs(found.friction[-1]) < FRICTION["starting"]).all()
    if method == "rk4":
        assert imbalance(robot, found) < 1e-6


def test_direct_and_inverse_problem_with_drives_are_inverse_to_each_other() -> None:
    robot, rng = catalog.build("irb6"), np.random.default_rng(5)
    q, qd, force = (rng.normal(size=(10, 5)) * size for size in (0.2, 1.0, 1.0))
    law = {"law": "coulomb_viscous", "coulomb": 0.04, "viscous": 2e-4}
    found = forward_dynamics(robot, q=q, qd=qd, forces=Forces(friction=law, actuator=force))
    assert (found.status == Status.OK).all()
    np.testing.assert_allclose(
        inverse_dynamics(robot, q=q, qd=qd, qdd=found.acceleration, forces=Forces(friction=law)).force, force, atol=1e-8
    )


def test_currents_may_be_constant_or_depend_on_time_or_state() -> None:
    robot, current = catalog.build("irb6"), np.arange(5.0)
    expected = current * robot.values["torque_constant"]
    np.testing.assert_array_equal(from_currents(robot, current), expected)
    np.testing.assert_array_equal(from_currents(robot, lambda t: t * current)(1.0), expected)
    np.testing.assert_array_equal(from_currents(robot, lambda t, q, qd: q)(0.0, current, current), expected)


def test_currents_need_motors() -> None:
    with pytest.raises(ValueError, match="current: got currents, but the actuators of block have no motor"):
        from_currents(block(), [1.0])
