"""Chains with friction over time: rest, sliding, breaking away, energy, the inverse problem, batches."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from robots import catalog
from robots.model import Robot
from robots.parameter_errors import ParameterError
from robots.status import Status
from tasks import forward_dynamics, inverse_dynamics
from tasks.dynamics.records import Forces
from tasks.dynamics.simulate import imbalance, simulate, simulate_adaptive
from tests.arguments import in_records
from tests.tasks.bits import bits
from tests.tasks.sliders import BENT, DOWN, arm, block, leg

DRY = {"law": "coulomb_viscous", "coulomb": 3.0}
DRAWN = {"law": "coulomb_viscous", "coulomb": 1.0, "starting": 1.5, "viscous": 0.1}
LUGRE = {
    "law": "lugre",
    "sigma0": 1e5,
    "sigma1": math.sqrt(1e5),
    "sigma2": 0.4,
    "coulomb": 1.0,
    "static": 1.5,
    "stribeck_velocity": 1e-3,
}
CURVE = {"coulomb": 0.8, "static": 1.5, "viscous": 0.1, "stribeck_velocity": 0.05}
BEARING = {"load": "reaction", "friction_arm": 0.01, "pin_radius": 0.012, "bending_arm": 0.05}
LAWS: Mapping[str, Mapping[str, Any]] = {
    "dry": {"law": "coulomb_viscous", "coulomb": 1.0, "viscous": 0.1, "starting": 2.0},
    "stribeck": {"law": "stribeck", **CURVE},
    "stiction": {"law": "stiction", "kinetic": 1.0, **CURVE},
    "reactions": {"law": "coulomb_viscous", "coulomb": 0.3, "viscous": 0.05, "joints": "all", **BEARING},
}


def drawn_by_a_spring(t: Any, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Stiffness 2 N/m, the other end at 0.1 m/s."""
    return np.asarray(2.0 * (0.1 * np.asarray(t)[..., None] - q))


# --- rest -------------------------------------------------------------------------------------------------------------


def test_an_arm_whose_starting_friction_is_above_its_load_stays_where_it_is() -> None:
    """Check that it stays for three seconds to the last bit, and falls with a little less friction."""
    load = np.abs(inverse_dynamics(arm(), q=BENT, gravity=DOWN).force).max()
    found = {}
    for share in (1.001, 0.999):
        law = {"law": "coulomb_viscous", "coulomb": 0.1, "starting": load * share}
        run: dict[str, Any] = {"step": 1e-2, "steps": 300, "every": 10, "gravity": DOWN}
        found[share] = simulate(arm(), force=np.zeros(3), q=BENT, friction=law, **run)
    held = found[1.001]
    assert (bits(held.q) == bits(np.broadcast_to(BENT, held.q.shape))).all()
    assert not held.qd.any()
    assert held.stuck.all()
    np.testing.assert_allclose(-held.friction[-1], inverse_dynamics(arm(), q=BENT, gravity=DOWN).force, rtol=1e-9)
    assert not found[0.999].stuck[0, 0]
    assert np.abs(found[0.999].q[-1] - BENT).max() > 0.5


def test_joints_that_hold_are_found_among_those_that_do_not() -> None:
    """Check any set of stuck joints: no acceleration in these, friction of motion in others, no limit exceeded."""
    rng = np.random.default_rng(1)
    q, force = rng.uniform(-2.0, 2.0, (200, 3)), rng.normal(size=(200, 3)) * 12.0
    law = {"law": "coulomb_viscous", "coulomb": 5.0, "starting": 8.0}
    found = forward_dynamics(arm(), q=q, gravity=DOWN, forces=Forces(friction=law, actuator=force))
    assert (found.status == Status.OK).all()
    sets = {tuple(row) for row in found.stuck.tolist()}
    assert len(sets) == 8
    assert (found.acceleration[found.stuck] == 0.0).all()
    assert (np.abs(found.friction[found.stuck]) <= 8.0 * (1.0 + 1e-11)).all()
    np.testing.assert_allclose(np.abs(found.friction[~found.stuck]), 5.0, rtol=1e-14)
    assert (found.friction * found.acceleration >= 0.0).all()
    back = inverse_dynamics(arm(), q=q, qdd=found.acceleration, gravity=DOWN).force + found.friction
    np.testing.assert_allclose(back, force, rtol=0, atol=1e-8)


