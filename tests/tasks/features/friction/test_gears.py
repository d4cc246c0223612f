"""Gears that lose a share of the power: by hand, inverse against forward problem, at rest, over time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robots import catalog
from robots.parameter_errors import ParameterError
from robots.status import Status
from tasks import forward_dynamics, inverse_dynamics, regressor
from tasks.dynamics.records import Forces, Motion, State
from tasks.dynamics.simulate import simulate
from tests.arguments import in_records
from tests.tasks.bits import bits
from tests.tasks.sliders import DOWN, arm, block

GEAR = {"law": "coulomb_viscous", "coulomb": 0.2, "viscous": 0.1, "load": "gear", "efficiency": 0.8}
WEIGHT = 9.8
LIFT: dict[str, Any] = {"q": [0.0], "gravity": (-WEIGHT, 0.0, 0.0)}


def moving(count: int = 40) -> dict[str, np.ndarray]:
    random = np.random.default_rng(1)
    return {name: random.normal(size=(count, 3)) for name in ("q", "qd", "qdd")}


def test_what_the_motor_needs() -> None:
    """1 / efficiency of what goes on where it drives, efficiency of it where it is driven; then its own friction."""
    at = moving()
    net = inverse_dynamics(arm(), **at, gravity=DOWN).force
    found = inverse_dynamics(arm(), gravity=DOWN, forces=Forces(friction=GEAR), **at).force
    drives = net * at["qd"] > 0.0
    assert 0.2 < drives.mean() < 0.8
    wanted = np.where(drives, net / 0.8, net * 0.8) + 0.2 * np.sign(at["qd"]) + 0.1 * at["qd"]
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_a_gear_that_loses_nothing_is_none() -> None:
    at = moving()
    law = {name: value for name, value in GEAR.items() if name not in ("load", "efficiency")}
    plain, geared = (
        inverse_dynamics(arm(), forces=Forces(friction=x), **at).force for x in (law, {**GEAR, "efficiency": 1.0})
    )
    assert (bits(plain) == bits(geared)).all()
    found = forward_dynamics(
        arm(), q=at["q"], qd=at["qd"], forces=Forces(friction={**GEAR, "efficiency": 1.0}, actuator=plain)
    )
    np.testing.assert_allclose(found.acceleration, at["qdd"], rtol=0, atol=1e-9)


def test_forward_dynamics_is_the_inverse() -> None:
    at = moving()
    force = inverse_dynamics(arm(), gravity=DOWN, forces=Forces(friction=GEAR), **at).force
    found = forward_dynamics(arm(), q=at["q"], qd=at["qd"], gravity=DOWN, forces=Forces(friction=GEAR, actuator=force))
    assert (found.status == Status.OK).all()
    np.testing.assert_allclose(found.acceleration, at["qdd"], rtol=0, atol=1e-10 * np.abs(at["qdd"]).max())


def test_the_same_of_a_parallel_robot() -> None:
    robot, random = catalog.build("five_bar"), np.random.default_rng(2)
    position = np.array(robot.mechanism.platform.home.position)
    twist, wanted = np.zeros((2, 6, 6))
    twist[:, [3, 5]], wanted[:, [3, 5]] = random.normal(size=(2, 6, 2))
    made = inverse_dynamics(
        robot, Motion(position=position, twist=twist, acceleration=wanted), forces=Forces(friction=GEAR)
    )
    found = forward_dynamics(robot, State(position=position, twist=twist), Forces(actuator=made.force, friction=GEAR))
    assert (found.status == Status.OK).all()
    np.testing.assert_allclose(found.acceleration, wanted, rtol=0, atol=1e-10)


def test_what_a_gear_holds_at_rest() -> None:
    """A weight W goes up from (W / e + c) on, and down from (W e - c) on; between, the gear and the motor hold it."""
    up, down = WEIGHT / 0.8 + 0.2, WEIGHT * 0.8 - 0.2
    force = np.array([[down - 0.01], [down + 0.01], [WEIGHT], [up - 0.01], [up + 0.01]])
    found = forward_dynamics(block(), forces=Forces(friction=GEAR, actuator=force), **LIFT)
    assert (found.status == Status.OK).all()
    assert found.stuck[:, 0].tolist() == [False, True, True, True, False]
    np.testing.assert_allclose(
        found.acceleration[:, 0], [-0.01 / 0.8, 0.0, 0.0, 0.0, 0.01 * 0.8], rtol=1e-9, atol=1e-15
    )


def test_stiction_behind_a_gear_is_dry_friction_where_all_its_magnitudes_are_one() -> None:
    """In motion and at rest, at an instant and over time through rest; memory makes no difference then."""
    alike = {"coulomb": 0.2, "kinetic": 0.2, "static": 0.2, "viscous": 0.1, "load": "gear", "efficiency": 0.8}
    stiction, at, random = {"law": "stiction", **alike}, moving(), np.random.default_rng(3)
    state = {"q": at["q"], "qd": at["qd"] * random.choice([0.0, 1.0], (40, 3)), "force": random.normal(size=(40, 3))}
    remembered = random.integers(0, 2, (40, 3)).astype(float)
    plain = forward_dynamics(arm(), **in_records(friction=GEAR, **state))
    found = forward_dynamics(arm(), **in_records(memory=remembered, friction=stiction, **state))
    assert plain.stuck.any()
    for one, other in zip(plain, found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12)
    run: dict[str, Any] = {**LIFT, "qd": [1.0], "force": lambda t: [WEIGHT * (1.0 + max(0.0, t - 0.5))], "step": 2e-3}
    ways = [simulate(block(), **run, steps=500, every=50, friction=law) for law in (GEAR, stiction)]
    assert ways[0].stuck[:, 0].tolist() == [False] * 5 + [True] * 3 + [False] * 3
    np.testing.assert_allclose(ways[1].q, ways[0].q, rtol=0, atol=1e-12)


def test_what_a_gear_loses() -> None:
    """Check that the loss is a share of the work of the motor in lifting, and of the weight in braking."""
    law = {"law": "none", "load": "gear", "efficiency": 0.8}
    lifts = simulate(block(), **LIFT, qd=[1.0], force=[WEIGHT / 0.8], friction=law, step=1e-2, steps=50, every=50)
    np.testing.assert_allclose(lifts.qd[-1], 1.0, rtol=1e-12)
    np.testing.assert_allclose(lifts.loss[-1], 0.2 * lifts.work[-1], rtol=1e-12)
    brakes = simulate(block(), **LIFT, qd=[-1.0], force=[WEIGHT * 0.8], friction=law, step=1e-2, steps=50, every=50)
    np.testing.assert_allclose(brakes.qd[-1], -1.0, rtol=1e-12)
    np.testing.assert_allclose(brakes.loss[-1], 0.2 * WEIGHT * 0.5, rtol=1e-12)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ParameterError, match="which has passive joints among it; expected actuators alone"):
        inverse_dynamics(
            catalog.build("five_bar"), position=[0.0, 0.0, -0.6], forces=Forces(friction={**GEAR, "joints": "all"})
        )
    with pytest.raises(ParameterError, match="got gear with a width"):
        inverse_dynamics(arm(), q=[0.0] * 3, forces=Forces(friction={**GEAR, "width": 0.1}))
    with pytest.raises(ParameterError, match="got gear with law lugre, whose bristles give way"):
        simulate(arm(), q=[0.0] * 3, force=[0.0] * 3, step=1e-3, steps=1, friction={"law": "lugre", "load": "gear"})
    with pytest.raises(ParameterError, match="efficiency"):
        inverse_dynamics(arm(), q=[0.0] * 3, forces=Forces(friction={**GEAR, "efficiency": 1.2}))
    with pytest.raises(ValueError, match="identification got gear"):
        regressor(arm(), forces=Forces(friction=GEAR), **moving(2))
