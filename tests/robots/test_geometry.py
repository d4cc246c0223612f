"""Small vectors and matrices, on numbers, arrays and traced values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from robots import geometry
from robots.types import Matrix

ANGLE = 0.7


@pytest.mark.parametrize(("axis", "k"), [("x", 0), ("y", 1), ("z", 2)])
def test_rotations_turn_right_handed_about_their_axis(axis: str, k: int) -> None:
    r = np.array(geometry.about(axis, math.cos(ANGLE), math.sin(ANGLE)))
    np.testing.assert_allclose(r @ r.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(r) == pytest.approx(1.0)
    i, j = (k + 1) % 3, (k + 2) % 3
    np.testing.assert_allclose(r @ np.eye(3)[i], math.cos(ANGLE) * np.eye(3)[i] + math.sin(ANGLE) * np.eye(3)[j])
    np.testing.assert_array_equal(r @ np.eye(3)[k], np.eye(3)[k])


def test_products_and_transposes() -> None:
    a, b = (geometry.about(axis, math.cos(x), math.sin(x)) for axis, x in (("x", 0.3), ("z", -1.1)))
    np.testing.assert_allclose(geometry.product(a, b), np.array(a) @ np.array(b), atol=1e-16)
    np.testing.assert_array_equal(geometry.transpose(a), np.array(a).T)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 8])
def test_frames_around_z_are_evenly_turned(count: int) -> None:
    frames = geometry.around_z(count)
    angles = [math.atan2(frame.rotation[1][0], frame.rotation[0][0]) % (2 * math.pi) for frame in frames]
    np.testing.assert_allclose(np.sort(angles), np.arange(count) * 2 * math.pi / count, atol=1e-14)
    for frame in frames:
        np.testing.assert_allclose(np.array(frame.rotation) @ np.array(frame.rotation).T, np.eye(3), atol=1e-15)
        assert frame.position == (0.0, 0.0, 0.0)


def test_thirds_of_a_turn_are_mirror_images_to_the_last_bit() -> None:
    first, second, third = (np.array(frame.rotation) for frame in geometry.around_z(3))
    np.testing.assert_array_equal(first, np.eye(3))
    np.testing.assert_array_equal(second, third.T)
    assert second[0, 0] == -0.5
    assert second[1, 0] > 0.0


def test_root_of_numbers_and_arrays() -> None:
    assert geometry.sqrt(4.0) == 2.0
    assert math.isnan(geometry.sqrt(-1.0))
    assert math.isnan(geometry.sqrt(math.nan))
    np.testing.assert_array_equal(geometry.sqrt(np.array([9.0, -1.0])), [3.0, np.nan])


def test_root_of_a_traced_value_is_its_own() -> None:
    class Traced:
        def sqrt(self) -> str:
            return "traced"

    assert geometry.sqrt(Traced()) == "traced"


@pytest.mark.parametrize(
    ("frame", "axis"), [(geometry.AXIS_X, (1.0, 0.0, 0.0)), (geometry.AXIS_MINUS_Y, (0.0, -1.0, 0.0))]
)
def test_frames_of_closures_have_z_along_their_axis(frame: Matrix, axis: tuple[float, ...]) -> None:
    r = np.array(frame)
    np.testing.assert_array_equal(r[:, 2], axis)
    np.testing.assert_array_equal(r @ r.T, np.eye(3))
    assert np.linalg.det(r) == pytest.approx(1.0)


def test_a_shifted_frame_is_not_turned() -> None:
    frame = geometry.shifted((1.0, 2.0, 3.0))
    assert frame.position == (1.0, 2.0, 3.0)
    np.testing.assert_array_equal(frame.rotation, np.eye(3))
