"""Parallel robots with joint friction: inverse and forward problem, joints at rest, motion over time, moving bases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from robots import catalog
from robots.model import Robot
from robots.status import Status
from robots.types import TWIST
from tasks import equations_of_motion, forward_dynamics, inverse_dynamics
from tasks.dynamics.instant.moments import JointModes
from tasks.dynamics.inverse import inverse_kinematics
from tasks.dynamics.motion_system import MotionSystem
from tasks.dynamics.records import Forces
from tasks.dynamics.simulate import simulate, simulate_adaptive
from tests.arguments import in_records
from tests.reference import rest_friction
from tests.tasks.bits import bits

COULOMB = {"law": "coulomb_viscous", "coulomb": 0.3, "viscous": 0.1, "joints": "all"}
LAWS: Mapping[str, Mapping[str, Any]] = {
    "coulomb": COULOMB,
    "stribeck": {"law": "stribeck", "coulomb": 0.2, "static": 0.3, "viscous": 0.1, "stribeck_velocity": 0.1},
    "smooth": {"law": "coulomb_viscous", "coulomb": 0.3, "width": 0.05, "joints": "all"},
    "reactions": {**COULOMB, "coulomb": 0.02, "load": "reaction"},
}
BASE = {"base_twist": [0.1, 0.2, 0.3, 0.5, -0.2, 0.1], "base_acceleration": [0.3, -0.2, 0.1, 1.0, 2.0, 3.0]}


def states(robot: Robot, count: int, seed: int = 1) -> dict[str, np.ndarray]:
    """Near the reference position, in motion."""
    random, platform = np.random.default_rng(seed), robot.mechanism.platform
    free = [TWIST.index(name) for name in platform.mobility]
    shift, twist = np.zeros((count, 6)), np.zeros((count, 6))
    shift[:, free], twist[:, free] = random.normal(size=(2, count, len(free))) * [[[0.02]], [[0.3]]]
    return {"position": np.array(platform.home.position) + shift[:, 3:], "twist": twist}


def forces(robot: Robot, count: int, seed: int = 2) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, len(robot.mechanism.actuators))) * 5.0


@pytest.mark.parametrize("name", ["five_bar", "gough_stewart"])
def test_without_friction_it_is_forward_dynamics(name: str) -> None:
    robot = catalog.build(name)
    at, force, load = states(robot, 5), forces(robot, 5), [0.0, 0.0, 0.0, 1.0, 0.0, 2.0]
    none = {"law": "viscous", "viscous": 0.0}
    found = forward_dynamics(robot, forces=Forces(load=load, actuator=force, friction=none), **at)
    expected = forward_dynamics(robot, forces=Forces(load=load, actuator=force), **at).acceleration
    assert (found.status == Status.OK).all()
    np.testing.assert_allclose(found.acceleration, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("base", [{}, BASE], ids=["base at rest", "moving base"])
@pytest.mark.parametrize("law", LAWS)
def test_inverse_dynamics_gives_the_forces_back(law: str, base: dict[str, Any]) -> None:
    robot = catalog.build("five_bar")
    at, force = states(robot, 8), forces(robot, 8)
    given = {**at, "load": [0.0, 0.0, 0.0, 1.0, 0.0, -2.0], "friction": LAWS[law], **base}
    found = forward_dynamics(robot, **in_records(forces=Forces(actuator=force), **given))
    assert (found.status == Status.OK).all()
    back = inverse_dynamics(robot, **in_records(acceleration=found.acceleration, **given)).force
    np.testing.assert_allclose(back, force, rtol=0.0, atol=1e-10 * np.abs(force).max())


def test_the_same_of_a_robot_that_moves_in_space_with_the_load_in_platform_axes() -> None:
    robot = catalog.build("delta_3rr2rrr")
    at, force = states(robot, 4), forces(robot, 4)
    law = {**COULOMB, "joints": ["limb1.1", "limb1.2", "limb2.7", "limb3.4"]}
    given = {**at, "load": [0.0, 0.0, 0.0, 1.0, 3.0, -2.0], "load_axes": "platform", "friction": law}
    found = forward_dynamics(robot, **in_records(forces=Forces(actuator=force), **given))
    assert (found.status == Status.OK).all()
    back = inverse_dynamics(robot, **in_records(acceleration=found.acceleration, **given)).force
    np.testing.assert_allclose(back, force, rtol=0.0, atol=1e-10 * np.abs(force).max())


def test_friction_at_rest_is_that_of_bounded_least_squares() -> None:
    """Compare with the inverse problem in NumPy, for forces near those that friction just holds."""
    robot, level, random = catalog.build("five_bar"), 0.4, np.random.default_rng(4)
    at = states(robot, 40) | {"twist": np.zeros((40, 6))}
    plain = equations_of_motion(robot, **at)
    free = [TWIST.index(name) for name in robot.mechanism.platform.mobility]
    units = np.eye(6)[free]
    rows = np.stack(
        [
            inverse_kinematics(robot, position=at["position"], twist=np.broadcast_to(unit, (40, 6))).velocity
            for unit in units
        ],
        axis=-1,
    ).reshape(40, -1, len(free))
    held = np.einsum("sji,sj->si", rows, random.uniform(-2.0, 2.0, rows.shape[:2]) * level)
    force = np.linalg.solve(np.swapaxes(plain.jacobian, 1, 2), (plain.gravity + held)[..., None])[..., 0]
    law = {"law": "coulomb_viscous", "coulomb": level, "joints": "all"}
    found = forward_dynamics(robot, forces=Forces(friction=law, actuator=force), **at)
    assert (found.status == Status.OK).all()
    limit, moved = np.full(rows.shape[1], level), 0
    for k in range(40):
        expected = rest_friction.solve(plain.mass[k], held[k], rows[k], np.zeros(rows.shape[1]), limit, limit)
        size = np.abs(np.linalg.solve(plain.mass[k], held[k])).max()
        np.testing.assert_allclose(found.acceleration[k, free], expected.acceleration, atol=1e-7 * size)
        moved += np.abs(expected.acceleration).max() > 1e-3 * size
    assert 5 < moved < 35  # some are held, some break away


def test_energy_goes_into_friction() -> None:
    """Check that the energy lost on the way to rest, and the work of forces and a load, balance."""
    robot = catalog.build("five_bar")
    at = states(robot, 3)
    law, load = {**COULOMB, "coulomb": 0.1}, np.array([0.0, 0.0, 0.0, 2.0, 0.0, 3.0])
    found = simulate(robot, **at, force=[3.0, -1.0], load=load, friction=law, step=1e-3, steps=200, every=40)
    assert (found.status == Status.OK).all()
    energy = equations_of_motion(robot, position=found.position, twist=found.twist)
    stored = energy.kinetic_energy + energy.potential_energy
    balance = stored - stored[0] + found.loss.sum(axis=-1) - found.work.sum(axis=-1) - found.load_work
    assert np.abs(balance).max() < 1e-9 * np.abs(found.loss.sum(axis=-1)).max()
    np.testing.assert_allclose(found.load_work, (found.position - found.position[0]) @ load[3:], atol=1e-9)


def test_the_adaptive_integrator_agrees() -> None:
    """Compare both integrators while joints come to rest and break away."""
    robot = catalog.build("five_bar")
    position = np.array(robot.mechanism.platform.home.position)
    law, held = {"law": "coulomb_viscous", "coulomb": 0.3}, inverse_dynamics(robot, position=position).force

    def force(t: float) -> np.ndarray:
        return held + np.array([0.9, -0.7]) * np.sin(25.0 * t)

    run: dict[str, Any] = {"position": position, "force": force, "friction": law}
    found = simulate(robot, **run, step=1e-3, steps=200, every=50)
    exact = simulate_adaptive(robot, **run, times=found.time)
    assert found.stuck.any()
    assert not found.stuck.all()
    assert exact.status == Status.OK
    np.testing.assert_allclose(found.position, exact.position, rtol=0.0, atol=1e-8)
    np.testing.assert_array_equal(found.stuck, exact.stuck)


@pytest.mark.parametrize("rtol", [1e-4, 1e-9])
def test_a_joint_that_breaks_away_and_stops_within_one_step_is_followed(rtol: float) -> None:
    """Its first velocity is rounding of any sign: the end of its motion is sought past that, in steps of any length."""
    robot = catalog.build("five_bar")
    position, twist = np.array(robot.mechanism.platform.home.position), np.zeros(6)
    twist[[3, 5]] = np.linalg.solve(equations_of_motion(robot, position=position).jacobian, [0.0, -0.02383879])
    force = inverse_dynamics(robot, position=position).force + np.array([-1.20905314, 1.88535444])
    law = {"law": "coulomb_viscous", "coulomb": 0.3}
    run: dict[str, Any] = {"position": position, "twist": twist, "force": force, "friction": law}
    found = simulate_adaptive(robot, **run, times=[0.0, 0.02, 0.2], rtol=rtol, atol=rtol * 0.01)
    assert found.status == Status.OK
    in_steps = simulate(robot, **run, step=1e-3, steps=200, every=200)
    np.testing.assert_allclose(found.position[-1], in_steps.position[-1], rtol=0.0, atol=1e-8 + rtol)


def test_the_solver_may_be_chosen() -> None:
    """Bristles that are not stiff come to the same end by explicit steps."""
    robot = catalog.build("planar_3r")
    law = {"law": "lugre", "coulomb": 0.2, "static": 0.3, "sigma0": 20.0, "sigma1": 0.2, "stribeck_velocity": 0.1}
    run: dict[str, Any] = {"q": [0.1, 0.2, 0.3], "force": [1.0, 0.5, 0.1], "friction": law, "times": [0.0, 0.1]}
    ends = [simulate_adaptive(robot, **run, rtol=1e-8, solver=solver).q[-1] for solver in (None, "Radau", "DOP853")]
    np.testing.assert_array_equal(ends[0], ends[1])
    np.testing.assert_allclose(ends[2], ends[1], rtol=0.0, atol=1e-7)
    with pytest.raises(ValueError, match="solver: got 'RK45'; known: DOP853, Radau"):
        simulate_adaptive(robot, **run, solver="RK45")


@pytest.mark.parametrize("method", ["rk4", "semi_implicit", "rosenbrock"])
def test_a_platform_that_is_held_keeps_its_pose_to_the_last_bit(method: str) -> None:
    robot = catalog.build("gough_stewart")
    law = {"law": "coulomb_viscous", "coulomb": 1e4}
    turned = {"rotation": np.array([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])}
    found = simulate(robot, **turned, force=np.zeros(6), friction=law, step=0.5, steps=120, every=4, method=method)
    assert found.status == Status.OK
    assert found.stuck.all()
    assert (bits(found.position) == bits(found.position[0])).all()
    assert (bits(found.rotation) == bits(found.rotation[0])).all()
    assert (found.twist == 0.0).all()


def test_a_base_that_moves_is_a_platform_that_is_carried() -> None:
    """A base accelerated without turning is as good as another gravity."""
    robot, at = catalog.build("five_bar"), states(catalog.build("five_bar"), 2)
    options = {**at, "force": [1.0, 2.0], "friction": COULOMB, "step": 1e-3, "steps": 40, "every": 20}

    def swinging(t: float) -> np.ndarray:
        return np.array([0.0, 0.0, 0.0, 0.0, 0.0, 2.0 * np.sin(9.0 * t)])

    carried = simulate(robot, **options, base_acceleration=swinging)
    still = simulate(robot, **options)
    assert np.abs(carried.position - still.position).max() > 1e-4
    constant = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 2.0])
    lifted = simulate(robot, **options, base_acceleration=constant)
    heavier = simulate(robot, **options, gravity=np.array([0.0, 0.0, -9.81]) - constant[3:])
    np.testing.assert_allclose(lifted.position, heavier.position, rtol=0.0, atol=1e-12)


def test_forces_that_see_the_platform() -> None:
    """A spring and a damper to the reference position hold the platform there."""
    robot = catalog.build("five_bar")
    home, at = np.array(robot.mechanism.platform.home.position), states(robot, 2)

    def force(time: np.ndarray, position: np.ndarray, rotation: np.ndarray, twist: np.ndarray) -> np.ndarray:
        assert (time.shape, position.shape, rotation.shape) == ((2,), (2, 3), (2, 3, 3))
        plain = equations_of_motion(robot, position=position)
        wanted = plain.gravity - 4e3 * (position - home)[:, [0, 2]] - 80.0 * twist[:, [3, 5]]
        return np.linalg.solve(np.swapaxes(plain.jacobian, 1, 2), wanted[..., None])[..., 0]

    found = simulate(robot, **at, force=force, friction=LAWS["smooth"], step=4e-3, steps=60, every=60)
    assert (found.status == Status.OK).all()
    assert np.abs(found.position[-1] - home).max() < 3e-3 < 1e-2 < np.abs(found.position[0] - home).max()


def test_cases_with_designs_of_their_own_have_the_bits_of_single_ones() -> None:
    family, random, width = catalog.FAMILIES["five_bar"], np.random.default_rng(5), 8
    robot = catalog.build("five_bar")
    single = MotionSystem.of(robot, COULOMB, (0.0, 0.0, -9.81))
    defaults, friction = single.instant.constants.parameters, single.instant.constants.friction
    parameters = defaults * random.uniform(0.99, 1.01, (width, defaults.shape[1]))
    values = friction * random.uniform(0.5, 1.5, (width, friction.shape[1]))
    system = MotionSystem.of_cases(family, parameters, single.instant.groups, values, (0.0, 0.0, -9.81))
    layout = system.layout
    state = np.zeros((layout.size, width))
    state[:3] = np.array(robot.mechanism.platform.home.position)[:, None]
    state[3], state[layout.at["qd"]] = 1.0, random.normal(size=(layout.free, width))
    modes = JointModes.of(np.zeros((layout.joints, width)), np.ones((layout.joints, width)))
    acting = random.normal(size=(layout.actuators + 6, width))
    found = system.rates(state, modes, acting)
    assert (found.status == Status.OK).all()
    columns = np.array([6, 2, 2, 0, 1, 7, 5, 3])
    chosen, mode, push = (values.take(columns, axis=1) for values in (state, modes.both, acting))
    part = system.part(columns).rates(chosen, JointModes(mode), push)
    assert (bits(part.rate) == bits(found.rate[:, columns])).all()
    for k in range(width):
        own = MotionSystem.of_cases(
            family, parameters[k : k + 1], single.instant.groups, values[k : k + 1], (0.0, 0.0, -9.81)
        )
        one, mode, push = (np.repeat(x[:, k : k + 1], width, axis=1) for x in (state, modes.both, acting))
        alone = own.rates(one, JointModes(mode), push)
        assert (bits(alone.rate[:, 0]) == bits(found.rate[:, k])).all()
        assert (bits(alone.joints[:, 0]) == bits(found.joints[:, k])).all()


def test_what_does_not_fit_is_refused() -> None:
    robot = catalog.build("five_bar")
    options: dict[str, Any] = {"force": [0.0, 0.0], "step": 1e-3, "steps": 1}
    with pytest.raises(TypeError, match="form: got it with friction"):
        simulate(robot, **options, friction=COULOMB, form="joint")
    with pytest.raises(ValueError, match=r"load: got an array of shape \(3,\); expected \(\*batch, 6\)"):
        simulate(robot, **options, friction=COULOMB, load=[1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="expected one of time, or of time, position, rotation and twist"):
        simulate(robot, **options | {"force": lambda t, q, qd: [0.0, 0.0]}, friction=COULOMB)
    with pytest.raises(ValueError, match="load_axes: got 'limb'; expected 'world' or 'platform'"):
        simulate(robot, **options, friction=COULOMB, load_axes="limb")  # type: ignore[arg-type]
