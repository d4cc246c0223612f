"""Friction laws with a state: LuGre against its equation and its published test, stiction against its rules."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from robots.friction.laws import LAWS
from robots.parameter_errors import ParameterError
from tasks.features.friction import laws as friction
from tasks.features.friction import lugre, stiction
from tasks.features.friction.block_test import draw_block
from tasks.features.friction.history import along, program
from tasks.features.friction.sliding import Sliding
from tasks.kernels import strips
from tasks.kernels.interpreter import interpret
from tasks.kernels.kernel import Kernel
from tests.tasks.bits import assert_same_bits, bits

LUGRE = {
    "sigma0": 1e5,
    "sigma1": math.sqrt(1e5),
    "sigma2": 0.4,
    "coulomb": 1.0,
    "static": 1.5,
    "stribeck_velocity": 1e-3,
}
STICTION = {
    "coulomb": 1.0, "kinetic": 1.3, "static": 1.8, "viscous": 0.4, "stribeck_velocity": 1e-2, "stick_velocity": 1e-5,
}  # fmt: skip
BOTH: Mapping[str, dict[str, float]] = {"lugre": LUGRE, "stiction": STICTION}
OPTIONS = {"negative": 1.4, "temperature": 10.0, "coulomb_temperature": 0.02, "viscous_temperature": -0.03}
TIMES = np.linspace(0.0, 1.2, 601)


def swinging(t: Any, size: float = 2e-3) -> Any:
    return size * np.sin(2.0 * np.pi * t)


def loading(t: Any) -> Any:
    return 1.0 + 0.5 * np.sin(5.0 * t)


both = pytest.mark.parametrize("law", BOTH)

# --- LuGre ----------------------------------------------------------------------------------------------------------


def test_the_published_test_case() -> None:
    """A block drawn by a spring of which the other end moves at 0.1 m/s, after 25 s: robots.md, two integrations."""
    end = draw_block(
        mass=1.0,
        stiffness=2.0,
        pull=lambda t: 0.1 * t,
        times=[0.0, 25.0],
        law="lugre",
        values=LUGRE,
        tolerances=(1e-10, 1e-14),
    )
    assert f"{end.position[-1]:.10f}" == "1.9088391992"
    assert f"{end.velocity[-1]:.5e}" == "9.42415e-06"
    assert f"{end.deflection[-1]:.11e}" == "1.18167954559e-05"


@pytest.mark.parametrize("size", [1e-4, 2e-3, 1e-2])
@pytest.mark.parametrize("options", [{}, OPTIONS], ids=["plain", "options"])
def test_deflection_converges_to_the_equation_with_order_two(size: float, options: dict[str, float]) -> None:
    values = LUGRE | options

    def change(t: float, z: np.ndarray) -> list[float]:
        return [lugre.rate(float(z[0]), swinging(t, size), loading(t), **values)]

    kept = [0.6, 1.2]
    exact = solve_ivp(change, (0.0, 1.2), [0.0], "Radau", kept, rtol=1e-10, atol=1e-16, max_step=2e-3).y[0]
    errors = []
    for count in (600, 1200, 2400):
        t = np.linspace(0.0, 1.2, count + 1)
        got = along("lugre", velocity=swinging(t, size), load=loading(t), times=t, values=values).state
        errors.append(np.abs(got[[count // 2, count]] - exact).max())
    assert errors[0] < 3e-4 * np.abs(exact).max()
    for coarse, fine in itertools.pairwise(errors):
        assert fine < coarse / 3.5


def test_steady_motion_is_the_stribeck_curve() -> None:
    curve = {name: LUGRE[name] for name in ("coulomb", "static", "stribeck_velocity")} | {"viscous": LUGRE["sigma2"]}
    velocity = np.concatenate([s * np.geomspace(1e-5, 1.0, 30) for s in (-1.0, 1.0)])
    for options in ({}, OPTIONS):
        for load in (1.0, 2.25):
            held = np.repeat(velocity[:, None], 5, axis=1)
            got = along("lugre", velocity=held, load=load, times=np.arange(5) * 100.0, values=LUGRE | options)
            expected = [friction.force("stribeck", v, load, curve | options) for v in velocity.tolist()]
            np.testing.assert_allclose(got.force[:, -1], expected, rtol=1e-8)  # sigma1 z' is what rounding leaves


def test_before_it_slides_a_joint_is_a_spring_of_stiffness_sigma0() -> None:
    way = 1e-9 * np.sin(2.0 * np.pi * TIMES)
    velocity = 1e-9 * 2.0 * np.pi * np.cos(2.0 * np.pi * TIMES)
    got = along("lugre", velocity=velocity, times=TIMES, values=LUGRE | {"sigma1": 0.0})
    np.testing.assert_allclose(got.state, way, atol=2e-4 * 1e-9)  # the way is 1.6e-4 of what makes it slide
    stiffness = np.polyfit(way, got.force, 1)[0]
    assert stiffness == pytest.approx(LUGRE["sigma0"], rel=1e-3)


def test_friction_is_larger_on_the_way_up_than_on_the_way_down() -> None:
    """Hysteresis: the loop that friction makes over velocity, all at positive velocity, has an area."""
    t = np.linspace(0.0, 2.0, 4001)
    velocity = 1.5e-3 - 1.4e-3 * np.cos(2.0 * np.pi * 5.0 * t)
    force = along("lugre", velocity=velocity, times=t, values=LUGRE | {"sigma1": 0.0, "sigma2": 0.0}).force
    up, down = t[3600:3801:10], t[4000:3799:-10]  # one swing, the same velocities both ways
    at = dict(zip(t.tolist(), force.tolist(), strict=True))
    middle = slice(3, -3)
    difference = np.array([at[a] - at[b] for a, b in zip(up.tolist(), down.tolist(), strict=True)])[middle]
    assert (difference > 0.0).all()


@hypothesis_settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.floats(1e-8, 1e2),
    step=st.floats(1e-6, 10.0),
    sigma0=st.floats(1.0, 1e9),
)
def test_deflection_stays_within_that_of_steady_motion(seed: int, size: float, step: float, sigma0: float) -> None:
    rng = np.random.default_rng(seed)
    velocity, load = size * rng.normal(size=40), rng.uniform(0.0, 3.0, size=40)
    values = LUGRE | {"sigma0": sigma0}
    state = along("lugre", velocity=velocity, load=load, times=step * np.arange(40), values=values).state
    assert np.abs(state).max() <= 3.0 * values["static"] / sigma0 * (1.0 + 1e-12)


def test_a_joint_without_load_has_only_viscous_friction() -> None:
    got = along("lugre", velocity=swinging(TIMES), load=0.0, times=TIMES, values=LUGRE, initial=1e-6)
    np.testing.assert_array_equal(got.state[1:], 0.0)
    np.testing.assert_allclose(got.force[1:], (LUGRE["sigma1"] + LUGRE["sigma2"]) * swinging(TIMES[1:]), rtol=1e-12)


def test_a_step_over_the_turn_is_made_in_two() -> None:
    there, rest, back = Sliding(1e-3, 1.0), Sliding(0.0, 1.5), Sliding(-3e-3, 3.0)
    whole = lugre.advance(1e-6, there, back, 0.02, **LUGRE)
    parts = lugre.advance(lugre.advance(1e-6, there, rest, 0.005, **LUGRE), rest, back, 0.015, **LUGRE)
    assert whole == pytest.approx(parts, rel=1e-12)


@pytest.mark.parametrize("start", [0.0, -2e-4])
def test_an_asymmetric_joint_slides_back_as_one_of_larger_load(start: float) -> None:
    """Check starts from rest too, where the velocity has no sign yet."""
    before, after, values = Sliding(start, 1.0), Sliding(-1e-3, 1.5), LUGRE | {"sigma2": 0.0}
    back = lugre.advance(2e-6, before, after, 0.01, **values, negative=1.4)
    mirrored = [Sliding(-each.velocity, 1.4 * each.load) for each in (before, after)]
    assert back == pytest.approx(-lugre.advance(-2e-6, *mirrored, 0.01, **values), rel=1e-13)


# --- stiction -------------------------------------------------------------------------------------------------------


def stribeck_from(start: float, velocity: float, load: float = 1.0) -> float:
    fading = math.exp(-((velocity / STICTION["stribeck_velocity"]) ** 2))
    return load * (1.0 + (start - 1.0) * fading) + STICTION["viscous"] * velocity


def test_static_friction_out_of_rest_and_kinetic_friction_into_it() -> None:
    speeds = np.concatenate([[0.0], np.geomspace(1e-4, 0.1, 20)])
    velocity = np.concatenate([speeds, speeds[::-1]])
    got = along("stiction", velocity=velocity, times=np.arange(42.0), load=2.0, values=STICTION)
    broken = speeds >= stiction.BROKEN_AWAY * STICTION["stribeck_velocity"]
    np.testing.assert_array_equal(got.state, np.concatenate([~broken, speeds[::-1] == 0.0]))
    start = np.where(got.state > 0.5, 1.8, 1.3)
    expected = [stribeck_from(s, v, 2.0) if v else 0.0 for s, v in zip(start, velocity, strict=True)]
    np.testing.assert_allclose(got.force, expected, rtol=1e-13)
    assert got.force[1] > got.force[-2] + 0.9  # hysteresis: 2 (1.8 - 1.3) at the slowest


def test_a_joint_that_turns_round_starts_again() -> None:
    got = along("stiction", velocity=[0.1, 2e-3, -2e-3, -0.1, -2e-3], times=np.arange(5.0), values=STICTION)
    np.testing.assert_array_equal(got.state, [0.0, 0.0, 1.0, 0.0, 0.0])
    slow = [stribeck_from(1.3, 2e-3), -stribeck_from(1.8, 2e-3), -stribeck_from(1.3, 2e-3)]
    np.testing.assert_allclose(got.force[[1, 2, 4]], slow, rtol=1e-13)


def test_what_the_first_state_is() -> None:
    def first(velocity: float, **given_state: float) -> float:
        return float(along("stiction", velocity=[velocity], times=[0.0], values=STICTION, **given_state).state[0])

    assert first(1e-3) == 0.0
    assert first(1e-3, initial=1.0) == 1.0
    assert first(0.0) == 1.0
    assert first(1.0, initial=1.0) == 0.0


@pytest.mark.parametrize(
    ("applied", "expected"), [(1.7, 1.7), (-1.7, -1.7), (0.0, 0.0), (1.9, 1.8), (-2.6, -1.4 * 1.8), (-2.4, -2.4)]
)
def test_rest_balances_what_is_applied_up_to_static_friction(applied: float, expected: float) -> None:
    got = stiction.balance(1.0, 0.0, applied, 1.0, **STICTION, negative=1.4)
    assert got == pytest.approx(expected)
    assert stiction.balance(0.0, 0.1, applied, 1.0, **STICTION) == stiction.force(0.0, 0.1, 1.0, **STICTION)


def test_a_block_drawn_by_a_spring_sticks_and_slips() -> None:
    """Forward dynamics by Karnopp's rule and small steps: the spring is drawn to static friction, again and again."""
    x, v, state, step, pulls = 0.0, 0.0, 1.0, 1e-3, []
    for k in range(40000):
        spring = 2.0 * (0.1 * k * step - x)
        braking = stiction.balance(state, v, spring, 1.0, **STICTION)
        following = v + step * (spring - braking)
        if following * v < 0.0 or (v == 0.0 and spring == braking):
            following = 0.0  # rest is an event between steps
        if v == 0.0 and following != 0.0:
            pulls.append(spring)
        state = stiction.advance(state, Sliding(v, 1.0), Sliding(following, 1.0), step, **STICTION)
        x, v = x + step * following, following
    assert len(pulls) >= 3
    np.testing.assert_allclose(pulls, 1.8, atol=0.1 * 2.0 * step * 2.0)


