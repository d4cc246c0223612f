"""Quaternions against scipy's rotations."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from tasks.mathematics import rotations

TURNS = Rotation.random(20, rng=np.random.default_rng(1))
ROWS = TURNS.as_matrix().reshape(20, 9).T


def test_there_and_back() -> None:
    q = rotations.of_rotation(ROWS)
    assert q.shape == (4, 20)
    np.testing.assert_allclose(np.abs(q[0]), np.abs(TURNS.as_quat()[:, 3]), atol=1e-15)
    np.testing.assert_allclose(rotations.rotation_matrix(q).reshape(9, 20), ROWS, atol=1e-15)


def test_the_length_does_not_matter() -> None:
    q = rotations.of_rotation(ROWS)
    found = rotations.rotation_matrix(q * np.linspace(0.3, 4.0, 20))
    np.testing.assert_allclose(found.reshape(9, 20), ROWS, atol=1e-15)


def test_rates_are_derivatives() -> None:
    omega, h = np.random.default_rng(2).normal(size=(3, 20)), 1e-4
    q = rotations.of_rotation(ROWS)
    ahead, behind = (
        rotations.of_rotation((Rotation.from_rotvec(step * omega.T) * TURNS).as_matrix().reshape(20, 9).T)
        for step in (h, -h)
    )
    signs = np.sign((ahead * q).sum(axis=0)), np.sign((behind * q).sum(axis=0))
    np.testing.assert_allclose(rotations.rate(q, omega), (signs[0] * ahead - signs[1] * behind) / (2 * h), atol=1e-7)
    np.testing.assert_allclose((rotations.rate(q, omega) * q).sum(axis=0), 0.0, atol=1e-15)
