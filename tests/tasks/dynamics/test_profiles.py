"""Forces given at instants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tasks import profile
from tasks.dynamics.simulate import simulate
from tests.tasks.sliders import block

TIMES, VALUES = [0.0, 1.0, 3.0], [[0.0, 1.0], [2.0, 1.0], [4.0, -1.0]]


def test_between_instants_a_profile_is_linear_or_holds() -> None:
    linear, steps = profile(TIMES, VALUES), profile(TIMES, VALUES, "steps")
    for time, expected in (
        (-1.0, [0.0, 1.0]),
        (0.5, [1.0, 1.0]),
        (1.0, [2.0, 1.0]),
        (2.0, [3.0, 0.0]),
        (9.0, [4.0, -1.0]),
    ):
        np.testing.assert_array_equal(linear(time), expected)
    for time, expected in (
        (-1.0, [0.0, 1.0]),
        (0.5, [0.0, 1.0]),
        (1.0, [2.0, 1.0]),
        (2.0, [2.0, 1.0]),
        (3.0, [4.0, -1.0]),
    ):
        np.testing.assert_array_equal(steps(time), expected)


def test_a_profile_drives_a_block() -> None:
    """Velocity is the integral of a force that is linear between instants on the grid of steps."""
    force = profile([0.0, 1.0, 2.0], [[0.0], [2.0], [0.0]])
    found = simulate(block(2.0), force=force, q=[0.0], step=0.1, steps=20, every=10)
    np.testing.assert_allclose(found.qd[:, 0], [0.0, 0.5, 1.0], rtol=1e-14)
    np.testing.assert_allclose(found.q[:, 0], [0.0, 1.0 / 6.0, 1.0], rtol=1e-13)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([1.0, 0.0], [[0.0], [1.0]]), r"times: got \[1.0, 0.0\]; expected at least one, ascending"),
        (([0.0, 1.0], [[0.0]]), r"values: got an array of shape \(1, 1\); expected \(2, \*batch, actuator\)"),
        (([0.0], [[0.0]], "cubic"), "between: got 'cubic'; expected one of linear, steps"),
    ],
)
def test_what_is_no_profile_is_said(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        profile(*given)
