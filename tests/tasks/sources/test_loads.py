"""Loads along a trajectory: linear between points, held beyond, turned with the platform."""

from __future__ import annotations

import numpy as np

from robots.trajectories.trajectory import PlatformLoad
from tasks.sources.prescribed import along

POINTS = np.array([[0.0, 0, 0, 1, 0, 0, 0], [1.0, 0, 0, 1, 4.0, 0, 0], [1.5, 2.0, 0, 1, 0, 6.0, 0]])
LEVEL = np.eye(3).reshape(9, 1)


def test_values_lie_on_lines_between_the_points() -> None:
    times = np.array([0.0, 0.25, 1.0, 1.25, 1.5, 7.0])
    found = along(PlatformLoad(POINTS), LEVEL, times)[:, : len(times)]
    expected = np.stack([np.interp(times, POINTS[:, 0], column) for column in POINTS[:, 1:].T])
    np.testing.assert_allclose(found, expected, rtol=1e-15, atol=1e-15)


def test_a_constant_load_is_one_row() -> None:
    found = along(PlatformLoad(np.array([[0.0, 1, 2, 3, 4, 5, 6]])), LEVEL, np.linspace(0.0, 3.0, 5))
    np.testing.assert_array_equal(found, np.repeat([[1.0], [2], [3], [4], [5], [6]], found.shape[1], axis=1))


def test_without_a_load_nothing_acts() -> None:
    assert not along(None, LEVEL, np.zeros(3)).any()


def test_axes_of_the_platform_turn_with_it() -> None:
    quarter = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    turns = np.stack([np.eye(3), quarter, quarter @ quarter], axis=-1).reshape(9, 3)
    turns = np.concatenate([turns, np.repeat(turns[:, -1:], 5, axis=1)], axis=1)
    load = PlatformLoad(np.array([[0.0, 1, 0, 0, 0, 2, 0]]), "platform")
    found = along(load, turns, np.array([0.0, 0.5, 1.0]))
    np.testing.assert_array_equal(found[:3, :3], [[1, 0, -1], [0, 1, 0], [0, 0, 0]])
    np.testing.assert_array_equal(found[3:, :3], [[0, -2, 0], [2, 0, -2], [0, 0, 0]])
