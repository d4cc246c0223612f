"""Drives against the same robot without them, against Pinocchio's armature, and against energy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robots.drives import Drive, Spin
from robots.geometry import joined
from robots.model import Family, Mechanism
from robots.parameter_errors import ParameterError
from robots.parameters import Parameter
from robots.types import BASE
from tasks import equations_of_motion, forward_dynamics, inertia_matrix, inverse_dynamics, joint_reactions
from tasks.dynamics.inverse import actuator_positions
from tasks.dynamics.records import Forces
from tasks.kernels.expression import Graph
from tasks.mechanics import drives
from tasks.mechanics.inertia import METHODS
from tests.tasks import driven
from tests.tasks.driven import ARM2, ARM3, CURVED, LINKS, States, robot, without_drives
from tests.tasks.trees import engine, in_pinocchio

FAMILIES = [ARM2, ARM3, CURVED]
SIZE = {ARM2: 2, ARM3: 3, CURVED: 3}
STEP = 1e-6


def transmission(family: Family, q: np.ndarray) -> np.ndarray:
    """T (count, actuator, joint) by central differences of the actuators' positions."""
    columns = []
    for unit in np.eye(q.shape[1]):
        ahead, behind = (actuator_positions(robot(family), q=q + sign * STEP * unit).position for sign in (1, -1))
        columns.append((ahead - behind) / (2 * STEP))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.name)
def test_massless_drives_only_divide_the_joint_torques(family: Family) -> None:
    states = States.random(SIZE[family])
    made = inverse_dynamics(robot(family, rotor=0.0), **states.moving)
    expected = inverse_dynamics(robot(without_drives(family)), **states.moving).force
    torque = np.einsum("sdj,sd->sj", made.jacobian, made.force)
    np.testing.assert_allclose(torque, expected, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(made.jacobian, transmission(family, states.q), rtol=1e-7, atol=1e-6)
    np.testing.assert_allclose(made.velocity, np.einsum("sdj,sj->sd", made.jacobian, states.qd), rtol=1e-12)


def test_positions_of_actuators_are_the_ratios_times_those_of_joints() -> None:
    q = np.array([[0.3, -4.0, 7.0]])
    expected = [[120.0 * 0.3, 3.0 * 0.3 - 90.0 * 4.0, 110.0 * 3.0]]
    np.testing.assert_allclose(actuator_positions(robot(ARM3), q=q).position, expected, rtol=1e-14)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.name)
@pytest.mark.parametrize("coupling", [0.0, 1.0])
def test_power_of_the_motors_is_the_change_of_energy(family: Family, coupling: float) -> None:
    states, arm = States.random(SIZE[family], 4, 1), robot(family, rotor=2e-3, coupling=coupling)
    made = inverse_dynamics(arm, **states.moving)
    power = np.einsum("sd,sd->s", made.force, made.velocity)

    def energy(time: float) -> np.ndarray:
        q = states.q + time * states.qd + 0.5 * time**2 * states.qdd
        found = equations_of_motion(arm, q=q, qd=states.qd + time * states.qdd)
        return found.kinetic_energy + found.potential_energy

    step = 1e-4
    rate = (8 * (energy(step) - energy(-step)) - (energy(2 * step) - energy(-2 * step))) / (12 * step)
    np.testing.assert_allclose(power, rate, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.name)
@pytest.mark.parametrize("coupling", [0.0, 1.0])
def test_equations_of_motion_and_recursion_agree(family: Family, coupling: float) -> None:
    states, arm = States.random(SIZE[family], seed=2), robot(family, rotor=2e-3, coupling=coupling)
    form = equations_of_motion(arm, q=states.q, qd=states.qd)
    made = inverse_dynamics(arm, **states.moving)
    demand = np.einsum("sij,sj->si", form.mass, states.qdd) + np.einsum("sij,sj->si", form.coriolis, states.qd)
    np.testing.assert_allclose(
        demand + form.gravity, np.einsum("sdj,sd->sj", made.jacobian, made.force), rtol=1e-11, atol=1e-10
    )
    moved = np.einsum("sdj,sj->sd", form.jacobian, states.qdd) + np.einsum("sdj,sj->sd", form.jacobian_rate, states.qd)
    in_actuators = np.einsum("sij,sj->si", form.actuator_mass, moved) + form.actuator_gravity
    in_actuators += np.einsum("sij,sj->si", form.actuator_coriolis, made.velocity)
    np.testing.assert_allclose(in_actuators, made.force, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(
        forward_dynamics(arm, q=states.q, qd=states.qd, forces=Forces(actuator=made.force)).acceleration,
        states.qdd,
        rtol=1e-9,
        atol=1e-9,
    )


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.name)
def test_mass_less_twice_coriolis_is_skew(family: Family) -> None:
    states, arm = States.random(SIZE[family], 3, 3), robot(family, rotor=2e-3)

    def mass(time: float) -> np.ndarray:
        return inertia_matrix(arm, q=states.q + time * states.qd).matrix

    change = (mass(1e-5) - mass(-1e-5)) / 2e-5
    twice = change - 2 * equations_of_motion(arm, q=states.q, qd=states.qd).coriolis
    np.testing.assert_allclose(twice, -np.swapaxes(twice, 1, 2), atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.name)
