from __future__ import annotations

import numpy as np
import pytest

from robots.measurement import FORCES, POSITIONS, Sensors
from robots.parameter_errors import ParameterError
from tasks.blocks.measured import Measurement, series
from tasks.mathematics import signals

STEP = 1e-3
TIMES = np.arange(4000) * STEP
CLEAN = np.stack([np.sin(2.0 * TIMES), np.cos(3.0 * TIMES)], axis=1)


def measured(seed: int = 1, **values: float) -> dict[str, np.ndarray]:
    given = signals.settings(values, STEP)
    made = signals.positions(given, STEP, CLEAN, signals.generator(seed, (0, 0)))
    return made | signals.forces(given, STEP, 5.0 * CLEAN, CLEAN, signals.generator(seed, (0, 0, 0)))


def test_without_errors_signals_are_clean() -> None:
    found = measured()
    assert (found["measured_position"] == CLEAN).all()
    assert (found["measured_force"] == 5.0 * CLEAN).all()
    assert np.allclose(found["measured_velocity"][5:-5, 0], 2.0 * np.cos(2.0 * TIMES[5:-5]), atol=1e-5)
    assert np.allclose(found["measured_acceleration"][5:-5, 0], -4.0 * np.sin(2.0 * TIMES[5:-5]), atol=1e-4)


def test_rates_are_of_order_six_inside() -> None:
    errors = []
    for count in (200, 400):
        step = 2.0 * np.pi / count
        times = np.arange(count) * step
        found = signals.rate(np.sin(3.0 * times)[:, None], step)[:, 0]
        errors.append(np.abs(found - 3.0 * np.cos(3.0 * times))[3:-3].max())
    assert errors[0] / errors[1] == pytest.approx(2.0**6, rel=0.05)
    assert signals.rate(np.arange(5.0)[:, None], 0.5)[:, 0].tolist() == [2.0] * 5


def test_an_encoder_gives_multiples_of_its_step() -> None:
    found = measured(encoder_step=0.01)["measured_position"]
    assert np.allclose(found / 0.01, np.round(found / 0.01), atol=1e-9)
    assert np.abs(found - CLEAN).max() <= 0.005 + 1e-12


def test_noise_has_the_deviation_that_was_asked_for() -> None:
    for time in (0.0, 0.02):
        noise = measured(force_noise=0.3, noise_time=time)["measured_force"] - 5.0 * CLEAN
        assert noise.std() == pytest.approx(0.3, rel=0.15)
        kept = np.corrcoef(noise[:-20, 0], noise[20:, 0])[0, 1]
        assert kept == pytest.approx(np.exp(-1.0) if time else 0.0, abs=0.15)


def test_delay_ripple_offset_and_current() -> None:
    late = measured(delay=0.01)["measured_force"]
    assert np.allclose(late[10:], 5.0 * CLEAN[:-10], atol=1e-9)
    rippled = measured(ripple=0.2, ripple_number=40.0, force_offset=0.5)["measured_force"]
    assert np.allclose(rippled - 5.0 * CLEAN, 0.5 + 0.2 * np.sin(40.0 * CLEAN))
    stepped = measured(force_constant=2.0, current_step=0.1)
    assert np.allclose(stepped["measured_current"] / 0.1, np.round(stepped["measured_current"] / 0.1), atol=1e-9)
    assert np.allclose(stepped["measured_force"], 2.0 * stepped["measured_current"])


def test_a_filter_forth_and_back_is_not_late_and_takes_noise_away() -> None:
    plain, smooth = (measured(position_noise=1e-3, cutoff=x)["measured_acceleration"] for x in (0.0, 10.0))
    truth = -4.0 * np.sin(2.0 * TIMES)
    inside = slice(500, -500)
    assert np.std((smooth[:, 0] - truth)[inside]) < 0.02 * np.std((plain[:, 0] - truth)[inside])
    late = [np.sum((np.roll(smooth[:, 0], -k) - truth)[inside] ** 2) for k in (-5, 0, 5)]
    assert late[1] == min(late)


