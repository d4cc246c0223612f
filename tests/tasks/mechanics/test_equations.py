"""Equations of motion of every parallel robot: identities between them, differences, and energies of bodies."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from robots import catalog
from robots.model import Robot
from robots.status import Status
from tasks import equations_of_motion, inertia_matrix, inverse_dynamics
from tasks.dynamics import inputs
from tasks.dynamics.body_motions import BodyMotions
from tasks.dynamics.inverse import actuator_positions, body_motion
from tasks.dynamics.records import Forces
from tasks.kernels.interpreter import interpret
from tasks.kernels.program import Program, trace
from tasks.kernels.tangent import tangent
from tasks.mathematics.algebra import array
from tasks.mechanics import equations as mathematics
from tasks.mechanics import platform_motion
from tasks.mechanics.families import structure_of
from tasks.mechanics.solving import solved_limb
from tasks.mechanics.structure import limb_inputs, symbolic
from tests.catalogue import PARALLEL
from tests.tasks.regions import States, close, freedoms, states

GRAVITY = (0.5, -0.3, -9.8)
COUNT = 100
STEP = 3e-4
"""Where rounding and truncation of `differences` meet [s]."""


@pytest.fixture(params=PARALLEL)
def robot(request: pytest.FixtureRequest) -> Robot:
    return catalog.build(request.param)


# --- identities -------------------------------------------------------------------------------------------------------


def test_they_are_what_inverse_dynamics_solves(robot: Robot) -> None:
    """M V' + C V + gravity = J^T u + load, at accelerations and loads of any direction."""
    motion, free = states(robot, COUNT), freedoms(robot)
    load = 20.0 * np.random.default_rng(2).normal(size=(COUNT, 6))
    made = equations_of_motion(robot, **motion.moving, gravity=GRAVITY)
    assert (made.status == Status.OK).all()
    u = inverse_dynamics(robot, gravity=GRAVITY, forces=Forces(load=load), **motion._asdict()).force
    left = np.einsum("nij,nj->ni", made.mass, motion.acceleration[:, free])
    left += np.einsum("nij,nj->ni", made.coriolis, motion.twist[:, free]) + made.gravity
    close(left, np.einsum("nai,na->ni", made.jacobian, u) + load[:, free], 1e-9)


def test_mass_is_symmetric_and_positive(robot: Robot) -> None:
    mass = equations_of_motion(robot, **states(robot, COUNT).at_rest).mass
    close(np.swapaxes(mass, -1, -2), mass, 1e-14)
    assert (np.linalg.eigvalsh(mass) > 0.0).all()
    np.testing.assert_array_equal(mass, inertia_matrix(robot, **states(robot, COUNT).at_rest).matrix)


def mass_rate_programs(robot: Robot) -> tuple[list[Program], Program]:
    """Exact rates of the mass matrices of limbs and platform along the motion: the traced values differentiated."""
    made = structure_of(robot.family)

    def rate(mass: Any, seeds: Mapping[Any, Any]) -> dict[str, Any]:
        return {"rate": np.reshape(np.array(tangent(list(mass.ravel()), seeds), dtype=object), mass.shape)}

    def of_limb(index: int, parameters: Any, mount: Any, gravity: Any, motion: Any) -> dict[str, Any]:
        mounted, solved, pose, twist = solved_limb(made, index, parameters, mount, motion)
        share = mathematics.limb_share(mounted, solved, (pose, twist), made.speed(motion), array(gravity))
        return rate(share.mass, mathematics.state_seeds(mounted, solved) | mathematics.pose_seeds(pose, twist))

    def of_platform(parameters: Any, gravity: Any, motion: Any) -> dict[str, Any]:
        body = symbolic(made, parameters).platform
        pose, twist = platform_motion.unpack(motion, body)
        share = mathematics.platform_share(body, pose, twist, array(gravity))
        return rate(share.mass, mathematics.pose_seeds(pose, twist))

    sample = {"motion": (made.motion_size,)}
    limbs = [
        trace("limb", functools.partial(of_limb, k), case=limb_inputs(made, k), sample=sample)
        for k in range(len(made.mechanism.limbs))
    ]
    case = {"parameters": (len(robot.values),), "gravity": (3,)}
    return limbs, trace("platform", of_platform, case=case, sample=sample)


