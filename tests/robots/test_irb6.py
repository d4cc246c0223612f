"""The arm of IRb-6 class: the state at the end of its source's example, its parallelogram, and its power."""

from __future__ import annotations

import numpy as np
import pytest

from robots import catalog
from tasks import equations_of_motion, forward_dynamics, inverse_dynamics, inverse_kinematics, joint_reactions
from tasks.dynamics.inverse import actuator_positions
from tasks.dynamics.records import Forces

MOTORS = np.array([-130.0, -66.7, -51.0, -199.0, -199.0])
CURRENTS = np.array([0.0, 3.18, -0.73, 0.0, 0.0])


def joints(robot, motors: np.ndarray) -> np.ndarray:
    """Independent joints for positions of the motors: the wrist counts from the column."""
    turned = motors / [robot.values[f"gear_{k}"] for k in range(1, 6)]
    return turned - [0.0, 0.0, 0.0, turned[2], turned[3]]


def motion(seed: int, count: int = 4) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=(count, 5)) * scale for name, scale in (("q", 0.3), ("qd", 1.5), ("qdd", 5.0))}


def test_the_currents_of_the_example_hold_its_last_state() -> None:
    robot = catalog.build("irb6")
    q = joints(robot, MOTORS)
    np.testing.assert_allclose(actuator_positions(robot, q=q).position, MOTORS, rtol=1e-13)
    current = inverse_dynamics(robot, q=q).force / robot.values["torque_constant"]
    np.testing.assert_allclose(current, CURRENTS, atol=2e-5)


def test_the_elbow_follows_crank_and_shoulder() -> None:
    robot, moving = catalog.build("irb6"), motion(1)
    found = inverse_kinematics(robot, **moving)
    names = robot.mechanism.limbs[0].joints
    for values, given in ((found.position, "q"), (found.velocity, "qd"), (found.acceleration, "qdd")):
        follows = moving[given][:, 2] - moving[given][:, 1]
        for joint, sign in (("elbow", 1.0), ("coupler_foot", -1.0)):
            np.testing.assert_allclose(values[:, 0, names.index(joint)], sign * follows, atol=1e-11)


def test_rotors_across_the_column_load_its_bearings_and_no_motor() -> None:
    """They spin across the only axis that the column turns about: their couple is across it as well."""
    moving = motion(3)
    without, coupled = (catalog.build("irb6", rotor_coupling=coupling) for coupling in (0.0, 1.0))
    forces = [inverse_dynamics(robot, **moving).force for robot in (without, coupled)]
    np.testing.assert_allclose(*forces, rtol=0.0, atol=1e-13)
    loads = [joint_reactions(robot, **moving).wrench[:, 0, 0] for robot in (without, coupled)]
    change = np.abs(loads[1] - loads[0]).max(axis=0)
    assert change[:2].min() > 0.01
    np.testing.assert_allclose(change[2:], 0.0, atol=1e-12)


@pytest.mark.parametrize("coupling", [0.0, 1.0])
def test_motors_and_their_power(coupling: float) -> None:
    robot, moving = catalog.build("irb6", rotor_coupling=coupling), motion(2)
    made = inverse_dynamics(robot, **moving)
    assert not made.status.any()

    def energy(time: float) -> np.ndarray:
        q = moving["q"] + time * moving["qd"] + 0.5 * time**2 * moving["qdd"]
        found = equations_of_motion(robot, q=q, qd=moving["qd"] + time * moving["qdd"])
        return found.kinetic_energy + found.potential_energy

    step = 1e-4
    rate = (8 * (energy(step) - energy(-step)) - (energy(2 * step) - energy(-2 * step))) / (12 * step)
    np.testing.assert_allclose(np.einsum("sd,sd->s", made.force, made.velocity), rate, rtol=1e-7, atol=1e-6)
    found = forward_dynamics(robot, q=moving["q"], qd=moving["qd"], forces=Forces(actuator=made.force)).acceleration
    np.testing.assert_allclose(found, moving["qdd"], rtol=1e-8, atol=1e-8)
