from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from applications.identification.estimation.machines.checks.hypotheses import check_machine
from applications.identification.estimation.machines.checks.series import check_signals
from applications.identification.estimation.machines.choices import BodyPrior, Preparation
from applications.identification.estimation.machines.fitting import (
    Standard,
    fit_machine,
    standard_parameters_of,
    unexplained,
)
from applications.identification.estimation.machines.judgement import _held_out, warnings
from applications.identification.estimation.machines.machine import RecordedMachine
from applications.identification.estimation.machines.machine_model import MachineModel
from applications.identification.estimation.machines.preparation import Signals, prepare
from robots import catalog
from tests.applications.identification.estimation.machines.synthetic import chain

ROBOT = catalog.build("planar_3r")
RECORDING = chain(ROBOT, duration=6.0)
SAMPLES = len(RECORDING.time)
NOISE = np.random.default_rng(2).normal(size=RECORDING.position.shape)
VELOCITY = np.gradient(RECORDING.position, RECORDING.time, axis=0)


def held(values: np.ndarray) -> np.ndarray:
    """Signals whose second column stands still from the middle on."""
    stopped = values.copy()
    stopped[SAMPLES // 2 :, 1] = stopped[SAMPLES // 2, 1]
    return stopped


def with_velocity(factors: tuple[float, ...], order: tuple[int, ...] = (0, 1, 2)) -> Callable[[Signals], Signals]:
    return lambda signals: replace(signals, velocity=(VELOCITY * factors)[:, list(order)])


@pytest.mark.parametrize(
    ("change", "kind", "said"),
    [
        (lambda s: replace(s, time=s.time * 1e3), "time", "run_1.csv: 0.5 samples a second; expected 10 to 100000"),
        (
            lambda s: replace(s, position=s.position[:1] + 1e-4 * NOISE),
            "still",
            "run_1.csv: nothing moves: positions are",
        ),
        (
            lambda s: replace(s, position=(s.position * 9.0 + np.pi) % (2.0 * np.pi) - np.pi),
            "wrapped",
            "whole turns; expected angles that go on; unwrap them",
        ),
        (
            lambda s: replace(s, position=held(s.position)),
            "stuck",
            "run_1.csv joint_2: position stands still for the last",
        ),
        (
            with_velocity((1.0, 57.3, 1.0)),
            "velocity",
            "joint_2: velocity is 57.3 times the rate of position; expected 1",
        ),
        (with_velocity((1.0, -1.0, 1.0)), "velocity", "joint_2: velocity has the opposite sign"),
        (with_velocity((1.0, 1.0, 1.0), (0, 2, 1)), "velocity", "that of joint_3 is; expected the order"),
    ],
)
def test_what_cannot_be_is_said(change: Callable[[Signals], Signals], kind: str, said: str) -> None:
    assert not list(check_signals(ROBOT, with_velocity((1.0, 1.0, 1.0))(RECORDING)))
    findings = list(check_signals(ROBOT, change(RECORDING)))
    assert {finding.kind for finding in findings} == {kind}
    assert any(said in str(finding) for finding in findings), [str(finding) for finding in findings]


def machine_of(signals: Signals) -> RecordedMachine:
    return RecordedMachine(ROBOT, MachineModel(), (prepare(signals, Preparation(cutoff=10.0, rest=0.0)),))


@pytest.mark.parametrize(
    ("factors", "is_error", "said"),
    [
        ([1e3, 1e3, 1e3], False, "joint_1 1e+03, joint_2 1e+03, joint_3 9.9e+02; expected about 1"),
        ([1.0, 0.01, 1.0], True, "joint_2: forces are so many times"),
    ],
)
def test_forces_far_from_what_the_robot_asks_are_said(factors: list[float], is_error: bool, said: str) -> None:
    (finding,) = check_machine(machine_of(replace(RECORDING, force=RECORDING.force * factors)))
    assert (finding.kind, finding.is_error) == ("scale", is_error)
    assert said in str(finding)


def test_what_the_model_does_not_explain_is_said() -> None:
    machine = machine_of(replace(RECORDING, force=RECORDING.position[:, [1, 2, 0]]))
    fit = fit_machine(machine)
    assert any("of the forces are not explained: look at columns" in text for text in warnings(machine, fit))


def test_parameters_of_no_machine_are_said() -> None:
    # the links' first moments turned round: no bodies have these beside the same moments of inertia
    machine = machine_of(RECORDING)
    fit = fit_machine(machine)
    standard = standard_parameters_of(machine, fit)
    assert not any("of no machine" in text for text in warnings(machine, fit, standard))
    turned = [
        -x if "link_1" in c.name or "mx" in c.name else x for c, x in zip(machine.columns, standard.values, strict=True)
    ]
    errors = unexplained(machine.runs, machine.base, machine.base.of(np.array(turned)))[0]
    other = replace(standard, values=np.array(turned), errors=errors)
    assert any("these are of no machine" in text for text in warnings(machine, fit, other))


def test_masses_far_from_the_robot_and_needles_are_said() -> None:
    machine = machine_of(RECORDING)
    fit = fit_machine(machine)
    standard = standard_parameters_of(machine, fit, BodyPrior(weight=1.0))
    texts = warnings(machine, fit, standard)
    assert not any("masses far" in text or "needles" in text for text in texts)
    heavy = replace(standard, values=standard.values * 5.0)
    assert any("masses far from those of the robot: link_1" in text for text in warnings(machine, fit, heavy))
    thin = machine.nominal.copy()
    thin[4:10] *= 1e-9
    needle = replace(standard, values=thin)
    assert any("thin as needles or points (link_1, " in text for text in warnings(machine, fit, needle))


def test_a_recording_that_is_explained_far_worse_is_said() -> None:
    strange = replace(RECORDING, name="two.csv", role="validation", force=RECORDING.force * [1.0, 1.3, 1.0])
    recordings = tuple(prepare(signals, Preparation(cutoff=10.0, rest=0.0)) for signals in (RECORDING, strange))
    machine = RecordedMachine(ROBOT, MachineModel(), recordings)
    fit = fit_machine(machine)
    (text,) = (text for text in warnings(machine, fit) if "of those for training" in text)
    assert text.startswith("two.csv: ")
    better = Standard(fit.values, fit.deviations, True, "Solved", errors={"run_1.csv": 0.0, "two.csv": 0.01})
    assert any("take estimate.method: consistent" in text for text in _held_out(machine, fit, better))


def test_a_gap_spoils_nothing_beside_it() -> None:
    left_out = np.ones(SAMPLES, dtype=bool)
    left_out[1200:1600] = False
    series = {name: values[left_out] for name, values in RECORDING.series.items()}
    broken = replace(RECORDING.with_series(series), time=RECORDING.time[left_out])
    options = Preparation(rest=0.0)
    whole, gap = (prepare(signals, options) for signals in (RECORDING, broken))
    assert gap.replaced["position"] == 0
    assert gap.used.cutoff == pytest.approx(whole.used.cutoff, rel=0.5)
    fit = fit_machine(RecordedMachine(ROBOT, MachineModel(), (gap,)))
    assert (
        fit.errors["run_1.csv"]
        < 2.0 * fit_machine(RecordedMachine(ROBOT, MachineModel(), (whole,))).errors["run_1.csv"]
    )