def test_inertia_matrices_hold_the_drives(family: Family, method: str) -> None:
    states, arm = States.random(SIZE[family], 3, 4), robot(family, rotor=2e-3)
    expected = equations_of_motion(arm, q=states.q, qd=states.qd).mass
    np.testing.assert_allclose(inertia_matrix(arm, q=states.q, method=method).matrix, expected, rtol=1e-12, atol=1e-11)


def test_drives_in_the_joints_are_armatures_of_pinocchio() -> None:
    peer, gravity, ratios = engine(), (0.0, 0.0, -9.81), (50.0, 120.0, 80.0)

    def assemble(p: dict[str, float]) -> Mechanism:
        drives = tuple(
            Drive(f"m{k}", ((f"j{k}", ratio),), (Spin(p["rotor"], k - 1 if k else BASE, driven.Z),))
            for k, ratio in enumerate(ratios)
        )
        return Mechanism.chain("arm", LINKS, ("j0", "j1", "j2"), drives=drives)

    rotor, states = 3e-4, States.random(3, seed=5)
    arm = robot(Family("plain", "", "", (Parameter("rotor", "kg m^2", rotor),), assemble))
    tree = in_pinocchio(peer, LINKS, gravity)
    tree.model.rotorInertia[list(tree.slot)] = rotor
    tree.model.rotorGearRatio[list(tree.slot)] = ratios
    tree.model.armature[list(tree.slot)] = rotor * np.square(ratios)
    expected = np.array([tree.rnea(*each) for each in zip(states.q, states.qd, states.qdd, strict=True)]) / ratios
    np.testing.assert_allclose(inverse_dynamics(arm, **states.moving).force, expected, rtol=1e-11, atol=1e-12)
    masses = np.array([tree.inertia_matrix(q) for q in states.q])
    np.testing.assert_allclose(inertia_matrix(arm, q=states.q).matrix, masses, rtol=1e-11, atol=1e-12)


def test_a_rotor_is_a_body_that_spins() -> None:
    """With full coupling, a wheel is the same as a link of its own, carried by the same link, turned by the drive."""
    states, tilted, ratio, inertia = States.random(2, seed=6), (0.0, 0.0, 1.0), 7.0, 0.05
    wheel = replace(
        LINKS[2],
        joint="w",
        parent=1,
        axis=tilted,
        inertia=replace(LINKS[2].inertia, centre=(0.0, 0.0, 0.0), tensor=((0.04, 0, 0), (0, 0.04, 0), (0, 0, inertia))),
    )

    def with_link(p: dict[str, float]) -> Mechanism:
        return Mechanism.chain("arm", (*LINKS[:2], wheel), ("j0", "j1", "w"))

    def with_spin(p: dict[str, float]) -> Mechanism:
        body = replace(wheel.inertia, centre=wheel.placement.position)
        carrier = replace(LINKS[1], inertia=joined(LINKS[1].inertia, body))
        spin = Spin(inertia, 1, tilted, 1.0, 1.0)
        drives = (Drive("m0", (("j0", 1.0),)), Drive("m1", (("j1", 1.0), ("j0", ratio)), (spin,)))
        return Mechanism.chain("arm", (LINKS[0], carrier), ("j0", "j1"), drives=drives)

    q, qd, qdd = states.q, states.qd, states.qdd
    turned = [np.column_stack([x, x[:, 1] + ratio * x[:, 0]]) for x in (q, qd, qdd)]
    moved = dict(zip(("q", "qd", "qdd"), turned, strict=True))
    chain = robot(Family("body", "", "", (driven.ROTOR,), with_link))
    bodies = inverse_dynamics(chain, **moved).force
    spins = robot(Family("spin", "", "", (driven.ROTOR,), with_spin))
    made = inverse_dynamics(spins, **states.moving)
    forces = np.einsum("sdj,sd->sj", made.jacobian, made.force)
    expected = bodies[:, :2] + bodies[:, 2:] * [ratio, 1.0]
    np.testing.assert_allclose(forces, expected, rtol=1e-11, atol=1e-11)
    wanted = joint_reactions(chain, **moved).wrench
    np.testing.assert_allclose(
        joint_reactions(spins, **states.moving).wrench[:, 0], wanted[:, 0, :2], rtol=1e-11, atol=1e-11
    )


def axial_moments(family: Family, states: States, **values: float) -> np.ndarray:
    """Moments (count, joint) that joints pass about their own axes."""
    found = joint_reactions(robot(family, **values), **states.moving).wrench[:, 0]
    cos, sin = np.cos(states.q[:, 0]), np.sin(states.q[:, 0])
    pitch = np.stack([-sin, cos, np.zeros_like(cos)], axis=-1)
    yaw = np.broadcast_to(driven.Z, pitch.shape)
    return np.stack([np.einsum("sk,sk->s", found[:, k, :3], (yaw, pitch, pitch)[k]) for k in range(3)], axis=-1)