def test_a_leg_with_friction_in_all_joints_rests_although_one_joint_could_hold_it() -> None:
    law = {"law": "coulomb_viscous", "joints": "all", "coulomb": 0.6}
    run: dict[str, Any] = {"step": 1e-2, "steps": 50, "gravity": DOWN}
    found = simulate(leg(), force=[0.0], q=[0.2], friction=law, **run)
    assert (bits(found.q) == bits(np.full((51, 1), 0.2))).all()
    assert np.abs(found.friction).max() <= 0.6 * (1.0 + 1e-9)
    weak = simulate(leg(), force=[0.0], q=[0.2], friction={**law, "coulomb": 0.05}, **run)
    assert weak.q[-1] < 0.1
    assert imbalance(leg(), weak, DOWN) < 1e-5


# --- sliding ----------------------------------------------------------------------------------------------------------


def test_a_block_slides_to_rest_where_it_should_and_stays() -> None:
    speed = np.array([[1.0], [-2.0], [0.0], [0.3]])
    found = simulate(block(), force=[0.0], q=[0.0], qd=speed, friction=DRY, step=1e-2, steps=100, every=10)
    np.testing.assert_allclose(found.q[-1], np.sign(speed) * speed**2 / 6.0, rtol=1e-13)
    assert (found.qd[-1] == 0.0).all()
    assert (bits(found.q[-1]) == bits(found.q[-2])).all()
    np.testing.assert_allclose(found.loss[-1], speed**2 / 2.0, rtol=1e-13)


@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("euler", 1), ("semi_implicit", 1)])
def test_a_block_with_viscous_friction_too_stops_there_with_the_order_of_the_method(method: str, order: int) -> None:
    """x = (v0 - c T) / k after T = ln(1 + k v0 / c) / k, Eqs. (17) and (18)."""
    c, k, v0 = 3.0, 2.0, 1.0
    place = (v0 - c * math.log(1.0 + k * v0 / c) / k) / k
    errors = []
    for steps in (10, 20):
        law = {"law": "coulomb_viscous", "coulomb": c, "viscous": k}
        run: dict[str, Any] = {"step": 1.0 / steps, "steps": steps, "method": method}
        found = simulate(block(), force=[0.0], q=[0.0], qd=[v0], friction=law, **run)
        assert found.qd[-1] == 0.0
        errors.append(abs(found.q[-1, 0] - place))
    assert errors[0] < 0.1**order
    assert errors[1] < errors[0] * 0.7**order


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("robot", [arm, leg])
def test_the_direct_and_the_inverse_problem_are_inverse_to_each_other(name: str, robot: Callable[[], Robot]) -> None:
    machine, rng = robot(), np.random.default_rng(2)
    free = len(machine.mechanism.freedoms)
    q, qd, force = rng.uniform(-0.5, 0.5, (20, free)), rng.normal(size=(20, free)), rng.normal(size=(20, free))
    law = {k: v for k, v in LAWS[name].items() if k != "starting"}
    if name == "stiction":  # has no inverse problem of its own: out of rest it is the Stribeck curve
        law = {"law": "stribeck", **CURVE}
    found = forward_dynamics(machine, q=q, qd=qd, gravity=DOWN, forces=Forces(friction=law, actuator=force))
    assert (found.status == Status.OK).all()
    back = inverse_dynamics(
        machine, q=q, qd=qd, qdd=found.acceleration, gravity=DOWN, forces=Forces(friction=law)
    ).force
    np.testing.assert_allclose(back, force, rtol=0, atol=1e-8)


