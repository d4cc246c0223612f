"""Turns of platforms: rates against derivatives, held platforms, and forces against single calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pipeline.execution import work
from robots import catalog
from robots.requested import QuantityNames
from robots.trajectories.kinds import TURNS, Turn
from robots.trajectories.trajectory import Trajectory
from tasks import inverse_dynamics
from tasks.blocks.block import Block
from tasks.blocks.designs import BlockDesigns
from tasks.kernels.interpreter import interpret
from tasks.mathematics.rotations import roll_pitch_yaw
from tasks.sources import prescribed
from tasks.sources.prescribed import SAMPLED, padded_times
from tests.tasks.bits import bits

C, S = np.cos(0.3), np.sin(0.3)
TILTED = ((C, 0.0, S), (0.0, 1.0, 0.0), (-S, 0.0, C))
HOME = ((1.0, 0.0, 0.0), (0.0, C, -S), (0.0, S, C))
CASES: dict[str, dict[str, Any]] = {
    "constant": {},
    "harmonic": {"centre": (0.1, -0.2, 0.3), "amplitude": (0.3, 0.4, -1.1), "period": 2.0, "phase": 0.4},
    "quintic": {"start": (0.1, 0.0, -0.3), "end": (-0.2, 0.5, 0.7), "duration": 2.5},
    "fourier": {
        "centre": (0.1, 0.2, -0.9),
        "period": 2.0,
        **{f"sine_{k}": (0.1 / k, 0.05, -0.02 * k) for k in range(1, 6)},
        **{f"cosine_{k}": (0.02, -0.1 / k, 0.03) for k in range(1, 6)},
    },
    "waypoints": {},
}
POINTS = np.array(
    [[-1.0, 0, 0, 0], [0.27, 0.2, 0.4, -1.1], [0.86, 0.3, -0.2, 0.9], [1.21, -0.4, 0.1, 0], [3.0, 0.1, 0.2, 0.3]]
)
"""Knots of a spline that no difference below goes across."""
# weights of the eighth-order central difference
WEIGHTS = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])


def turn_of(kind: str) -> Turn:
    return Turn(kind, CASES[kind], TILTED, POINTS if TURNS[kind].points_file else None)


def parts(kind: str, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rotation (time, 3, 3), angular velocity and acceleration (time, 3)."""
    flat = prescribed.turning(turn_of(kind), HOME, times)[:, : len(times)].T
    return flat[:, :9].reshape(-1, 3, 3), flat[:, 9:12], flat[:, 12:]


def vee(matrix: np.ndarray) -> np.ndarray:
    """The vector of skew matrices (..., 3, 3)."""
    return np.stack([matrix[..., 2, 1], matrix[..., 0, 2], matrix[..., 1, 0]], axis=-1)


def test_every_kind_has_a_case() -> None:
    assert set(TURNS) == set(CASES)


@pytest.mark.parametrize("kind", ["harmonic", "fourier"])
def test_rates_are_derivatives_to_rounding(kind: str) -> None:
    # the derivative of a periodic motion by its spectrum has no error but rounding
    period, count = CASES[kind]["period"], 256
    rotation, omega, alpha = parts(kind, np.arange(count) * (period / count))
    turning = 2j * np.pi * np.fft.fftfreq(count, period / count)

    def rate(values: np.ndarray) -> np.ndarray:
        spectrum = np.fft.fft(values, axis=0) * turning.reshape(-1, *[1] * (values.ndim - 1))
        return np.fft.ifft(spectrum, axis=0).real

    spin = rate(rotation) @ np.swapaxes(rotation, -1, -2)
    assert np.abs(spin + np.swapaxes(spin, -1, -2)).max() < 1e-12 * np.abs(omega).max() * count
    assert np.abs(vee(spin) - omega).max() < 1e-12 * np.abs(omega).max()
    assert np.abs(rate(omega) - alpha).max() < 1e-12 * np.abs(alpha).max()