def test_reactions_are_those_of_the_bodies_where_rotors_do_not_couple() -> None:
    """Beside a joint that motors on other links drive, all that crosses counts: the links' motion takes it."""
    states = States.random(3, seed=7)
    bodies = inverse_dynamics(robot(without_drives(ARM3)), **states.moving).force
    found = axial_moments(ARM3, states, rotor=2e-3, coupling=0.0)
    np.testing.assert_allclose(found, bodies, rtol=1e-11, atol=1e-11)


def test_reactions_pass_on_the_moments_of_rotors_on_links() -> None:
    """About its axis a joint passes T^T (u - what spins up the rotors): the drives' trains, and nothing else."""
    states, rotor = States.random(3, seed=8), 2e-3
    arm = robot(ARM3, rotor=rotor)
    made, acceleration = inverse_dynamics(arm, **states.moving), states.qdd
    motor = np.einsum("sdj,sj->sd", made.jacobian, acceleration)
    (cos, sin), (w0, w1) = (np.cos(states.q[:, 1]), np.sin(states.q[:, 1])), states.qd[:, :2].T
    on_1 = np.stack([-sin * acceleration[:, 0] - cos * w0 * w1, acceleration[:, 1], 0 * w0], axis=-1)  # alpha of link 1
    on_0 = np.stack([0 * w0, 0 * w0, acceleration[:, 0]], axis=-1)
    spun = np.zeros_like(motor)
    for k, alpha, axis, share, times in (
        (0, 0 * on_0, driven.Z, 1.0, 1.0),
        (1, on_0, (0.6, 0.0, 0.8), 1.0, 1.0),
        (1, on_0, driven.Y, 0.1, 5.0),
        (2, on_0, driven.Y, 1.0, 1.0),
        (2, on_1, driven.X, 0.3, 2.0),
    ):
        spun[:, k] += rotor * times * share * (share * motor[:, k] + alpha @ np.array(axis))
    expected = np.einsum("sdj,sd->sj", made.jacobian, made.force - spun)
    np.testing.assert_allclose(axial_moments(ARM3, states, rotor=rotor), expected, rtol=1e-10, atol=1e-10)


def test_friction_of_motors_acts_on_their_side_and_that_of_joints_through_the_ratios() -> None:
    states, arm = States.random(3, seed=10), robot(ARM3)
    made = inverse_dynamics(arm, **states.moving)
    viscous = {"law": "coulomb_viscous", "coulomb": 0.0}
    on_motors = inverse_dynamics(arm, forces=Forces(friction=viscous | {"viscous": 2e-3}), **states.moving).force
    np.testing.assert_allclose(on_motors, made.force + 2e-3 * made.velocity, rtol=1e-12)
    passive = viscous | {"viscous": 5.0, "joints": ["j1"]}
    on_joint = inverse_dynamics(arm, forces=Forces(friction=passive), **states.moving).force
    torque = np.zeros_like(states.q)
    torque[:, 1] = 5.0 * states.qd[:, 1]
    more = np.linalg.solve(np.swapaxes(made.jacobian, 1, 2), torque[..., None])[..., 0]
    np.testing.assert_allclose(on_joint, made.force + more, rtol=1e-11)


def test_bearings_of_motors_carry_nothing_that_is_known() -> None:
    states = States.random(3)
    friction = {"law": "coulomb_viscous", "load": "reaction"}
    with pytest.raises(ParameterError, match=r"load: got reaction for 'actuated', which has motors among it; expected"):
        inverse_dynamics(robot(ARM3), forces=Forces(friction=friction), **states.moving)


def test_a_constant_position_beside_traced_ones_is_refused() -> None:
    limb = CURVED.reference.limbs[0]
    node = Graph().node("sample", data=("q", 0))
    with pytest.raises(ValueError, match=r"drive m2 of limb arm: got joint j1 at a constant position beside traced"):
        drives.transmission(limb, lambda joint: node if joint != 1 else 0.5, [0.0] * 3)


def test_a_curved_drive_is_the_same_in_numbers_and_traced() -> None:
    states, limb = States.random(3, seed=11), CURVED.reference.limbs[0]
    made = inverse_dynamics(robot(CURVED), **states.moving)
    for k, (q, qd) in enumerate(zip(states.q, states.qd, strict=True)):
        found = drives.transmission(limb, lambda joint, q=q: q[joint], list(qd))
        np.testing.assert_allclose(np.array(found.rows(np.eye(3)), dtype=float), made.jacobian[k], rtol=1e-14)
        assert drives.positions(limb, lambda joint, q=q: q[joint]) == pytest.approx(
            list(actuator_positions(robot(CURVED), q=q).position), rel=1e-14
        )
