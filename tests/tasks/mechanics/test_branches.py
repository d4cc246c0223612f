"""No reachable pose of the home branch is lost, and no other branch is returned: against closed forms, at any scale."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robots import catalog
from robots.geometry import about, along, point
from robots.model import PLATFORM, Closure, Family, Frame, Instance, Limb, Link, Mechanism, Platform, Robot
from robots.status import Status
from robots.types import BASE
from tasks import inverse_kinematics
from tasks.dynamics.inverse import actuator_positions
from tests.reference.branches import CLOSED_FORMS, gough_stewart
from tests.reference.continuation import branches, compare

POSES = 300
ACCURATE = 1e-8


def apart(found: np.ndarray, expected: np.ndarray, *, turning: bool) -> np.ndarray:
    """Largest difference of actuator positions (n,), angles within half a turn."""
    gap = found - expected
    return np.abs((gap + np.pi) % (2.0 * np.pi) - np.pi if turning else gap).max(axis=-1)


@pytest.mark.parametrize("name", [name for name in CLOSED_FORMS if name != "gough_stewart"])
def test_poses_of_a_wide_box(name: str) -> None:
    robot, rng = catalog.build(name), np.random.default_rng(17)
    home, free = robot.mechanism.platform.home, robot.mechanism.platform.mobility
    lengths = [value for key, value in robot.values.items() if key.endswith(("arm", "rod_length", "l_length"))]
    box = np.array([sum(lengths) if f"v{axis}" in free else 0.0 for axis in "xyz"])
    position = np.array(home.position) + rng.uniform(-box, box, (POSES, 3))
    expected, reached = CLOSED_FORMS[name](robot.values, position, np.tile(np.eye(3), (POSES, 1, 1)))
    found = actuator_positions(robot, position=position).position
    status = inverse_kinematics(robot, position=position).status
    np.testing.assert_array_equal(status == Status.OK, reached)
    assert reached.sum() > POSES / 20
    gear = robot.values["gear_ratio"] if name.endswith("motors") else 1.0
    assert apart(found[reached] / gear, expected[reached] / gear, turning=True).max() < ACCURATE


@pytest.mark.parametrize("scale", [0.01, 0.1, 1.0, 10.0, 100.0])
def test_a_platform_of_any_size(scale: float) -> None:
    nominal, rng = catalog.build("gough_stewart"), np.random.default_rng(18)
    family, lengths = nominal.family, [p.name for p in nominal.family.parameters if p.unit == "m"]
    robot = Robot(family, {name: value * (scale if name in lengths else 1.0) for name, value in nominal.values.items()})
    home = np.array(robot.mechanism.platform.home.position, dtype=float)
    position = home + scale * rng.uniform(-1.5, 1.5, (POSES, 3))
    rotation = Rotation.from_rotvec(rng.uniform(-0.9, 0.9, (POSES, 3))).as_matrix()
    expected, _ = gough_stewart(robot.values, position, rotation)
    found = actuator_positions(robot, position=position, rotation=rotation).position
    assert np.isfinite(found).all()
    assert apart(found, expected, turning=False).max() < ACCURATE * scale


@pytest.mark.parametrize(("name", "poses"), [("hexapod_6rrrprr", 120), ("five_bar", 60), ("gough_stewart", 40)])
def test_beside_paths_in_small_steps(name: str, poses: int) -> None:
    robot, rng = catalog.build(name), np.random.default_rng(21)
    home, free = robot.mechanism.platform.home, robot.mechanism.platform.mobility
    box = np.array([0.3 if f"v{axis}" in free else 0.0 for axis in "xyz"])
    position = np.array(home.position, dtype=float) + rng.uniform(-box, box, (poses, 3))
    turned = rng.uniform(-1.0, 1.0, (poses, 3)) * ("wx" in free)
    rotation = Rotation.from_rotvec(turned).as_matrix()
    solved = inverse_kinematics(robot, position=position, rotation=rotation)
    solves = solved.status == Status.OK
    reached, right = compare(branches(robot.mechanism, rotation, position), solved.position, solves)
    np.testing.assert_array_equal(solves, reached)
    np.testing.assert_array_equal(right, reached)
    assert reached.sum() > poses / 4


# each of them was lost, or had its last axis the wrong way round
FAR_POSES = [
    ((0.13585478, 0.22082286, 0.12969027), (-0.121, -43.16, 75.964)),
    ((0.28307495, 0.09373552, 0.12637359), (47.022, -13.363, -50.045)),
    ((0.10971405, 0.19577788, 0.27705068), (76.741, -35.256, -17.994)),
]


@pytest.mark.parametrize(("place", "turn"), FAR_POSES)
def test_legs_that_turn_over_on_their_way(place: tuple[float, ...], turn: tuple[float, ...]) -> None:
    robot = catalog.build("hexapod_6rrrprr")
    position, rotation = np.array([place]), Rotation.from_rotvec([turn], degrees=True).as_matrix()
    solved = inverse_kinematics(robot, position=position, rotation=rotation)
    assert solved.status == Status.OK
    assert compare(branches(robot.mechanism, rotation, position), solved.position, np.array([True]))[1].all()


def test_axes_of_a_joint_point_the_same_way() -> None:
    """Rows of a revolute joint are closed as well where its axes point against each other: no assembly."""
    robot, rng = catalog.build("hexapod_6rrrprr"), np.random.default_rng(22)
    rotation = Rotation.from_rotvec(rng.uniform(-1.2, 1.2, (POSES, 3))).as_matrix()
    position = np.array(robot.mechanism.platform.home.position) + rng.uniform(-0.3, 0.3, (POSES, 3))
    solved = inverse_kinematics(robot, position=position, rotation=rotation)
    assert (solved.status == Status.OK).mean() > 0.9
    for k, instance in enumerate(robot.mechanism.instances):
        q = solved.position[:, k]
        inward = [Rotation.from_rotvec(q[:, [j]] * np.array(axis)) for j, axis in enumerate(np.eye(3))]
        base = Rotation.from_matrix(np.array(instance.base.rotation, dtype=float))
        fifth = Rotation.from_rotvec(q[:, [4]] * np.array([0.0, 1.0, 0.0]))
        axis = (base * inward[0] * inward[1] * inward[2] * fifth).apply([1.0, 0.0, 0.0])
        wanted = (rotation @ np.array(instance.platform.rotation, dtype=float))[:, :, 0]
        np.testing.assert_allclose(axis[solved.status == Status.OK], wanted[solved.status == Status.OK], atol=1e-9)


def test_legs_never_come_out_on_their_other_side() -> None:
    """The platform goes through its base: legs get short and turn round, and stay of positive length."""
    robot, rng = catalog.build("gough_stewart", home_height=0.4), np.random.default_rng(19)
    position = rng.uniform([-2.5, -2.5, -2.5], [2.5, 2.5, 2.5], (4 * POSES, 3))
    rotation = Rotation.random(len(position), rng=rng).as_matrix()
    expected, _ = gough_stewart(robot.values, position, rotation)
    found = actuator_positions(robot, position=position, rotation=rotation).position
    solved = np.isfinite(found).all(axis=-1)
    assert solved.mean() > 0.99
    assert apart(found[solved], expected[solved], turning=False).max() < ACCURATE


def agile_eye() -> Robot:
    """A spherical 3-RRR whose axes all meet at the origin: no frame is anywhere else, and no link has a length."""
    x, y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    nothing = point(0.1)
    links = (
        Link("1", "proximal", BASE, "revolute", (0.0, 0.0, 1.0), Frame(), nothing),
        Link("2", "distal", 0, "revolute", x, Frame(), nothing),
    )
    tip = Closure("3", "revolute", 1, Frame(along(y)), PLATFORM, Frame(along(y)))
    limb = Limb("RRR", links, (), (tip,), ("1",))
    mounts = [Frame(along((1.0, 0.0, 0.0))), Frame(along((0.0, 1.0, 0.0))), Frame(about("z", 1.0, 0.0))]
    instances = tuple(Instance(f"limb{k + 1}", 0, mount, mount) for k, mount in enumerate(mounts))
    body = Platform(point(1.0), ("wx", "wy", "wz"), Frame())
    family = Family("agile_eye", "spherical", "test", (), lambda p: Mechanism((limb,), instances, body))
    return Robot(family, {})


def test_a_limb_without_lengths() -> None:
    robot, rng = agile_eye(), np.random.default_rng(20)
    rotation = Rotation.from_rotvec(rng.uniform(-0.35, 0.35, (POSES, 3))).as_matrix()
    solved = inverse_kinematics(robot, position=np.zeros(3), rotation=rotation)
    np.testing.assert_array_equal(solved.status, Status.OK)
    for k, instance in enumerate(robot.mechanism.instances):
        base = np.array(instance.base.rotation, dtype=float)
        turn = Rotation.from_rotvec(solved.position[:, k, :1] * [0.0, 0.0, 1.0]).as_matrix()
        between = (base @ turn)[:, :, 0]  # the axis of joint 2
        last = (rotation @ base)[:, :, 1]
        np.testing.assert_allclose(np.sum(between * last, axis=-1), 0.0, atol=1e-10)
