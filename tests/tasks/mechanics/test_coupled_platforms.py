"""Loads on the platform of a robot whose coordinates follow: by Pinocchio, by virtual work, and by weight."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robots import catalog
from robots.coupled import as_chain
from robots.loads.declared import LoadError, ObjectLoad, SpringLoad, WrenchLoad
from robots.loads.family import with_loads
from robots.loads.warming import with_warm_links
from robots.model import Robot
from robots.status import Status
from tasks import inverse_dynamics, inverse_kinematics
from tasks.dynamics.inverse import actuator_positions

ROBOTS = ("coupled_3rps", "tricept", "par4", "delta")
AT, FORCE, MOMENT = (0.03, -0.02, 0.1), (30.0, -20.0, 50.0), (1.0, 2.0, -3.0)


def robot_of(name: str) -> Robot:
    return as_chain(catalog.build("delta_3rr2rrr")) if name == "delta" else catalog.build(name)


def motions(robot: Robot, count: int = 3) -> Any:
    """Small motions about the reference pose: q, qd, qdd."""
    return np.random.default_rng(4).uniform(-1.0, 1.0, (3, count, len(robot.mechanism.freedoms))) * 0.04


def forces(robot: Robot, q: Any, qd: Any, qdd: Any, **loads: Any) -> Any:
    loaded = with_loads(robot, loads) if loads else robot
    return np.asarray(inverse_dynamics(loaded, q=q, qd=qd, qdd=qdd).force)


def peer_of(robot: Robot) -> tuple[Any, int]:
    """The chain in Pinocchio, and the joint there that carries the platform."""
    pytest.importorskip("pinocchio", reason="Pinocchio is missing")
    from tests.reference.chain_pinocchio import ClosedChain

    (limb,) = robot.mechanism.limbs
    peer = ClosedChain(robot.mechanism)
    return peer, peer.tree.joint[[link.body for link in limb.links].index("plate")]


@pytest.mark.parametrize("axes", ["world", "platform"])
@pytest.mark.parametrize("name", ROBOTS)
def test_a_wrench_on_the_platform_is_that_of_pinocchio(name: str, axes: Any) -> None:
    robot = robot_of(name)
    peer, plate = peer_of(robot)
    import pinocchio as pin

    from tests.reference.mechanism_pinocchio import _least, _null_space

    q, qd, qdd = motions(robot)
    found = forces(robot, q, qd, qdd, push=WrenchLoad("platform", FORCE, MOMENT, AT, axes))
    bare = forces(robot, q, qd, qdd)
    for k in range(len(q)):
        solved = peer.solve(q[k], qd[k], qdd[k])
        model, data = peer.tree.model, peer.data
        pin.computeJointJacobians(model, data, peer.tree.inner(solved.q))
        pin.updateFramePlacements(model, data)
        rows = pin.getJointJacobian(model, data, plate, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)[:, list(peer.tree.slot)]
        turn = data.oMi[plate].rotation
        force, moment = (np.array(x) if axes == "world" else turn @ np.array(x) for x in (FORCE, MOMENT))
        wrench = np.concatenate([force, moment + np.cross(turn @ np.array(AT), force)])
        free = _null_space(peer._rows(solved.q, np.zeros(peer.size))[0])
        motors = np.eye(peer.size)[:, peer.motors]
        expected = solved.force - _least(free.T @ motors, free.T @ rows.T @ wrench)
        np.testing.assert_allclose(found[k], expected, rtol=0, atol=1e-9 * np.abs(expected).max())
        assert np.abs(found[k] - bare[k]).max() > 1e-2 * np.abs(bare[k]).max()


@pytest.mark.parametrize("name", ROBOTS)
def test_an_object_on_the_platform_is_that_of_pinocchio(name: str) -> None:
    robot = robot_of(name)
    peer, plate = peer_of(robot)
    import pinocchio as pin

    q, qd, qdd = motions(robot)
    moments = (0.01, 0.02, 0.025)
    found = forces(robot, q, qd, qdd, held=ObjectLoad("platform", 4.0, AT, moments))
    peer.tree.model.inertias[plate] += pin.Inertia(4.0, np.array(AT), np.diag(moments))
    for k in range(len(q)):
        expected = peer.solve(q[k], qd[k], qdd[k]).force
        np.testing.assert_allclose(found[k], expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("name", ROBOTS)
def test_a_wrench_does_the_work_that_the_actuators_do(name: str) -> None:
    """For small ways of the coordinates; the poses are those of the stand-ins, turned by yaw, pitch, roll."""
    robot = robot_of(name)
    (limb,) = robot.mechanism.limbs
    q, _, _ = motions(robot, 1)
    still = np.zeros_like(q)
    change = forces(robot, q, still, still, push=WrenchLoad("platform", FORCE, MOMENT, AT)) - forces(
        robot, q, still, still
    )
    columns = [limb.index(joint) for joint in limb.coordinates]
    home = next(link for link in limb.links if link.joint == "platform_yaw").placement.rotation
    step = 1e-6
    for freedom in np.eye(q.shape[1]):
        ends = []
        for way in (-step, step):
            at = q + way * freedom
            solved = inverse_kinematics(robot, q=at)
            assert (solved.status == Status.OK).all()
            x, y, z, yaw, pitch, roll = solved.position[0, 0, columns]
            turn = np.array(home) @ _about(2, yaw) @ _about(1, pitch) @ _about(0, roll)
            ends.append((np.array([x, y, z]), turn, np.asarray(actuator_positions(robot, q=at).position)[0]))
        (p0, turn0, u0), (p1, turn1, u1) = ends
        spin = turn1 @ turn0.T
        turned = 0.5 * np.array([spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]])
        moved = p1 - p0 + (turn1 - turn0) @ np.array(AT)
        work = np.array(FORCE) @ moved + np.array(MOMENT) @ turned
        size = np.abs(change[0]) @ np.abs(u1 - u0) + abs(work)
        assert abs(change[0] @ (u1 - u0) + work) < 1e-6 * size


def _about(axis: int, angle: float) -> Any:
    from scipy.spatial.transform import Rotation

    return Rotation.from_rotvec(angle * np.eye(3)[axis]).as_matrix()


@pytest.mark.parametrize("name", ROBOTS)
def test_an_object_at_rest_is_its_weight(name: str) -> None:
    robot = robot_of(name)
    q, _, _ = motions(robot)
    still = np.zeros_like(q)
    weight = WrenchLoad("platform", (0.0, 0.0, -9.81 * 2.5), (0.0, 0.0, 0.0), AT)
    held = forces(robot, q, still, still, held=ObjectLoad("platform", 2.5, AT))
    pushed = forces(robot, q, still, still, push=weight)
    np.testing.assert_allclose(held, pushed, rtol=0, atol=1e-9 * np.abs(held).max())


def test_what_stands_for_a_coordinate_carries_no_load() -> None:
    robot = catalog.build("coupled_3rps")
    spring = SpringLoad("platform", 300.0, (0.0, 0.0, 2.0))
    assert np.array_equal(
        forces(robot, *motions(robot), a=spring),
        forces(robot, *motions(robot), a=SpringLoad("plate", 300.0, (0, 0, 2))),
    )
    with pytest.raises(LoadError, match="got 'platform_x'; expected a link or the platform of the robot"):
        with_loads(robot, {"a": WrenchLoad("platform_x", FORCE)})
    with pytest.raises(LoadError, match="got 'link'; expected 'world' or 'platform' for a platform"):
        with_loads(robot, {"a": WrenchLoad("platform", FORCE, axes="link")})
    with pytest.raises(LoadError, match="got 'platform'; expected a link of the robot, which has no platform"):
        with_loads(catalog.build("ur5e"), {"a": WrenchLoad("platform", FORCE)})


def test_a_platform_grows_as_one_that_is_larger() -> None:
    """Check that its joints are farther out and its masses the same."""
    robot = catalog.build("coupled_3rps")
    warm = with_warm_links(robot, expansion={"platform": 1e-3}, temperature=20.0)
    larger = catalog.build("coupled_3rps", platform_radius=1.02 * robot.values["platform_radius"])
    q, _, _ = motions(robot)
    lengths = [np.asarray(actuator_positions(each, q=q).position) for each in (robot, warm, larger)]
    poses = [inverse_kinematics(each, q=q).position[:, 0, :6] for each in (robot, warm, larger)]
    np.testing.assert_allclose(poses[1], poses[2], atol=1e-12)
    assert np.abs(poses[1] - poses[0]).max() > 1e-6
    zero = [np.asarray(actuator_positions(each, q=np.zeros_like(q)).position) for each in (robot, warm, larger)]
    np.testing.assert_allclose(lengths[1] - zero[1], lengths[2] - zero[2], atol=1e-12)
