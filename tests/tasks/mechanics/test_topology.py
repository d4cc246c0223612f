"""Choice of rows and joints, and messages for limbs that cannot be solved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from robots import catalog
from robots.model import PLATFORM, Closure, Frame, Mechanism
from tasks.mechanics.kinematics import HOME, inverse_pose, joined_pose, mount_pose
from tasks.mechanics.loops import Embedding, Tips
from tasks.mechanics.topology import TopologyError, choose, pivots
from tests.tasks.machines import DELTAS, HEXAPOD, X, Y, Z, serial


def delta(**limb: Any) -> Mechanism:
    """The paper's Delta with some fields of its limb replaced."""
    mechanism = catalog.build("delta_3rr2rrr").mechanism
    return replace(mechanism, limbs=(replace(mechanism.limbs[0], **limb),))


@pytest.mark.parametrize("name", DELTAS)
def test_a_planar_loop_keeps_two_rows(name: str) -> None:
    robot = catalog.build(name)
    choice = choose(robot.mechanism, 0)
    limb = robot.mechanism.limbs[0]
    (loop,), (cluster,) = choice.loops, choice.clusters
    assert len(loop.rows) == 2
    assert limb.links[loop.root].body == "elbow"
    assert {limb.links[i].joint for i in loop.joints} == {"3", "4", "5"}
    assert set(choice.independent) | set(cluster.dependent) == set(range(5))
    assert limb.index("1") in choice.independent
    (rows,) = choice.tip_rows
    assert len(rows) == len(choice.independent) == 3


@pytest.mark.parametrize("name", DELTAS)
def test_choices_are_well_conditioned(name: str) -> None:
    limb = catalog.build(name).mechanism.limbs[0]
    choice = choose(catalog.build(name).mechanism, 0)
    rng = np.random.default_rng(1)
    for _ in range(20):
        angles = rng.uniform(-0.4, 0.4, 3)
        q = [angles[0], angles[1], angles[2], -angles[2], angles[2]]  # any pose that keeps the parallelogram
        states = [HOME.moved(link, x) for link, x in zip(limb.links, q, strict=True)]
        (cluster,) = Embedding.of(limb, choice, states).clusters
        np.testing.assert_allclose(cluster.residual(), 0.0, atol=1e-12)
        assert np.linalg.cond(cluster.matrix[:, list(cluster.choice.dependent)]) < 30.0


def test_the_choice_for_a_hexapod_needs_no_loop() -> None:
    mechanism = HEXAPOD.assemble({p.name: p.default for p in HEXAPOD.parameters})
    choice = choose(mechanism, 0)
    assert (choice.loops, choice.independent, choice.tip_rows) == ((), (0, 1, 2), ((0, 1, 2),))


def test_a_choice_does_not_depend_on_the_last_bit() -> None:
    reference = choose(catalog.build("delta_3rr2rrr").mechanism, 0)
    for length in (0.25, 0.25 + 1e-15, 0.251, 0.3):
        assert choose(catalog.build("delta_3rr2rrr", upper_arm=length).mechanism, 0) == reference


def test_a_loop_that_cannot_close_is_refused() -> None:
    mechanism = delta()
    (loop,) = mechanism.limbs[0].loops
    far = replace(loop, frame_b=Frame(loop.frame_b.rotation, (0.0, 50.0, 0.0)))
    with pytest.raises(
        TopologyError, match=r"limb RR\[2RR\]R does not close near its reference pose: residual .*; check lengths"
    ):
        choose(delta(loops=(far,)), 0)


def test_actuators_that_a_loop_ties_together_are_refused() -> None:
    with pytest.raises(
        TopologyError,
        match=r"limb RR\[2RR\]R, joint 7: got the driven joints 3, 4 of a loop with 1 freedom; expected joints",
    ):
        choose(delta(actuated=("1", "3", "4")), 0)


def test_a_limb_with_joints_that_nothing_determines_is_refused() -> None:
    tip = Closure("tip", "spherical", 3, Frame(position=(0.4, 0.3, -0.1)), PLATFORM, Frame(position=(0.4, 0.3, -0.4)))
    with pytest.raises(
        TopologyError,
        match=r"limb chain: the platform determines . of its 4 independent joints \(0, 1, 2, 3\); give it fewer",
    ):
        choose(serial((X, Y, X, Z), tip), 0)


def test_a_serial_limb_is_determined_by_its_tip() -> None:
    tip = Closure("tip", "spherical", 2, Frame(position=(0.2, 0.1, 0.2)), PLATFORM, Frame(position=(0.2, 0.1, -0.1)))
    choice = choose(serial((X, Y, X), tip), 0)
    assert (choice.independent, choice.tip_rows) == ((0, 1, 2), ((0, 1, 2),))


def test_pivots_are_independent_and_the_best_of_the_worst() -> None:
    one = np.array([[1.0, 0.0], [1.0, 1e-9], [0.0, 0.5], [0.0, 2.0]])
    assert pivots([one]) == (0, 3)
    other = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.6], [0.0, 1e-3]])
    assert pivots([one, other]) == (0, 2)
    assert pivots([np.zeros((3, 2))]) == ()
    assert pivots([np.zeros((0, 2))]) == ()


def test_near_ties_go_to_the_first_row() -> None:
    for jitter in (-1e-12, 0.0, 1e-12):
        assert pivots([np.array([[1.0, 0.0], [1.0 + jitter, 0.0], [0.0, 1.0]])]) == (0, 2)


def test_compound_jacobian_of_the_choice_has_full_rank() -> None:
    mechanism = catalog.build("delta_rl5_1450").mechanism
    limb, choice = mechanism.limbs[0], choose(mechanism, 0)
    home = mechanism.platform.home.position
    base, mount = (mount_pose(frame) for frame in (mechanism.instances[0].base, mechanism.instances[0].platform))
    target = joined_pose(inverse_pose(base), joined_pose(mount_pose(Frame(position=home)), mount))
    tips = Tips.of(limb, choice, [HOME] * 5, target)
    np.testing.assert_allclose(tips.residuals(), 0.0, atol=1e-14)
    assert np.linalg.cond(tips.compound) < 100.0
    assert tips.determinant == pytest.approx(np.linalg.det(tips.compound))


def test_a_limb_that_is_nearly_stretched_is_looked_at_in_a_smaller_neighbourhood() -> None:
    """Its rod has a few millimetres to spare, and poses that are farther from the reference pose do not close."""
    stretched = choose(catalog.build("hexa", home_height=0.46).mechanism, 0)
    assert stretched == choose(catalog.build("hexa").mechanism, 0)
