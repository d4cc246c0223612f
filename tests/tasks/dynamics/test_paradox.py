"""Friction without a motion, or with several: the sliders of Painleve and Klein, against an enumeration of modes.

Two blocks slide along parallel guides and are held together by a rod without mass, which stands across at a slope; the
first has friction. Whatever pushes, both have the acceleration a, and the rod presses the first block onto its guide by
N = tan (m2 g - m2 a), so that friction makes a part of its load itself. Source: Klein 1910, Zu Painleves Kritik der
Coulombschen Reibungsgesetze.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from benchmarks import regions
from robots import catalog, geometry
from robots.model import Closure, Family, Frame, Link, Mechanism, Robot
from robots.parameters import Parameter
from robots.status import Status
from robots.types import BASE
from tasks import forward_dynamics, inverse_dynamics
from tasks.dynamics.records import Forces
from tasks.dynamics.simulate import simulate

FIRST, SECOND, SLOPE = 1.0, 2.0, 2.0
"""Masses [kg], and the tangent of the slope of the rod."""

FACTOR = SLOPE * SECOND / (FIRST + SECOND)
"""Of a coefficient: the load that unit load makes by its friction."""

PULL = 1.3
"""Gravity along the guides [m/s^2]."""


def _assemble(p: Mapping[str, Any]) -> Mechanism:
    across = ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0))
    end = (p["along"], 0.0, -1.0)
    links = (
        Link("slide", "upper", BASE, "prismatic", (1.0, 0.0, 0.0), Frame(), geometry.point(FIRST)),
        Link("pin", "rod", 0, "revolute", (0.0, 1.0, 0.0), Frame(), geometry.point(0.0)),
        Link("guide", "lower", BASE, "prismatic", (1.0, 0.0, 0.0), Frame(position=end), geometry.point(SECOND)),
    )
    loops = (Closure("end", "revolute", 1, Frame(across, end), 2, Frame(across)),)
    return Mechanism.chain("sliders", links, ("slide",), loops)


ALONG = Parameter("along", "m", 1.0 / SLOPE, 1e-3, 10.0)
SLIDERS = Robot.of(Family("sliders", "sliders of Painleve and Klein", "Klein 1910", (ALONG,), _assemble), {})


def moving(push: float, side: float, coefficient: float) -> set[float]:
    """Accelerations that fit friction of motion to a side: the load pulls or presses, one linear equation each."""
    result = set()
    for presses in (1.0, -1.0):
        share = coefficient * presses * side * SLOPE * SECOND
        a = (push + (FIRST + SECOND) * PULL - share * PULL) / (FIRST + SECOND - share)
        if presses * (PULL - a) >= 0.0:
            result.add(round(a, 9))
    return result


def motions(push: float, speed: float, coefficient: float) -> set[float]:
    """Accelerations that fit the law. Of a block that is to begin to slide, those of the motion that has begun."""
    if speed != 0.0:
        return moving(push, np.sign(speed), coefficient)
    force = push + (FIRST + SECOND) * PULL
    result = {side * a for side in (1.0, -1.0) for a in (side * b for b in moving(push, side, coefficient)) if a > 0.0}
    if abs(force) <= coefficient * SLOPE * SECOND * PULL:
        result.add(0.0)
    if len(result) == 1 and 0.0 not in result:
        result = moving(push, np.sign(next(iter(result))), coefficient)
    return result


def states(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Pushes and speeds (state, 1), a third of them at rest."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(count, 1)) * 3.0, rng.choice([-1.0, 0.0, 1.0], (count, 1))


@pytest.mark.parametrize("factor", [0.3, 0.8, 1.3, 2.5, 7.0])
def test_there_are_as_many_motions_as_by_enumeration_of_modes(factor: float) -> None:
    coefficient, (push, speed) = factor / FACTOR, states(200)
    law = {"law": "coulomb_viscous", "coulomb": coefficient, "load": "reaction", "joints": ["slide"]}
    found = forward_dynamics(
        SLIDERS, q=np.zeros_like(push), qd=speed, gravity=(PULL, 0.0, 0.0), forces=Forces(friction=law, actuator=push)
    )
    seen = set()
    for k, status in enumerate(found.status):
        expected = motions(push[k, 0], speed[k, 0], coefficient)
        count = len(expected)
        seen.add(count)
        if len(expected) == 1:
            assert status == Status.OK
            np.testing.assert_allclose(found.acceleration[k, 0], expected.pop(), rtol=1e-7, atol=1e-7)
        else:
            assert status == (Status.FRICTION_SEVERAL_SOLUTIONS if expected else Status.FRICTION_NO_SOLUTION)
            assert np.isnan(found.acceleration[k]).all()
        still = speed[k, 0] == 0.0 and count > 2  # those that begin to slide are told of, not found
        assert found.motions[k] == (2 if still else count)
    assert seen == ({1} if factor < 1.0 else {0, 1, 2, 3} if factor < 5.0 else seen)
    assert len(seen) > 1 or factor < 1.0


def test_close_to_the_critical_coefficient_all_is_decided() -> None:
    """Check near the critical coefficient, where repeated rounds hardly converge and Newton's method does."""
    push, speed = states(80)
    for factor in (0.99, 1.01):
        law = {"law": "coulomb_viscous", "coulomb": factor / FACTOR, "load": "reaction", "joints": ["slide"]}
        found = forward_dynamics(
            SLIDERS,
            q=np.zeros_like(push),
            qd=speed,
            gravity=(PULL, 0.0, 0.0),
            forces=Forces(friction=law, actuator=push),
        )
        for k, status in enumerate(found.status):
            expected = motions(push[k, 0], speed[k, 0], factor / FACTOR)
            if len(expected) == 1:
                assert status == Status.OK
                np.testing.assert_allclose(found.acceleration[k, 0], expected.pop(), rtol=1e-6, atol=1e-6)
            else:
                assert status == (Status.FRICTION_SEVERAL_SOLUTIONS if expected else Status.FRICTION_NO_SOLUTION)