@pytest.mark.parametrize("kind", CASES)
def test_rates_are_differences(kind: str) -> None:
    h, centre = 2e-3, np.linspace(0.1, 1.5, 13)
    times = (centre[:, None] + h * np.arange(-4, 5)).ravel()
    rotation, omega, alpha = (part.reshape(13, 9, *part.shape[1:]) for part in parts(kind, times))
    spin = np.einsum("ntij,t->nij", rotation, WEIGHTS / h) @ np.swapaxes(rotation[:, 4], -1, -2)
    np.testing.assert_allclose(vee(spin), omega[:, 4], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.einsum("nti,t->ni", omega, WEIGHTS / h), alpha[:, 4], rtol=1e-9, atol=1e-8)


def test_angles_are_roll_pitch_and_yaw_about_the_orientation() -> None:
    rotation = parts("harmonic", np.zeros(1))[0][0]
    angles = np.array([0.1, -0.2, 0.3]) + np.array([0.3, 0.4, -1.1]) * np.sin(0.4)
    expected = roll_pitch_yaw(angles).rotation @ np.array(TILTED) @ np.array(HOME)
    np.testing.assert_allclose(rotation, expected, atol=1e-15)


@pytest.mark.parametrize("kind", CASES)
def test_compiled_equals_interpreted(kind: str) -> None:
    times, rest = padded_times(np.linspace(-0.5, 2.5, 37)), np.array(TILTED) @ np.array(HOME)
    values = {**CASES[kind], "rest": rest}
    inputs = {name: np.reshape(np.asarray(value, dtype=float), (1, -1)) for name, value in values.items()}
    if TURNS[kind].points_file:
        program, inputs["angles"] = prescribed.program_along_angles(), SAMPLED[kind](times, POINTS)[None]
    else:
        program, inputs["t"] = prescribed.turn_program(kind), times.reshape(1, 1, -1)
    slow = interpret(program, inputs, len(times))["motion"][0]
    got = prescribed.turning(turn_of(kind), HOME, times[:37])
    np.testing.assert_array_equal(bits(got), bits(slow))


def test_without_a_turn_a_platform_is_held_as_at_the_reference_pose() -> None:
    found = prescribed.turning(None, HOME, np.linspace(0.0, 1.0, 5))
    np.testing.assert_array_equal(found[:9], np.repeat(np.reshape(HOME, (9, 1)), 8, axis=1))
    assert not found[9:].any()


def test_forces_of_a_hexapod_that_turns_are_those_of_single_calls() -> None:
    robot = catalog.build("hexapod_6rrrprr")
    motion = {"centre": (0.0, 0.0, 0.0), "amplitude": (0.05, -0.03, 0.04), "period": 1.3, "phase": 0.2}
    turn = Turn(
        "fourier",
        {name: np.array(each) * (1.0 if name == "period" else 0.3) for name, each in CASES["fourier"].items()},
    )
    block = Block(
        index=0,
        robot=robot.name,
        designs=BlockDesigns(np.array([list(robot.values.values())]), np.array([[0.0, 0.0, -9.81]])),
        groups=(),
        friction=np.zeros((1, 0)),
        trajectories=(Trajectory("line_sine", motion, turn=turn),),
        times=np.linspace(0.0, 1.0, 21),
        origin=robot.mechanism.platform.home.position,
        quantities=QuantityNames(
            ("actuator_force", "platform_position", "platform_rotation", "platform_twist", "platform_acceleration")
        ),
    )  # fmt: skip
    made = work.whole(block)
    moving = {name: made[f"platform_{name}"][0] for name in ("position", "rotation", "twist", "acceleration")}
    assert np.abs(moving["twist"][:, :3]).max() > 0.3
    expected = inverse_dynamics(robot, **moving).force
    np.testing.assert_allclose(made["actuator_force"][0, 0, 0], expected, rtol=1e-12)
