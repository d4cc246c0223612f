"""Robots of the literature as a user writes them, from `examples/robots`, beside closed forms of their kinematics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pipeline.robot_files.reader import read_description
from robots.formats.description import Description
from robots.formats.poses import Pose, pose_of
from robots.model import Robot
from tasks import inverse_kinematics

EXAMPLES = Path(__file__).parents[3] / "examples" / "robots"
FEW = [150, pytest.param(10_000, marks=pytest.mark.slow)]
CLOSE = 1e-10


def read(name: str) -> tuple[Robot, Description]:
    description = read_description(EXAMPLES / f"{name}.yaml")
    return Robot.of(description.family, {}), description


def mounts(robot: Robot, place: str) -> list[Pose]:
    """Rotation (3, 3) and position (3,) of the mount frames of all limbs, at the base or at the platform."""
    return [pose_of(getattr(instance, place)) for instance in robot.mechanism.instances]


def reference(description: Description, instance: int) -> dict[str, float]:
    """Positions of joints of an instance at the reference pose, from which its variables count."""
    variant = description.variants[instance].closed_as if description.variants else ""
    names = [limb.name for limb in description.template.limbs]
    name = names[description.template.instances[instance].limb] + (f"_{variant}" if variant else "")
    return dict(dict(description.reference)[name])


def seen(frame: Pose, points: np.ndarray) -> np.ndarray:
    """Points (n, 3) in a mount frame."""
    turn, origin = frame
    seen_points: np.ndarray = (points - origin) @ turn
    return seen_points


@pytest.mark.parametrize("count", FEW)
def test_3cru_moves_as_its_slides(count: int) -> None:
    """Each slide moves by its coordinate; the elbow has the angle of a triangle. Source: Kong 2002."""
    robot, description = read("3cru")
    places = np.random.default_rng(1).uniform(-0.08, 0.08, (count, 3))
    solved = inverse_kinematics(robot, position=places)
    assert not solved.status.any()
    np.testing.assert_allclose(solved.position[:, :, 0], places, atol=CLOSE)
    elbow = reference(description, 2)["elbow"] + solved.position[:, 2, 2]
    way = np.hypot(places[:, 0] - 0.08 + 0.35, places[:, 1])
    np.testing.assert_allclose(np.cos(elbow), (way**2 - 2 * 0.25**2) / (2 * 0.25**2), atol=CLOSE)


@pytest.mark.parametrize("count", FEW)
def test_4prur_has_the_slides_of_its_closed_form(count: int) -> None:
    """The link about the slide reaches the height of the platform, the level one the rest. Source: Richard 2007."""
    robot, _ = read("4prur")
    random = np.random.default_rng(2)
    home = np.array([0.0, 0.0, 0.2])
    places = np.vstack([home, home + random.uniform(-0.03, 0.03, (count, 3))])
    turns = np.concatenate([[0.0], random.uniform(-0.15, 0.15, count)])
    rotations = Rotation.from_rotvec(turns[:, None] * [0, 0, 1]).as_matrix()
    solved = inverse_kinematics(robot, position=places, rotation=rotations)
    assert not solved.status.any()
    for k, (at, (_, hinge)) in enumerate(zip(mounts(robot, "base"), mounts(robot, "platform"), strict=True)):
        x, y, z = seen(at, places + rotations @ hinge).T
        x = x if k % 2 == 0 else -x  # every other leg is mirrored
        slides = x - np.sqrt(0.25**2 - (y - np.sqrt(0.3**2 - z**2)) ** 2)
        np.testing.assert_allclose(solved.position[:, k, 0], slides - slides[0], atol=CLOSE)


@pytest.mark.parametrize("count", FEW)
def test_sprint_z3_follows_without_torsion(count: int) -> None:
    """x, y and yaw follow from z and the tilt, without torsion; slides from rods. Source: Bonev 2002."""
    robot, _ = read("sprint_z3")
    random, platform = np.random.default_rng(3), 0.2
    q = np.vstack([np.zeros(3), random.uniform(-1, 1, (count, 3)) * (0.1, 0.4, 0.4)])
    solved = inverse_kinematics(robot, q=q)
    assert not solved.status.any()
    heights, pitch, roll = 0.34 + q[:, 0], q[:, 1], q[:, 2]
    sine = np.hypot(np.sin(pitch), np.cos(pitch) * np.sin(roll))
    angle, tilt = np.arctan2(-np.cos(pitch) * np.sin(roll), np.sin(pitch)), np.arcsin(sine)
    turn = Rotation.from_euler("ZYZ", np.stack([angle, tilt, -angle], axis=-1)).as_matrix()
    share = 0.5 * platform * (1 - np.cos(tilt))
    places = np.stack([-share * np.cos(2 * angle), share * np.sin(2 * angle), heights], axis=-1)
    names = [link.joint for link in robot.mechanism.limbs[0].links]
    found = {name: solved.position[:, 0, names.index(name)] for name in names}
    np.testing.assert_allclose(found["platform_x"], places[:, 0], atol=CLOSE)
    np.testing.assert_allclose(found["platform_y"], places[:, 1], atol=CLOSE)
    np.testing.assert_allclose(found["platform_yaw"], np.arctan2(turn[:, 1, 0], turn[:, 0, 0]), atol=CLOSE)
    for k, name in enumerate(("one", "two", "three")):
        outward = np.array([np.cos(2 * np.pi * k / 3), np.sin(2 * np.pi * k / 3), 0.0])
        balls = places + turn @ (platform * outward)
        slides = balls[:, 2] - np.sqrt(0.35**2 - (0.25 - balls @ outward) ** 2)
        np.testing.assert_allclose(found[f"{name}.slide"], slides - slides[0], atol=CLOSE)


@pytest.mark.parametrize("count", FEW)
def test_six_arms_have_the_angles_of_their_triangles(count: int) -> None:
    """Each arm is mounted in its own way, and closes from one rough position of all. Source: Pierrot 1991."""
    robot, description = read("six_arms")
    random = np.random.default_rng(4)
    home = np.array([0.0, 0.0, -0.55])
    places = home + random.uniform(-0.05, 0.05, (count, 3))
    rotations = Rotation.from_rotvec(random.uniform(-0.15, 0.15, (count, 3))).as_matrix()
    solved = inverse_kinematics(robot, position=places, rotation=rotations)
    assert not solved.status.any()
    for k, (at, (_, ball)) in enumerate(zip(mounts(robot, "base"), mounts(robot, "platform"), strict=True)):
        points = seen(at, places + rotations @ ball)
        x, z = points[:, 0], points[:, 2]
        share = ((points**2).sum(axis=1) + 0.25**2 - 0.6**2) / (2 * 0.25 * np.hypot(x, z))
        angles = np.array([-np.arctan2(z, x) + sign * np.arccos(share) for sign in (1, -1)])
        angles = (angles + np.pi) % (2 * np.pi) - np.pi
        motor = solved.position[:, k, 0] + reference(description, k)["motor"]
        side = int(np.argmin(np.abs(angles[:, 0] - motor[0])))
        np.testing.assert_allclose(motor, angles[side], atol=CLOSE)


@pytest.mark.parametrize("count", FEW)
def test_rods_of_the_verne_keep_their_length(count: int) -> None:
    """Pairs of rods, one of which is a trapezoid, turn the platform as it moves. Source: Kanaan 2009."""
    robot, description = read("verne")
    q = np.random.default_rng(5).uniform(-0.08, 0.08, (count, 3))
    solved = inverse_kinematics(robot, q=q)
    assert not solved.status.any()
    names = [link.joint for link in robot.mechanism.limbs[0].links]
    found = {name: solved.position[:, 0, names.index(name)] for name in names}
    places = np.stack([found[f"platform_{axis}"] for axis in "xyz"], axis=-1)
    np.testing.assert_allclose(places, q, atol=CLOSE)
    places = places + np.array([0.0, 0.0, 0.66])
    angles = np.stack([found[f"platform_{name}"] for name in ("yaw", "pitch", "roll")], axis=-1)
    assert np.abs(angles).max() > 1e-3  # the trapezoid couples them
    rotations = Rotation.from_euler("ZYX", angles).as_matrix()
    parts = description.parts({entry.name: entry.scalar for entry in description.parameters})[0]
    frames = [[pose_of(getattr(instance, place)) for instance in parts.instances] for place in ("base", "platform")]
    for k, (instance, span) in enumerate(zip(description.template.instances, (0.3, 0.2, 0.2), strict=True)):
        (turn, at), (turn_p, at_p) = (frame[k] for frame in frames)
        slide = found[f"{instance.name}.slide"] + reference(description, k)["slide"]
        for side in (0.5, -0.5):
            ends = places + rotations @ (at_p + turn_p @ (0, side * 0.2, 0))
            starts = at + turn @ (0, side * span, 0) + slide[:, None] * [0, 0, 1]
            np.testing.assert_allclose(np.linalg.norm(ends - starts, axis=1), 0.8, atol=CLOSE)


@pytest.mark.parametrize("count", FEW)
def test_half_angles_of_the_bennett_linkage_have_a_constant_product(count: int) -> None:
    """Opposite angles add up to a turn, and tan(a/2) tan(b/2) of two neighbours is constant. Source: Baker 1979."""
    robot, description = read("bennett")
    q = np.random.default_rng(6).uniform(-0.7, 1.5, (count, 1))
    solved = inverse_kinematics(robot, q=q)
    assert not solved.status.any()
    start = reference(description, 0)
    motor, second, third = (
        solved.position[:, 0, k] + start[name] for k, name in enumerate(("motor", "second", "third"))
    )
    constant = np.sin(np.deg2rad(45)) / np.sin(np.deg2rad(15))
    np.testing.assert_allclose(np.tan(motor / 2) * np.tan(second / 2), constant, rtol=1e-9)
    np.testing.assert_allclose(np.sin((motor + third) / 2), 0.0, atol=CLOSE)


@pytest.mark.parametrize("count", FEW)
def test_rods_of_the_quattro_keep_their_length(count: int) -> None:
    """Parts of the platform keep their directions, and are where the bars hold them. Source: Nabat 2005."""
    robot, description = read("quattro")
    q = np.random.default_rng(6).uniform(-1, 1, (count, 4)) * (0.1, 0.1, 0.08, 0.5)
    solved = inverse_kinematics(robot, q=q)
    assert not solved.status.any()
    names = [link.joint for link in robot.mechanism.limbs[0].links]
    found = {name: solved.position[:, 0, names.index(name)] for name in names}
    for name in ("platform_pitch", "platform_roll"):
        np.testing.assert_allclose(found[name], 0.0, atol=CLOSE)
    for name in ("hinge_1", "hinge_2"):
        np.testing.assert_allclose(found[name], -q[:, 3], atol=CLOSE)
    np.testing.assert_allclose(found["hinge_3"], q[:, 3], atol=CLOSE)
    middle = q[:, :3] + np.array([0.0, 0.0, -0.7])
    ahead = 0.06 * np.stack([np.cos(q[:, 3]), np.sin(q[:, 3]), np.zeros(count)], axis=-1)
    parts = description.parts({entry.name: entry.scalar for entry in description.parameters})[0]
    for k, instance in enumerate(description.template.instances):
        turn, start = pose_of(parts.instances[k].base)
        _, end = pose_of(parts.instances[k].platform)
        angle = found[f"{instance.name}.motor"] + reference(description, k)["motor"]
        elbows = start + 0.3 * np.stack([np.cos(angle), np.zeros(count), -np.sin(angle)], axis=-1) @ turn.T
        part = middle + (ahead if k in (0, 3) else -ahead)
        np.testing.assert_allclose(np.linalg.norm(part + end - elbows, axis=1), 0.8, atol=CLOSE)


@pytest.mark.parametrize("count", FEW)
def test_legs_of_the_3upu_have_the_lengths_and_angles_of_lines(count: int) -> None:
    """A leg is a line between two points; its angles about a level axis and across it follow. Source: Tsai 1996."""
    robot, _ = read("3upu")
    home, length = np.array([0.0, 0.0, 0.6]), np.hypot(0.25, 0.6)
    places = home + np.random.default_rng(8).uniform(-0.2, 0.2, (count, 3))
    solved = inverse_kinematics(robot, position=places)
    assert not solved.status.any()
    for k, (turn, _) in enumerate(mounts(robot, "base")):
        x, y, z = (places @ turn + (0.25 - 0.5, 0.0, 0.0)).T
        np.testing.assert_allclose(solved.position[:, k, 2], np.sqrt(x * x + y * y + z * z) - length, atol=CLOSE)
        np.testing.assert_allclose(solved.position[:, k, 0], np.arctan2(x, z) - np.arctan2(-0.25, 0.6), atol=CLOSE)
        np.testing.assert_allclose(solved.position[:, k, 1], -np.arctan2(y, np.hypot(x, z)), atol=CLOSE)
