from __future__ import annotations

import numpy as np
import pytest

from pipeline import picture
from pipeline.report import motion
from pipeline.report.results import Results
from robots import catalog
from tasks import inverse_kinematics


@pytest.mark.parametrize("name", [name for name, each in catalog.FAMILIES.items() if not each.reference.is_chain])
def test_limbs_carry_the_platform(name: str) -> None:
    robot = catalog.build(name)
    home = np.array(robot.mechanism.platform.home.position)
    shift = 0.03 * np.array([f"v{axis}" in robot.mechanism.platform.mobility for axis in "xyz"])
    found = inverse_kinematics(robot, position=home + shift)
    assert found.status == 0
    at_home, moved = picture.sketch(robot.mechanism), picture.sketch(robot.mechanism, found.position)
    for before, after in zip(at_home, moved, strict=True):
        np.testing.assert_allclose(after.tips, before.platform_tips + shift, atol=1e-9)
        np.testing.assert_allclose(after.mounts, before.mounts, atol=1e-12)


@pytest.mark.parametrize("name", catalog.FAMILIES)
def test_the_reference_pose_is_that_of_zero_variables(name: str) -> None:
    mechanism = catalog.build(name).mechanism
    zero = np.zeros((len(mechanism.instances), max(len(limb.joints) for limb in mechanism.limbs)))
    for one, two in zip(picture.sketch(mechanism), picture.sketch(mechanism, zero), strict=True):
        np.testing.assert_array_equal(one.lines, two.lines)


def test_frames_hold_the_reactions_of_the_store(results: Results) -> None:
    assert results.case is not None
    frames = motion.motions(results.case)
    stored = results.dataset["joint_reaction"].isel(design=results.design).values
    assert [each.name for each in frames] == ["slow", "deep"]
    for index, each in enumerate(frames):
        np.testing.assert_array_equal(each.force.reshape(41, 3, 7, 3), stored[index, ..., 3:])
        np.testing.assert_array_equal(each.moment.reshape(41, 3, 7, 3), stored[index, ..., :3])
        assert each.joints.shape == (41, 21, 3)
    assert motion.joint_names(results.case)[7] == "limb2.1"


def test_bodies_keep_their_length(results: Results) -> None:
    assert results.case is not None
    for each in motion.motions(results.case):
        for limb in each.limbs:
            lines = limb.reshape(len(limb), -1, 3, 3)
            lengths = np.linalg.norm(lines[:, :, 1] - lines[:, :, 0], axis=-1)
            np.testing.assert_allclose(lengths, lengths[:1].repeat(len(lengths), axis=0), atol=1e-12)


def test_outlines_go_round() -> None:
    corners = np.array([[1.0, 1, 0], [-1, -1, 0], [1, -1, 0], [-1, 1, 0]])
    around = corners[motion.order_around(corners)]
    assert np.allclose(np.linalg.norm(around - np.roll(around, 1, axis=0), axis=1), 2.0)
