"""Mobility of joints: factors of low rank for many joints, and of the whole matrix for few, agree."""

from __future__ import annotations

import numpy as np
import pytest

from tasks.dynamics.instant import mobility
from tasks.dynamics.instant.mobility import DenseYielding, LowYielding, Mobility
from tasks.mathematics.algebra import array
from tasks.mathematics.solvers import Factors

JOINTS, FREEDOMS = 14, 4


def _mobility() -> tuple[Mobility, np.ndarray]:
    """Return a mobility, and M^-1."""
    rng = np.random.default_rng(2)
    root = rng.normal(size=(FREEDOMS, FREEDOMS))
    mass = root @ root.T + np.eye(FREEDOMS) * 0.1
    return Mobility(Factors.of(mass), rng.normal(size=(JOINTS, FREEDOMS))), np.linalg.inv(mass)


@pytest.mark.parametrize("many", [0, JOINTS])
def test_a_yielding_mobility_is_that_of_plain_matrices(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of the joints is held; the others and the freedoms keep what these leave of their mobility."""
    monkeypatch.setattr(mobility, "MANY", many)
    own, inverse = _mobility()
    holds = np.array([1.0, 0.0] * (JOINTS // 2))
    yielding = own.yielding(holds, 1e-4, 1.0 - holds + 1e-3)
    assert isinstance(yielding, DenseYielding if many else LowYielding)
    whole = own.rows @ inverse @ own.rows.T
    held = whole * np.outer(holds, holds)
    regular = held + np.diag(np.diagonal(held) * 1e-4 + 1.0 - holds + 1e-3)
    demand = np.arange(1.0, JOINTS + 1.0)
    np.testing.assert_allclose(yielding.solve(demand), np.linalg.solve(regular, demand), rtol=1e-9)
    np.testing.assert_allclose(array(yielding.pivots), array(Factors.of(regular).pivots), rtol=1e-9)
    np.testing.assert_allclose(own.times(demand), whole @ demand, rtol=1e-11)
    np.testing.assert_allclose(own.accelerations(demand), inverse @ own.rows.T @ demand, rtol=1e-11)
    np.testing.assert_allclose(array([own.of_freedom(1)]), [inverse[1, 1]], rtol=1e-11)
    for row, found in ((own.rows[3], yielding.of_joint(3)), (np.eye(FREEDOMS)[1], yielding.of_freedom(1))):
        through = own.rows @ inverse @ row * holds
        left = row @ inverse @ row - through @ np.linalg.solve(regular, through)
        np.testing.assert_allclose(array([found]), [left], rtol=1e-9, atol=1e-12)


def test_joints_that_hold_all_freedoms_leave_nothing() -> None:
    """Beside joints that hold everything, mobility is that of their compliance alone."""
    own, inverse = _mobility()
    left = own.yielding(np.ones(JOINTS), 1e-10, np.zeros(JOINTS)).of_joint(0)
    assert own.is_low
    assert 0.0 < left < 1e-9 * (own.rows[0] @ inverse @ own.rows[0])