# --- both -----------------------------------------------------------------------------------------------------------


@both
def test_friction_is_odd(law: str) -> None:
    one, other = (along(law, velocity=s * swinging(TIMES), times=TIMES, values=BOTH[law]) for s in (1.0, -1.0))
    np.testing.assert_array_equal(one.force, -other.force)


@both
@pytest.mark.parametrize("options", [{}, OPTIONS], ids=["plain", "options"])
def test_compiled_interpreted_and_called_with_floats(law: str, options: dict[str, float]) -> None:
    values = BOTH[law] | options
    taken = tuple(p.name for p in LAWS[law].inputs(values))
    made, rng = program(law, taken), np.random.default_rng(4)
    velocity = rng.normal(size=(1, 2, 64)) * 10.0 ** rng.integers(-7, 1, size=(1, 2, 64))
    velocity[0, :, 5], velocity[0, 0, 6], velocity[0, 1, 7], velocity[0, 0, 9] = 0.0, 0.0, 0.0, np.nan
    load = rng.uniform(0.0, 2.0, size=(1, 2, 64))
    load[0, :, 8] = 0.0
    state = (rng.normal(size=(1, 1, 64)) * 1e-6) if law == "lugre" else (rng.random((1, 1, 64)) < 0.5).astype(float)
    given_values = np.repeat(np.array([[values[name]] for name in taken]), 64, axis=1)[None]
    inputs = {"step": np.array([[1e-3]]), "velocity": velocity, "load": load, "state": state, "values": given_values}
    fast = Kernel(made)(inputs, 64)
    assert_same_bits(fast, interpret(made, inputs, 64))
    row = friction.LAWS[law]
    assert row.advance is not None
    for i in range(64):
        before, after = (Sliding(float(velocity[0, j, i]), float(load[0, j, i])) for j in (0, 1))
        one = row.advance(float(state[0, 0, i]), before, after, 1e-3, **values)
        assert fast["following"][0, 0, i] == pytest.approx(one, rel=1e-12, abs=1e-18, nan_ok=True)
        force = row.force(float(fast["following"][0, 0, i]), *after, **values)
        assert fast["force"][0, 0, i] == pytest.approx(force, rel=1e-9, abs=1e-9, nan_ok=True)


