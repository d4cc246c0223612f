"""Overconstrained linkages: Bricard's and Bennett's by their closed forms, Sarrus' by symmetry."""

from __future__ import annotations

import numpy as np
import pytest

from robots.status import Status
from tasks import inverse_dynamics, inverse_kinematics, joint_reactions
from tasks.checks.newton_euler_system import joint_reactions_reference
from tasks.dynamics.simulate import simulate
from tests.reference import bricard
from tests.tasks import linkages
from tests.tasks.mechanics.test_closed_chains import bennett


@pytest.mark.parametrize(("driven", "cut", "end"), [("j1", 5, 3.66), ("j2", 3, 0.5 * np.pi)])
def test_bricard_by_its_closed_form(driven: str, cut: int, end: float) -> None:
    """No choice of rows serves both sides of a right angle, half of the motion: every row is kept.

    Joint 2 turns back where joint 1 is at a right angle.
    """
    robot = linkages.bricard(driven, cut)
    first, slope = bricard.angles(np.linspace(-0.52, end, 40))
    first[cut + 1 :] *= -1.0  # of joints that are reached the other way round
    slope[cut + 1 :] *= -1.0
    k = int(driven[1]) - 1
    names = [int(name[1]) - 1 for name in robot.mechanism.limbs[0].joints]
    found = inverse_kinematics(robot, q=first[k][:, None], qd=slope[k][:, None])
    there = np.abs(slope[k]) > 0.05  # else joint `driven` is near an end of its range
    assert (found.status[there] == Status.OK).all()
    assert there.sum() > 30
    apart = np.angle(np.exp(1j * (found.position[:, 0] - first[names].T)))
    np.testing.assert_allclose(apart[there], 0.0, atol=1e-9)
    np.testing.assert_allclose(found.velocity[there, 0], slope[names].T[there], rtol=1e-7, atol=1e-9)


def test_bricard_beyond_its_range_is_not_reachable() -> None:
    found = inverse_kinematics(linkages.bricard(), q=[[-0.53], [-0.8], [-1.2]])
    assert (found.status == Status.NOT_REACHABLE).all()


def test_forces_and_reactions_of_bricard_by_the_newton_euler_system() -> None:
    robot, rng = linkages.bricard(), np.random.default_rng(3)
    states = {"q": rng.uniform(-0.5, 3.6, (24, 1)), "qd": rng.normal(size=(24, 1)), "qdd": rng.normal(size=(24, 1))}
    gravity = (1.0, -9.0, 3.0)
    done = inverse_dynamics(robot, gravity=gravity, **states)
    assert (done.status == Status.OK).all()
    expected = joint_reactions_reference(robot, **states, gravity=gravity, method="least_norm")
    scale = np.abs(expected.wrench).max(axis=(1, 2, 3))
    assert (np.abs(done.force - expected.actuator_force).max(axis=1) <= 1e-11 * scale).all()
    found = joint_reactions(robot, **states, gravity=gravity).wrench
    assert (np.abs(found - expected.wrench).max(axis=(1, 2, 3)) <= 1e-11 * scale).all()


@pytest.mark.slow
def test_bricard_swings_as_its_closed_form_does() -> None:
    """Ten seconds from rest, through the right angle at which chosen rows lose rank."""
    robot, body = linkages.bricard(), linkages.BODY
    steps = 4000
    found = simulate(robot, force=[0.0], q=[0.0], step=10.0 / steps, steps=steps, every=100, gravity=(0.0, 0.0, -9.81))
    inertia = np.array(body.tensor, dtype=float)
    corners, axes = np.array(linkages.CUBE, dtype=float), np.array(linkages.CUBE_AXES, dtype=float)
    expected = bricard.motion(found.time, corners, axes, np.array(body.centre), (body.mass, inertia))
    assert found.status == Status.OK
    assert np.ptp(expected) > 3.0
    np.testing.assert_allclose(found.q[:, 0], expected, rtol=0, atol=1e-6)


def test_bennett_turns_fully_by_its_closed_form() -> None:
    """tan(a / 2) tan(b / 2) is constant, of angles of joints that are neighbours. Source: Bennett 1903."""
    turns = np.linspace(-3.1, 3.1, 32)
    found = inverse_kinematics(bennett(), q=turns[:, None])
    assert (found.status == Status.OK).all()
    alpha, beta = np.deg2rad(40.0), np.arcsin(0.5 * np.sin(np.deg2rad(40.0)) / 0.4)
    constant = np.sin(0.5 * (alpha + beta)) / np.sin(0.5 * (beta - alpha))
    first, second = 0.5 * (1.2 + turns), 0.5 * found.position[:, 0, 1]
    home = 2.0 * np.arctan(constant / np.tan(0.6))
    for sign in (1.0, -1.0):
        product = np.tan(first) * np.tan(second + 0.5 * sign * home)
        if abs(product[15] - sign * constant) < 0.1 * abs(constant):
            np.testing.assert_allclose(product, sign * constant, rtol=1e-9)
            return
    pytest.fail(f"tan(a / 2) tan(b / 2) is not constant: {product}")


def test_sarrus_goes_up_straight() -> None:
    """Of two pairs of equal links, hinges at both ends turn as far as the drive, those in the middle twice."""
    points = ((1, 0, 0), (1.3, 0, 0.5), (1, 0, 1), (0, 1, 1), (0, 1.3, 0.5), (0, 1, 0))
    robot = linkages.loop("sarrus", points, [(0, 1, 0)] * 3 + [(1, 0, 0)] * 3)
    turn = np.linspace(-0.5, 0.9, 15)
    found = inverse_kinematics(robot, q=turn[:, None])
    assert (found.status == Status.OK).all()
    expected = np.abs(turn)[:, None] * np.array((1.0, 2.0, 1.0, 1.0, 2.0, 1.0))
    np.testing.assert_allclose(np.abs(found.position[:, 0]), expected, atol=1e-11)
