from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from applications.identification.estimation.machines.choices import Preparation
from applications.identification.estimation.machines.noise import best_filter, encoder_steps, spectrum
from applications.identification.estimation.machines.preparation import (
    advanced,
    at_rest,
    clipped,
    prepare,
    resampled,
    runs,
    without_outliers,
)
from robots import catalog
from robots.parameter_errors import ParameterError
from tests.applications.identification.estimation.machines.synthetic import STEP, chain, series


@pytest.fixture(scope="module")
def recording():
    return chain(catalog.build("planar_3r"))


def cutoff_of(position: np.ndarray, step: float, encoders: np.ndarray | float = 0.0) -> float:
    """Return the cutoff of the filter with the least errors."""
    return best_filter(spectrum(position, step, encoders), step)[0]


def test_derivatives_are_those_of_the_motion(recording) -> None:
    _, q, qd, qdd = series(3)
    prepared = prepare(recording, Preparation(cutoff=20.0))
    inside = prepared.kept
    assert np.abs(prepared.position - q)[inside].max() < 1e-5
    assert np.abs(prepared.velocity - qd)[inside].max() < 1e-3
    assert np.abs(prepared.acceleration - qdd)[inside].max() < 5e-2


def test_jitter_and_gaps_of_time_are_taken_out(recording) -> None:
    random = np.random.default_rng(2)
    kept = np.sort(random.choice(len(recording.time), len(recording.time) * 3 // 4, replace=False))
    kept = kept[(kept < 2000) | (kept > 2100)]
    thin = replace(recording, time=recording.time[kept], position=recording.position[kept], force=recording.force[kept])
    uniform, step, bridged = resampled(thin)
    assert step == pytest.approx(STEP)
    exact = series(3)[1][np.round((uniform.time + thin.time[0]) / STEP).astype(int)]
    assert np.abs(uniform.position - exact)[~bridged].max() < 1e-6
    assert 90 <= bridged.sum() <= 105
    assert not prepare(thin, Preparation(cutoff=20.0)).usable.all()


def test_time_that_goes_back_is_refused(recording) -> None:
    time = recording.time.copy()
    time[7] = time[5]
    with pytest.raises(ParameterError, match=r"run_1.csv: time does not increase at sample 7"):
        resampled(replace(recording, time=time))


def test_outliers_go_before_the_filter_and_nothing_else_does(recording) -> None:
    assert without_outliers(recording, 8.0)[1] == {"position": 0, "force": 0}
    force = recording.force.copy()
    force[[100, 3000], [0, 2]] += 80.0
    cleaned, counts = without_outliers(replace(recording, force=force), 8.0)
    assert counts == {"position": 0, "force": 2}
    assert np.abs(cleaned.force - recording.force).max() < 1.0


@pytest.mark.parametrize("step", [1e-4, 1e-3])
def test_the_steps_of_an_encoder_are_no_outliers(recording, step: float) -> None:
    coarse = replace(recording, position=np.round(recording.position / step) * step)
    assert without_outliers(coarse, 8.0)[1]["position"] == 0


def test_the_cutoff_is_above_the_motion_and_below_what_sampling_sees(recording) -> None:
    # the fastest harmonic has 0.75 Hz
    assert 2.0 < cutoff_of(recording.position, STEP) < 20.0
    fast = np.sin(2.0 * np.pi * 20.0 * recording.time)[:, None]
    assert cutoff_of(fast, STEP) == pytest.approx(100.0)


def test_a_delay_is_taken_out(recording) -> None:
    late = np.stack([np.interp(recording.time - 0.01, recording.time, x) for x in recording.position.T], axis=1)
    assert np.abs(advanced(late, 0.01, STEP) - recording.position)[10:-10].max() < 1e-5


def test_rest_is_longer_than_a_reversal() -> None:
    velocity = np.concatenate([np.zeros(50), np.sin(np.linspace(0.0, 4.0 * np.pi, 400))])[:, None]
    resting = at_rest(velocity, 0.01, 10)[:, 0]
    assert resting[:50].all()
    assert not resting[60:].any()


def test_limits_of_a_drive_are_found_and_round_tops_are_not() -> None:
    wave = np.sin(np.linspace(0.0, 20.0, 4000))[:, None] * 3.0
    assert not clipped(wave).any()
    cut = np.clip(wave, -2.0, 2.5)
    assert (clipped(cut) == ((wave >= 2.5) | (wave <= -2.0))).all()


def test_lengths_of_runs() -> None:
    assert runs([True, True, False, True, False, True, True, True]).tolist() == [2, 2, 0, 1, 0, 3, 3, 3]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (Preparation(cutoff=400.0), r"run_1.csv: the cutoff is 400 Hz; expected above 0 and less than half of the 500"),
        (Preparation(start=11.99), r"run_1.csv: 5 samples are left; expected at least 30"),
    ],
)
def test_options_that_do_not_fit_are_refused(recording, options: Preparation, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        prepare(recording, options)


def coarse(position: np.ndarray, step: float) -> np.ndarray:
    phase = np.random.default_rng(5).random(position.shape[1])
    return np.asarray((np.round(position / step + phase) - phase) * step)


def test_steps_of_encoders_are_told_from_positions(recording) -> None:
    steps = np.array([1e-4, 2e-3, 5e-3])
    assert encoder_steps(coarse(recording.position, steps)) == pytest.approx(steps)
    assert not encoder_steps(recording.position).any()
    assert not encoder_steps(np.zeros((100, 2))).any()


def test_the_cutoff_of_coarse_encoders_is_lower_and_accelerations_are_those_of_the_motion(recording) -> None:
    q, exact = 0.1 * recording.position, 0.1 * series(3)[3]
    fine = cutoff_of(q, STEP)
    read = replace(recording, position=coarse(q, 5e-3))
    prepared = prepare(read, Preparation())
    assert prepared.used.cutoff is not None
    assert prepared.used.cutoff < 0.5 * fine
    inside = prepared.kept
    wrong = [np.std((prepare(read, Preparation(cutoff=x)).acceleration - exact)[inside])
             for x in (prepared.used.cutoff, fine)]  # fmt: skip
    assert wrong[0] < 0.3 * wrong[1]
    assert cutoff_of(coarse(q, 1e-7), STEP, np.full(3, 1e-7)) == pytest.approx(fine, rel=0.1)