@both
def test_samples_of_a_batch_do_not_touch_each_other(law: str) -> None:
    rng = np.random.default_rng(5)
    velocity = swinging(TIMES[:50]) * rng.uniform(0.1, 10.0, size=(3, 5, 1))
    viscous = "sigma2" if law == "lugre" else "viscous"
    values = BOTH[law] | {viscous: rng.uniform(size=5)}
    many = along(law, velocity=velocity, load=loading(TIMES[:50]), times=TIMES[:50], values=values)
    assert many.force.shape == many.state.shape == (3, 5, 50)
    for i, j in ((0, 0), (1, 4), (2, 3)):
        alone = values | {viscous: values[viscous][j]}
        one = along(law, velocity=velocity[i, j], load=loading(TIMES[:50]), times=TIMES[:50], values=alone)
        np.testing.assert_array_equal(bits(one.force), bits(many.force[i, j]))
        np.testing.assert_array_equal(bits(one.state), bits(many.state[i, j]))


@both
@pytest.mark.parametrize("count", [1, 2, 3, 50])
def test_one_call_of_all_steps_has_the_bits_of_single_steps(
    law: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, times = np.random.default_rng(6), TIMES[:count] ** 1.5
    arguments: Any = {"velocity": swinging(times) * rng.uniform(0.1, 10.0, size=(11, 1)), "load": loading(times)}
    at_once = along(law, times=times, values=BOTH[law], **arguments)
    monkeypatch.setattr(strips, "FEWEST", count + 1)
    one_by_one = along(law, times=times, values=BOTH[law], **arguments)
    assert_same_bits(at_once._asdict(), one_by_one._asdict())


@both
def test_a_motion_may_be_cut_in_two(law: str) -> None:
    whole = along(law, velocity=swinging(TIMES), times=TIMES, values=BOTH[law])
    rest = along(law, velocity=swinging(TIMES[200:]), times=TIMES[200:], values=BOTH[law], initial=whole.state[200])
    np.testing.assert_allclose(rest.force, whole.force[200:], rtol=1e-9, atol=1e-12)


def test_a_failed_sample_fails_from_there_on_alone() -> None:
    velocity = np.stack([swinging(TIMES[:20])] * 2)
    velocity[0, 7] = np.nan
    got = along("lugre", velocity=velocity, times=TIMES[:20], values=LUGRE)
    assert np.isnan(got.force[0, 7:]).all()
    assert np.isfinite(got.force[0, :7]).all()
    assert np.isfinite(got.force[1]).all()


@pytest.mark.parametrize(
    ("law", "changes", "text"),
    [
        ("lugree", {}, "friction law: got 'lugree'; expected a law with a state; did you mean 'lugre'?"),
        (
            "stribeck",
            {},
            "got 'stribeck'; expected a law with a state; its force is a curve: see tasks.features.friction.laws",
        ),
        ("lugre", {"times": [0.0, 0.0]}, r"times: got an array of shape \(2,\); expected \(time,\), increasing"),
        ("lugre", {"times": 1.0}, r"times: got an array of shape \(\); expected \(time,\), increasing"),
        ("lugre", {"velocity": [1.0] * 3}, r"velocity: got an array of shape \(3,\); expected \(\*batch, 2\)"),
        ("lugre", {"load": [1.0] * 3}, r"load: got an array of shape \(3,\); expected \(\*batch, 2\)"),
        ("lugre", {"initial": [0.0] * 3, "velocity": [[1.0, 1.0]] * 2}, "batch dims do not fit together: velocity"),
    ],
)
def test_misuse_is_told(law: str, changes: dict[str, Any], text: str) -> None:
    arguments: dict[str, Any] = {"velocity": [1.0, 1.0], "times": [0.0, 1.0], "values": LUGRE}
    with pytest.raises(ValueError, match=text):
        along(law, **(arguments | changes))


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"sigma": 1.0}, "friction law lugre has no parameter 'sigma'; did you mean 'sigma2'?"),
        ({"static": [1.0, -1.0]}, r"friction law lugre: static = -1\.0 is outside \[0, 1e\+12\] N m or N"),
        ({"static": math.nan}, "friction law lugre: static = nan is not finite"),
    ],
)
def test_parameters_are_checked(values: dict[str, Any], text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        along("lugre", velocity=[1.0], times=[0.0], values=values)


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"mass": 0.0}, ValueError, r"mass, stiffness: got 0\.0, 2\.0; expected both above zero"),
        ({"values": {"sigma": 1.0}}, ParameterError, "friction law lugre has no parameter 'sigma'"),
        ({"law": "stiction"}, ValueError, "friction law: got 'stiction'; expected a law with bristles; known: lugre"),
        (
            {"pull": lambda t: 1.0 / (0.5 - t) ** 3, "tolerances": (1e-2, 1e-2)},
            RuntimeError,
            "the block: .*; expected the integrator to reach 1 s",
        ),
    ],
)
def test_misuse_of_the_block_is_told(changes: dict[str, Any], error: type[Exception], text: str) -> None:
    arguments: dict[str, Any] = {"mass": 1.0, "stiffness": 2.0, "pull": lambda t: t, "times": [0, 1]}
    arguments |= {"law": "lugre", "values": LUGRE}
    with pytest.raises(error, match=text):
        draw_block(**(arguments | changes))
