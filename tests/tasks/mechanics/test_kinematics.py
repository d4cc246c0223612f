"""Tree kinematics against plain chain products and differences in time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robots.geometry import about, point
from robots.model import Frame, Link
from robots.types import BASE
from tasks.mechanics.kinematics import (
    HOME,
    Pose,
    SpatialMotion,
    columns,
    inverse_pose,
    joined_pose,
    motions,
    mount_pose,
    path,
    poses,
    state_at,
    unpacked,
    way,
)

AXES = ((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
PARENTS = (BASE, 0, 1, 1, 3)
KINDS = ("revolute", "prismatic", "screw", "screw", "prismatic")
PITCHES = (None, None, 0.3, -0.2, None)


def tree() -> tuple[Link, ...]:
    rng = np.random.default_rng(3)

    def placement() -> Frame:
        rotation = Rotation.from_rotvec(rng.normal(size=3)).as_matrix()
        return Frame(tuple(map(tuple, rotation.tolist())), tuple(rng.normal(size=3).tolist()))  # type: ignore[arg-type]

    return tuple(
        Link(str(k), f"body{k}", parent, kind, axis, placement(), point(1.0), pitch=pitch)
        for k, (axis, parent, kind, pitch) in enumerate(zip(AXES, PARENTS, KINDS, PITCHES, strict=True))
    )


def chain(links: tuple[Link, ...], q: np.ndarray, link: int) -> np.ndarray:
    """Pose (4, 4) of a link by products of homogeneous matrices."""
    result = np.eye(4)
    for k in path(links, link):
        step = np.eye(4)
        step[:3, :3], step[:3, 3] = links[k].placement.rotation, links[k].placement.position
        move = np.eye(4)
        turn, way = {"revolute": (1.0, 0.0), "prismatic": (0.0, 1.0), "screw": (1.0, PITCHES[k])}[links[k].kind]
        move[:3, :3] = Rotation.from_rotvec(turn * q[k] * np.array(links[k].axis)).as_matrix()
        move[:3, 3] = way * q[k] * np.array(links[k].axis)
        result = result @ step @ move
    return result


Q, QD, QDD = np.random.default_rng(4).normal(size=(3, 5))


def at_time(t: float) -> tuple[dict[int, Pose], tuple[Link, ...]]:
    links, q = tree(), Q + QD * t + QDD * t * t / 2.0
    return poses(links, [state_at(link, x) for link, x in zip(links, q, strict=True)]), links


def test_poses_are_products_along_the_chain() -> None:
    at, links = at_time(0.0)
    assert set(at) == {BASE, *range(5)}
    for k in range(5):
        expected = chain(links, Q, k)
        np.testing.assert_allclose(at[k].rotation, expected[:3, :3], atol=1e-14)
        np.testing.assert_allclose(at[k].position, expected[:3, 3], atol=1e-14)


def test_poses_from_an_inner_root_leave_other_branches_out() -> None:
    links = tree()
    whole, _ = at_time(0.0)
    part = poses(links, [state_at(link, x) for link, x in zip(links, Q, strict=True)], root=1)
    assert set(part) == {1, 2, 3, 4}
    relative = joined_pose(inverse_pose(whole[1]), whole[4])
    np.testing.assert_allclose(part[4].position, relative.position, atol=1e-14)
    np.testing.assert_allclose(part[4].rotation, relative.rotation, atol=1e-14)


def test_path_goes_from_root_to_link() -> None:
    links = tree()
    assert path(links, 4) == (0, 1, 3, 4)
    assert path(links, 4, root=1) == (3, 4)
    assert path(links, BASE) == ()


def test_motions_are_derivatives_of_poses() -> None:
    h = 1e-4
    now, links = at_time(0.0)
    ahead, behind = at_time(h)[0], at_time(-h)[0]
    moving = motions(links, now, QD, QDD)
    for k in range(5):
        offset = np.array([0.3, -0.2, 0.5])
        points = [each[k].at(offset) for each in (behind, now, ahead)]
        velocity, acceleration = moving[k].at(now[k].rotation @ offset)
        np.testing.assert_allclose((points[2] - points[0]) / (2 * h), velocity, atol=1e-5)
        np.testing.assert_allclose((points[2] - 2 * points[1] + points[0]) / h**2, acceleration, atol=1e-4)
        turn = (ahead[k].rotation - behind[k].rotation) / (2 * h) @ now[k].rotation.T
        np.testing.assert_allclose(moving[k].omega, [turn[2, 1], turn[0, 2], turn[1, 0]], atol=1e-5)


def test_without_accelerations_the_rest_is_what_velocity_causes() -> None:
    at, links = at_time(0.0)
    full, drift, only = motions(links, at, QD, QDD), motions(links, at, QD), motions(links, at, 0.0 * QD, QDD)
    for k in range(5):
        np.testing.assert_allclose(full[k].a, drift[k].a + only[k].a, atol=1e-13)
        np.testing.assert_allclose(full[k].alpha, drift[k].alpha + only[k].alpha, atol=1e-13)


def test_columns_give_the_velocity_of_a_point() -> None:
    at, links = at_time(0.0)
    spot = np.array([0.1, 0.2, 0.3])
    chosen = columns(links, at, path(links, 4), at[4].at(spot))
    velocity, _ = motions(links, at, QD)[4].at(at[4].rotation @ spot)
    np.testing.assert_allclose(sum(QD[k] * v for k, (_, v) in chosen.items()), velocity, atol=1e-13)
    omega = sum(QD[k] * turning for k, (turning, _) in chosen.items())
    np.testing.assert_allclose(omega, motions(links, at, QD)[4].omega, atol=1e-13)


@pytest.mark.parametrize(("k", "turned", "slid"), [(0, 1e-3, 0.0), (1, 0.0, 1e-3), (2, 1e-3, 0.3e-3)])
def test_states_move_by_their_own_variable(k: int, turned: float, slid: float) -> None:
    link = tree()[k]
    moved = HOME.moved(link, 1e-3)
    assert math.atan2(moved.sin, moved.cos) == pytest.approx(turned, rel=1e-6)
    assert way(link, moved) == slid
    assert moved.position(link) == pytest.approx(1e-3, rel=1e-6)


def test_a_screw_counts_its_turns() -> None:
    link = tree()[2]
    far = state_at(link, 20.0)
    assert far.position(link) == 20.0
    assert far.moved(link, -30.0).position(link) == -10.0
    assert way(link, far) == 6.0
    assert unpacked(link, iter(far.packed(link))) == far


def test_frames_join_and_invert() -> None:
    pose = mount_pose(Frame(about("x", math.cos(0.3), math.sin(0.3)), (1.0, 2.0, 3.0)))
    back = joined_pose(pose, inverse_pose(pose))
    np.testing.assert_allclose(back.rotation, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(back.position, 0.0, atol=1e-15)


def test_motion_at_its_own_origin() -> None:
    motion = SpatialMotion(*np.random.default_rng(5).normal(size=(4, 3)))
    velocity, acceleration = motion.at(np.zeros(3))
    np.testing.assert_array_equal(velocity, motion.v)
    np.testing.assert_array_equal(acceleration, motion.a)
