"""Constraint embedding of a Delta's limb: rates and accelerations keep every row closed, by differences in time."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from robots import catalog
from tasks.mechanics.kinematics import HOME, JointState, Pose, SpatialMotion, inverse_pose, joined_pose, mount_pose
from tasks.mechanics.limb import solve
from tasks.mechanics.limb_motion import Mounted
from tasks.mechanics.loops import Embedding, Tips
from tasks.mechanics.topology import choose

MECHANISM = catalog.build("delta_3rr2rrr").mechanism
LIMB, CHOICE = MECHANISM.limbs[0], choose(MECHANISM, 0)
R, V, A = np.array([0.1, -0.15, -0.9]), np.array([0.7, -1.1, 0.4]), np.array([5.0, 3.0, -8.0])


def mounted(index: int) -> Mounted:
    instance = MECHANISM.instances[index]
    frames = mount_pose(instance.base), mount_pose(instance.platform)
    return Mounted(LIMB, CHOICE, *frames, MECHANISM.platform.mobility)


def solved(index: int, t: float = 0.0):  # type: ignore[no-untyped-def]
    pose = Pose(np.eye(3), R + V * t + A * t * t / 2.0)
    motion = SpatialMotion(np.zeros(3), V + A * t, np.zeros(3), A)
    return solve(mounted(index), mount_pose(MECHANISM.platform.home), pose, motion)


@pytest.mark.parametrize("index", range(3))
def test_one_sample_on_floats(index: int) -> None:
    result = solved(index)
    assert result.status == 0.0
    np.testing.assert_allclose(result.tips.residuals(), 0.0, atol=1e-12)


def test_the_reference_pose_on_floats() -> None:
    still = SpatialMotion(*np.zeros((4, 3)))
    home = mount_pose(MECHANISM.platform.home)
    result = solve(mounted(0), home, home, still)
    assert result.status == 0.0
    np.testing.assert_allclose([state.sin for state in result.states], 0.0, atol=1e-15)


def angles(states: list[JointState]) -> np.ndarray:
    return np.array([np.arctan2(state.sin, state.cos) for state in states])


@pytest.mark.parametrize("index", range(3))
def test_rates_and_accelerations_are_derivatives(index: int) -> None:
    h = 1e-4
    behind, now, ahead = (solved(index, t) for t in (-h, 0.0, h))
    np.testing.assert_allclose((angles(ahead.states) - angles(behind.states)) / (2 * h), now.rates, atol=1e-5)
    np.testing.assert_allclose((ahead.rates - behind.rates) / (2 * h), now.accelerations, rtol=1e-5, atol=1e-3)


def test_embedding_leaves_independent_joints_alone_and_keeps_loops_closed() -> None:
    loops = Embedding.of(LIMB, CHOICE, solved(1).states)
    matrix = loops.matrix
    np.testing.assert_array_equal(matrix[list(CHOICE.independent)], np.eye(len(CHOICE.independent)))
    np.testing.assert_allclose(loops.loops[0].matrix @ matrix, 0.0, atol=1e-13)


def test_a_correction_closes_an_open_loop_to_first_order() -> None:
    states = list(solved(2).states)
    states[2] = states[2].moved(LIMB.links[2], 1e-4)
    loops = Embedding.of(LIMB, CHOICE, states)
    before = np.abs(loops.residuals()).max()
    moved = [s.moved(link, d) for s, link, d in zip(states, LIMB.links, loops.correction(), strict=True)]
    assert before > 1e-6
    assert np.abs(Embedding.of(LIMB, CHOICE, moved).residuals()).max() < 1e-3 * before


def test_newton_steps_converge_quadratically() -> None:
    pose, states = Pose(np.eye(3), R), [HOME] * 5
    sizes = []
    for _ in range(6):
        tips = mounted(0).tips(states, pose)
        sizes.append(np.abs(tips.residuals()).max())
        states = [s.moved(link, d) for s, link, d in zip(states, LIMB.links, tips.newton_step(), strict=True)]
    assert sizes[0] > 0.1
    assert sizes[-1] < 1e-13
    assert all(later < 20.0 * sooner**2 + 1e-15 for sooner, later in itertools.pairwise(sizes[1:]))


def test_covector_is_the_transpose_of_row_rates() -> None:
    tips: Tips = solved(1).tips
    (joined,), (offset,) = tips.joined, tips.offsets
    rng = np.random.default_rng(2)
    omega, v, multipliers = rng.normal(size=3), rng.normal(size=3), rng.normal(size=len(CHOICE.tip_rows[0]))
    power = np.array(joined.rate(omega, v + np.cross(omega, offset))) @ multipliers
    assert tips.covector(multipliers) @ [*omega, *v] == pytest.approx(power, rel=1e-12)


def test_a_target_is_the_platforms_mount_seen_from_the_base() -> None:
    each = mounted(1)
    target = each.target(Pose(np.eye(3), R))
    joined = joined_pose(each.base, target)
    np.testing.assert_allclose(joined.position, R + each.platform.position, atol=1e-15)
    np.testing.assert_allclose(joined_pose(inverse_pose(each.base), joined).position, target.position, atol=1e-15)


def test_solving_the_tip_takes_the_loops_answer_into_account() -> None:
    """With other joints independent, closing the loop moves the tip: the answer has to allow for that."""
    (cluster,) = CHOICE.clusters
    choice = replace(CHOICE, clusters=(replace(cluster, dependent=(2, 4)),), independent=(0, 1, 3))
    tips = Tips.of(LIMB, choice, solved(0).states, mounted(0).target(Pose(np.eye(3), R)))
    demand, answered = np.array([0.3, -0.2, 0.5]), np.array([0.0, 0.0, 0.7, 0.0, -0.4])
    assert np.abs(tips.matrix @ answered).max() > 0.1
    np.testing.assert_allclose(tips.matrix @ tips.solve(demand, answered), demand, atol=1e-12)
