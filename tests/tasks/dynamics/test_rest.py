"""Friction of joints at rest: all of them together, in chains whose joints depend on each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.motion import rest
from robots import catalog
from robots.model import Robot
from robots.status import Status
from tasks import forward_dynamics, inverse_dynamics, joint_reactions
from tasks.dynamics.integration import Stepper
from tasks.dynamics.motions import ChainMotion
from tasks.dynamics.records import Forces
from tasks.dynamics.simulate import imbalance, simulate, simulate_adaptive
from tasks.features.friction.joints import normal_load
from tests.reference import rest_friction
from tests.tasks.bits import bits
from tests.tasks.sliders import DOWN, arm, leg

PINS = ["elbow", "coupler_foot", "coupler_head"]
TURNING = ["joint_2", "joint_3", "joint_4", "joint_III"]
LUGRE = {"law": "lugre", "sigma0": 1e3, "sigma1": 1.0, "sigma2": 0.4, "coulomb": 0.1, "static": 0.15}


@pytest.fixture(scope="module")
def irb6() -> Robot:
    return catalog.build("irb6")


def test_pins_without_friction_do_not_hold_a_parallelogram(irb6: Robot) -> None:
    rng = np.random.default_rng(3)
    q, force = rng.uniform(-0.5, 0.5, (40, 5)), rng.normal(size=(40, 5))
    found = forward_dynamics(
        irb6, q=q, forces=Forces(friction={"law": "coulomb_viscous", "joints": PINS}, actuator=force)
    )
    assert (found.status == Status.OK).all()
    np.testing.assert_allclose(
        found.acceleration,
        forward_dynamics(irb6, q=q, forces=Forces(actuator=force)).acceleration,
        rtol=1e-9,
        atol=1e-9,
    )


def test_a_freedom_that_joints_at_rest_almost_hold_keeps_its_part() -> None:
    numbers = rest.setting(catalog.build("gough_stewart"), "all", 90)
    some = [k for k in range(90) if 0 < numbers.still()[k].sum() < numbers.rows.shape[1]]
    ratio = np.abs(numbers.speed[some]) / np.abs(numbers.speed[some]).max(axis=1, keepdims=True)
    assert ratio.min() < 1e-4, "a rate is small beside others"
    state, force = {name: value[some] for name, value in numbers.state.items()}, rest.forces(numbers, 0.0)[some]
    free = forward_dynamics(numbers.robot, gravity=DOWN, forces=Forces(actuator=force), **state)
    law = {"law": "coulomb_viscous", "coulomb": 0.0, "joints": "all"}
    found = forward_dynamics(numbers.robot, gravity=DOWN, forces=Forces(actuator=force, friction=law), **state)
    assert (found.status == Status.OK).all()
    np.testing.assert_allclose(found.acceleration, free.acceleration, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("law", rest.LAWS)
@pytest.mark.parametrize(("name", "joints"), [("irb6", PINS), ("irb6", "all"), ("three_loop_leg", "all")])
def test_friction_at_rest_meets_its_conditions(name: str, joints: Any, law: str) -> None:
    numbers = rest.setting(catalog.build(name), joints, 30)
    for level in rest.LEVELS:
        values, force = rest.parameters(law, level), rest.forces(numbers, level)
        found = rest.at(numbers, values, force)
        assert (found.status == Status.OK).all()
        assert not rest.faults(numbers, force, values, found).any()


def test_conditions_are_not_met_by_other_results(irb6: Robot) -> None:
    """Friction and accelerations that are off, each by itself, are found to be wrong."""
    numbers, law = rest.setting(irb6, PINS, 30), rest.parameters("coulomb", 3.0)
    force = rest.forces(numbers, 3.0)
    found = rest.at(numbers, law, force)
    still = numbers.still().any(axis=1)
    for wrong in (
        found._replace(acceleration=found.acceleration * 1.001 + 1e-3),
        found._replace(friction=found.friction * 1.001 + 1e-3),
        found._replace(friction=found.friction * 0.5),
    ):
        assert rest.faults(numbers, force, law, wrong)[still].mean() > 0.9


@pytest.mark.parametrize(("name", "joints"), [("irb6", PINS), ("irb6", "all"), ("three_loop_leg", "all")])
def test_accelerations_are_those_of_bounded_least_squares(name: str, joints: Any) -> None:
    numbers, level = rest.setting(catalog.build(name), joints, 60), 0.1
    law, force = rest.parameters("coulomb", level), rest.forces(numbers, 0.1)
    found = rest.at(numbers, law, force)
    compared = 0
    for k in np.flatnonzero(numbers.still().any(axis=1)):
        still, rows = numbers.still()[k], numbers.rows[k]
        moving = np.where(still, 0.0, level * np.sign(numbers.velocity[k]))
        push = numbers.jacobian[k].T @ force[k] - numbers.bias[k] - rows.T @ moving
        above, below = (np.full(still.sum(), level) for _ in range(2))
        exact = rest_friction.solve(numbers.mass[k], push, rows[still], numbers.drift[k][still], above, below)
        if exact.bound > 1e-6:  # BVLS has not come to the minimum
            continue
        compared += 1
        size = max(1.0, float(np.abs(np.linalg.solve(numbers.mass[k], push)).max()))
        np.testing.assert_allclose(found.acceleration[k], exact.acceleration, rtol=0, atol=1e-5 * size)
        braked = rows[still].T @ exact.friction
        np.testing.assert_allclose(
            rows[still].T @ found.friction[k][still], braked, rtol=0, atol=1e-5 * max(1.0, float(np.abs(push).max()))
        )
    assert compared > 30


def test_a_delta_agrees_with_bounded_least_squares_also_where_a_joint_is_held_in_all_but_a_trace() -> None:
    """At one state a joint at its limit has a mobility of 1e-8 of its own beside those that hold: it breaks away."""
    robot, law = catalog.build("delta_3rr2rrr"), rest.parameters("coulomb, weak in one direction", 0.1)
    numbers = rest.setting(robot, "passive", 12)
    force = rest.forces(numbers, 0.1)
    assert rest.compared(numbers, force, law, rest.at(numbers, law, force)) == (12, 0)
    where = {"position": np.array([[0.10781728049694006, 0.1752234815369356, -1.0232179105595707]])}
    plain, none = rest.plain_numbers(robot, "passive", where, np.zeros((1, 3))), np.zeros((1, 3))
    trace = rest.Setting(robot, "passive", where, none, *plain)
    push = np.array([[-2.012213302466399, -2.2146122390302097, -5.730949022523084]])
    found = rest.at(trace, law, push)
    assert found.status == Status.OK
    assert not rest.faults(trace, push, law, found).any()
    assert rest.compared(trace, push, law, found) == (1, 0)


def test_friction_that_is_not_unique_is_the_least(irb6: Robot) -> None:
    """Any other friction with the same accelerations, within the limits, has a greater sum of D_kk tau_k^2."""
    numbers, level, rng = rest.setting(irb6, PINS, 60), 0.1, np.random.default_rng(8)
    found = rest.at(numbers, rest.parameters("coulomb", level), rest.forces(numbers, 0.1))
    several = np.flatnonzero(~found.unique & (found.status == Status.OK))
    assert len(several) > 10
    assert found.unique[(numbers.still().sum(axis=1) == 0)].all()
    for k in several:
        still = np.flatnonzero(numbers.still()[k])
        rows, tau = numbers.rows[k][still], found.friction[k][still]
        _, sizes, right = np.linalg.svd(rows.T)
        null = right[(sizes > 1e-9).sum() :]
        weights = np.einsum("ji,ij->j", rows, np.linalg.solve(numbers.mass[k], rows.T))
        for way in np.concatenate([null, -null, rng.normal(size=(20, len(null))) @ null]):
            for length in (1e-6, 1e-3, 0.05):
                other = tau + way * length * level
                if (np.abs(other) <= level).all():
                    assert weights @ other**2 >= weights @ tau**2 * (1.0 - 1e-9)


def test_a_joint_at_its_limit_does_not_break_away_while_others_hold() -> None:
    """All joints of the leg hold what is more than the weakest of them could, but no more than all of them."""
    robot, rng = leg(), np.random.default_rng(2)
    q = rng.uniform(-0.5, 0.5, (50, 1))
    force = rng.uniform(0.0, 3.0, (50, 1))
    law = {"law": "coulomb_viscous", "joints": "all", "coulomb": 0.2}
    found = forward_dynamics(robot, q=q, forces=Forces(friction=law, actuator=force))
    full = np.isclose(np.abs(found.friction), 0.2, rtol=1e-12)
    partly = full.any(axis=1) & ~full.all(axis=1)
    assert partly.any()
    assert found.stuck[partly].all()
    assert (found.acceleration[partly] == 0.0).all()
    assert (found.acceleration[full.all(axis=1)] != 0.0).all()


def test_loads_from_reactions_at_rest_are_those_of_what_is_carried() -> None:
    """In a tree friction does not change what bearings carry, so that limits follow from the motion."""
    bearing = {"friction_arm": 0.01, "pin_radius": 0.012, "bending_arm": 0.05, "preload": 0.0}
    rng = np.random.default_rng(4)
    q, force = rng.uniform(-2.0, 2.0, (60, 3)), rng.normal(size=(60, 3)) * 5.0
    law = {"law": "coulomb_viscous", "coulomb": 6.0, "joints": "all", "load": "reaction", **bearing}
    found = forward_dynamics(arm(), q=q, gravity=DOWN, forces=Forces(friction=law, actuator=force))
    assert (found.status == Status.OK).all()
    wrench = np.asarray(joint_reactions(arm(), q=q, qdd=found.acceleration, gravity=DOWN).wrench)[:, 0]
    bending, radial = (np.hypot(wrench[..., a], wrench[..., a + 1]) for a in (0, 3))
    limit = 6.0 * normal_load("revolute", bending, radial, np.abs(wrench[..., 5]), bearing)
    assert (np.abs(found.friction) <= limit * (1.0 + 1e-8)).all()
    np.testing.assert_allclose(np.abs(found.friction)[~found.stuck], limit[~found.stuck], rtol=1e-7)
    assert found.stuck.any()
    assert (~found.stuck).any()


@pytest.mark.parametrize("coulomb", [0.01, 0.3])
def test_a_leg_at_rest_whose_loads_are_reactions_settles(coulomb: float) -> None:
    rng = np.random.default_rng(5)
    q, force = rng.uniform(-2.5, 1.5, (100, 1)), rng.choice([0.0, 1.0, 20.0], (100, 1))
    law = {"law": "coulomb_viscous", "coulomb": coulomb, "joints": "all", "load": "reaction"}
    found = forward_dynamics(leg(), q=q, forces=Forces(friction=law, actuator=force))
    assert (found.status == Status.OK).all()


@pytest.mark.parametrize("joints", [TURNING, "all"])
def test_a_leg_runs_through_poses_where_a_joint_turns_round(joints: Any) -> None:
    """Near q = 0.05 the rate of a joint changes its sign at full speed; it has nothing to hold on to there."""
    law = {"law": "coulomb_viscous", "coulomb": 0.1, "viscous": 0.01, "joints": joints, "load": "reaction"}
    run: dict[str, Any] = {"force": [0.0], "q": [[0.3], [0.1]], "qd": [[0.0], [2.0]], "friction": law, "gravity": DOWN}
    found = simulate(leg(), step=1e-3, steps=400, every=10, **run)
    assert (found.status == Status.OK).all()
    assert (np.sign(found.q[:, 0] - 0.05).min(), np.sign(found.q[:, 0] - 0.05).max()) == (-1.0, 1.0)
    one = simulate(leg(), step=1e-3, steps=400, every=10, **{**run, "q": [0.3], "qd": [0.0]})
    assert imbalance(leg(), one, DOWN) < 1e-8
    np.testing.assert_array_equal(bits(one.q), bits(found.q[:, 0]))


@pytest.mark.parametrize("coulomb", [1e-3, 0.5])
def test_an_arm_with_friction_in_its_pins_moves_as_with_smoothed_friction(irb6: Robot, coulomb: float) -> None:
    law = {"law": "coulomb_viscous", "coulomb": coulomb, "viscous": 0.1, "joints": PINS}
    rng = np.random.default_rng(0)
    run: dict[str, Any] = {"force": np.zeros(5), "q": rng.uniform(-0.3, 0.3, (8, 5)), "step": 1e-3, "steps": 300}
    sharp, smooth = (simulate(irb6, friction={**law, **more}, **run) for more in ({}, {"width": 1e-3}))
    assert (sharp.status == Status.OK).all()
    np.testing.assert_allclose(sharp.q, smooth.q, rtol=0, atol=2e-2 * coulomb + 1e-6)


def test_an_arm_that_falls_out_of_its_loop_says_so(irb6: Robot) -> None:
    law = {"law": "coulomb_viscous", "coulomb": 1e-3, "viscous": 0.1, "joints": PINS}
    found = simulate(irb6, force=np.zeros(5), q=np.full(5, 0.2), friction=law, step=2e-3, steps=1000, every=50)
    assert found.status in (Status.NOT_REACHABLE, Status.SINGULAR)
    assert np.isnan(found.q[-1]).all()


def test_joints_that_nothing_pushes_rest_while_another_moves(irb6: Robot) -> None:
    """What is left of their acceleration is rounding, and relative to nothing else than their friction."""
    friction = {"law": "coulomb_viscous", "coulomb": 0.035, "starting": 0.055, "viscous": 2e-4, "joints": "actuated"}
    random = np.random.default_rng(2)
    q = np.array([-0.93, 0.0, -0.38, -1.09, 8e-5]) + random.uniform(-1.0, 1.0, (200, 5)) * [0.0, 0.5, 0.0, 0.0, 0.0]
    qd = np.array([0.0, 1.0, 0.0, 0.0, 0.0]) * random.uniform(1.0, 2.0, (200, 1))
    moved = forward_dynamics(irb6, q=q, qd=qd, forces=Forces(friction=friction, actuator=[0.0, 0.38, -0.088, 0.0, 0.0]))
    assert (moved.status == Status.OK).all()
    assert (moved.acceleration[:, [0, 3, 4]] == 0.0).all()


def test_bristles_in_the_joints_of_a_loop() -> None:
    """Linearly implicit steps agree with the adaptive integrator, with the order that they have."""
    law = {**LUGRE, "joints": "all", "sigma0": 100.0, "stribeck_velocity": 0.1}
    run: dict[str, Any] = {"force": [0.5], "q": [0.1], "qd": [0.5], "friction": law, "gravity": DOWN}
    exact = simulate_adaptive(leg(), times=[0.0, 0.1], rtol=1e-9, atol=1e-11, balance=1e-3, **run)
    assert exact.status == Status.OK
    errors = []
    for steps in (200, 400):
        found = simulate(leg(), step=0.1 / steps, steps=steps, every=steps, **run)
        assert found.status == Status.OK
        errors.append(float(np.abs(found.q[-1] - exact.q[-1]).max()))
    assert errors[1] < 1e-5
    assert errors[1] < 0.4 * errors[0]


def test_bristles_of_joints_in_a_loop_whose_loads_are_reactions() -> None:
    """Halving the step changes the end by as much less as the order of the steps says."""
    law = {**LUGRE, "joints": "all", "load": "reaction", "sigma0": 100.0, "stribeck_velocity": 0.1}
    run: dict[str, Any] = {"force": [0.5], "q": [0.1], "qd": [0.5], "friction": law, "gravity": DOWN}
    ends = [simulate(leg(), step=0.1 / n, steps=n, every=n, **run).q[-1, 0] for n in (100, 200, 400)]
    first, second = np.abs(np.diff(ends))
    assert second < 0.5 * first


@pytest.mark.parametrize("stiffness", [100.0, 1e4])
def test_bristles_in_short_steps_find_their_loads(stiffness: float) -> None:
    """Bristles that bend more than their load carries push with a gain far above one: the circle goes round slowly."""
    law = {**LUGRE, "joints": "all", "load": "reaction", "sigma0": stiffness, "stribeck_velocity": 0.1}
    run: dict[str, Any] = {"force": [0.5], "q": [0.1], "qd": [0.5], "friction": law, "gravity": DOWN}
    found = simulate(leg(), step=1.25e-4, steps=80, every=80, **run)
    assert found.status == Status.OK
    longer = simulate(leg(), step=2.5e-4, steps=40, every=40, **run)
    np.testing.assert_allclose(found.q[-1], longer.q[-1], rtol=0, atol=1e-4)


def test_forces_that_hold_friction_at_its_limit_are_found_again(irb6: Robot) -> None:
    """Check forward of inverse dynamics while all joints move."""
    rng = np.random.default_rng(6)
    q, qd, qdd = rng.uniform(-0.3, 0.3, (20, 5)), rng.normal(size=(20, 5)), rng.normal(size=(20, 5))
    law = {"law": "coulomb_viscous", "coulomb": 0.3, "joints": PINS}
    force = inverse_dynamics(irb6, q=q, qd=qd, qdd=qdd, forces=Forces(friction=law)).force
    found = forward_dynamics(irb6, q=q, qd=qd, forces=Forces(friction=law, actuator=force))
    np.testing.assert_allclose(found.acceleration, qdd, rtol=0, atol=1e-9)


def test_the_instant_of_rest_costs_a_few_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Joints of an arm come to rest, one after the other, each found by a parabola through velocities of its step."""
    taken, moved = [], Stepper._moved

    def counted(self: Stepper, *args: Any) -> Any:
        taken.append(args)
        return moved(self, *args)

    monkeypatch.setattr(Stepper, "_moved", counted)
    law, still = {"law": "coulomb_viscous", "coulomb": 5.0, "viscous": 0.2}, [0.0] * 3
    robot, steps = catalog.build("planar_3r"), 20
    found = simulate(robot, q=[0.1, 0.4, -0.3], qd=[0.5, -0.3, 0.8], force=still, friction=law, step=0.02, steps=steps,
                     gravity=(0.0, 0.0, 0.0))  # fmt: skip
    assert isinstance(found, ChainMotion)
    assert found.stuck[-1].all()
    events = int(np.abs(np.diff(found.stuck.astype(int), axis=0)).sum())
    assert events >= 3
    assert len(taken) <= steps + 9 * events  # 24 an event with chords and halves
    energy = imbalance(robot, found, gravity=(0.0, 0.0, 0.0))
    assert energy < 1e-6