def mass_rate(robot: Robot, motion: States) -> np.ndarray:
    """Time derivative of the mass matrix (n, freedom, freedom)."""
    limbs, of_platform = mass_rate_programs(robot)
    _, packed = inputs.moving_input(robot, motion.moving)
    given = {"parameters": inputs.parameters(robot), "gravity": np.zeros((1, 3)), "motion": packed}
    width = packed.shape[-1]
    total = interpret(of_platform, given, width)["rate"]
    for each, mount in zip(robot.mechanism.instances, inputs.mounts(robot), strict=True):
        total = total + interpret(limbs[each.limb], {**given, "mount": mount}, width)["rate"]
    free = len(freedoms(robot))
    return total[0, :, : len(motion.position)].T.reshape(-1, free, free)


def test_mass_rate_less_twice_coriolis_is_skew(robot: Robot) -> None:
    motion = states(robot, COUNT)
    rate = mass_rate(robot, motion)
    skew = rate - 2.0 * equations_of_motion(robot, **motion.moving).coriolis
    error = np.abs(skew + np.swapaxes(skew, -1, -2)).max(axis=(1, 2)) / np.abs(rate).max(axis=(1, 2))
    assert error.max() < 1e-9
    assert np.abs(skew).max() > 1e-3  # not by being nothing


def differences(function: Any, motion: States) -> np.ndarray:
    """Time derivative at time zero, from four points and again at half the step: errors of sixth order."""

    def four(h: float) -> np.ndarray:
        ahead = [function(**motion.at(k * h)) for k in (-2, -1, 1, 2)]
        return np.asarray((ahead[0] - 8 * ahead[1] + 8 * ahead[2] - ahead[3]) / (12 * h))

    return (16.0 * four(STEP / 2) - four(STEP)) / 15.0


def test_exact_rates_agree_with_differences(robot: Robot) -> None:
    motion = states(robot, 40)
    made = equations_of_motion(robot, **motion.moving)
    jacobian = differences(lambda **at: equations_of_motion(robot, **at).jacobian, motion)
    close(made.jacobian_rate, jacobian, 1e-9)
    close(mass_rate(robot, motion), differences(lambda **at: equations_of_motion(robot, **at).mass, motion), 1e-9)


def test_jacobian_is_the_derivative_of_the_actuator_positions(robot: Robot) -> None:
    motion = states(robot, 40)
    made = equations_of_motion(robot, **motion.moving)
    speeds = np.einsum("nai,ni->na", made.jacobian, motion.twist[:, freedoms(robot)])
    close(speeds, differences(lambda **at: actuator_positions(robot, **at).position, motion), 1e-9)
    np.testing.assert_allclose(
        made.jacobian, inverse_dynamics(robot, **motion._asdict()).jacobian, rtol=1e-9, atol=1e-9
    )


def test_actuator_form_is_the_task_space_form_in_other_coordinates(robot: Robot) -> None:
    motion, free = states(robot, COUNT), freedoms(robot)
    made = equations_of_motion(robot, **motion.moving, gravity=GRAVITY)
    if made.jacobian.shape[-2] != made.jacobian.shape[-1]:
        for name in ("actuator_mass", "actuator_coriolis", "actuator_gravity", "forward", "forward_rate"):
            assert np.isnan(getattr(made, name)).all()
        return
    close(made.forward, np.linalg.inv(made.jacobian), 1e-9)
    close(made.forward_rate, -made.forward @ made.jacobian_rate @ made.forward, 1e-9)
    transposed = np.swapaxes(made.forward, -1, -2)
    close(made.actuator_mass, transposed @ made.mass @ made.forward, 1e-9)
    rates = np.einsum("nai,ni->na", made.jacobian, motion.twist[:, free])
    changes = np.einsum("nai,ni->na", made.jacobian, motion.acceleration[:, free])
    changes += np.einsum("nai,ni->na", made.jacobian_rate, motion.twist[:, free])
    force = np.einsum("nij,nj->ni", made.actuator_mass, changes)
    force += np.einsum("nij,nj->ni", made.actuator_coriolis, rates) + made.actuator_gravity
    close(force, inverse_dynamics(robot, **motion._asdict(), gravity=GRAVITY).force, 1e-8)


