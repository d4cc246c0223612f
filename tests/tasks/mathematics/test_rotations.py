"""Roll, pitch, yaw against another library, and rates against differences in time."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from tasks.mathematics.rotations import roll_pitch_yaw

STEP = 1e-4


def _angles(time: float) -> np.ndarray:
    random = np.random.default_rng(5)
    start, rate, change = random.normal(size=(3, 20, 3))
    return np.array([start + rate * time + 0.5 * change * time**2, rate + change * time, change])


def test_rotation_is_about_fixed_axes_x_y_z_in_this_order() -> None:
    angles = _angles(0.0)[0]
    expected = Rotation.from_euler("xyz", angles).as_matrix()
    np.testing.assert_allclose(roll_pitch_yaw(angles).rotation, expected, rtol=0, atol=1e-15)


def test_angular_velocity_and_acceleration_are_derivatives() -> None:
    before, now, after = (roll_pitch_yaw(*_angles(time)) for time in (-STEP, 0.0, STEP))
    spin = (after.rotation - before.rotation) / (2 * STEP) @ np.swapaxes(now.rotation, -1, -2)
    found = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=-1)
    np.testing.assert_allclose(now.omega, found, rtol=0, atol=1e-6)
    np.testing.assert_allclose(now.alpha, (after.omega - before.omega) / (2 * STEP), rtol=0, atol=1e-6)


def test_rates_are_zero_unless_given() -> None:
    turning = roll_pitch_yaw(np.zeros(3))
    np.testing.assert_array_equal(turning.rotation, np.eye(3))
    np.testing.assert_array_equal([turning.omega, turning.alpha], np.zeros((2, 3)))
