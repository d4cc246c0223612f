"""Driven arms against Lagrange's equations that sympy derives from energies alone.

Positions of centres, angular velocities from rotation matrices, spins relative to their carriers: nothing is shared
with the package but the numbers of the arm.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from robots.model import Mechanism
from tasks import inverse_dynamics
from tests.tasks.driven import ARM2, ARM3, CURVED, States, robot, skewed

sympy = pytest.importorskip("sympy", reason="no symbolic Lagrangian to compare with: sympy is missing")
GRAVITY = 9.81


def _rotation(axis: Any, angle: Any) -> Any:
    c, s = sympy.cos(angle), sympy.sin(angle)
    if tuple(axis) == (0.0, 0.0, 1.0):
        return sympy.Matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return sympy.Matrix([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def _spin(rotation: Any, q: Any, qd: Any) -> Any:
    """Angular velocity in axes of the body, from R^T R'."""
    change = sum((rotation.diff(x) * v for x, v in zip(q, qd, strict=True)), sympy.zeros(3, 3))
    omega = rotation.T * change
    return sympy.Matrix([omega[2, 1], omega[0, 2], omega[1, 0]])


def _lagrangian(mechanism: Mechanism, q: Any, qd: Any, curved: bool) -> Any:
    rotation, origin, kinetic, potential = sympy.eye(3), sympy.zeros(3, 1), 0, 0
    omegas = {-1: sympy.zeros(3, 1)}
    (limb,) = mechanism.limbs
    for k, link in enumerate(limb.links):
        origin = origin + rotation * sympy.Matrix(link.placement.position)
        rotation = rotation * _rotation(link.axis, q[k])
        omegas[k] = _spin(rotation, q, qd)
        centre = origin + rotation * sympy.Matrix(link.inertia.centre)
        velocity = centre.jacobian(q) * sympy.Matrix(qd)
        tensor = sympy.Matrix(link.inertia.tensor)
        kinetic += (link.inertia.mass * velocity.dot(velocity) + omegas[k].dot(tensor * omegas[k])) / 2
        potential += link.inertia.mass * GRAVITY * centre[2]
    names = [link.joint for link in limb.links]
    for drive in limb.drives:
        rate = sum(ratio * qd[names.index(joint)] for joint, ratio in drive.ratios)
        if curved and drive.position is not None:
            bent = 20 * sympy.sin(q[1]) + 8 * q[1] * q[2]  # as in `skewed`
            rate += sum(bent.diff(x) * v for x, v in zip(q, qd, strict=True))
        for spin in drive.spins:
            carried = sympy.Matrix(spin.axis).dot(omegas[spin.carrier])
            relative = spin.share * rate
            kinetic += spin.inertia * (relative**2 / 2 + spin.coupling * relative * carried)
    return kinetic - potential


@cache
def _forces(name: str, coupling: float) -> Any:
    """Generalised forces of the joints as a function of q, qd, qdd."""
    of = {each.name: each for each in (ARM2, ARM3, CURVED)}[name]
    mechanism = robot(of, rotor=2e-3, coupling=coupling).mechanism
    count = len(mechanism.freedoms)
    q, qd, qdd = (sympy.symbols(f"{letter}:{count}") for letter in ("q", "v", "a"))
    lagrangian = _lagrangian(mechanism, q, qd, of is CURVED)
    momenta = [lagrangian.diff(v) for v in qd]
    forces = [
        sum(p.diff(x) * v + p.diff(v) * a for x, v, a in zip(q, qd, qdd, strict=True)) - lagrangian.diff(x_own)
        for p, x_own in zip(momenta, q, strict=True)
    ]
    return sympy.lambdify((q, qd, qdd), forces, cse=True)


@pytest.mark.parametrize("of", [ARM2, ARM3, CURVED], ids=lambda f: f.name)
@pytest.mark.parametrize("coupling", [0.0, 1.0])
def test_torques_are_those_of_lagrange(of: Any, coupling: float) -> None:
    states = States.random(len(of.reference.freedoms), 6, 9)
    made = inverse_dynamics(robot(of, rotor=2e-3, coupling=coupling), gravity=(0, 0, -GRAVITY), **states.moving)
    forces = _forces(of.name, coupling)
    expected = np.array([forces(*each) for each in zip(states.q, states.qd, states.qdd, strict=True)])
    np.testing.assert_allclose(np.einsum("sdj,sd->sj", made.jacobian, made.force), expected, rtol=1e-10, atol=1e-10)


def test_the_curve_here_is_that_of_the_arm() -> None:
    at = {"j0": 0.1, "j1": 0.4, "j2": -0.3}
    assert skewed({}, at) == pytest.approx(20 * np.sin(0.4) - 8 * 0.12)
