"""Imported URDF trees against Pinocchio's own reader of the same file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robots.formats import urdf
from robots.model import Robot
from tasks import inertia_matrix, inverse_dynamics
from tests.robots.formats.urdfs import tree

pin = pytest.importorskip("pinocchio")
GRAVITY = (0.4, -9.0, 2.0)


class Peer:
    """Pinocchio's model of a URDF text, joints in the order of `names`."""

    def __init__(self, text: str, names: tuple[str, ...]) -> None:
        self.model = pin.buildModelFromXML(text)
        self.model.gravity.linear = np.array(GRAVITY)
        self.data = self.model.createData()
        ids = [self.model.getJointId(name) for name in names]
        self.at_q = [(self.model.idx_qs[k], self.model.nqs[k]) for k in ids]
        self.at_v = np.array([self.model.idx_vs[k] for k in ids])

    def configuration(self, q: Any) -> Any:
        """Joint variables as Pinocchio has them: a continuous joint by cosine and sine."""
        full = np.zeros(self.model.nq)
        for value, (start, size) in zip(q, self.at_q, strict=True):
            full[start : start + size] = value if size == 1 else (np.cos(value), np.sin(value))
        return full

    def rates(self, v: Any) -> Any:
        full = np.zeros(self.model.nv)
        full[self.at_v] = v
        return full

    def force(self, q: Any, qd: Any, qdd: Any) -> Any:
        return pin.rnea(self.model, self.data, self.configuration(q), self.rates(qd), self.rates(qdd))[self.at_v]

    def mass(self, q: Any) -> Any:
        upper = np.triu(pin.crba(self.model, self.data, self.configuration(q)))
        return (upper + np.triu(upper, 1).T)[np.ix_(self.at_v, self.at_v)]


@pytest.mark.parametrize("seed", range(5))
def test_inverse_dynamics_and_inertia_matrix_agree(seed: int) -> None:
    text = tree(seed, moving=3 + seed)
    robot = Robot.of(urdf.read(text.encode()).family, {})
    peer = Peer(text, robot.mechanism.actuators)
    assert len(peer.at_v) == peer.model.nv
    q, qd, qdd = np.random.default_rng(seed).normal(size=(3, 4, peer.model.nv)) * 2.0
    force, matrix = (
        inverse_dynamics(robot, q=q, qd=qd, qdd=qdd, gravity=GRAVITY).force,
        inertia_matrix(robot, q=q).matrix,
    )
    for k in range(4):
        expected, mass = peer.force(q[k], qd[k], qdd[k]), peer.mass(q[k])
        np.testing.assert_allclose(force[k], expected, rtol=0, atol=1e-10 * np.abs(expected).max())
        np.testing.assert_allclose(matrix[k], mass, rtol=0, atol=1e-10 * np.abs(mass).max())
