"""Forward dynamics and linear equations on a base that moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robots import catalog
from robots.loads.declared import SpringLoad, WrenchLoad
from robots.loads.family import with_loads
from robots.types import TWIST
from tasks import forward_dynamics, inverse_dynamics, linearisation
from tasks.dynamics.records import Forces
from tasks.mathematics import rotations
from tests.arguments import in_records

TURN = rotations.rotation_matrix(np.array([0.9, 0.1, -0.2, 0.3]))
BASE: dict[str, Any] = {
    "base_rotation": TURN,
    "base_twist": [[0.3, -0.2, 0.4, 1.0, 0.0, 0.0], [0.0, 0.5, 0.1, 0.0, 0.0, 0.0]],
    "base_acceleration": [0.5, 1.0, -0.3, 1.0, -2.0, 0.5],
}


@pytest.mark.parametrize("name", ["planar_3r", "irb6", "delta_3rr2rrr", "planar_3rrr"])
def test_forward_dynamics_undoes_inverse_dynamics_and_is_what_is_linearised(name: str) -> None:
    """Check trees, closed chains, and platforms with a spring to 1e-10, linear equations by central differences."""
    robot, random = catalog.build(name), np.random.default_rng(3)
    step, chain = 1e-5, robot.mechanism.is_chain
    free, actuators = len(robot.mechanism.freedoms), len(robot.mechanism.actuators)
    if chain:
        keys, places = ("q", "qd", "qdd"), list(range(free))
        state: dict[str, Any] = {"q": np.full((2, free), 0.1), "qd": random.normal(size=(2, free))}
        change: dict[str, Any] = {"qdd": random.normal(size=(2, free))}
    else:
        springs = {"s": SpringLoad("platform", 200.0, to=(0.1, 0.2, 0.3)), "w": WrenchLoad("platform", (1.0, 2.0, 0.0))}
        robot = with_loads(robot, springs)  # type: ignore[arg-type]
        keys, places = (
            ("position", "twist", "acceleration"),
            [TWIST.index(x) for x in robot.mechanism.platform.mobility],
        )
        twist, acceleration = np.zeros((2, 2, 6))
        twist[:, places], acceleration[:, places] = random.normal(size=(2, 2, free))
        state = {"position": np.array(robot.mechanism.platform.home.position, dtype=float), "twist": twist}
        change = {"acceleration": acceleration}
    force = inverse_dynamics(robot, **in_records(**state, **change, **BASE)).force
    found = forward_dynamics(robot, **in_records(forces=Forces(actuator=force), **state, **change, **BASE)).acceleration
    size = np.abs(change[keys[2]]).max()
    assert np.abs(found - change[keys[2]]).max() < 1e-10 * size
    assert (
        np.abs(found - forward_dynamics(robot, **in_records(forces=Forces(actuator=force), **state)).acceleration).max()
        > 1e-2 * size
    )
    linear = linearisation(robot, **in_records(forces=Forces(actuator=force), **state, **BASE))
    assert not linear.status.any()
    assert linear.input.shape == (2, 2 * free, actuators)
    for k, place in enumerate(places):
        for part, key in enumerate(keys[:2]):
            if not chain and part == 0 and place < 3:
                continue  # a turn is no number of a pose
            ends = []
            for side in (step, -step):
                moved = np.array(np.broadcast_to(state[key], (2, np.shape(state[key])[-1])))
                moved[:, place - 3 if not chain and part == 0 else place] += side
                ends.append(
                    forward_dynamics(
                        robot, **in_records(forces=Forces(actuator=force), **{**state, key: moved}, **BASE)
                    ).acceleration[:, places]
                )
            slope = (ends[0] - ends[1]) / (2.0 * step)
            size = np.abs(linear.state[:, free:]).max()
            assert np.abs(slope - linear.state[:, free:, part * free + k]).max() < 1e-7 * size