def test_loads_from_reactions_are_those_of_the_same_instant() -> None:
    """Loads of the instant before would be off by what a jump of the force does."""
    law = {"law": "coulomb_viscous", "coulomb": 0.4, "joints": "all", **BEARING}
    state: dict[str, Any] = {"q": BENT, "qd": [1.0, 2.0, -1.0], "friction": law, "gravity": DOWN}
    calm, hard = (
        forward_dynamics(arm(), **in_records(forces=Forces(actuator=force), **state))
        for force in (np.zeros(3), [80.0, 0.0, 0.0])
    )
    assert np.abs(hard.friction - calm.friction).max() > 0.1
    back = inverse_dynamics(
        arm(), q=BENT, qd=[1.0, 2.0, -1.0], qdd=hard.acceleration, gravity=DOWN, forces=Forces(friction=law)
    ).force
    np.testing.assert_allclose(back, [80.0, 0.0, 0.0], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", LAWS)
def test_energy_goes_where_friction_takes_it(name: str) -> None:
    run: dict[str, Any] = {"step": 1e-3, "steps": 500, "every": 20, "gravity": DOWN}
    found = simulate(arm(), force=[1.0, -0.5, 0.2], q=BENT, qd=[1.0, 2.0, -1.0], friction=LAWS[name], **run)
    assert found.status == Status.OK
    assert imbalance(arm(), found, DOWN) < 1e-6
    assert (np.diff(found.loss.sum(axis=-1)) >= 0.0).all()
    assert found.loss[-1].sum() > 1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_energy_goes_where_friction_takes_it_for_ten_seconds(name: str) -> None:
    run: dict[str, Any] = {"step": 1e-3, "steps": 10_000, "every": 100, "gravity": DOWN}
    found = simulate(arm(), force=np.zeros(3), q=BENT, qd=[1.0, 2.0, -1.0], friction=LAWS[name], **run)
    assert found.status == Status.OK
    assert imbalance(arm(), found, DOWN) < 1e-6


# --- stick and slip ---------------------------------------------------------------------------------------------------


def slips(end: float) -> tuple[float, float]:
    """Place and velocity of the block at the time `end`, phase by phase in closed form.

    In motion x'' + 0.1 x' + 2 (x - 0.1 t) + 1 = 0 from rest; the block stops where x' = 0, and starts again where the
    spring pulls with 1.5.
    """
    from scipy.optimize import brentq

    place, damping = 0.0, 0.05
    rate = math.sqrt(2.0 - damping**2)
    while True:
        begin = (1.5 / 2.0 + place) / 0.1
        if begin >= end:
            return place, 0.0
        # x = 0.1 t + offset + e^(-d s) (a cos + b sin), s = t - begin
        offset = -0.5 - 0.1 * 0.1 / 2.0
        a = place - 0.1 * begin - offset
        b = (damping * a - 0.1) / rate

        def moved(
            s: float, a: float = a, b: float = b, begin: float = begin, offset: float = offset
        ) -> tuple[float, float]:
            wave, turn = (
                a * math.cos(rate * s) + b * math.sin(rate * s),
                b * math.cos(rate * s) - a * math.sin(rate * s),
            )
            fade = math.exp(-damping * s)
            return 0.1 * (begin + s) + offset + fade * wave, 0.1 + fade * (rate * turn - damping * wave)

        stop = brentq(lambda s, moved=moved: moved(s)[1], 1.0, 1.5 * math.pi / rate, xtol=1e-15)
        if begin + stop >= end:
            return moved(end - begin)
        place = moved(stop)[0]


def test_a_drawn_block_sticks_and_slips_as_its_equation_says() -> None:
    run: dict[str, Any] = {"force": drawn_by_a_spring, "q": [0.0], "friction": DRAWN}
    found = simulate(block(), step=1e-2, steps=1500, every=75, **run)
    exact = np.array([slips(t) for t in found.time.tolist()])
    assert {True, False} == set(found.stuck[:, 0].tolist())
    np.testing.assert_allclose(found.q[:, 0], exact[:, 0], rtol=0, atol=2e-9)
    np.testing.assert_allclose(found.qd[:, 0], exact[:, 1], rtol=0, atol=2e-9)
    adaptive = simulate_adaptive(block(), times=found.time, **run)
    assert adaptive.status == Status.OK
    np.testing.assert_allclose(adaptive.q[:, 0], exact[:, 0], rtol=0, atol=1e-10)
    assert (adaptive.stuck == found.stuck).all()


def test_stiction_comes_to_rest_along_another_curve_than_it_leaves_it() -> None:
    """Two laws that differ only in the curve back to rest part when the block slows down, not before."""
    run: dict[str, Any] = {"force": drawn_by_a_spring, "q": [0.0], "step": 1e-2, "steps": 1200, "every": 10}
    law = {"law": "stiction", "coulomb": 1.0, "static": 1.5, "viscous": 0.1, "stribeck_velocity": 0.01}
    high, low = (simulate(block(), friction={**law, "kinetic": k}, **run) for k in (1.4, 1.0))
    assert (high.memory[0] == 1.0).all()
    assert (high.memory[:, 0] == 0.0).any()
    forth = high.memory[:, 0] == 1.0
    first = int(np.argmin(forth))
    np.testing.assert_array_equal(bits(high.q[:first]), bits(low.q[:first]))
    rest = int(np.argmax(high.stuck[first:, 0])) + first
    assert rest > first
    assert high.memory[rest] == 1.0
    assert high.q[rest] < low.q[-1]


def test_the_adaptive_integrator_agrees_on_an_arm_that_stops_and_starts() -> None:
    run: dict[str, Any] = {"force": np.zeros(3), "q": BENT, "qd": [1.0, 2.0, -1.0], "gravity": DOWN}
    found = simulate(arm(), step=1e-3, steps=1500, every=300, friction=LAWS["dry"], **run)
    exact = simulate_adaptive(arm(), times=found.time, friction=LAWS["dry"], **run)
    assert exact.status == Status.OK
    assert imbalance(arm(), exact, DOWN) < 1e-9
    np.testing.assert_allclose(found.q, exact.q, rtol=0, atol=1e-9)


def test_the_adaptive_integrator_ends_where_a_motion_does() -> None:
    """At the end of a loop's reach steps of hardly any length went on and on; without mass not even the first began."""
    law = {"law": "viscous", "viscous": 0.02}
    found = simulate_adaptive(
        leg(), force=[0.0], q=[1.4], qd=[3.0], friction=law, times=[0.0, 2.0], rtol=1e-10, atol=1e-12, solver="DOP853"
    )
    assert found.status != Status.OK
    assert np.isnan(found.q[-1]).all()
    from robots.catalog import rover_rocker

    massless = Robot.of(rover_rocker.FAMILIES[0], {})
    found = simulate_adaptive(massless, force=np.zeros(5), q=np.zeros(5), times=[0.0, 1.0])
    assert found.status == Status.SINGULAR


# --- bristles ---------------------------------------------------------------------------------------------------------


PUBLISHED = (1.9088391992, 9.42415e-6, 1.18167954559e-5)
"""Place, velocity, deflection after 25 s."""


@pytest.mark.slow
def test_lugre_reaches_the_published_state_as_far_as_its_steps_allow() -> None:
    run: dict[str, Any] = {"force": drawn_by_a_spring, "q": [0.0], "friction": LUGRE}
    exact = simulate_adaptive(block(), times=[0.0, 25.0], rtol=1e-8, atol=1e-12, **run)
    assert f"{exact.q[-1, 0]:.7f}" == f"{PUBLISHED[0]:.7f}"
    assert f"{exact.qd[-1, 0]:.5e}" == f"{PUBLISHED[1]:.5e}"
    assert f"{exact.memory[-1, 0]:.7e}" == f"{PUBLISHED[2]:.7e}"
    coarse = simulate(block(), step=5e-3, steps=5000, every=5000, **run)
    np.testing.assert_allclose(coarse.q[-1], PUBLISHED[0], rtol=0, atol=1e-3)
    np.testing.assert_allclose(coarse.memory[-1], PUBLISHED[2], rtol=1e-3)


@pytest.mark.slow
def test_lugre_comes_to_the_published_digits_with_smaller_steps() -> None:
    run: dict[str, Any] = {"force": drawn_by_a_spring, "q": [0.0], "friction": LUGRE}
    errors = []
    for step in (1e-3, 5e-4, 2.5e-4):
        steps = round(25.0 / step)
        end = simulate(block(), step=step, steps=steps, every=steps, **run)
        errors.append(end.q[-1, 0] - PUBLISHED[0])
    assert 3.5 < errors[0] / errors[1] < 4.5
    assert 3.5 < errors[1] / errors[2] < 4.5
    assert abs(errors[2] + (errors[2] - errors[1]) / 3.0) < 1e-8
    exact = simulate_adaptive(block(), times=[0.0, 25.0], rtol=1e-11, atol=1e-15, **run)
    assert f"{exact.q[-1, 0]:.10f}" == f"{PUBLISHED[0]:.10f}"
    assert f"{exact.memory[-1, 0]:.9e}" == f"{PUBLISHED[2]:.9e}"


def test_bristles_of_a_light_block_are_stable_in_steps_that_are_long_for_them() -> None:
    """Their frequency is 1e4 / s, a step 1 ms: after sliding, the block stands still."""
    found = simulate(block(1e-3), force=[0.0], q=[0.0], qd=[0.5], friction=LUGRE, step=1e-3, steps=200)
    assert np.abs(found.qd[100:]).max() < 1e-5
    assert np.abs(found.q).max() < 1e-2
    assert (found.status == Status.OK).all()


# --- batches, input ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dry", "stribeck", "reactions"])
def test_a_batch_has_the_bits_of_its_cases(name: str) -> None:
    rng = np.random.default_rng(4)
    start: dict[str, Any] = {"q": rng.uniform(-1, 1, (2, 5, 3)), "qd": rng.normal(size=(2, 5, 3))}
    run: dict[str, Any] = {"friction": LAWS[name], "step": 5e-3, "steps": 40, "every": 8, "gravity": DOWN}
    force = rng.normal(size=(5, 3))
    whole = simulate(arm(), force=lambda t: force * math.cos(3.0 * t), **start, **run)
    for case in ((0, 0), (1, 4), (0, 3)):
        mine = force[case[1]]
        alone = simulate(
            arm(), force=lambda t, mine=mine: mine * math.cos(3.0 * t), **{k: v[case] for k, v in start.items()}, **run
        )
        for field in ("q", "qd", "friction", "loss", "work"):
            np.testing.assert_array_equal(bits(getattr(whole, field)[:, *case]), bits(getattr(alone, field)), field)
        np.testing.assert_array_equal(whole.stuck[:, *case], alone.stuck)


def test_forces_may_depend_on_the_state_of_each_case() -> None:
    """Check a block on a spring from two places: one sticks where the other comes to."""
    found = simulate(
        block(),
        force=lambda t, q, qd: -50.0 * q,
        q=[[1.0], [0.05]],
        friction=DRY,
        step=1e-2,
        steps=400,
        every=400,
    )
    assert found.q[-1, 1, 0] == 0.05
    assert found.stuck[-1].all()
    assert found.q[-1, 0, 0] == pytest.approx(1.0 - 8 * 2.0 * 3.0 / 50.0, abs=1e-5)  # each half swing takes 2 * 3 / 50


def test_a_case_without_mass_says_so_and_others_go_on() -> None:
    from robots.catalog import rover_rocker

    rover = Robot.of(rover_rocker.FAMILIES[0], {})
    found = simulate(rover, force=np.zeros(5), q=np.zeros(5), step=1e-3, steps=2)
    assert found.status == Status.SINGULAR
    assert np.isnan(found.q).all()


def test_a_joint_that_is_too_quick_for_its_steps_ends_its_case_alone() -> None:
    speed = np.zeros((3, 3))
    speed[1] = 1e9
    run: dict[str, Any] = {"force": np.zeros(3), "q": BENT, "step": 1e-2, "steps": 5, "gravity": DOWN}
    found = simulate(arm(), qd=speed, **run)
    assert found.status.tolist() == [Status.OK, Status.INTEGRATION_FAILED, Status.OK]
    assert np.isnan(found.q[-1, 1]).all()
    assert np.isfinite(found.q[:, [0, 2]]).all()
    assert simulate(arm(), qd=speed, **run, method="spanning_tree").status.tolist() == found.status.tolist()


def test_what_does_not_fit_is_said() -> None:
    run: dict[str, Any] = {"step": 1e-2, "steps": 2, "q": [0.0], "force": [0.0]}
    with pytest.raises(ValueError, match="step, steps, every: got 0, 2, 1; expected all above zero"):
        simulate(block(), **run | {"step": 0})
    with pytest.raises(ValueError, match=r"method: got 'rk5'.*rk4"):
        simulate(block(), **run, method="rk5")
    with pytest.raises(TypeError, match="position: block is a chain, whose simulation does not take it"):
        simulate(block(), **run, position=[0.0, 0.0, 0.0])
    with pytest.raises(
        TypeError, match="force: got a function of 2 arguments; expected one of time, or of time, q and qd"
    ):
        simulate(block(), **run | {"force": lambda t, q: 0.0})
    with pytest.raises(ValueError, match=r"q: got nothing; expected the motion of a chain"):
        simulate(block(), **run | {"q": None})
    with pytest.raises(ValueError, match=r"times: got .* expected at least two, ascending"):
        simulate_adaptive(block(), force=[0.0], q=[0.0], times=[0.0])
    with pytest.raises(ValueError, match=r"got batch dims \(2,\); expected one case, or method 'fixed'"):
        simulate_adaptive(block(), force=[0.0], q=[[0.0], [1.0]], times=[0.0, 1.0])
    with pytest.raises(ParameterError, match="got law 'stibeck'"):
        simulate(block(), **run, friction={"law": "stibeck"})


def test_friction_that_makes_loads_without_bound_says_so() -> None:
    """Coefficients above one, long arms: a joint's load grows by more than its friction takes; this is proven."""
    law = {"law": "coulomb_viscous", "coulomb": 50.0, "joints": "all", **BEARING, "pin_radius": 1.0}
    found = forward_dynamics(
        leg(), q=[[0.2], [0.1]], qd=[[1.0], [-1.0]], gravity=DOWN, forces=Forces(friction=law, actuator=[0.0])
    )
    assert (found.status == Status.FRICTION_NO_SOLUTION).all()
    assert np.isnan(found.acceleration).all()


def test_a_width_of_zero_is_none_and_a_width_smooths() -> None:
    run: dict[str, Any] = {"force": [0.0], "q": [0.0], "qd": [1.0], "step": 1e-2, "steps": 100}
    sharp, zero = (simulate(block(), friction={**DRY, **more}, **run) for more in ({}, {"width": 0.0}))
    np.testing.assert_array_equal(bits(zero.q), bits(sharp.q))
    assert zero.stuck[-1].all()
    smooth = simulate(block(), friction={**DRY, "width": 0.05}, **run)
    assert not smooth.stuck.any()
    assert 0.0 < smooth.qd[-1, 0] < 1e-6
    assert smooth.q[-1, 0] == pytest.approx(sharp.q[-1, 0], rel=0.05)


@pytest.mark.parametrize("name", ["irb6", "five_axis_tree", "three_loop_leg"])
def test_a_chain_on_a_base_that_moves(name: str) -> None:
    """Check forward of inverse dynamics at an instant; over time a lifted base is the same as another gravity."""
    robot, random = catalog.build(name), np.random.default_rng(9)
    free = len(robot.mechanism.freedoms)
    q, qd, qdd = random.uniform(-0.3, 0.3, (6, free)), random.normal(size=(6, free)), random.normal(size=(6, free))
    law = {"law": "coulomb_viscous", "coulomb": 0.1, "viscous": 0.1}
    base = {"base_twist": random.normal(size=(6, 6)), "base_acceleration": random.normal(size=(6, 6))}
    force = inverse_dynamics(robot, **in_records(q=q, qd=qd, qdd=qdd, forces=Forces(friction=law), **base)).force
    found = forward_dynamics(robot, **in_records(q=q, qd=qd, forces=Forces(friction=law, actuator=force), **base))
    assert (found.status == Status.OK).all()
    np.testing.assert_allclose(found.acceleration, qdd, rtol=0.0, atol=1e-9)
    run: dict[str, Any] = {"q": q, "qd": qd, "force": force, "friction": law, "step": 1e-3, "steps": 5}
    up = np.array([0.0, 0.0, 0.0, 0.5, 0.0, 2.0])
    lifted = simulate(robot, **run, base_acceleration=lambda t: up)
    heavier = simulate(robot, **run, gravity=np.array([0.0, 0.0, -9.81]) - up[3:])
    np.testing.assert_allclose(lifted.q, heavier.q, rtol=0.0, atol=1e-12)
