"""The constant-velocity friction test: curves and laws recovered from simulated pairs of runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from robots.friction.laws import CURVES
from robots.parameter_errors import ParameterError
from tasks.features.friction import laws as friction
from tasks.features.friction.curve import curve, fit
from tests.reference.published_friction import IRB_2400

SPEEDS = np.geomspace(1e-3, 1.0, 25)
POSITIONS = np.linspace(-1.2, 1.9, 64)
LAWS: Mapping[str, dict[str, float]] = {
    "viscous": {"viscous": 3.0},
    "coulomb_viscous": {"coulomb": 20.0, "viscous": 3.0},
    "stribeck": IRB_2400[0],
    "brown_mcphee": {"dynamic": 20.0, "static": 31.0, "viscous": 3.0, "transition_velocity": 0.02},
}


def gravity(position: np.ndarray) -> np.ndarray:
    return 85.0 * np.cos(position) + 12.0 * np.sin(2.0 * position)


def runs(law: str, values: Mapping[str, float], position: np.ndarray, side: float, load: float = 1.0) -> np.ndarray:
    """Torques (speeds, samples) of runs in one direction, Eqs. (48) and (49)."""
    braking = [friction.force(law, side * v, load, values) for v in SPEEDS.tolist()]
    return np.array(braking)[:, None] + gravity(position)


@pytest.mark.parametrize("law", LAWS)
def test_the_curve_and_the_law_are_recovered(law: str) -> None:
    forward, reverse = (runs(law, LAWS[law], POSITIONS, side) for side in (1.0, -1.0))
    got = curve(SPEEDS, forward, reverse)
    exact = [friction.force(law, v, 1.0, LAWS[law]) for v in SPEEDS.tolist()]
    np.testing.assert_allclose(got.friction, exact, rtol=1e-12)
    assert got.spread.max() < 1e-12
    np.testing.assert_allclose(0.5 * (forward + reverse)[0], gravity(POSITIONS), rtol=1e-12)
    fitted = fit(law, got.speed, got.friction)
    assert fitted.values == pytest.approx(LAWS[law], rel=1e-5)
    assert fitted.residual < 1e-6


@pytest.mark.parametrize("joint", IRB_2400)
def test_published_joints_are_recovered_from_noisy_torques(joint: Mapping[str, float]) -> None:
    rng = np.random.default_rng(1)
    noisy = [each + rng.normal(scale=0.2, size=each.shape) for each in
             (runs("stribeck", joint, POSITIONS, side) for side in (1.0, -1.0))]  # fmt: skip
    got = curve(SPEEDS, *noisy)
    assert got.spread == pytest.approx(0.2 / np.sqrt(2.0), rel=0.5)
    fitted = fit("stribeck", got.speed, got.friction)
    assert fitted.values == pytest.approx(joint, rel=0.05)
    assert fitted.residual < 0.05


def test_runs_sampled_at_positions_of_their_own() -> None:
    rng = np.random.default_rng(2)
    there = np.sort(rng.uniform(-1.2, 1.9, (len(SPEEDS), 400)))
    back = np.sort(rng.uniform(-1.0, 1.9, (len(SPEEDS), 300)))[:, ::-1]
    forward = np.array([runs("stribeck", LAWS["stribeck"], p, 1.0)[k] for k, p in enumerate(there)])
    reverse = np.array([runs("stribeck", LAWS["stribeck"], p, -1.0)[k] for k, p in enumerate(back)])
    got = curve(SPEEDS, forward, reverse, there, back)
    exact = [friction.force("stribeck", v, 1.0, LAWS["stribeck"]) for v in SPEEDS.tolist()]
    np.testing.assert_allclose(got.friction, exact, atol=0.02)  # of torques up to 120


def test_an_asymmetric_law_gives_the_mean_of_both_directions() -> None:
    values = LAWS["coulomb_viscous"] | {"negative": 1.5}
    forward, reverse = (runs("coulomb_viscous", values, POSITIONS, side) for side in (1.0, -1.0))
    assert fit("coulomb_viscous", SPEEDS, curve(SPEEDS, forward, reverse).friction).values == pytest.approx(
        {"coulomb": 25.0, "viscous": 3.75}, rel=1e-6
    )


def test_coefficients_under_a_known_load_and_fixed_parameters() -> None:
    values = {"coulomb": 0.2, "static": 0.3, "viscous": 0.5, "stribeck_velocity": 0.05, "shape": 1.0}
    torque = [friction.force("stribeck", v, 130.0, values) for v in SPEEDS.tolist()]
    fitted = fit("stribeck", SPEEDS, torque, load=130.0, fixed={"shape": 1.0, "viscous": 0.5})
    assert fitted.values == pytest.approx(values, rel=1e-5)
    assert fit("stribeck", SPEEDS, torque, load=130.0, fixed=values).residual < 1e-12


ONE = np.ones((len(SPEEDS), 4))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((-SPEEDS, ONE, ONE), r"speed: got an array of shape \(25,\); expected \(speeds,\), all above zero"),
        ((SPEEDS, ONE[0], ONE), r"forward: got an array of shape \(4,\); expected \(25, samples\)"),
        ((SPEEDS, ONE, ONE[:3]), r"reverse: got an array of shape \(3, 4\); expected \(25, samples\)"),
        ((SPEEDS, ONE, ONE[:, :3]), "reverse: got 3 samples for 4 forward; give positions of both"),
        ((SPEEDS, ONE, ONE, ONE), "position, reverse_position: got one of them; expected both or none"),
        ((SPEEDS, ONE, ONE, ONE, ONE[:, :2]), r"reverse_position: got an array of shape \(25, 2\); expected \(25, 4\)"),
        ((SPEEDS, ONE, ONE, ONE, 2.0 * ONE), "got runs without a common position; expected runs over one range"),
    ],
)
def test_misuse_of_runs_is_told(arguments: tuple[Any, ...], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        curve(*arguments)


def test_misuse_of_the_fit_is_told() -> None:
    with pytest.raises(ValueError, match="friction law: got 'lugre'; expected a law without a state; known: none"):
        fit("lugre", SPEEDS, SPEEDS)
    with pytest.raises(ValueError, match=r"got arrays of shapes \(3,\), \(3,\); expected \(speeds,\) both, at least 4"):
        fit("stribeck", SPEEDS[:3], SPEEDS[:3])
    with pytest.raises(ParameterError, match="friction law stribeck has no parameter 'statik'; did you mean 'static'"):
        fit("stribeck", SPEEDS, SPEEDS, fixed={"statik": 1.0})


def test_nothing_to_fit_is_fitted() -> None:
    assert fit("none", SPEEDS, 0.0 * SPEEDS).values == {}
    zero = fit("coulomb_viscous", SPEEDS, 0.0 * SPEEDS)
    assert zero.values == pytest.approx({p.name: 0.0 for p in CURVES["coulomb_viscous"].parameters}, abs=1e-6)
