from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from applications.identification.estimation.machines.checks import hypotheses
from applications.identification.estimation.machines.checks.hypotheses import check_machine
from applications.identification.estimation.machines.checks.series import check_repeats, check_signals
from applications.identification.estimation.machines.choices import BodyPrior, Preparation
from applications.identification.estimation.machines.fitting import (
    Standard,
    fit_machine,
    standard_parameters_of,
    unexplained,
)
from applications.identification.estimation.machines.judgement import _held_out, judged, lacking, warnings
from applications.identification.estimation.machines.machine import RecordedMachine
from applications.identification.estimation.machines.machine_model import MachineModel
from applications.identification.estimation.machines.preparation import Signals, prepare
from applications.identification.estimation.machines.residuals import Whiteness
from applications.identification.estimation.machines.sensitivity import with_bias
from robots import catalog
from tasks import inverse_dynamics
from tasks.dynamics.records import Forces
from tests.applications.identification.estimation.machines.synthetic import FRICTION, chain, series

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
        ([1.0, 0.01, 1.0], True, "joint_2: forces over those"),
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


def test_correlated_residuals_are_said_with_the_actuators_that_have_them() -> None:
    machine = machine_of(RECORDING)
    fit = fit_machine(machine)
    kinds = {"white": Whiteness(0.3, 0.5), "little": Whiteness(0.1, 0.0), "coloured": Whiteness(-0.4, 0.0)}
    (text,) = (
        text
        for text in warnings(machine, replace(fit, whiteness=tuple(kinds.values())))
        if text.startswith("residuals are correlated from sample to sample")
    )
    assert "(joint_3 -0.40)" in text


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


ARM = catalog.build("ur5e")
SPATIAL = chain(ARM, duration=6.0)


def gravity(signals: Signals) -> Signals:
    q, qd, qdd = series(6, 6.0)[1:]
    friction = Forces(friction=FRICTION)
    force = inverse_dynamics(ARM, q=q, qd=qd, qdd=qdd, forces=friction, gravity=(0.0, 0.0, 9.81)).force
    return replace(signals, force=force + 0.2)


def one(values: np.ndarray, change: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Signals whose second column is changed."""
    changed = values.copy()
    changed[:, 1] = change(values[:, 1])
    return changed


def later(column: np.ndarray, time: float) -> np.ndarray:
    return np.interp(RECORDING.time - time, RECORDING.time, column)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (gravity, "run_1.csv: gravity points the other way"),
        (lambda s: replace(s, time=s.time * 2.0), "run_1.csv: samples look 0.5 times as far apart"),
        (
            lambda s: replace(s, position=one(s.position, np.negative), force=one(s.force, np.negative)),
            "joint_2: position and force both have the opposite sign",
        ),
        (
            lambda s: replace(s, position=one(s.position, lambda q: q + 0.5 * np.pi)),
            "joint_2: its zero looks off by -90 degrees",
        ),
        (
            lambda s: replace(s, position=one(s.position, lambda q: 1.2 * q), force=one(s.force, lambda f: f / 1.2)),
            "joint_2: its gear looks 1.2 times what was said",
        ),
    ],
)
def test_faults_of_motions_get_their_name(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[Signals], Signals], said: str
) -> None:
    monkeypatch.setattr(hypotheses, "SAMPLES", 150)

    def arm(signals: Signals) -> RecordedMachine:
        return RecordedMachine(ARM, MachineModel(), (prepare(signals, Preparation(cutoff=10.0, rest=0.0)),))

    findings = [str(finding) for finding in check_machine(arm(change(SPATIAL))) if finding.is_error]
    assert len(findings) == 1
    assert said in findings[0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda s: replace(s, force=one(s.force, lambda f: later(f, 0.02))), "forces of joint_2 alone are"),
        (
            lambda s: replace(s, force=one(s.force, lambda f: f * np.linspace(1.0, 1.06, len(f)))),
            "gain of joint_2 changes by",
        ),
    ],
)
def test_small_faults_get_their_name_and_a_sound_recording_none(
    change: Callable[[Signals], Signals], said: str
) -> None:
    def texts(signals: Signals) -> list[str]:
        machine = RecordedMachine(ROBOT, MachineModel(), (prepare(signals, Preparation()),))
        return list(lacking(judged(machine, fit_machine(machine))))

    assert not texts(RECORDING)
    assert any(said in text for text in texts(change(RECORDING)))


def test_a_sound_recording_of_a_spatial_arm_has_no_finding() -> None:
    recording = prepare(SPATIAL, Preparation(cutoff=10.0, rest=0.0))
    assert not list(check_machine(RecordedMachine(ARM, MachineModel(), (recording,))))


def test_a_joint_that_is_held_is_said_and_nothing_else_is_blamed() -> None:
    q, qd, qdd = (values.copy() for values in series(3, 6.0)[1:])
    q[:, 2], qd[:, 2], qdd[:, 2] = q[0, 2], 0.0, 0.0
    force = inverse_dynamics(ROBOT, q=q, qd=qd, qdd=qdd, forces=Forces(friction=FRICTION)).force
    held_one = replace(RECORDING, position=q + 1e-5 * NOISE, force=force + 0.05 * NOISE)
    (finding,) = check_signals(ROBOT, held_one)
    assert "joint_3: does not move" in str(finding)
    machine = RecordedMachine(ROBOT, MachineModel(), (prepare(held_one, Preparation()),))
    assert not list(check_machine(machine))
    fit = fit_machine(machine)
    assert not any("joint_3" in name for name in fit.names if "coulomb" in name)
    biased_fit = with_bias(machine, fit)
    assert biased_fit.bias is not None
    assert (np.abs(biased_fit.bias) < 10.0 * fit.deviations).all()


@pytest.mark.parametrize(
    ("roles", "windows", "said"),
    [
        (("train", "train"), ((0.0, np.inf), (0.0, np.inf)), "for train twice"),
        (("train", "test"), ((0.0, 3.0), (2.0, np.inf)), "for train and for test"),
        (("train", "test"), ((0.0, 3.0), (3.0, np.inf)), ""),
    ],
)
def test_samples_that_count_twice_are_said(
    roles: tuple[str, str], windows: list[tuple[float, float]], said: str
) -> None:
    found = list(check_repeats([replace(RECORDING, role=role) for role in roles], windows))
    assert [said in str(finding) and finding.is_error for finding in found] == [True] * bool(said)
    assert not list(check_repeats([RECORDING, chain(ROBOT, seed=2)], windows))


def test_no_rate_is_blamed_where_samples_are_few_in_a_second() -> None:
    every = {name: values[::10] for name, values in chain(ROBOT, duration=60.0).series.items()}
    signals = replace(RECORDING.with_series(every), time=0.02 * np.arange(len(every["position"])))
    assert not list(check_machine(RecordedMachine(ROBOT, MachineModel(), (prepare(signals, Preparation()),))))


def test_a_short_recording_is_said_and_no_sign_stops_it() -> None:
    few = {name: values[:40] for name, values in RECORDING.series.items()}
    machine = RecordedMachine(
        ROBOT, MachineModel(), (prepare(replace(RECORDING.with_series(few), time=RECORDING.time[:40]), Preparation()),)
    )
    assert not any(finding.is_error for finding in check_machine(machine))
    assert any("independent rows are few" in text for text in warnings(machine, fit_machine(machine)))
