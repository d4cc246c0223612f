"""Trajectories: rates against high-order differences, ends, and paths that are known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from robots.trajectories.kinds import JOINT_MOTIONS, MOTIONS, TURNS
from tasks.kernels.interpreter import interpret
from tasks.sources import prescribed
from tests.tasks.bits import bits

CASES: dict[str, dict[str, Any]] = {
    "line_sine": {"centre": (0.1, 0.2, -0.9), "amplitude": (0.3, 0.4, 0.1), "period": 1.3, "phase": 0.4},
    "circle": {"centre": (0.1, 0.0, -0.8), "normal": (1.0, 2.0, -2.0), "radius": 0.2, "period": 0.9, "phase": -1.0},
    "spiral": {
        "centre": (0.0, 0.1, -0.8),
        "radius": 0.1,
        "radial_speed": 0.05,
        "axial_speed": -0.02,
        "period": 0.7,
        "phase": 0.3,
    },
    "helix": {
        "centre": (0.0, 0.1, -0.8),
        "normal": (0.5, -1.0, -2.0),
        "radius": 0.1,
        "axial_speed": -0.02,
        "period": 0.7,
        "phase": 0.3,
    },
    "pick_and_place": {"start": (0.0, 0.1, -0.9), "end": (0.3, -0.1, -0.8), "lift": 0.1, "duration": 2.9, "blend": 0.4},
    "iso_9283": {"centre": (0.1, 0.0, -0.9), "edge": 0.4, "duration": 3.7},
    "quintic": {"start": (0.0, 0.1, -0.9), "end": (0.2, -0.1, -0.7), "duration": 1.7},
    "fourier": {
        "centre": (0.0, 0.1, -0.9),
        "period": 6.0,
        **{f"sine_{k}": (0.1 / k, 0.05, -0.02 * k) for k in range(1, 6)},
        **{f"cosine_{k}": (0.02, -0.1 / k, 0.03) for k in range(1, 6)},
    },
}
POINTS = np.array([[0.0, 0.0, 0.0, -0.9], [0.4, 0.1, 0.0, -0.8], [1.1, 0.1, 0.2, -0.9], [1.5, -0.1, 0.0, -0.7]])
# weights of the eighth-order central difference
WEIGHTS = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])


def parts(kind: str, values: dict[str, Any], times: np.ndarray) -> tuple[np.ndarray, ...]:
    flat = prescribed.motion(kind, values, times)[:, : len(times)]
    return flat[0:3], flat[3:6], flat[6:9]


def test_a_row_of_data_has_a_row_of_mathematics_that_fits() -> None:
    tables = (MOTIONS, TURNS, JOINT_MOTIONS)
    sampled = {kind for table in tables for kind, row in table.items() if row.grid or row.points_file}
    assert set(prescribed.SAMPLED) == sampled
    assert set(prescribed.FORMS) == {kind for table in tables for kind in table} - sampled
    for table in tables:
        for kind in set(table) - sampled:
            values = {p.name: np.asarray(p.default, dtype=float) for p in table[kind].parameters}
            assert all(np.isfinite(part).all() for part in prescribed.FORMS[kind](0.1, **values))
    assert set(CASES) == set(MOTIONS) - sampled


@pytest.mark.parametrize("kind", CASES)
def test_rates_are_derivatives(kind: str) -> None:
    h, centre = 2e-3, np.linspace(0.1, 1.5, 13)
    times = (centre[:, None] + h * np.arange(-4, 5)).ravel()
    order = np.argsort(times)
    sorted_parts = parts(kind, CASES[kind], times[order])
    r, v, a = (part[:, np.argsort(order)].reshape(3, 13, 9) for part in sorted_parts)
    np.testing.assert_allclose(r @ WEIGHTS / h, v[..., 4], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(v @ WEIGHTS / h, a[..., 4], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", CASES)
def test_compiled_equals_interpreted(kind: str) -> None:
    program = prescribed.program(kind)
    times = np.linspace(-0.5, 2.5, 37)
    inputs = {name: np.reshape(np.asarray(value, dtype=float), (1, -1)) for name, value in CASES[kind].items()}
    slow = interpret(program, {**inputs, "t": times.reshape(1, 1, -1)}, 37)["motion"][0]
    got = prescribed.motion(kind, CASES[kind], times)
    assert got.shape == (9, 40)
    np.testing.assert_array_equal(bits(got[:, :37]), bits(slow))
    np.testing.assert_array_equal(bits(got[:, 37:]), bits(np.repeat(slow[:, -1:], 3, axis=1)))


def test_quintic_rests_at_and_beyond_both_ends() -> None:
    case = CASES["quintic"]
    r, v, a = parts("quintic", case, np.array([-1.0, 0.0, case["duration"], 5.0]))
    np.testing.assert_allclose(r.T, [case["start"]] * 2 + [case["end"]] * 2, rtol=1e-15)
    assert (v == 0.0).all()
    assert (a == 0.0).all()
    middle = parts("quintic", case, np.array([case["duration"] / 2.0]))
    np.testing.assert_allclose(middle[0][:, 0], np.mean([case["start"], case["end"]], axis=0), rtol=1e-14)
    np.testing.assert_allclose(middle[2], 0.0, atol=1e-12)


@pytest.mark.parametrize(
    "normal", [(0.0, 0.0, 1.0), (0.0, 0.0, -3.0), (1.0, 0.0, 0.0), (0.95, 0.1, -0.1), (1.0, 1.0, 1.0)]
)
def test_circle_stays_on_its_circle(normal: tuple[float, ...]) -> None:
    case = {**CASES["circle"], "normal": normal}
    r, v, a = parts("circle", case, np.linspace(0.0, 0.9, 24))
    out = r - np.array(case["centre"])[:, None]
    np.testing.assert_allclose(np.linalg.norm(out, axis=0), case["radius"], rtol=1e-14)
    np.testing.assert_allclose(np.array(normal) @ out, 0.0, atol=1e-15)
    rate = 2.0 * math.pi / case["period"]
    np.testing.assert_allclose(a, -(rate**2) * out, rtol=1e-12, atol=1e-12)
    turning = np.cross(out.T, v.T) @ np.array(normal)
    assert (turning > 0.0).all()


def test_circle_about_z_starts_along_x() -> None:
    case = {"centre": (0.0, 0.0, 0.0), "normal": (0.0, 0.0, 2.0), "radius": 0.2, "period": 1.0, "phase": 0.0}
    r, v, _ = parts("circle", case, np.zeros(1))
    np.testing.assert_allclose(r[:, 0], [0.2, 0.0, 0.0], atol=1e-16)
    np.testing.assert_allclose(v[:, 0], [0.0, 0.4 * math.pi, 0.0], atol=1e-15)


def test_spiral_grows_and_climbs() -> None:
    case = CASES["spiral"]
    times = np.linspace(0.0, 2.0, 9)
    r, _, _ = parts("spiral", case, times)
    out = r - np.array(case["centre"])[:, None]
    np.testing.assert_allclose(np.hypot(out[0], out[1]), 0.1 + 0.05 * times, rtol=1e-14)
    np.testing.assert_allclose(out[2], -0.02 * times, atol=1e-15)


def test_spline_passes_through_its_points_and_rests_at_and_beyond_both_ends() -> None:
    r, v, a = np.split(prescribed.waypoints(POINTS[:, 0], POINTS), 3)
    np.testing.assert_allclose(r.T, POINTS[:, 1:], atol=1e-15)
    np.testing.assert_allclose(v[:, [0, -1]], 0.0, atol=1e-14)
    outside = prescribed.waypoints(np.array([-1.0, 9.0]), POINTS)
    np.testing.assert_allclose(outside[:3].T, POINTS[[0, -1], 1:], atol=1e-15)
    assert (outside[3:] == 0.0).all()
    assert np.abs(a[:, 1:-1]).max() > 0.1


def test_spline_is_twice_differentiable() -> None:
    for knot in POINTS[1:-1, 0]:
        before, after = prescribed.waypoints(np.array([knot - 1e-9, knot + 1e-9]), POINTS).T
        np.testing.assert_allclose(before, after, atol=1e-6)
    times = np.linspace(0.01, 1.49, 75)
    h = 1e-5
    ahead, here, behind = (prescribed.waypoints(times + d, POINTS) for d in (h, 0.0, -h))
    np.testing.assert_allclose((ahead[:6] - behind[:6]) / (2 * h), here[3:], atol=2e-4)


def test_points_go_before_kinds() -> None:
    got = prescribed.motion("waypoints", {}, np.linspace(0.0, 1.5, 9), POINTS)
    assert got.shape == (9, 16)
    np.testing.assert_allclose(got[:3, 8:].T, np.repeat(POINTS[-1:, 1:], 8, axis=0), atol=1e-15)


def test_motion_vector_of_a_platform_that_could_turn() -> None:
    flat = np.arange(18.0).reshape(9, 2)
    assert prescribed.motion_vector(flat, 9) is flat
    wide = prescribed.motion_vector(flat, 24)
    np.testing.assert_array_equal(wide[3:12, 0].reshape(3, 3), np.eye(3))
    np.testing.assert_array_equal(wide[[0, 1, 2, 15, 16, 17, 21, 22, 23]], flat)
    np.testing.assert_array_equal(wide[[12, 13, 14, 18, 19, 20]], 0.0)


def test_a_workspace_is_a_grid_at_rest() -> None:
    values = {"centre": (0.1, 0.0, -0.2), "size": (0.4, 0.2, 0.3), "counts": (3.0, 2.0, 1.0)}
    position, velocity, acceleration = parts("workspace", values, np.linspace(0.0, 1.0, 6))
    expected = [(x, y, -0.2) for y in (-0.1, 0.1) for x in (-0.1, 0.1, 0.3)]
    np.testing.assert_allclose(position.T, expected, atol=1e-15)
    assert not velocity.any()
    assert not acceleration.any()


def test_a_helix_about_minus_z_turns_clockwise() -> None:
    """Eq. (28) of the hexapod paper: 0.005 sin t, 0.005 cos t, 0.002 t."""
    times = np.linspace(0.0, 6.0, 50)
    case = {"centre": (0.0,) * 3, "normal": (0.0, 0.0, -1.0), "radius": 0.005, "axial_speed": -0.002}
    place, *_ = parts("helix", {**case, "period": 2 * math.pi, "phase": -math.pi / 2}, times)
    np.testing.assert_allclose(
        place, [0.005 * np.sin(times), 0.005 * np.cos(times), 0.002 * times], rtol=0.0, atol=1e-17
    )