def test_a_simulation_ends_with_that_status() -> None:
    """Check a block that has two motions if it is pushed along, and none if it is pushed back."""
    law = {"law": "coulomb_viscous", "coulomb": 1.3 / FACTOR, "load": "reaction", "joints": ["slide"]}
    run: dict[str, Any] = {"friction": law, "gravity": (PULL, 0.0, 0.0), "step": 1e-3, "steps": 5}
    found = simulate(SLIDERS, q=[[0.0], [0.0]], qd=[[1.0], [1.0]], force=[[3.0], [-3.0]], **run)
    assert found.status.tolist() == [Status.FRICTION_SEVERAL_SOLUTIONS, Status.FRICTION_NO_SOLUTION]


def test_forces_of_inverse_dynamics_have_a_motion() -> None:
    """Check rails of a linear Delta at coefficients without bounded loads: each state has one motion or more."""
    robot = catalog.build("linear_delta")
    states: Any = regions.states(robot, 6)
    states.pop("rotation", None)
    still = {name: value for name, value in states.items() if name != "acceleration"}
    for coefficient in (0.3, 0.5):
        friction = {"law": "coulomb_viscous", "coulomb": coefficient, "load": "reaction", "joints": "all"}
        done = inverse_dynamics(robot, gravity=(0.0, 0.0, -9.81), forces=Forces(friction=friction), **states)
        assert (done.status == Status.OK).all()
        acting = Forces(friction=friction, actuator=done.force)
        found = forward_dynamics(robot, gravity=(0.0, 0.0, -9.81), forces=acting, **still)
        assert {*found.status} <= {Status.OK, Status.FRICTION_SEVERAL_SOLUTIONS}
        alike = np.isclose(found.acceleration, states["acceleration"], rtol=1e-7, atol=1e-7).all(axis=1)
        assert alike[found.status == Status.OK].all()
