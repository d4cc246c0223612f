"""Nearest inertias that a body can have, beside a general solver."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from robots.formats.inertias import nearest_moments, nearest_tensor
from robots.formats.poses import of_angles, rows

RULES = np.array([[-1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, -1.0]])
"""Each times the moments is at least zero: none is above the sum of the others."""


@pytest.mark.parametrize("seed", range(20))
def test_moments_are_the_nearest_ones(seed: int) -> None:
    moments = np.random.default_rng(seed).normal(0.3, 1.0, 3)
    found = nearest_moments(moments)
    assert (RULES @ found >= -1e-12).all()
    rule = {"type": "ineq", "fun": lambda x: RULES @ x, "jac": lambda x: RULES}
    best = minimize(lambda x: np.square(x - moments).sum(), np.ones(3), constraints=rule, options={"ftol": 1e-14})
    assert np.square(found - moments).sum() == pytest.approx(best.fun, abs=1e-6)


def test_what_a_body_can_have_stays() -> None:
    for moments in ([1.0, 1.0, 1.0], [1.0, 2.0, 3.0], [0.0, 2.0, 2.0], [0.0, 0.0, 0.0]):
        assert nearest_moments(np.array(moments)).tolist() == moments


def test_axes_of_a_tensor_stay() -> None:
    turn = of_angles((0.3, -0.5, 1.1))
    tensor = turn @ np.diag([0.1, 0.2, 1.0]) @ turn.T
    found = np.array(nearest_tensor(rows(tensor)))
    expected = np.array([0.1, 0.2, 1.0]) + np.array([1.0, 1.0, -1.0]) * 0.7 / 3.0
    np.testing.assert_allclose(turn.T @ found @ turn, np.diag(expected), atol=1e-14)
