"""Lagrange's coefficients against the recursion and the equations of motion, which know nothing of 4x4 transforms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robots import catalog
from robots.geometry import diagonal, joined
from robots.model import Family, Inertia, Robot
from tasks import equations_of_motion, inverse_dynamics, lagrange_coefficients
from tests.tasks.driven import ARM2, ARM3, CURVED, States, robot

OBJECT = Inertia(2.5, (0.05, -0.02, 0.1), diagonal(0.02, 0.03, 0.04))


def force(found, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """F of Eq. (7)."""
    moved = np.einsum("...ij,...j->...i", found.inertia, qdd)
    return moved + np.einsum("...ijk,...j,...k->...i", found.velocity, qd, qd) + found.gravity


def assert_same_forces(of: Robot, states: States, **options: bool) -> None:
    made = inverse_dynamics(of, **states.moving)
    found = lagrange_coefficients(of, q=states.q, **options)
    expected = np.einsum("sdj,sd->sj", made.jacobian, made.force)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(force(found, states.qd, states.qdd) / scale, expected / scale, atol=1e-12)
    np.testing.assert_allclose(found.transmission, made.jacobian, rtol=1e-13)
    mass = equations_of_motion(of, q=states.q).mass
    np.testing.assert_allclose(found.inertia, mass, atol=1e-12 * np.abs(mass).max())


@pytest.mark.parametrize("family", [ARM2, ARM3, CURVED], ids=lambda f: f.name)
def test_full_coefficients_are_the_recursion(family: Family) -> None:
    assert_same_forces(robot(family, rotor=2e-3), States.random(len(family.reference.freedoms), seed=1))


@pytest.mark.parametrize("family", [ARM2, ARM3, CURVED], ids=lambda f: f.name)
def test_simplified_coefficients_are_the_recursion_without_coupling(family: Family) -> None:
    states = States.random(len(family.reference.freedoms), seed=2)
    assert_same_forces(robot(family, rotor=2e-3, coupling=0.0), states, simplified=True)


@pytest.mark.parametrize("name", ["planar_3r", "rover_rocker", "three_loop_leg"])
def test_chains_without_drives(name: str) -> None:
    of = catalog.build(name)
    states = States.random(len(of.mechanism.freedoms), seed=3)
    assert_same_forces(of, replace(states, q=states.q * 0.3))


def test_effective_inertia_is_what_a_motor_alone_feels() -> None:
    states, arm = States.random(3, seed=4), robot(ARM3, rotor=2e-3)
    found = lagrange_coefficients(arm, q=states.q)
    expected = equations_of_motion(arm, q=states.q).actuator_mass
    np.testing.assert_allclose(found.actuator_inertia, expected, rtol=1e-10, atol=1e-13)
    np.testing.assert_array_equal(found.effective_inertia, np.einsum("sii->si", found.actuator_inertia))


def test_high_ratios_leave_the_rotors_alone() -> None:
    """Check that the simplification omits little: it is linear in the ratio, the remainder is quadratic."""
    states, arm = States.random(3, seed=5), robot(ARM3)
    full, simple = (lagrange_coefficients(arm, q=states.q, simplified=each).inertia for each in (False, True))
    assert 0.0 < np.abs(full - simple).max() < 0.05 * np.abs(full).max()


def test_the_share_of_bodies_and_a_grasped_object() -> None:
    states, arm = States.random(3, seed=6), robot(ARM3, rotor=0.0)
    whole = lagrange_coefficients(arm, q=states.q, grasped=OBJECT)
    parts = [lagrange_coefficients(arm, q=states.q, bodies=[f"link{k}"]) for k in range(3)]
    alone = lagrange_coefficients(arm, q=states.q, bodies=[], grasped=OBJECT)
    for name in ("inertia", "velocity", "gravity"):
        total = sum(getattr(each, name) for each in (*parts, alone))
        np.testing.assert_allclose(getattr(whole, name), total, atol=1e-12)

    def heavier(p):
        mechanism = ARM3.assemble(p)
        (limb,) = mechanism.limbs
        last = replace(limb.links[2], inertia=joined(limb.links[2].inertia, OBJECT))
        return replace(mechanism, limbs=(replace(limb, links=(*limb.links[:2], last)),))

    loaded = robot(Family("loaded", "", "", ARM3.parameters, heavier), rotor=0.0)
    made = inverse_dynamics(loaded, **states.moving)
    expected = np.einsum("sdj,sd->sj", made.jacobian, made.force)
    np.testing.assert_allclose(force(whole, states.qd, states.qdd), expected, rtol=1e-12, atol=1e-11)


def test_the_arm_with_a_parallelogram() -> None:
    """Crank and coupler are the elements of a drive's train: Eqs. (15)."""
    of, rng = catalog.build("irb6"), np.random.default_rng(7)
    states = States(*(rng.normal(size=(3, 5)) * scale for scale in (0.3, 1.5, 4.0)))
    assert_same_forces(of, states)
    train = lagrange_coefficients(of, q=states.q, bodies=["crank", "coupler"])
    assert np.abs(train.inertia[:, 2, 2]).min() > 1e-3


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"robot: got five_bar, whose limbs hold a platform; expected a chain"):
        lagrange_coefficients(catalog.build("five_bar"), q=[0.0, 0.0])
    with pytest.raises(ValueError, match=r"bodies: got 'rod'; expected links of irb6; "):
        lagrange_coefficients(catalog.build("irb6"), q=np.zeros(5), bodies=["rod"])
