from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from applications.identification.estimation.machines.choices import Preparation
from applications.identification.estimation.machines.clock import clock_of
from applications.identification.estimation.machines.fitting import fit_machine
from applications.identification.estimation.machines.judgement import biased
from applications.identification.estimation.machines.machine import RecordedMachine
from applications.identification.estimation.machines.machine_model import MachineModel
from applications.identification.estimation.machines.noise import best_filter, floor_of, spectrum
from applications.identification.estimation.machines.preparation import Prepared, Signals, prepare
from applications.identification.estimation.machines.sensitivity import (
    cutoff_trials,
    unsettled,
    with_bias,
    with_wider_band,
)
from robots import catalog
from tasks import inverse_dynamics
from tasks.dynamics.records import Forces
from tests.applications.identification.estimation.machines.synthetic import FRICTION, STEP, chain, series

ROBOT = catalog.build("planar_3r")
RECORDING = chain(ROBOT)


def noisy(size: float, seed: int = 3) -> Signals:
    noise = np.random.default_rng(seed).normal(size=RECORDING.position.shape) * size
    return replace(RECORDING, position=RECORDING.position + noise)


def machine_of(*recordings: Prepared) -> RecordedMachine:
    return RecordedMachine(ROBOT, MachineModel(), recordings)


@pytest.mark.parametrize("size", [2e-5, 2e-4, 2e-3])
def test_the_floor_is_that_of_the_noise(size: float) -> None:
    noise = prepare(noisy(size), Preparation()).noise
    assert noise is not None
    assert noise.position == pytest.approx(np.full(3, size), rel=0.4)
    white = np.random.default_rng(1).normal(size=(4000, 2)) * [0.1, 3.0]
    assert floor_of(white, STEP) == pytest.approx([0.1, 3.0], rel=0.1)


def test_the_filter_has_the_least_error_of_accelerations() -> None:
    exact = series(3)[3]
    read = noisy(2e-3)
    chosen = prepare(read, Preparation())
    inside = chosen.kept
    assert chosen.used.cutoff is not None

    def error(cutoff: float) -> float:
        return float(np.std((prepare(read, Preparation(cutoff=cutoff)).acceleration - exact)[inside]))

    least = min(error(cutoff) for cutoff in np.geomspace(1.0, 20.0, 12))
    assert error(chosen.used.cutoff) < 2.5 * least  # no cutoff is below three times the motion


def test_a_recording_without_noise_keeps_a_cutoff_far_above_the_motion() -> None:
    seen = spectrum(RECORDING.position, STEP)
    assert best_filter(seen, STEP)[0] > 5.0 * seen.bandwidth.max()
    assert not seen.floor.any()


@pytest.mark.parametrize("harmonics", [1, 5])
@pytest.mark.parametrize("periods", [3, 40])
@pytest.mark.parametrize("vibration", [0.0, 4e-3])
def test_a_motion_that_repeats_often_is_motion_up_to_its_last_line(
    periods: int, harmonics: int, vibration: float
) -> None:
    time = np.arange(0.0, 10.0 * periods, 0.02)
    angle = 0.2 * np.pi * time[:, None] * np.arange(1, harmonics + 1)
    random = np.random.default_rng(5)
    position = np.sin(angle) @ random.normal(size=(harmonics, 2)) + random.normal(size=(len(time), 2)) * 1e-5
    position[:, 0] += vibration * np.sin(16.0 * np.pi * time)  # a line of the machine, not of its motion
    seen = spectrum(position, 0.02)
    assert seen.bandwidth == pytest.approx(np.full(2, 0.1 * harmonics), rel=0.35)
    assert best_filter(seen, 0.02)[0] > 0.4 * harmonics
    assert seen.floor == pytest.approx(np.full(2, 1e-5), rel=0.4)


