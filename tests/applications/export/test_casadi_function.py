"""Equations as functions of CasADi against the functions on arrays, and their derivatives against matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tasks
from applications.export.code.casadi_function import casadi_function
from benchmarks import regions
from robots import catalog
from robots.status import Status
from tasks.dynamics.differentiate import differentiate
from tasks.dynamics.inverse import actuator_positions
from tasks.dynamics.records import Environment, Forces
from tests.applications.export.test_c_source import FRICTION, columns

pytest.importorskip("casadi", reason="CasADi is missing")


def test_a_tree_with_the_derivatives_of_its_torques() -> None:
    import casadi

    robot = catalog.build("five_axis_tree")
    states: Any = regions.states(robot, 2)
    torque, accelerated = (casadi_function(robot, name) for name in ("inverse_dynamics", "forward_dynamics"))
    symbols = [casadi.SX.sym(name, 5) for name in ("q", "qd", "qdd")]
    by_acceleration = casadi.Function("slope", symbols, [casadi.jacobian(torque(*symbols)[0], symbols[2])])
    expected = tasks.inverse_dynamics(robot, **states).force
    for k in range(2):
        motion = columns(robot, states, k)
        force, status = torque(*motion)
        assert status == 0
        np.testing.assert_allclose(force.full().ravel(), expected[k], rtol=1e-11)
        inertia = tasks.inertia_matrix(robot, q=states["q"][k]).matrix
        np.testing.assert_allclose(by_acceleration(*motion).full(), inertia, rtol=0, atol=1e-12 * np.abs(inertia).max())
        change, _ = accelerated(*motion[:2], expected[k])
        np.testing.assert_allclose(change.full().ravel(), states["qdd"][k], rtol=1e-9)
    force, status = torque(states["q"][0], states["qd"][0], [np.nan, 0.0, 0.0, 0.0, 0.0])
    assert int(status) == Status.NONFINITE
    assert np.isnan(force.full()).all()


def test_a_platform_on_loops_with_the_derivatives_of_its_angles() -> None:
    robot = catalog.build("five_bar")
    states: Any = regions.states(robot, 2)
    angles = casadi_function(robot, "inverse_kinematics")
    torque = casadi_function(robot, "inverse_dynamics", friction=FRICTION)
    slope, mass = angles.jacobian(), casadi_function(robot, "inertia_matrix")
    form = tasks.equations_of_motion(robot, **states)
    expected = tasks.inverse_dynamics(robot, forces=Forces(friction=FRICTION), **states).force
    for k in range(2):
        motion = columns(robot, states, k)
        position, _, jacobian, status = angles(*motion[:2])
        assert status == 0
        pose = actuator_positions(robot, position=states["position"][k]).position
        np.testing.assert_allclose(position.full().ravel(), pose, rtol=0, atol=1e-12)
        np.testing.assert_allclose(jacobian.full(), form.jacobian[k], rtol=1e-10)
        moved = slope(*motion[:2], position, 0, jacobian, status)[0].full()[:, [0, 2]]
        np.testing.assert_allclose(moved, form.jacobian[k], rtol=1e-9)
        np.testing.assert_allclose(mass(motion[0])[0].full(), form.mass[k], rtol=0, atol=1e-11)
        np.testing.assert_allclose(torque(*motion)[0].full().ravel(), expected[k], rtol=1e-9)
    force, status = torque([5.0, 0.0, -0.6], [0.0] * 3, [0.0] * 3)
    assert int(status) in (Status.NOT_REACHABLE, Status.NOT_CONVERGED)
    assert np.isnan(force.full()).all()
    few = casadi_function(robot, "inverse_kinematics", rounds=1)(*columns(robot, states, 0)[:2])
    assert float(few[-1]) != 0
    assert np.isnan(few[0].full()).all()


def test_parameters_are_arguments_with_derivatives() -> None:
    robot, names = catalog.build("five_bar"), ("proximal_length", "distal_mass", "friction[0].coulomb", "gravity_z")
    states: Any = regions.states(robot, 1)
    torque = casadi_function(robot, friction=FRICTION, parameters=names)
    numbers = np.array([0.55, 1.4, 0.25, -9.0])
    other = catalog.build("five_bar", proximal_length=0.55, distal_mass=1.4)
    rubbing = [{**FRICTION[0], "coulomb": 0.25}, FRICTION[1]]
    fixed = casadi_function(other, friction=rubbing, gravity=(0.0, 0.0, -9.0))
    motion = columns(robot, states, 0)
    np.testing.assert_allclose(torque(*motion, numbers)[0].full(), fixed(*motion)[0].full(), rtol=1e-12)
    slopes = torque.jacobian()(*motion, numbers, *torque(*motion, numbers))[3].full()
    at = differentiate(
        tasks.inverse_dynamics, other, **{name: x[0] for name, x in states.items()},
        forces=Forces(friction=rubbing), environment=Environment(gravity=(0.0, 0.0, -9.0)),
        parameters={"proximal_length": 0.55, "distal_mass": 1.4},
    )  # fmt: skip
    directions: list[Any] = [*({name: 1.0} for name in names[:3]), {"gravity": [0.0, 0.0, 1.0]}]
    for k, rates in enumerate(directions):
        np.testing.assert_allclose(slopes[:, k], at.jvp(rates)["force"], rtol=1e-9, atol=1e-9)


def test_what_is_no_function_of_casadi_is_refused() -> None:
    robot = catalog.build("five_bar")
    rubbing = {"law": "coulomb_viscous", "joints": "passive", "load": "reaction", "coulomb": 0.1}
    with pytest.raises(ValueError, match="not Newton's, as of friction with reactions"):
        casadi_function(robot, friction=rubbing)
    with pytest.raises(ValueError, match="rounds: got 0"):
        casadi_function(robot, rounds=0)
    with pytest.raises(ValueError, match="parameters: got 'lenght' for inverse_dynamics; expected parameters of"):
        casadi_function(robot, parameters=["lenght"])
    with pytest.raises(ValueError, match="parameters: got 'distal_mass' twice"):
        casadi_function(robot, parameters=["distal_mass", "distal_mass"])
    with pytest.raises(ValueError, match="functions: got 'bias'"):
        casadi_function(robot, "bias")