def test_actuator_form_is_skew_as_well(robot: Robot) -> None:
    """M_a' = J' M J + J M' J + J M J' with J = J_FK, by the product rule from exact rates."""
    motion = states(robot, COUNT)
    made = equations_of_motion(robot, **motion.moving)
    if np.isnan(made.forward).any():
        return
    j, turned = made.forward, np.swapaxes(made.forward, -1, -2)
    half = turned @ made.mass @ made.forward_rate
    rate = turned @ mass_rate(robot, motion) @ j + half + np.swapaxes(half, -1, -2)
    skew = rate - 2.0 * made.actuator_coriolis
    error = np.abs(skew + np.swapaxes(skew, -1, -2)).max(axis=(1, 2)) / np.abs(rate).max(axis=(1, 2))
    assert error.max() < 1e-9


# --- energies ---------------------------------------------------------------------------------------------------------


def bodies(robot: Robot, motion: States) -> list[tuple[Any, BodyMotions, Any]]:
    """Inertia, motion and the energy of the drive of every body, platform last, by recursion in plain NumPy."""
    made = body_motion(robot, **motion.moving)
    found: list[tuple[Any, BodyMotions, Any]] = []
    for k, instance in enumerate(robot.mechanism.instances):
        for i, link in enumerate(robot.mechanism.limbs[instance.limb].links):
            drive = 0.5 * link.armature * made.joints.velocity[:, k, i] ** 2
            found.append((link.inertia, made.limbs[k][i], drive))
    return [*found, (robot.mechanism.platform.inertia, made.platform, 0.0)]


def test_kinetic_energy_is_that_of_all_bodies(robot: Robot) -> None:
    motion = states(robot, COUNT)
    expected = np.zeros(COUNT)
    for inertia, body, drive in bodies(robot, motion):
        speed = body.velocity_of(body.turned(inertia.centre))
        spin = (np.swapaxes(body.rotation, -1, -2) @ body.omega[..., None])[..., 0]
        expected += 0.5 * inertia.mass * (speed**2).sum(axis=1) + drive
        expected += 0.5 * np.einsum("ni,ij,nj->n", spin, np.array(inertia.tensor, dtype=float), spin)
    np.testing.assert_allclose(equations_of_motion(robot, **motion.moving).kinetic_energy, expected, rtol=1e-10)


def test_potential_energy_is_that_of_all_bodies(robot: Robot) -> None:
    motion = states(robot, COUNT)
    expected = np.zeros(COUNT)
    for inertia, body, _ in bodies(robot, motion):
        expected -= inertia.mass * body.point(inertia.centre) @ np.array(GRAVITY)
    found = equations_of_motion(robot, **motion.moving, gravity=GRAVITY).potential_energy
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


def test_gravity_is_the_gradient_of_the_potential(robot: Robot) -> None:
    motion = states(robot, 40)
    made = equations_of_motion(robot, **motion.moving, gravity=GRAVITY)
    power = np.einsum("ni,ni->n", made.gravity, motion.twist[:, freedoms(robot)])
    found = differences(lambda **at: equations_of_motion(robot, **at, gravity=GRAVITY).potential_energy, motion)
    np.testing.assert_allclose(power, found, rtol=0, atol=1e-10 * np.abs(found).max())
    still = inverse_dynamics(robot, **motion.at_rest, gravity=GRAVITY).force
    close(np.einsum("nai,na->ni", made.jacobian, still), made.gravity, 1e-9)
