from __future__ import annotations

import numpy as np
import pytest

from applications.report.data import series, sketch
from applications.report.data.results import Results
from robots import catalog
from tasks import inverse_kinematics


@pytest.mark.parametrize("name", [name for name, each in catalog.FAMILIES.items() if not each.reference.is_chain])
def test_limbs_carry_the_platform(name: str) -> None:
    robot = catalog.build(name)
    home = np.array(robot.mechanism.platform.home.position)
    shift = 0.03 * np.array([f"v{axis}" in robot.mechanism.platform.mobility for axis in "xyz"])
    found = inverse_kinematics(robot, position=home + shift)
    assert found.status == 0
    at_home, moved = sketch.sketch(robot.mechanism), sketch.sketch(robot.mechanism, found.position)
    for before, after in zip(at_home, moved, strict=True):
        np.testing.assert_allclose(after.tips, before.platform_tips + shift, atol=1e-9)
        np.testing.assert_allclose(after.mounts, before.mounts, atol=1e-12)


def test_a_slider_that_moves_leaves_its_mount_on_the_base() -> None:
    """Check that mounts stand still: they once moved along with sliders."""
    mechanism = catalog.build("linear_delta").mechanism
    angles = np.random.default_rng(6).uniform(-0.1, 0.1, (len(mechanism.instances), len(mechanism.limbs[0].links)))
    for before, after in zip(sketch.sketch(mechanism), sketch.sketch(mechanism, angles), strict=True):
        np.testing.assert_array_equal(after.mounts, before.mounts)
        assert np.abs(after.joints[0].point - before.mounts[0]).max() > 1e-3


@pytest.mark.parametrize("name", catalog.FAMILIES)
def test_the_reference_pose_is_that_of_zero_variables(name: str) -> None:
    mechanism = catalog.build(name).mechanism
    zero = np.zeros((len(mechanism.instances), max(len(limb.joints) for limb in mechanism.limbs)))
    for one, two in zip(sketch.sketch(mechanism), sketch.sketch(mechanism, zero), strict=True):
        np.testing.assert_array_equal(one.lines, two.lines)


@pytest.mark.parametrize("name", catalog.FAMILIES)
def test_a_batch_is_its_poses(name: str) -> None:
    mechanism = catalog.build(name).mechanism
    shape = (3, len(mechanism.instances), max(len(limb.links) for limb in mechanism.limbs))
    angles = np.random.default_rng(5).uniform(-0.4, 0.4, shape)
    together = sketch.sketch(mechanism, angles)
    for index, pose in enumerate(angles):
        for every, one in zip(together, sketch.sketch(mechanism, pose), strict=True):
            for part in ("lines", "cuts", "mounts", "tips"):
                np.testing.assert_allclose(getattr(every, part)[index], getattr(one, part), atol=1e-14)
            for joint, alone in zip(every.joints, one.joints, strict=True):
                np.testing.assert_allclose(joint.point[index], alone.point, atol=1e-14)


def test_lines_join_the_points_of_the_sketch(results: Results) -> None:
    frames, lines = series.motions(results.case)
    mechanism, angles = results.case.mechanism, results.case.results["joint_position"].values
    for index, each in enumerate(frames):
        for limb, own in zip(sketch.sketch(mechanism, angles[index]), lines.limbs, strict=True):
            np.testing.assert_allclose(each.points[:, own], limb.lines, atol=1e-9)
        tips = np.concatenate([limb.tips for limb in sketch.sketch(mechanism, angles[index])], axis=1)
        corners = np.sort(each.points[:, lines.platform[:-1]], axis=1)
        np.testing.assert_allclose(corners, np.sort(tips, axis=1), atol=1e-9)


def test_bodies_that_end_without_a_joint_have_a_point_there() -> None:
    family = catalog.FAMILIES["planar_3r"]
    sketches = sketch.sketch(family.reference, np.random.default_rng(2).uniform(-1, 1, (4, 1, 3)))
    points, lines = series._indexed(sketches)
    assert points.shape == (4, 4, 3)
    assert lines.limbs[0].tolist() == [[0, 1], [1, 2], [2, 3]]
    assert lines.platform.tolist() == []


def test_frames_hold_the_reactions_of_the_store(results: Results) -> None:
    frames, _ = series.motions(results.case)
    stored = results.dataset["joint_reaction"].isel(design=results.design).values
    assert [each.name for each in frames] == ["slow", "deep"]
    for index, each in enumerate(frames):
        np.testing.assert_array_equal(each.force.reshape(41, 3, 7, 3), stored[index, ..., 3:])
        np.testing.assert_array_equal(each.moment.reshape(41, 3, 7, 3), stored[index, ..., :3])
    assert series.joint_names(results.case.mechanism)[7] == "limb2.1"


def test_bodies_keep_their_length(results: Results) -> None:
    frames, lines = series.motions(results.case)
    for each in frames:
        for limb in lines.limbs:
            ends = each.points[:, limb]
            lengths = np.linalg.norm(ends[:, :, 1] - ends[:, :, 0], axis=-1)
            np.testing.assert_allclose(lengths, lengths[:1].repeat(len(lengths), axis=0), atol=1e-12)


def test_outlines_go_round() -> None:
    corners = np.array([[1.0, 1, 0], [-1, -1, 0], [1, -1, 0], [-1, 1, 0]])
    around = corners[series.order_around(corners)]
    assert np.allclose(np.linalg.norm(around - np.roll(around, 1, axis=0), axis=1), 2.0)
