"""Both formulations of loop constraints agree: a cut joint with its rows, and the screws of all joints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from robots import catalog
from robots.model import Frame, Limb, Link
from tasks.mechanics.families import structure_of
from tasks.mechanics.kinematics import HOME, JointState, poses
from tasks.mechanics.limb_choice import ClusterChoice, LoopChoice
from tasks.mechanics.loops import SolvedCluster, SolvedLoop
from tests.tasks.mechanics import cut_body

TOLERANCE = 1e-12


class One(NamedTuple):
    """A loop that is a cluster of its own."""

    loop: LoopChoice
    dependent: tuple[int, ...]

    def solved(self, limb: Limb, index: int, states: list[JointState]) -> SolvedCluster:
        loop = SolvedLoop(limb, self.loop, limb.loops[index], poses(limb.links, states, self.loop.root))
        return SolvedCluster(ClusterChoice((index,), self.dependent), (loop,))


def closed_loops(
    limb: Limb, index: int, choice: One, *, spread: float = 0.4, count: int = 20
) -> Iterator[SolvedCluster]:
    """A loop at random values of its independent joints, closed by Newton steps."""
    random = np.random.default_rng(index)
    for _ in range(count):
        states = [HOME] * len(limb.links)
        for joint in set(choice.loop.joints) - set(choice.dependent):
            states[joint] = HOME.moved(limb.links[joint], random.uniform(-spread, spread))
        for _ in range(12):
            alone = choice.solved(limb, index, states)
            for joint, step in alone.answer(alone.residual()).items():
                states[joint] = states[joint].moved(limb.links[joint], step)
        alone = choice.solved(limb, index, states)
        assert np.abs([*alone.residual(), *alone.loops[0].redundant.residual()]).max() < 1e-14
        yield alone


def with_platform(limb: Limb) -> Limb:
    """IRSBot-2 with the platform on the first rod, as in the paper's tree: joint 6 in the tree, joint 8 cut."""
    first, second = limb.tips
    home = poses(limb.links, [HOME] * len(limb.links))
    seat = np.array(first.frame_b.rotation)
    straight = Frame(tuple(map(tuple, home[first.a].rotation.T @ seat)))
    cross, platform = len(limb.links), len(limb.links) + 1
    massless = limb.links[3].inertia
    links = (
        *limb.links,
        Link("6.1", "cross", first.a, "revolute", (1.0, 0.0, 0.0), first.frame_a, massless),
        Link("6.2", "platform", cross, "revolute", (0.0, 1.0, 0.0), straight, massless),
    )
    gap = np.array(second.frame_b.position) - np.array(first.frame_b.position)
    other = Frame(tuple(map(tuple, seat.T @ np.array(second.frame_b.rotation))), tuple(seat.T @ gap))
    return replace(limb, links=links, loops=(*limb.loops, replace(second, b=platform, frame_b=other)), tips=())


def limb_of(name: str) -> tuple[Limb, One]:
    made = structure_of(catalog.family(name))
    return made.mechanism.limbs[0], One(made.choices[0].loops[0], made.choices[0].clusters[0].dependent)


def four_universal_joints() -> tuple[Limb, One]:
    limb = with_platform(limb_of("irsbot2")[0])
    return limb, One(LoopChoice(1, (5, 6), (3, 4, 7, 8), (0, 1, 2, 3), (5, 6, 3, 4, 7, 8)), (3, 4, 5, 6))


CASES = {
    "delta_3rr2rrr": (lambda: limb_of("delta_3rr2rrr"), 0, 3),
    "irsbot2, parallelogram": (lambda: limb_of("irsbot2"), 0, 3),
    "irsbot2, 4U": (four_universal_joints, 1, 6),
}
"""Limb and choice, number of the loop, dimension of the motions of its joints."""


@pytest.mark.parametrize("case", CASES)
def test_both_formulations_agree(case: str) -> None:
    make, index, dimension = CASES[case]
    limb, choice = make()
    joints = choice.loop.joints
    for alone in closed_loops(limb, index, choice):
        (loop,) = alone.loops
        screws = cut_body.loop_screws(loop)
        assert cut_body.rank(screws) == dimension
        free = [k for k, joint in enumerate(joints) if joint not in choice.dependent]
        by_cut_joint = np.zeros((len(limb.links), len(free)))
        for column, k in enumerate(free):
            joint = joints[k]
            by_cut_joint[joint, column] = 1.0
            for dependent, value in alone.answer(alone.matrix[:, joint]).items():
                by_cut_joint[dependent, column] = value
        for h in (cut_body.embedding(screws, free), cut_body.embedding_by_reciprocal_screws(screws, free)):
            np.testing.assert_allclose(screws @ h, 0.0, atol=TOLERANCE)
            np.testing.assert_allclose(h[: len(joints)], by_cut_joint[list(joints)], atol=TOLERANCE)


@pytest.mark.parametrize("case", CASES)
def test_reciprocal_screws_work_on_one_joint(case: str) -> None:
    make, index, _ = CASES[case]
    limb, choice = make()
    for alone in closed_loops(limb, index, choice, count=3):
        screws = cut_body.loop_screws(alone.loops[0])
        free = cut_body.independent_joints(screws)
        work = cut_body.reciprocal_screws(screws, free) @ np.delete(screws, free, axis=1)
        np.testing.assert_allclose(work - np.diag(np.diag(work)), 0.0, atol=1e-13)
        assert np.abs(np.diag(work)).min() > 1e-3


def test_parallelogram_of_the_paper() -> None:
    """Eq. (72): joints 3 and 5 turn alike and opposite to 4; and the wrenches of Eq. (63) are reciprocal as claimed."""
    limb, choice = limb_of("delta_3rr2rrr")
    assert [limb.links[joint].joint for joint in choice.loop.joints] == ["5", "3", "4"]
    for alone in closed_loops(limb, 0, choice, count=5):
        (loop,) = alone.loops
        h = cut_body.embedding(cut_body.loop_screws(loop), [2])  # joint 4 is independent
        np.testing.assert_allclose(h[:3, 0], [-1.0, -1.0, 1.0], atol=TOLERANCE)
        p5, p3, _ = (loop.at[joint].position for joint in choice.loop.joints)
        p7 = loop.joined.a.origin
        for of, start, end in ((1, p5, p7), (0, p3, p7), (3, p3, p5)):
            wrench = np.concatenate([np.cross(start, end - start), end - start])
            felt = np.abs(wrench @ cut_body.loop_screws(loop)) > 1e-12
            assert list(felt) == [k in (of, 2) for k in range(4)]


def test_independent_joints_that_do_not_determine_the_others() -> None:
    limb, choice = limb_of("delta_3rr2rrr")
    (loop,) = next(closed_loops(limb, 0, choice)).loops
    screws = cut_body.loop_screws(loop)
    for wrong in ([], [0, 1]):
        with pytest.raises(cut_body.LoopError, match="expected 1 that determine the others"):
            cut_body.embedding(screws, wrong)
