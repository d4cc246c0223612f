"""Friction laws without a state: closed forms, limits, options, the power that they take, and their programs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robots.friction.laws import CURVES, FORCE, LAWS
from robots.parameters import Parameter
from tasks.features.friction import laws as friction
from tasks.features.friction.sliding import ONSET
from tasks.kernels.interpreter import interpret
from tasks.kernels.kernel import Kernel, padded
from tasks.kernels.program import Program, trace
from tests.tasks.bits import assert_same_bits, trimmed

VALUES: Mapping[str, dict[str, float]] = {
    "none": {},
    "viscous": {"viscous": 0.7},
    "coulomb_viscous": {"coulomb": 1.1, "viscous": 0.7},
    "stribeck": {"coulomb": 1.1, "static": 1.9, "viscous": 0.7, "stribeck_velocity": 0.05},
    "brown_mcphee": {"dynamic": 1.1, "static": 1.9, "viscous": 0.7, "transition_velocity": 0.05},
}
OPTIONS = {
    "width": 0.02,
    "starting": 2.9,
    "negative": 1.3,
    "temperature": 12.0,
    "coulomb_temperature": 0.01,
    "viscous_temperature": -0.03,
    "transition_load": 2.5,
    "shape": 0.8,
}
VELOCITIES = np.concatenate([s * np.geomspace(1e-9, 1e3, 200) for s in (-1.0, 1.0)] + [np.zeros(1)])
LOAD = 2.25


def with_numpy(law: str, v: np.ndarray, load: float, p: Mapping[str, float]) -> np.ndarray:
    """The laws once more, over arrays, with every option spelt out."""
    dry: Any = 0.0
    direction = np.tanh(v / p["width"]) if p.get("width") else np.sign(v)
    if law == "coulomb_viscous":
        dry = p["coulomb"] * direction
    if law == "stribeck":
        fading = np.exp(-(np.abs(v / p["stribeck_velocity"]) ** p.get("shape", 2.0)))
        dry = direction * (p["static"] * fading + p["coulomb"] * (1.0 - fading))
    if law == "brown_mcphee":
        x = v / p["transition_velocity"]
        dry = p["dynamic"] * np.tanh(4.0 * x) + (p["static"] - p["dynamic"]) * 16.0 * x / (x**2 + 3.0) ** 2
    warmer = p.get("temperature", 0.0)
    dry = dry * load * max(0.0, 1.0 + p.get("coulomb_temperature", 0.0) * warmer)
    wet = p.get("viscous", 0.0) * v * math.exp(p.get("viscous_temperature", 0.0) * warmer)
    wet = wet * (math.tanh(4.0 * load / p["transition_load"]) if p.get("transition_load") else 1.0)
    return (dry + wet) * np.where(v < 0.0, p.get("negative", 1.0), 1.0)


def forces(law: str, v: np.ndarray, load: float, values: Mapping[str, float]) -> np.ndarray:
    return np.array([friction.force(law, x, load, values) for x in v.tolist()])


def options_of(law: str) -> dict[str, float]:
    return {option.name: OPTIONS[option.name] for option in CURVES[law].options}


every = pytest.mark.parametrize("law", CURVES)


def test_a_row_of_data_has_a_row_of_mathematics_that_fits() -> None:
    """Names, parameters, and states: advanced along motions, and in forward dynamics either integrated or switched."""
    assert set(friction.LAWS) == set(LAWS)
    for name, law in LAWS.items():
        row, defaults = friction.LAWS[name], {p.name: p.scalar for p in (*law.parameters, *law.options)}
        assert math.isfinite(row.force(0.0, 1.0, 1.0, **defaults))
        assert (row.advance is not None) == (law.state == 1)
        assert (row.rate is not None) + (row.switched is not None) == law.state
        assert not (law.sticks and row.rate), "bristles creep; they do not stick"


@pytest.mark.parametrize("law", LAWS)
def test_laws_stick_whose_force_jumps_at_rest(law: str) -> None:
    values = {p.name: 1.5 if p.unit == FORCE else p.scalar for p in LAWS[law].parameters}
    jump = friction.LAWS[law].force(0.0, ONSET, 1.0, **values) - friction.LAWS[law].force(0.0, 0.0, 1.0, **values)
    assert jump == pytest.approx(1.5 if LAWS[law].sticks else 0.0, abs=1e-12)


@pytest.mark.parametrize("law", [name for name, law in LAWS.items() if law.sticks])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_what_holds_a_joint_is_no_less_than_what_brakes_it_in_motion(law: str, side: float) -> None:
    values = {p.name: 0.5 if p.unit == FORCE else p.scalar for p in LAWS[law].parameters} | {"negative": 1.4}
    held = friction.breakaway(law, side, LOAD, values)
    assert held == pytest.approx(0.5 * LOAD * (1.4 if side < 0.0 else 1.0))
    assert held >= friction.LAWS[law].force(0.0, side * 1e-3, LOAD, **values) * side
    if "starting" in {p.name for p in LAWS[law].options}:
        assert friction.breakaway(law, side, LOAD, values | {"starting": 0.8}) == pytest.approx(held * 1.6)
        assert friction.breakaway(law, side, LOAD, values | {"starting": 0.3}) == held


def test_the_curves_have_cases_here() -> None:
    assert {name: {p.name for p in law.parameters} for name, law in CURVES.items()} == {
        name: set(values) for name, values in VALUES.items()
    }


@every
@pytest.mark.parametrize("load", [1.0, LOAD])
def test_laws_are_their_closed_forms(law: str, load: float) -> None:
    for values in (VALUES[law], VALUES[law] | options_of(law)):
        expected = with_numpy(law, VELOCITIES, load, values)
        np.testing.assert_allclose(forces(law, VELOCITIES, load, values), expected, rtol=1e-13)


@every
def test_each_option_alone_is_its_closed_form(law: str) -> None:
    for name, value in options_of(law).items():
        values = VALUES[law] | {name: value} | ({"temperature": -40.0} if name.endswith("_temperature") else {})
        np.testing.assert_allclose(
            forces(law, VELOCITIES, LOAD, values), with_numpy(law, VELOCITIES, LOAD, values), rtol=1e-13, err_msg=name
        )


@every
def test_laws_are_odd(law: str) -> None:
    values = VALUES[law] | options_of(law) | ({"negative": 1.0} if "negative" in options_of(law) else {})
    np.testing.assert_array_equal(forces(law, VELOCITIES, LOAD, values), -forces(law, -VELOCITIES, LOAD, values))


@every
def test_laws_are_zero_at_rest(law: str) -> None:
    for velocity in (0.0, -0.0):
        assert friction.force(law, velocity, LOAD, VALUES[law] | options_of(law)) == 0.0


@every
def test_friction_of_nan_is_nan(law: str) -> None:
    assert math.isnan(friction.force(law, math.nan, LOAD, VALUES[law]))


def drawn(parameter: Parameter) -> st.SearchStrategy[float]:
    low, high = max(parameter.lower, -1e3), min(parameter.upper, 1e3)
    tiny = st.floats(max(low, 1e-9), 1e-3) if low <= 1e-3 < high else st.floats(low, high)
    return st.floats(low, high) | tiny


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, dict[str, float]]:
    law = draw(st.sampled_from(sorted(CURVES)))
    given_options = {option.name for option in CURVES[law].options if draw(st.booleans())}
    values = {p.name: draw(drawn(p)) for p in CURVES[law].inputs(given_options)}
    if law == "brown_mcphee":
        values["static"] += values["dynamic"]
    return law, values


@given(case=cases(), velocity=st.floats(-1e3, 1e3), load=st.floats(0.0, 1e4))
def test_friction_never_gives_power(case: tuple[str, dict[str, float]], velocity: float, load: float) -> None:
    law, values = case
    assert friction.force(law, velocity, load, values) * velocity >= 0.0


def slope(law: str, at: float, values: Mapping[str, float], step: float = 1e-7) -> float:
    low, high = (friction.force(law, at + side * step, 1.0, values) for side in (-1.0, 1.0))
    return (high - low) / (2.0 * step)


def test_limits_of_the_stribeck_law() -> None:
    values = VALUES["stribeck"] | {"viscous": 0.0}
    assert friction.force("stribeck", 1e-12, 1.0, values) == pytest.approx(1.9, rel=1e-12)
    assert friction.force("stribeck", 0.05, 1.0, values) == pytest.approx(1.1 + 0.8 / math.e)
    assert friction.force("stribeck", 1e3, 1.0, values) == 1.1
    assert slope("stribeck", 1e3, VALUES["stribeck"], 1.0) == pytest.approx(0.7, rel=1e-9)


def test_limits_of_brown_and_mcphee() -> None:
    """Smooth through zero, static at the transition velocity, where dry friction is greatest, dynamic far beyond it."""
    values, v_t = VALUES["brown_mcphee"] | {"viscous": 0.0}, 0.05

    def dry(v: float) -> float:
        return friction.force("brown_mcphee", v, 1.0, values)

    assert slope("brown_mcphee", 0.0, values) == pytest.approx((4.0 * 1.1 + 0.8 * 16.0 / 9.0) / v_t, rel=1e-9)
    assert dry(v_t) == pytest.approx(0.8 + 1.1 * math.tanh(4.0), rel=1e-14)
    assert dry(v_t) == pytest.approx(1.9, rel=5e-4)  # tanh(4) = 1 - 7e-4
    # the peak of the excess is at v_t, that of the sum a little beyond, where the tanh still grows
    peak = max(np.linspace(0.0, 10.0 * v_t, 20001), key=dry)
    assert v_t <= peak < 1.02 * v_t
    assert slope("brown_mcphee", v_t, values, 1e-8) == pytest.approx(4.0 * 1.1 / math.cosh(4.0) ** 2 / v_t, rel=1e-5)
    # the excess is a third at 3 v_t, a tenth at 5 v_t, and goes on as 16 / (v / v_t)^3
    for times, left in ((3.0, 1.0 / 3.0), (5.0, 5.0 / 49.0), (100.0, 16.0 / 100.0**3)):
        assert dry(times * v_t) == pytest.approx(1.1 + 0.8 * left, rel=1e-5)


def test_a_narrow_width_is_the_sharp_law_away_from_rest() -> None:
    v = VELOCITIES[np.abs(VELOCITIES) > 1e-3]
    for law in ("coulomb_viscous", "stribeck"):
        sharp, smooth = (forces(law, v, LOAD, VALUES[law] | {"width": width}) for width in (0.0, 1e-5))
        np.testing.assert_array_equal(smooth, sharp)


def test_dry_friction_does_not_turn_round_in_the_cold() -> None:
    values = {"coulomb": 1.0, "viscous": 0.0, "coulomb_temperature": 0.1, "temperature": -20.0}
    assert friction.force("coulomb_viscous", 1.0, 1.0, values) == 0.0


# --- programs -------------------------------------------------------------------------------------------------------


def traced(law: str, given_options: tuple[str, ...] = (), load: float | None = None, **constants: float) -> Program:
    names = [p.name for p in CURVES[law].inputs(given_options)]

    def one_sample(values: Any, x: Any) -> dict[str, Any]:
        named = dict(zip(names, values, strict=True)) | constants
        return {"force": friction.force(law, x[0], x[1] if load is None else load, named)}

    return trace(law, one_sample, case={"values": (len(names),)}, sample={"x": (2,)})


def run(program: Program, how: Callable[..., Any], values: Mapping[str, float]) -> dict[str, np.ndarray]:
    width = padded(len(VELOCITIES))
    x = np.ones((1, 2, width))
    x[0, 0, : len(VELOCITIES)], x[0, 1, : len(VELOCITIES)] = VELOCITIES, np.linspace(0.0, 5.0, len(VELOCITIES))
    return trimmed(how({"values": np.array([list(values.values())]), "x": x}, width), len(VELOCITIES))


@every
@pytest.mark.parametrize("optional", [False, True])
def test_compiled_interpreted_and_called_with_floats(law: str, optional: bool) -> None:
    given_options = tuple(option.name for option in CURVES[law].options) if optional else ()
    program = traced(law, given_options)
    values = {p.name: (VALUES[law] | OPTIONS)[p.name] for p in CURVES[law].inputs(given_options)}
    fast = run(program, Kernel(program), values)
    assert_same_bits(fast, run(program, lambda *args: interpret(program, *args), values))
    loads = np.linspace(0.0, 5.0, len(VELOCITIES))
    expected = [friction.force(law, v, n, values) for v, n in zip(VELOCITIES.tolist(), loads.tolist(), strict=True)]
    np.testing.assert_allclose(fast["force"][0, 0], expected, rtol=1e-13)


@every
def test_neutral_options_leave_no_operation(law: str) -> None:
    neutral = {option.name: float(option.default) for option in CURVES[law].options}  # type: ignore[arg-type]
    for load in (None, 1.0):
        assert traced(law, load=load, **neutral).operations() == traced(law, load=load).operations()


@pytest.mark.parametrize(("law", "option"), [(law, option) for law in CURVES for option in options_of(law)])
def test_neutral_inputs_change_no_number(law: str, option: str) -> None:
    program, plain = traced(law, (option,)), traced(law)
    neutral = next(float(each.default) for each in CURVES[law].options if each.name == option)  # type: ignore[arg-type]
    got = run(program, Kernel(program), VALUES[law] | {option: neutral})["force"]
    np.testing.assert_allclose(got, run(plain, Kernel(plain), VALUES[law])["force"], rtol=1e-14)


def test_constant_load_costs_coulomb_and_viscous_friction_nothing() -> None:
    assert traced("coulomb_viscous", load=1.0).operations() == Counter({"lt": 2, "select": 2, "fma": 1})
    assert traced("viscous", load=1.0).operations() == Counter({"mul": 1})
    assert not traced("none", load=1.0).operations()


# --- misuse and data ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("law", "text"),
    [
        ("stribek", "friction law: got 'stribek'; expected a law without a state; did you mean 'stribeck'?"),
        (
            "lugre",
            "friction law: got 'lugre'; expected a law without a state; has a state: see "
            "tasks.features.friction.history",
        ),
    ],
)
def test_misuse_is_told(law: str, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        friction.force(law, 1.0, 1.0, {})


@pytest.mark.parametrize("law", LAWS)
def test_parameters_have_units_texts_and_defaults_in_bounds(law: str) -> None:
    names = [p.name for p in (*LAWS[law].parameters, *LAWS[law].options)]
    assert len(names) == len(set(names))
    for p in (*LAWS[law].parameters, *LAWS[law].options):
        assert isinstance(p.default, float)
        assert p.unit
        assert p.text
        assert p.problem(p.default) is None
