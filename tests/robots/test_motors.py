"""Parallel robots by their motors: the gears of a Delta, the ball screws of a hexapod."""

from __future__ import annotations

import numpy as np
import pytest

from robots import catalog
from tasks import equations_of_motion, forward_dynamics, forward_kinematics, inverse_dynamics, joint_reactions
from tasks.checks.newton_euler_system import joint_reactions_reference
from tasks.dynamics.inverse import actuator_positions
from tasks.dynamics.records import Forces
from tests.robots.catalog.test_payload import motion


def test_motors_of_the_delta_turn_faster_and_push_less() -> None:
    arms, motors = catalog.build("delta_rl5_1450"), catalog.build("delta_rl5_1450_motors")
    moving, gear = motion(arms.mechanism), arms.values["gear_ratio"]
    by_arm, by_motor = (inverse_dynamics(each, **moving) for each in (arms, motors))
    assert motors.mechanism.actuators == ("limb1.motor", "limb2.motor", "limb3.motor")
    np.testing.assert_allclose(by_motor.force * gear, by_arm.force, rtol=1e-12)
    np.testing.assert_allclose(by_motor.velocity, by_arm.velocity * gear, rtol=1e-14)
    positions = actuator_positions(motors, position=moving["position"]).position
    np.testing.assert_allclose(
        positions, gear * actuator_positions(arms, position=moving["position"]).position, rtol=1e-14
    )
    reactions = [joint_reactions(each, **moving).wrench for each in (arms, motors)]
    np.testing.assert_allclose(reactions[1], reactions[0], rtol=1e-9, atol=1e-8)


def test_friction_of_the_delta_s_motors_grows_with_the_gear() -> None:
    arms, motors = catalog.build("delta_rl5_1450"), catalog.build("delta_rl5_1450_motors")
    moving, gear = motion(arms.mechanism, 1), arms.values["gear_ratio"]
    on_motor = {"law": "coulomb_viscous", "coulomb": 0.02, "viscous": 1e-4}
    on_arm = {"law": "coulomb_viscous", "coulomb": 0.02 * gear, "viscous": 1e-4 * gear**2}
    made, expected = (
        inverse_dynamics(r, forces=Forces(friction=f), **moving).force for r, f in ((motors, on_motor), (arms, on_arm))
    )
    np.testing.assert_allclose(made * gear, expected, rtol=1e-6, atol=1e-6)


def test_motors_find_the_pose_and_move_the_delta() -> None:
    motors = catalog.build("delta_rl5_1450_motors")
    moving = motion(motors.mechanism, 2)
    wanted = actuator_positions(motors, position=moving["position"]).position
    found = forward_kinematics(motors, actuator_position=wanted)
    np.testing.assert_allclose(found.position, moving["position"], atol=1e-9)
    force = inverse_dynamics(motors, **moving).force
    state = {name: moving[name] for name in ("position", "twist")}
    np.testing.assert_allclose(
        forward_dynamics(motors, forces=Forces(actuator=force), **state).acceleration[..., 3:],
        moving["acceleration"][:, 3:],
        rtol=1e-8,
        atol=1e-8,
    )


def test_screws_do_the_work_of_the_feeds() -> None:
    feeds = catalog.build("hexapod_6rrrprr")
    screws = catalog.build("hexapod_ball_screws", screw_inertia=0.0)
    moving = motion(feeds.mechanism, 3)
    by_feed, by_screw = (inverse_dynamics(each, **moving) for each in (feeds, screws))
    work = [np.einsum("sd,sd->s", each.force, each.velocity) for each in (by_feed, by_screw)]
    np.testing.assert_allclose(work[1], work[0], rtol=1e-9)
    ratio = 2 * np.pi / screws.values["lead"]  # beside it the turn about the leg is small
    np.testing.assert_allclose(by_screw.velocity, by_feed.velocity * ratio, atol=3.0)
    assert np.abs(by_screw.velocity - by_feed.velocity * ratio).max() > 1e-3


def test_spinning_screws_keep_the_balance_of_energy() -> None:
    screws = catalog.build("hexapod_ball_screws")
    moving = motion(screws.mechanism, 4)
    made = inverse_dynamics(screws, **moving)
    form = equations_of_motion(screws, position=moving["position"], twist=moving["twist"])
    demand = np.einsum("sij,sj->si", form.mass, moving["acceleration"]) + form.gravity
    demand += np.einsum("sij,sj->si", form.coriolis, moving["twist"])
    np.testing.assert_allclose(np.einsum("sdj,sd->sj", made.jacobian, made.force), demand, rtol=1e-9, atol=1e-8)


def test_the_second_formulation_knows_no_drives() -> None:
    robot = catalog.build("delta_rl5_1450_motors")
    with pytest.raises(ValueError, match=r"got delta_rl5_1450_motors, whose limb RR\[2RR\]R has drives; expected"):
        joint_reactions_reference(robot, **motion(robot.mechanism))