def software(stamps: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return true times, stamps and rows of a source that ticks, as a program reads it."""
    random = np.random.default_rng(8)
    if stamps == "even":
        rows = np.arange(len(RECORDING.time))
    else:
        rows = np.cumsum(random.choice([0, 1, 2], p=[0.06, 0.88, 0.06], size=len(RECORDING.time)))
        rows = rows[rows < len(RECORDING.time)]
    late = np.abs(random.normal(size=len(rows))) * 0.4 * STEP
    written = np.sort(rows * STEP + late) + np.arange(len(rows)) * 1e-9
    return rows * STEP, written, rows


@pytest.mark.parametrize("stamps", ["even", "ticks"])
def test_stamps_of_software_clocks_become_those_of_the_source(stamps: str) -> None:
    exact, written, rows = software(stamps)
    position = RECORDING.position[rows] + np.random.default_rng(2).normal(size=(len(rows), 3)) * 1e-6
    clock = clock_of(written, position)
    assert clock.note
    off = clock.time - exact[clock.rows]
    assert np.std(off) < 0.1 * STEP
    assert np.std(written - exact) > 0.2 * STEP
    if stamps == "ticks":
        assert len(clock.rows) == len(np.unique(rows))


def test_stamps_that_are_right_stay() -> None:
    random = np.random.default_rng(5)
    kept = np.sort(random.choice(len(RECORDING.time), 3000, replace=False))
    position = RECORDING.position[kept] + random.normal(size=(3000, 3)) * 1e-5
    assert not clock_of(RECORDING.time[kept], position).note
    assert not clock_of(RECORDING.time, RECORDING.position).note


def test_noise_in_the_regressor_is_told_and_its_bias_is_right() -> None:
    options = Preparation(cutoff=20.0, rest=0.0)
    clean = machine_of(prepare(RECORDING, options))
    quiet = with_bias(clean, fit_machine(clean))
    assert not list(biased(quiet))
    biases, errors = [], []
    for seed in range(4):
        machine = machine_of(prepare(noisy(1e-3, seed), options))
        fit = with_bias(machine, fit_machine(machine))
        assert any("noise of positions is in the regressor" in text for text in biased(fit))
        biases.append(fit.bias)
        errors.append(fit.values - quiet.values)
    strong = np.abs(np.mean(biases, axis=0)) > 2.0 * quiet.deviations
    ratio = np.mean(errors, axis=0)[strong] / np.mean(biases, axis=0)[strong]
    assert strong.any()
    assert np.median(ratio) == pytest.approx(1.0, abs=0.4)


def test_the_answer_by_other_cutoffs_is_told() -> None:
    machine = machine_of(prepare(RECORDING, Preparation()))
    fit = fit_machine(machine)
    trials = cutoff_trials(machine, fit, "weighted")
    assert [trial.factor for trial in trials] == [0.7, 1.4]
    assert not list(unsettled(fit, trials))
    again = replace(machine, recordings=tuple(replace(each, uniform=None) for each in machine.recordings))
    assert cutoff_trials(again, fit, "weighted") == ()
    far = replace(trials[0], change=trials[0].change + 50.0)
    assert any("the answer depends on the cutoff" in text for text in unsettled(fit, (far,)))


def slow_motion(vibration: float) -> RecordedMachine:
    """A recording of 6 s below 0.4 Hz with a vibration at 8 Hz, which tells inertia beyond the band of the motion."""
    time = np.arange(0.0, 6.0, STEP)
    q, qd, qdd = np.zeros((3, len(time), 3))
    random = np.random.default_rng(2)
    waves = [(0.17 * k, random.normal(size=3) * 0.4 / k, random.uniform(0.0, 6.0, 3)) for k in (1, 2)]
    for frequency, size, phase in [*waves, (8.0, np.full(3, vibration), np.array([0.0, 1.5, 3.0]))]:
        omega = 2.0 * np.pi * frequency
        angle = omega * time[:, None] + phase
        q += size * np.sin(angle)
        qd += size * omega * np.cos(angle)
        qdd -= size * omega**2 * np.sin(angle)
    forces = inverse_dynamics(ROBOT, q=q, qd=qd, qdd=qdd, forces=Forces(friction=FRICTION)).force
    forces = forces + random.normal(size=forces.shape) * 0.05
    return machine_of(prepare(Signals("slow.csv", "train", time, q, forces), Preparation()))


def test_few_rows_get_the_band_that_tells_parameters_best() -> None:
    machine = slow_motion(1e-4)
    wide, factor = with_wider_band(machine, [True], "weighted")
    assert factor > 1.0
    assert wide.recordings[0].filter[0] == pytest.approx(factor * machine.recordings[0].filter[0])
    before, after = fit_machine(machine), fit_machine(wide)
    assert after.kept == before.kept
    assert np.exp(np.mean(np.log(after.deviations / before.deviations))) < 0.9
    truth = machine.base.of(machine.nominal)[list(before.kept)]
    inertia = [k for k, name in enumerate(before.names) if "Izz" in name]
    assert inertia
    error, wider = (np.abs(fit.values - truth)[inertia].sum() for fit in (before, after))
    assert wider < 0.5 * error


def test_a_band_stays_that_is_told_or_tells_no_less_or_leaves_many_rows() -> None:
    machine = slow_motion(1e-4)
    assert with_wider_band(machine, [False], "weighted") == (machine, 1.0)
    short = machine_of(prepare(chain(ROBOT, duration=5.0), Preparation()))
    assert with_wider_band(short, [True], "weighted") == (short, 1.0)  # white noise: what is wider tells no more
    long = machine_of(prepare(chain(ROBOT, duration=40.0), Preparation()))
    assert with_wider_band(long, [True], "weighted") == (long, 1.0)
