"""Redundant chains of millimetres and of kilometres are where those of metres are, relative to their size."""

from __future__ import annotations

import numpy as np
import pytest

import limbsweep as ls
from robots.model import Robot
from tests.tasks.scaled import at_size
from tests.tasks.stages.test_redundancy import arm, states
from tests.tasks.stages.test_redundancy_tasks import BESIDE, STATED


def resolved(usual: Robot, size: float) -> list[np.ndarray]:
    """Return status, joints and accelerations of a robot at a size, slides relative to it."""
    turning = {link.joint: link.joint_kind.turns for link in usual.mechanism.limbs[0].links}
    given, free = (
        np.array([1.0 if turning.get(name, True) else size for name in names])
        for names in (usual.mechanism.given, usual.mechanism.freedoms)
    )
    q, qd, qdd = (given * part for part in states(usual, 16))
    motion = ls.resolve_redundancy(at_size(usual, size), q=q, qd=qd, qdd=qdd)
    return [motion.status, motion.q / free, motion.qdd / free]


@pytest.mark.parametrize("text", [BESIDE, STATED], ids=["posture beside tasks", "tasks alone"])
@pytest.mark.parametrize("size", [1e-3, 1e3])
def test_a_chain_of_another_size_has_the_same_joints(text: str, size: float) -> None:
    """Kilometres took more steps than there are, and millimetres lost five digits beside a rail."""
    usual = arm(text)
    (status, q, qdd), (first, expected, expected_qdd) = resolved(usual, size), resolved(usual, 1.0)
    good = (status == ls.Status.OK) & (first == ls.Status.OK)
    assert (status == first).mean() > 0.9  # far from the posture, the search depends on rounding
    assert good.any()
    np.testing.assert_allclose(q[good], expected[good], rtol=0, atol=1e-12)
    np.testing.assert_allclose(qdd[good], expected_qdd[good], rtol=0, atol=1e-12)
