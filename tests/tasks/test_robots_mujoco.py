"""Every parallel robot of the catalogue against MuJoCo: closure, rates, mass matrix, bias and actuator forces."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from robots import catalog
from robots.model import Robot
from robots.types import TWIST
from tasks import inverse_dynamics, inverse_kinematics
from tasks.dynamics.equations import equations_of_motion
from tests.catalogue import PARALLEL
from tests.tasks.regions import REGIONS, states

TOLERANCE = 1e-11
"""Of the largest value. Seen: up to 3e-13, from the least mass and inertia that MuJoCo wants of massless links."""

GRAVITY = (0.7, -0.4, -9.6)


@pytest.fixture(params=PARALLEL)
def robot(request: pytest.FixtureRequest) -> Robot:
    return catalog.build(request.param)


@pytest.fixture(scope="module")
def peer() -> ModuleType:
    """The reference that needs MuJoCo."""
    pytest.importorskip("mujoco", reason="no second engine of its kind to compare with: MuJoCo (mujoco) is missing")
    from tests.reference import mechanism_mujoco

    return mechanism_mujoco


def compare(robot: Robot, peer: ModuleType, count: int) -> None:
    """Positions are ours, after MuJoCo has found all joints closed; all else MuJoCo's model finds for itself."""
    motion, engine = states(robot, count, seed=17), peer.ClosedMechanism(robot.mechanism, GRAVITY)
    joints = inverse_kinematics(robot, **motion._asdict())
    found = inverse_dynamics(robot, gravity=GRAVITY, **motion._asdict())
    state = {name: value for name, value in motion._asdict().items() if name != "acceleration"}
    equations = equations_of_motion(robot, **state, gravity=GRAVITY)
    speeds = motion.twist[:, [TWIST.index(name) for name in robot.mechanism.platform.mobility]]
    bias = np.einsum("nij,nj->ni", equations.coriolis, speeds) + equations.gravity
    for k in range(count):
        q, qd, qdd = (each[k, :, : engine.count] for each in joints[:3])
        assert engine.place(q, motion.position[k], motion.rotation[k]) < 1e-13
        theirs = engine.solve(motion.twist[k], motion.acceleration[k])
        assert theirs.freedoms == REGIONS[robot.name].freedoms
        pairs = (
            (qd, theirs.qd),
            (qdd, theirs.qdd),
            (found.jacobian[k], theirs.equations.jacobian),
            (equations.mass[k], theirs.equations.mass),
            (bias[k], theirs.equations.bias),
            (found.force[k], theirs.force),
        )
        for got, expected in pairs:
            assert np.abs(got - expected).max() <= TOLERANCE * np.abs(expected).max()


def test_agrees_with_mujoco(robot: Robot, peer: ModuleType) -> None:
    compare(robot, peer, 20)


def test_agrees_with_mujoco_for_other_parameters(robot: Robot, peer: ModuleType) -> None:
    random = np.random.default_rng(23)
    scaled = {
        name: min(max(value * random.uniform(0.97, 1.03), parameter.lower), parameter.upper)
        for (name, value), parameter in zip(robot.values.items(), robot.family.parameters, strict=True)
    }
    compare(Robot.of(robot.family, scaled), peer, 3)


def test_mujoco_sees_a_joint_that_is_open(robot: Robot, peer: ModuleType) -> None:
    engine, home = peer.ClosedMechanism(robot.mechanism), robot.mechanism.platform.home
    joints = np.zeros((len(robot.mechanism.instances), engine.count))
    assert engine.place(joints, home.position, home.rotation) < 1e-13
    for k in range(engine.count):
        moved = joints.copy()
        moved[-1, k] = 1e-3
        assert engine.place(moved, home.position, home.rotation) > 1e-6
