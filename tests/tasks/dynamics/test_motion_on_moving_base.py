"""Forward dynamics on a base that moves in a given way, against a free-flyer in Pinocchio."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.motion.round_trip import moving
from robots import catalog
from robots.status import Status
from tasks import forward_dynamics
from tasks.dynamics.records import Forces
from tests.arguments import in_records

pytest.importorskip("pinocchio", reason="no second engine to compare with: Pinocchio (package pin) is missing")


@pytest.mark.parametrize("name", ["planar_3r", "five_axis_tree", "three_loop_leg", "delta_3rr2rrr", "gough_stewart"])
def test_accelerations_are_those_of_a_free_flyer_whose_motion_is_given(name: str) -> None:
    from tests.reference.floating_pinocchio import BaseMotion, FloatingRobot

    robot, count = catalog.build(name), 12
    mechanism, rng = robot.mechanism, np.random.default_rng(3)
    state = moving(robot, count)
    base = BaseMotion(Rotation.random(count, random_state=4).as_matrix(), *rng.normal(size=(2, count, 6)) * 2.0)
    force = rng.normal(size=(count, len(mechanism.actuators))) * 10.0
    motion: dict[str, Any] = {
        "base_rotation": base.rotation, "base_twist": base.twist, "base_acceleration": base.acceleration
    }  # fmt: skip
    found = forward_dynamics(robot, **in_records(forces=Forces(actuator=force), **state, **motion))
    reference, compared = FloatingRobot(mechanism), 0
    home = np.broadcast_to(np.array(mechanism.platform.home.rotation, dtype=float), (count, 3, 3))
    for k in np.flatnonzero(found.status == Status.OK):
        at = (state["q"][k],) if mechanism.is_chain else (state["position"][k], state.get("rotation", home)[k])
        speed = state["qd" if mechanism.is_chain else "twist"][k]
        try:
            expected = reference.solve(at, speed, force[k], BaseMotion(*(part[k] for part in base)))
        except ValueError:  # its own way from the reference pose does not lead there
            continue
        compared += 1
        np.testing.assert_allclose(found.acceleration[k], expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    assert compared >= 8
    still = forward_dynamics(robot, **in_records(forces=Forces(actuator=force), **state))
    assert np.abs(found.acceleration - still.acceleration)[found.status == Status.OK].max() > 0.1
