"""A law of a user's own in forward dynamics: one row of data and one of mathematics make joints stick, and creep."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from robots.friction import laws as data
from robots.friction.laws import FORCE, SPEED, FrictionLaw
from robots.parameters import Parameter
from tasks import forward_dynamics, inverse_dynamics
from tasks.dynamics.records import Forces
from tasks.dynamics.simulate import simulate, simulate_adaptive
from tasks.features.friction import laws
from tasks.features.friction.block_test import draw_block
from tasks.features.friction.history import along
from tasks.features.friction.sliding import Directed, Parts, Sliding
from tasks.mathematics.algebra import Scalar, exp, where
from tests.tasks.sliders import block

COULOMB, STATIC = (Parameter(name, FORCE, 0.0, 0.0, math.inf, name) for name in ("coulomb", "static"))
TURN = Parameter("bend", SPEED, 0.01, 1e-9, math.inf, "speed of half the excess")
STIFFNESS = Parameter("stiffness", "N m/rad or N/m", 1e3, 1e-9, math.inf, "of the bristles")


def falling(velocity: Scalar, directed: Directed, coulomb: Scalar, static: Scalar, bend: Scalar) -> Parts:
    """Hess and Soom 1990."""
    ratio = velocity / bend
    return directed(coulomb + (static - coulomb) / (ratio * ratio + 1.0)), 0.0


def bent(z: Scalar, velocity: Scalar, load: Scalar, *, stiffness: Scalar, coulomb: Scalar) -> Scalar:
    """Force of bristles."""
    return stiffness * z


def bending(z: Scalar, velocity: Scalar, load: Scalar, *, stiffness: Scalar, coulomb: Scalar) -> Scalar:
    """Dahl 1968: z' = v - stiffness |v| / (load coulomb) z."""
    return velocity - stiffness * abs(velocity) / (load * coulomb) * z


def bent_after(
    z: Scalar, before: Sliding, after: Sliding, step: Scalar, *, stiffness: Scalar, coulomb: Scalar
) -> Scalar:
    """The same equation solved over a step of constant velocity and load."""
    way, most = (before.velocity + after.velocity) * 0.5 * step, after.load * coulomb / stiffness
    steady = where(way < 0.0, -most, most)
    return steady + (z - steady) * exp(-abs(way) / most)


ROWS = {
    "falling": (
        FrictionLaw("falling", (COULOMB, STATIC, TURN), "falls", "Hess and Soom 1990", sticks=True),
        laws.curve(falling),
    ),
    "dahl": (
        FrictionLaw("dahl", (STIFFNESS, COULOMB), "creeps", "Dahl 1968", state=1),
        laws.Law(bent, advance=bent_after, rate=bending),
    ),
}


@pytest.fixture(autouse=True)
def own_laws(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, (row, mathematics) in ROWS.items():
        monkeypatch.setitem(data.LAWS, name, row)
        monkeypatch.setitem(laws.LAWS, name, mathematics)
        if not row.state:
            monkeypatch.setitem(data.CURVES, name, row)


DRY = {"law": "falling", "coulomb": 1.0, "static": 2.0, "bend": 0.1}
BRISTLES: dict[str, Any] = {"law": "dahl", "stiffness": 400.0, "coulomb": 2.0}


@pytest.mark.parametrize("share", [0.999, -0.999])
def test_a_joint_at_rest_stays_there_below_static_friction(share: float) -> None:
    held = simulate(block(), q=[0.3], force=[2.0 * share], friction=DRY, step=1e-2, steps=20)
    np.testing.assert_array_equal(held.q, 0.3)
    np.testing.assert_array_equal(held.qd, 0.0)
    assert held.stuck.all()
    np.testing.assert_allclose(held.friction, 2.0 * share, rtol=1e-12)
    loose = forward_dynamics(block(), q=[0.3], forces=Forces(friction=DRY, actuator=[2.0 * share * 1.01]))
    assert not loose.stuck.any()
    assert loose.acceleration[0] * share > 0.0


@pytest.mark.parametrize("simulated", [simulate, simulate_adaptive])
def test_a_joint_that_slides_comes_to_rest_and_sticks(simulated: Any) -> None:
    ends = {"step": 5e-3, "steps": 200} if simulated is simulate else {"times": np.linspace(0.0, 1.0, 11)}
    stopped = simulated(block(), q=[0.0], qd=[0.5], force=[0.0], friction=DRY, **ends)
    assert (stopped.stuck[0, 0], stopped.stuck[-1, 0]) == (False, True)
    assert stopped.qd[-1, 0] == 0.0
    # the kinetic energy is what friction has taken
    assert stopped.loss[-1, 0] == pytest.approx(0.125, rel=1e-5)


def test_the_force_of_motion_is_that_of_inverse_dynamics() -> None:
    force = inverse_dynamics(block(), q=[[0.0], [0.0]], qd=[[0.1], [-0.1]], forces=Forces(friction=DRY)).force
    np.testing.assert_allclose(force[:, 0], [1.5, -1.5], rtol=1e-15)


def test_bristles_of_a_users_own_move_as_their_equation_says() -> None:
    """A block drawn by a spring of 2 N/m, the other end at 0.1 m/s, by another integrator."""

    def spring(t: Any, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return np.asarray(2.0 * (0.1 * np.asarray(t)[..., None] - q))

    found = simulate(block(), q=[0.0], force=spring, friction=BRISTLES, step=2e-3, steps=2000, every=250)
    values = {name: value for name, value in BRISTLES.items() if name != "law"}
    exact = draw_block(mass=1.0, stiffness=2.0, pull=lambda t: 0.1 * t, times=found.time, values=values, law="dahl")
    assert not found.stuck.any()
    np.testing.assert_allclose(found.q[:, 0], exact.position, rtol=2e-4)
    np.testing.assert_allclose(found.memory[:, 0], exact.deflection, rtol=2e-4)
    assert 0.7 < found.friction[-1, 0] < 0.9  # so far it holds the spring, 0.8 N, and creeps


def test_along_a_motion_bristles_are_the_closed_form() -> None:
    """F = coulomb (1 - exp(-stiffness x / coulomb)) from relaxed bristles, Dahl 1968."""
    times = np.linspace(0.0, 1.0, 51)
    got = along("dahl", velocity=np.full(51, 0.02), times=times, values={"stiffness": 400.0, "coulomb": 2.0})
    np.testing.assert_allclose(got.force, 2.0 * (1.0 - np.exp(-400.0 * 0.02 * times / 2.0)), rtol=1e-12, atol=1e-15)