def test_seeds_and_places_tell_cases_apart() -> None:
    first, again, other = (measured(seed, force_noise=0.1)["measured_force"] for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()
    assert signals.generator(1, (0, 1)).normal() != signals.generator(1, (1, 0)).normal()


def test_a_cutoff_beyond_half_the_rate_is_refused() -> None:
    with pytest.raises(ParameterError, match="expected less than half of that"):
        signals.settings({"cutoff": 500.0}, STEP)


def test_an_unknown_parameter_is_refused() -> None:
    with pytest.raises(ParameterError, match="did you mean 'ripple'"):
        signals.settings({"rippel": 1.0})


def test_jitter_drift_and_warming() -> None:
    plain, found = measured(), measured(jitter=2e-4)
    errors = (found["measured_position"] - plain["measured_position"])[10:-10]
    speed = np.stack([2.0 * np.cos(2.0 * TIMES), -3.0 * np.sin(3.0 * TIMES)], axis=1)[10:-10]
    late = errors / np.where(np.abs(speed) > 0.5, speed, np.nan)
    assert np.nanstd(late) == pytest.approx(2e-4, rel=0.1)
    both = np.isfinite(late).all(axis=1)
    assert np.allclose(late[both, 0], late[both, 1], rtol=1e-3, atol=1e-8)
    drifted = measured(drift=0.3)["measured_force"] - plain["measured_force"]
    assert np.allclose(drifted, 0.3 * TIMES[:, None], atol=1e-12)
    warm = measured(warming=0.2, warming_time=1.0)["measured_force"]
    change = 1.0 + 0.2 * (1.0 - np.exp(-TIMES[:, None]))
    assert np.allclose(warm * change, plain["measured_force"], atol=1e-12)


def test_the_description_of_sensors_is_that_of_before_where_nothing_new_is_asked_for() -> None:
    from pipeline.sweep.measurement import describe_sensors
    from robots.measurement import LATER, Sensors

    plain = describe_sensors(Sensors(signals.settings({"force_noise": 0.1}), 3))
    assert not set(plain["values"]) & set(LATER)
    assert describe_sensors(Sensors(signals.settings({"jitter": 1e-4}), 3))["values"]["jitter"] == 1e-4


def test_numbers_for_each_channel_are_those_of_it_alone() -> None:
    both = {
        "encoder_step": (1e-3, 5e-3), "position_noise": (0.0, 1e-3), "force_noise": (0.1, 0.3), "delay": (0.0, 0.01),
        "noise_time": (0.0, 0.02), "ripple": (0.2, 0.0), "current_step": (0.0, 0.1), "drift": (0.0, 0.2),
        "warming": (0.1, 0.0), "force_constant": (1.0, 2.0),
    }  # fmt: skip
    common = {"cutoff": 30.0, "jitter": 1e-4}
    alone = [measured(**{name: pair[k] for name, pair in both.items()}, **common) for k in range(2)]
    known = signals.settings(common, STEP) | both
    found = signals.positions(known, STEP, CLEAN, signals.generator(1, (0, 0)))
    found |= signals.forces(known, STEP, 5.0 * CLEAN, CLEAN, signals.generator(1, (0, 0, 0)))
    for name, values in found.items():
        for k in range(2):
            np.testing.assert_array_equal(values[:, k], alone[k][name][:, k])
        assert not np.array_equal(values, alone[0][name])


def test_many_cases_at_once_have_the_bits_of_each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    each: dict[str, float | tuple[float, ...]] = {"delay": (0.002, 0.0035), "noise_time": (0.01, 0.02), "jitter": 1e-4}
    values = signals.settings({"cutoff": 40.0, "drift": 0.1, "warming": 0.2, "force_constant": 0.7}, STEP)
    sensors = Sensors(values | {"position_noise": 1e-3, "force_noise": 0.1, "ripple": 0.5} | each, 3)
    random, shape = np.random.default_rng(0), (5, 2, 3, len(CLEAN), 2)
    clean = {"actuator_force": random.normal(size=shape), "actuator_position": random.normal(size=(5, *shape[2:]))}
    clean["actuator_force"][3, 1, 0] = np.nan  # a case that failed
    at_once = series(Measurement(sensors, (7, 1, 2)), (*POSITIONS, *FORCES), np.arange(len(CLEAN)) * STEP, clean)
    for d, f, j in np.ndindex(shape[:3]):
        position, place = clean["actuator_position"][d, j], (7 + d, 2 + j)
        alone = signals.positions(sensors.values, STEP, position, signals.generator(3, place))
        for name in POSITIONS:
            np.testing.assert_array_equal(at_once[name][d, j], alone[name])
        force, noise = clean["actuator_force"][d, f, j], signals.generator(3, (*place, 1 + f))
        alone = signals.forces(sensors.values, STEP, force, position, noise)
        for name in FORCES:
            np.testing.assert_array_equal(at_once[name][d, f, j], alone[name])
    monkeypatch.setattr("tasks.blocks.measured.NUMBERS", 2 * 2 * len(CLEAN))  # two designs at a time
    parted = series(Measurement(sensors, (7, 1, 2)), (*POSITIONS, *FORCES), np.arange(len(CLEAN)) * STEP, clean)
    for name, values_at_once in at_once.items():
        np.testing.assert_array_equal(parted[name], values_at_once)
