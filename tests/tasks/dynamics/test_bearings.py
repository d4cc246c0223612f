"""Loads of bearings against the force screw written out by hand, and refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks import regions
from robots import catalog
from robots.model import Robot
from robots.parameter_errors import ParameterError
from tasks import constraint_forces, inverse_kinematics, joint_reactions
from tasks.dynamics.records import Environment, Forces, Motion, Moving

ARMS = {"friction_arm": 0.02, "pin_radius": 0.015, "bending_arm": 0.08, "preload": 0.3}


def turn(axis: Any, angle: float) -> np.ndarray:
    """Eq. (3): 1 + n~ sin + n~^2 (1 - cos)."""
    x, y, z = axis
    n = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + n * np.sin(angle) + n @ n * (1.0 - np.cos(angle))


def world_axes(robot: Robot, q: np.ndarray) -> list[np.ndarray]:
    """Axes of the tree joints of a chain, from its joint variables (joint,)."""
    turns: list[np.ndarray] = []
    axes = []
    for link, angle in zip(robot.mechanism.limbs[0].links, q, strict=False):
        before = np.eye(3) if link.parent < 0 else turns[link.parent]
        placed = before @ np.array(link.placement.rotation, dtype=float)
        axes.append(placed @ np.array(link.axis))
        turns.append(placed @ turn(link.axis, angle) if link.kind == "revolute" else placed)
    return axes


def with_slide(name: str, joint: int) -> Robot:
    """A tree with one of its joints made prismatic."""
    family = catalog.family(name)

    def assembled(p: Any) -> Any:
        mechanism = family.assemble(p)
        (limb,) = mechanism.limbs
        links = tuple(replace(each, kind="prismatic") if k == joint else each for k, each in enumerate(limb.links))
        return replace(mechanism, limbs=(replace(limb, links=links),))

    return Robot.of(replace(family, name=f"{name}_slide_{joint}", assemble=assembled), {})


@pytest.mark.parametrize("robot", [catalog.build("rover_rocker"), with_slide("rover_rocker", 1)], ids=lambda r: r.name)
def test_magnitudes_are_those_of_the_force_screw(robot: Robot) -> None:
    states: Any = regions.states(catalog.build("rover_rocker"), 4)
    gravity = (1.0, -2.0, -9.0)
    found = constraint_forces(robot, **states, gravity=gravity, arms=ARMS)
    wrenches = joint_reactions(robot, **states, gravity=gravity).wrench
    r_n, r_p, r_b = (ARMS[name] for name in ("friction_arm", "pin_radius", "bending_arm"))
    for sample, q in enumerate(states["q"]):
        for joint, n in enumerate(world_axes(robot, q)):
            tau, f = np.split(wrenches[sample, 0, joint], 2)
            squared = np.outer(n, n) - np.eye(3)  # n~^2 of a unit axis
            tau_across, f_across = np.linalg.norm(-squared @ tau), np.linalg.norm(-squared @ f)  # Eqs. (38), (43)
            tau_along, f_along = np.linalg.norm(np.outer(n, n) @ tau), np.linalg.norm(np.outer(n, n) @ f)  # Eq. (45)
            if robot.mechanism.limbs[0].links[joint].kind == "revolute":
                along, normal = f_along, (tau_across / r_b + f_across) * r_p + f_along * r_n
            else:
                along, normal = tau_along, tau_across / r_b + f_across + tau_along / r_n
            expected = (tau_across, f_across, along, normal + ARMS["preload"])
            got = [part[sample, 0, joint] for part in found[:4]]
            np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-13)


def test_a_planar_leg_bends_no_bearing_about_its_axis() -> None:
    """Check gravity in the plane: forces are across all axes and not along them, cut joints included."""
    robot = catalog.build("three_loop_leg")
    found = constraint_forces(robot, q=[[0.3], [-1.0]], qd=[[1.0], [2.0]], gravity=(0.0, -9.8, 0.0))
    wrenches = joint_reactions(robot, q=[[0.3], [-1.0]], qd=[[1.0], [2.0]], gravity=(0.0, -9.8, 0.0)).wrench
    np.testing.assert_allclose(found.force_across, np.hypot(wrenches[..., 3], wrenches[..., 4]), rtol=1e-13)
    assert found.force_across.shape == (2, 1, 10)
    assert found.force_across.min() > 1.0
    np.testing.assert_allclose(found.along, 0.0, atol=1e-13)


@pytest.mark.parametrize("name", ["delta_3r2us", "gough_stewart"])
def test_joints_with_several_variables_have_none(name: str) -> None:
    robot = catalog.build(name)
    states: Any = regions.states(robot, 3)
    found = constraint_forces(robot, **states)
    one = np.array(robot.mechanism.limbs[0].one_variable)
    assert not one.all()
    for part in found[:4]:
        assert (np.isnan(part) == ~one).all()
    assert np.isnan(inverse_kinematics(robot, **states).position[..., ~one]).all()


def test_samples_without_a_solution_hold_nan() -> None:
    found = constraint_forces(catalog.build("three_loop_leg"), q=[[0.3], [2.0]])
    assert found.status.tolist()[0] == 0
    assert found.status[1] != 0
    assert np.isfinite(found.normal[0]).all()
    assert np.isnan(found.normal[1]).all()


def test_misuse_is_told() -> None:
    robot, moving = catalog.build("planar_3r"), Moving(q=np.zeros(3))
    with pytest.raises(ParameterError, match="arms of constraint_forces has no parameter 'pin_radis'; did you mean"):
        constraint_forces(robot, arms={"pin_radis": 0.1}, **moving)
    with pytest.raises(ParameterError, match=r"arms of constraint_forces: bending_arm = 0\.0 is outside"):
        constraint_forces(robot, arms={"bending_arm": 0.0}, **moving)
    with pytest.raises(ValueError, match="load: planar_3r is a chain without platform; leave it out"):
        constraint_forces(robot, forces=Forces(load=np.ones(6)), **moving)


def test_a_base_that_moves_loads_bearings_as_gravity_and_a_joint_do() -> None:
    """An acceleration of the base is one of gravity; that it turns about the first joint is one of its rates."""
    delta, turned = catalog.build("delta_3rr2rrr"), turn((0.6, 0.0, 0.8), 0.4)
    state: Any = {"position": [[0.02, 0.1, -0.9], [0.0, 0.0, -1.0]], "twist": [0.0, 0.0, 0.0, 0.5, -0.3, 0.2]}
    moved = constraint_forces(
        delta,
        environment=Environment(base=Motion(rotation=turned, acceleration=[0.0, 0.0, 0.0, 1.0, 2.0, 3.0])),
        **state,
    )
    felt = constraint_forces(delta, **state, gravity=turned.T @ [-1.0, -2.0, -12.81])
    arm, rates = catalog.build("planar_3r"), np.array([[1.0, -2.0, 0.5]])
    carried = constraint_forces(
        arm, q=[0.1, 0.2, 0.3], qd=rates, environment=Environment(base=Motion(twist=[0.0, 0.0, 4.0, 0.0, 0.0, 0.0]))
    )
    turning = constraint_forces(arm, q=[0.1, 0.2, 0.3], qd=rates + np.array([4.0, 0.0, 0.0]))
    for found, expected in ((moved, felt), (carried, turning)):
        size = np.nanmax(expected.normal)
        assert not found.status.any()
        for name in ("moment_across", "force_across", "along", "normal"):
            values, wanted = getattr(found, name), getattr(expected, name)
            assert (np.isnan(values) == np.isnan(wanted)).all()
            assert np.nanmax(np.abs(values - wanted)) < 1e-12 * size
    assert np.nanmax(np.abs(carried.normal - constraint_forces(arm, q=[0.1, 0.2, 0.3], qd=rates).normal)) > 1e-2 * size
