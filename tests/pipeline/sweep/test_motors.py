"""The section `motors`: temperature and supply, against the formulas of a motor on the forces of the same sweep."""

from __future__ import annotations

import numpy as np
import pytest

from applications.studies import DesignProblem, by_cases, value_of
from pipeline import run
from pipeline.errors import InputError
from pipeline.sweep.doors import sweep
from pipeline.sweep.model import Sweep
from robots import catalog
from robots.loads.motors import with_motor_conditions
from tests.pipeline.runs import SYNCHRONOUS

HEAD = """\
limbsweep: 1
robot: delta_rl5_1450_motors
trajectories: {loop: {kind: circle, radius: 0.1, period: 0.6}}
time: {stop: 0.6, samples: 31}
"""
ASKED = HEAD + "metrics: [peak_force]\n"
MOTORS = "motors: {temperature: 40, torque_constant_rate: -1.1e-3, voltage: 60, current: 12}\n"
GRID = """\
design:
  grid:
    upper_arm: {values: [0.36, 0.4]}
    motor_temperature: {values: [0, 60, 110]}
    supply_voltage: {values: [48, 60]}
"""
METRICS = "metrics: [peak_voltage, supply_margin, peak_current, electrical_energy]\noutputs: [actuator_force, "
METRICS += "actuator_velocity, motor_voltage]\n"
CONSTANT, RESISTANCE = 1.0, 1.5


def test_warm_motors_on_a_supply() -> None:
    stored = run(Sweep.from_text(HEAD + MOTORS + GRID + METRICS), cluster=SYNCHRONOUS)
    results = stored.squeeze()
    warmer = results["motor_temperature"].values[:, None, None]
    constant, resistance = CONSTANT * (1.0 - 1.1e-3 * warmer), RESISTANCE * (1.0 + 0.00393 * warmer)
    current = results["actuator_force"].transpose("design", "time", "actuator").values / constant
    velocity = results["actuator_velocity"].transpose("design", "time", "actuator").values
    voltage = resistance * current + constant * velocity
    np.testing.assert_allclose(results["motor_voltage"].transpose("design", "time", "actuator").values, voltage)
    np.testing.assert_allclose(results["peak_voltage"].values, np.abs(voltage).max(axis=1))
    np.testing.assert_allclose(results["peak_current"].values, np.abs(current).max(axis=1))
    left = 1.0 - np.maximum(np.abs(voltage) / results["supply_voltage"].values[:, None, None], np.abs(current) / 12.0)
    np.testing.assert_allclose(results["supply_margin"].values, left.min(axis=1))
    # as operating cases, reduced as the objective says
    cases = by_cases(stored, _CASES)
    assert (cases.sizes["design"], cases.sizes["case"]) == (2, 6)
    worst = left.min(axis=(1, 2)).reshape(2, 6)
    for how, expected in (("", worst.min(axis=1)), (", mean over cases", worst.mean(axis=1))):
        np.testing.assert_allclose(value_of(cases, f"max supply_margin{how}"), expected)
    low = value_of(cases, "max supply_margin, quantile 0.25 over cases")
    np.testing.assert_allclose(low, np.quantile(worst, 0.25, axis=1))


_CASES = ["motor_temperature", "supply_voltage"]


def test_temperature_has_exact_derivatives() -> None:
    sweep = Sweep.from_text(HEAD + MOTORS + GRID + METRICS)
    problem = DesignProblem.of(
        sweep, {"motor_temperature": (0.0, 120.0), "upper_arm": (0.35, 0.42)}, ["supply_voltage"]
    )
    here, step = np.array([50.0, 0.38]), np.array([1e-3, 1e-6])
    names = ["electrical_energy", "bus_energy"]
    found = problem.rates(here, names)
    for k in range(2):
        away = np.eye(2)[k] * step
        ahead, behind = (problem.rates(place, names) for place in (here + away, here - away))
        for name, (values, rates) in found.items():
            slope = (ahead[name][0] - behind[name][0]) / (2 * step[k])
            np.testing.assert_allclose(rates[:, k], slope, rtol=1e-5, atol=1e-7 * values.max())


def test_a_limit_of_current_is_one_of_force_along_paths() -> None:
    text = HEAD + "metrics: [cycle_time, speed_factor]\n"
    by_current = text + "motors: {temperature: 50, torque_constant_rate: -1.0e-3, current: 4}\n"
    by_current += "limits: {actuators: {all: {velocity: 500}}}\n"
    by_force = text + f"limits: {{actuators: {{all: {{velocity: 500, force: {4 * CONSTANT * 0.95}}}}}}}\n"
    one, other = (run(Sweep.from_text(each), cluster=SYNCHRONOUS) for each in (by_current, by_force))
    for name in ("cycle_time", "speed_factor"):
        assert np.isfinite(one[name]).all()
        np.testing.assert_allclose(one[name].values, other[name].values, rtol=1e-9)


def test_the_factor_of_a_motion_that_voltage_limits() -> None:
    def at(speed: float) -> tuple[float, float]:
        text = (
            HEAD.replace("0.6", repr(0.6 / speed)) + "motors: {voltage: 25}\nlimits: {actuators: {all: {force: 100}}}\n"
        )
        results = run(Sweep.from_text(text + "metrics: [supply_margin, speed_factor]\n"), cluster=SYNCHRONOUS)
        return float(results["speed_factor"].squeeze()), float(results["supply_margin"].min())

    factor, left = at(1.0)
    assert (factor > 1.0) == (left > 0.0)
    again, nothing = at(factor)
    assert again == pytest.approx(1.0, rel=1e-9)
    assert abs(nothing) < 1e-9


def test_a_robot_keeps_its_temperature_and_loses_no_limit() -> None:
    options = {"trajectories": {"a": {"kind": "harmonic"}}, "time": (1.0, 0.1), "metrics": ["peak_current"]}
    warm = with_motor_conditions(catalog.build("irb6"), temperature=50.0, torque_constant_rate=-1e-3)
    cold = run(sweep(catalog.build("irb6"), **options), cluster=SYNCHRONOUS)
    results = run(sweep(warm, **options), cluster=SYNCHRONOUS)
    np.testing.assert_allclose(results["peak_current"].values * 0.95, cold["peak_current"].values)
    with pytest.raises(InputError, match="amplifiers of irb6 are limited, which no robot file has"):
        sweep(with_motor_conditions(catalog.build("irb6"), voltage=40.0), **options)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEAD + "metrics: [supply_margin]\n", "expected a metric of a supply that the file limits"),
        (ASKED + "motors: {temperature: 1000}\n", "motors.temperature: got 1000.0; expected a number in [-200, 400] K"),
        (
            ASKED.replace("delta_rl5_1450_motors", "delta_rl5_1450") + MOTORS,
            "The actuators of delta_rl5_1450 are not all drives",
        ),
        (ASKED + "motors: {voltage: -1}\n", "motors.voltage"),
    ],
)
def test_what_is_refused(text: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        Sweep.from_text(text)
    assert expected in str(caught.value)
    assert str(caught.value).count("\n") == 0
