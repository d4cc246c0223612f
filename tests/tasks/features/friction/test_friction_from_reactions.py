"""Friction whose loads are reactions, recomputed from outside: loads, laws, power; and what does not settle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks import regions
from robots import catalog
from robots.model import Robot
from robots.status import Status
from tasks import constraint_forces, inverse_dynamics, inverse_kinematics, joint_reactions
from tasks.dynamics.inverse import body_motion
from tasks.dynamics.records import Forces
from tests.catalogue import CHAINS, TREES, WITH_DRIVES

ARMS = {"friction_arm": 0.01, "pin_radius": 0.012, "bending_arm": 0.06, "preload": 0.2}
LAW = {"coulomb": 0.05, "static": 0.09, "viscous": 0.01, "stribeck_velocity": 0.1}
FRICTION = {"law": "stribeck", "joints": "all", "load": "reaction", **LAW, **ARMS}
GRAVITY = (0.4, -3.0, -9.0)
UNSETTLED = {Status.FRICTION_NOT_CONVERGED, Status.FRICTION_NO_SOLUTION, Status.FRICTION_SEVERAL_SOLUTIONS}
ROBOTS = ("delta_3rr2rrr", "hexapod_6rrrprr", "three_loop_leg")


def stribeck(v: np.ndarray, load: np.ndarray) -> np.ndarray:
    """Eq. (52): dry friction in proportion to the load, viscous friction not."""
    fading = np.exp(-((v / LAW["stribeck_velocity"]) ** 2))
    dry = LAW["coulomb"] + (LAW["static"] - LAW["coulomb"]) * fading
    return dry * load * np.sign(v) + LAW["viscous"] * v


def along_axes(robot: Robot, states: Any, wrenches: np.ndarray) -> np.ndarray:
    """The moment about the axis of every revolute joint, the force along that of a prismatic one; NaN for others."""
    motion, mechanism = body_motion(robot, **states), robot.mechanism
    result = np.full(wrenches.shape[:-1], np.nan)
    for k, instance in enumerate(mechanism.instances):
        limb, bodies = mechanism.limbs[instance.limb], motion.limbs[k]
        joints = [(link.kind, bodies[i].turned(link.axis)) for i, link in enumerate(limb.links)]
        for cut in limb.cuts:
            axis = np.array(cut.frame_a.rotation)[:, 2]
            joints.append((cut.kind, bodies[cut.a].turned((axis[0], axis[1], axis[2]))))
        for i, (kind, axis) in enumerate(joints):
            if limb.one_variable[i]:
                part = wrenches[..., k, i, :3] if kind == "revolute" else wrenches[..., k, i, 3:]
                result[..., k, i] = (part * axis).sum(axis=-1)
    return result


@pytest.mark.parametrize("name", ROBOTS)
def test_friction_is_that_of_the_loads_that_it_causes(name: str) -> None:
    robot = catalog.build(name)
    states: Any = regions.states(robot, 12)
    done = inverse_dynamics(robot, gravity=GRAVITY, forces=Forces(friction=FRICTION), **states)
    assert (done.status == Status.OK).all()
    load = constraint_forces(robot, gravity=GRAVITY, arms=ARMS, forces=Forces(friction=FRICTION), **states).normal
    velocity = inverse_kinematics(robot, **states).velocity
    expected = stribeck(velocity, load)
    wrenches = joint_reactions(robot, gravity=GRAVITY, forces=Forces(friction=FRICTION), **states).wrench
    found = -along_axes(robot, states, wrenches)
    size = np.nanmax(np.abs(expected))
    assert size > 0.01
    for k, instance in enumerate(robot.mechanism.instances):
        limb = robot.mechanism.limbs[instance.limb]
        for i, joint in enumerate(limb.joints):
            if joint not in limb.actuated:
                np.testing.assert_allclose(found[:, k, i], expected[:, k, i], rtol=0, atol=1e-9 * size, err_msg=joint)
    bare = inverse_dynamics(robot, **states, gravity=GRAVITY).force
    extra = ((done.force - bare) * done.velocity).sum(axis=-1)
    lost = np.nansum(expected * velocity, axis=(1, 2))
    np.testing.assert_allclose(extra, lost, rtol=0, atol=1e-9 * np.abs(lost).max())
    assert (lost > 0).all()


@pytest.mark.parametrize("name", sorted(set(TREES) - set(WITH_DRIVES)))
def test_friction_of_a_tree_is_explicit(name: str) -> None:
    robot = catalog.build(name)
    states: Any = regions.states(robot, 12)
    load = constraint_forces(robot, **states, gravity=GRAVITY, arms=ARMS)
    with_friction = constraint_forces(robot, gravity=GRAVITY, arms=ARMS, forces=Forces(friction=FRICTION), **states)
    np.testing.assert_allclose(with_friction.normal, load.normal, rtol=1e-13)
    bare, force = (
        inverse_dynamics(robot, gravity=GRAVITY, forces=Forces(friction=f), **states).force for f in (None, FRICTION)
    )
    np.testing.assert_allclose(force - bare, stribeck(states["qd"], load.normal[:, 0]), rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", ROBOTS)
def test_friction_that_does_not_settle_is_told(name: str) -> None:
    robot = catalog.build(name)
    states: Any = regions.states(robot, 64)
    huge = {**FRICTION, "coulomb": 400.0, "static": 900.0}
    done = inverse_dynamics(robot, gravity=GRAVITY, forces=Forces(friction=huge), **states)
    good = done.status == Status.OK
    assert {*done.status[~good]} <= UNSETTLED
    assert (~good).any()
    assert np.isfinite(done.force[good]).all()
    assert np.isnan(done.force[~good]).all()
    wrenches, status = joint_reactions(robot, gravity=GRAVITY, forces=Forces(friction=huge), **states)
    np.testing.assert_array_equal(status, done.status)
    assert np.isnan(wrenches[~good]).all()


@pytest.mark.parametrize("name", sorted(set(CHAINS) - set(WITH_DRIVES)))
def test_at_rest_there_is_no_friction(name: str) -> None:
    """sgn(0) = 0, as the source has it for a start from rest."""
    robot = catalog.build(name)
    q = np.full((3, len(robot.mechanism.freedoms)), 0.3)
    bare, force = (
        inverse_dynamics(robot, q=q, gravity=GRAVITY, forces=Forces(friction=f)).force for f in (None, FRICTION)
    )
    np.testing.assert_allclose(force, bare, rtol=0, atol=1e-12)
