from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from applications.identification.estimation.consistent import is_consistent
from applications.identification.estimation.machines.checks.hypotheses import check_machine
from applications.identification.estimation.machines.checks.series import check_signals
from applications.identification.estimation.machines.choices import Preparation
from applications.identification.estimation.machines.fitting import (
    MachineFit,
    cross_validated,
    fit_machine,
    identified_robot,
    standard_parameters_of,
)
from applications.identification.estimation.machines.judgement import judged, lacking, warnings, with_delay
from applications.identification.estimation.machines.machine import RecordedMachine
from applications.identification.estimation.machines.machine_model import MachineModel, OwnColumn, nominal
from applications.identification.estimation.machines.preparation import Signals, prepare
from applications.identification.estimation.machines.stribeck import with_stribeck
from robots import catalog
from robots.model import Robot
from robots.parameter_errors import ParameterError
from robots.types import TWIST
from tasks import inverse_dynamics
from tasks.dynamics.inverse import actuator_positions
from tasks.dynamics.records import Forces, Moving
from tests.applications.identification.estimation.machines.synthetic import FRICTION, STEP, chain, series

PREPARATION = Preparation(cutoff=10.0, rest=0.0)


def machine_of(robot: Robot, *signals: Signals, model: MachineModel | None = None) -> RecordedMachine:
    prepared = tuple(prepare(recording, PREPARATION) for recording in signals)
    return RecordedMachine(robot, model or MachineModel(), prepared)


@cache
def planar() -> tuple[Robot, Signals]:
    robot = catalog.build("planar_3r")
    return robot, chain(robot)


def truth_of(machine: RecordedMachine, friction: dict[str, float], offset: float) -> np.ndarray:
    values = dict(zip((c.name for c in machine.columns), nominal(machine.robot, machine.model), strict=True))
    for name in machine.robot.mechanism.actuators:
        known = {f"{name}.{key}": number for key, number in (*friction.items(), ("offset", offset))}
        values |= {key: number for key, number in known.items() if key in values}
    return machine.base.of(list(values.values()))


def scores(machine: RecordedMachine, fit: MachineFit, offset: float = 0.2) -> np.ndarray:
    friction = {"coulomb": FRICTION["coulomb"], "viscous": FRICTION["viscous"]}
    return np.asarray((fit.values - truth_of(machine, friction, offset)[list(fit.kept)]) / fit.deviations)


@pytest.mark.parametrize("method", ["least_squares", "weighted", "reweighted", "total_least_squares"])
def test_parameters_of_a_chain_are_found_within_their_deviations(method: str) -> None:
    robot, recording = planar()
    machine = machine_of(robot, recording)
    fit = fit_machine(machine, method)
    assert len(fit.kept) == machine.base.count
    assert np.square(scores(machine, fit)).mean() < 2.5
    assert fit.errors["run_1.csv"] < 0.02
    assert fit.errors["run_1.csv"] < cross_validated(machine, fit) < 1.5 * fit.errors["run_1.csv"]


def delta_recording(robot: Robot, seed: int = 3, seconds: float = 8.0) -> Signals:
    time, x, xd, xdd = series(3, seconds, seed)
    scale, still = 0.06, np.zeros_like(x)
    home = np.array(robot.mechanism.platform.home.position)
    moving = Moving(
        position=home + scale * x,
        twist=np.concatenate([still, scale * xd], axis=1),
        acceleration=np.concatenate([still, scale * xdd], axis=1),
    )
    forces = inverse_dynamics(robot, forces=Forces(friction=FRICTION), **moving).force + 0.2
    forces = forces + np.random.default_rng(seed).normal(size=forces.shape) * 0.02
    return Signals("delta.csv", "train", time, actuator_positions(robot, **moving).position, forces)


def test_a_parallel_robot_from_its_actuators_alone() -> None:
    robot = catalog.build("delta_3rr2rrr")
    recording = delta_recording(robot)
    machine = machine_of(robot, recording)
    fit = fit_machine(machine)
    assert np.square(scores(machine, fit)).mean() < 3.0
    assert not list(check_machine(machine))
    standard = standard_parameters_of(machine, fit)
    assert standard.converged
    found = Robot.of(identified_robot(machine, standard).family, {})
    before, after = (machine_of(x, recording).runs[0] for x in (robot, found))
    assert np.allclose(before.matrix, after.matrix)


def test_positions_that_no_pose_has_are_refused() -> None:
    robot = catalog.build("delta_3rr2rrr")
    recording = delta_recording(robot, seconds=1.0)
    machine = machine_of(robot, replace(recording, position=recording.position + 40.0))
    with pytest.raises(ParameterError, match=r"delta.csv: no sample is a pose that delta_3rr2rrr can reach"):
        _ = machine.runs


def test_coupled_drives_have_columns_of_their_own() -> None:
    robot, recording = planar()
    gear = np.array([[50.0, 0, 0], [0, 40.0, 0], [0, 30.0, 30.0]])
    coupled = np.array([0.0, 1.0, 1.0])
    _, _, qd, qdd = series(3)
    extra = 0.05 * (qdd @ coupled) + 0.7 * np.sign(qd @ coupled) + 0.3 * (qd @ coupled)
    moved = replace(recording, force=recording.force + extra[:, None] * coupled)
    plain = fit_machine(machine_of(robot, moved))
    fit = fit_machine(machine := machine_of(robot, moved, model=MachineModel(drives=gear)))
    assert fit.errors["run_1.csv"] < 0.5 * plain.errors["run_1.csv"]
    names = [column.name for column in machine.columns]
    assert [name for name in names if name.startswith("drive_3")] == [
        "drive_3.inertia",
        "drive_3.coulomb",
        "drive_3.viscous",
    ]
    values = dict(zip((machine.base.names[machine.base.independent[k]] for k in fit.kept), fit.values, strict=True))
    assert values["drive_3.coulomb"] == pytest.approx(0.7, abs=0.1)


def test_a_column_of_the_users_own() -> None:
    robot, recording = planar()
    moved = replace(recording, force=recording.force.copy())
    moved.force[:, 1] += 4.0 * np.cos(3.0 * recording.position[:, 1])
    own = OwnColumn("spring", 1, "N m", lambda motion: np.cos(3.0 * motion[0][:, 1]))
    machine = machine_of(robot, moved, model=MachineModel(own=(own,)))
    fit = fit_machine(machine)
    values = dict(zip((machine.base.names[machine.base.independent[k]] for k in fit.kept), fit.values, strict=True))
    assert values[f"{robot.mechanism.actuators[1]}.spring"] == pytest.approx(4.0, abs=0.02)


def test_asymmetric_friction_and_stribeck_velocities_are_found() -> None:
    robot, recording = planar()
    _, _, qd, _ = series(3)
    asymmetric = replace(recording, force=recording.force + 0.8 * np.maximum(qd, 0.0))
    shares = [
        fit_machine(machine_of(robot, asymmetric, model=MachineModel(friction=law))).errors["run_1.csv"]
        for law in ("coulomb_viscous", "asymmetric")
    ]
    assert shares[1] < 0.3 * shares[0]
    fading = 1.5 * np.sign(qd) * np.exp(-((qd / 0.3) ** 2))
    model = MachineModel(friction="stribeck", stribeck_velocity=(0.01,) * 3)
    machine = with_stribeck(
        machine_of(robot, replace(recording, force=recording.force + fading), model=model), "weighted"
    )
    assert np.abs(np.array(machine.model.stribeck_velocity) - 0.3).max() < 0.05


def test_standard_parameters_are_those_of_bodies_and_a_robot_has_them() -> None:
    robot, recording = planar()
    machine = machine_of(robot, recording)
    fit = fit_machine(machine)
    standard = standard_parameters_of(machine, fit)
    bodies = [k for k, column in enumerate(machine.columns) if column.parameter == "mass"]
    assert standard.converged
    assert all(is_consistent(standard.values[k : k + 10]) for k in bodies)
    found = Robot.of(identified_robot(machine, standard).family, {})
    _, q, qd, qdd = series(3, seed=5)
    before, after = (inverse_dynamics(x, q=q, qd=qd, qdd=qdd).force for x in (robot, found))
    assert np.linalg.norm(after - before) < 0.02 * np.linalg.norm(before)


def test_parameters_that_data_do_not_tell_are_left_out() -> None:
    robot, _ = planar()
    machine = machine_of(robot, chain(robot, noise=1.0, offset=0.0))
    fit, less = fit_machine(machine), fit_machine(machine, eliminate=True)
    assert len(less.kept) < len(fit.kept)
    assert (np.abs(less.values) > 1.5 * less.deviations).all()
    assert less.errors["run_1.csv"] < 1.05 * fit.errors["run_1.csv"]


def test_actuators_at_rest_do_not_count() -> None:
    robot, recording = planar()
    rest = 3000
    held = {
        "time": np.arange(len(recording.time) + rest) * STEP,
        "position": np.concatenate([np.repeat(recording.position[:1], rest, axis=0), recording.position]),
        # stiction holds with any force
        "force": np.concatenate([np.full((rest, 3), 3.0), recording.force]),
    }
    machine = RecordedMachine(robot, MachineModel(), (prepare(replace(recording, **held), Preparation(cutoff=10.0)),))
    assert machine.recordings[0].resting[100 : rest - 100].all()
    assert fit_machine(machine).errors["run_1.csv"] < 0.05
    run = machine.runs[0]
    assert not run.good[(run.time > 0.5) & (run.time < (rest - 200) * STEP)].any()


def wrong(change: str) -> Signals:
    _, recording = planar()
    position, force = recording.position.copy(), recording.force.copy()
    if change == "sign":
        force[:, 1] *= -1.0
    elif change == "swapped":
        force = force[:, [0, 2, 1]]
    elif change == "degrees":
        position = np.rad2deg(position)
    elif change == "missing":
        force[17, 2] = np.nan
    elif change == "constant":
        force[:, 0] = 1.5
    elif change == "stuck":
        position[2000:2200, 1] = position[2000, 1]
    elif change == "clipped":
        force = np.clip(force, -0.7 * force.max(), 0.7 * force.max())
    return replace(recording, position=position, force=force)


@pytest.mark.parametrize(
    ("change", "kind", "actuator", "text"),
    [
        ("missing", "missing", 2, "force has 1 samples that are no numbers, the first is 18"),
        ("constant", "constant", 0, "force is 1.5 all the time"),
        ("stuck", "stuck", 1, "position stands still for 199 samples up to 2200, then jumps"),
        ("clipped", "clipped", 0, "a limit of the drive"),
        ("degrees", "units", 0, "are these degrees"),
    ],
)
def test_what_is_wrong_with_a_signal_is_said(change: str, kind: str, actuator: int, text: str) -> None:
    robot, _ = planar()
    findings = list(check_signals(robot, wrong(change)))
    assert {finding.kind for finding in findings} == {kind}
    assert findings[0].actuator == robot.mechanism.actuators[actuator]
    assert text in str(findings[0])
    assert str(findings[0]).startswith("run_1.csv ")


def test_motions_beyond_the_limits_are_said() -> None:
    robot, recording = planar()
    assert not list(check_signals(robot, recording, [(-9.0, 9.0)] * 3))
    findings = list(check_signals(robot, recording, [(-9.0, 9.0), (-0.1, 0.1), (-9.0, 9.0)]))
    assert [finding.kind for finding in findings] == ["limits"]
    assert "expected -0.1 to 0.1" in str(findings[0])


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        ("sign", "sign", "opposite signs"),
        ("swapped", "swapped", "exchanged with"),
        ("degrees", "units", "look like deg"),
    ],
)
def test_what_signals_say_together_is_checked(change: str, kind: str, text: str) -> None:
    robot, recording = planar()
    assert not list(check_machine(machine_of(robot, recording)))
    findings = list(check_machine(machine_of(robot, wrong(change))))
    assert [finding.kind for finding in findings][:1] == [kind]
    assert text in str(findings[0])


@pytest.mark.parametrize("joint", range(3))
def test_a_wrong_sign_is_found_in_every_joint(joint: int) -> None:
    robot, recording = planar()
    signs = np.where(np.arange(3) == joint, -1.0, 1.0)
    findings = list(check_machine(machine_of(robot, replace(recording, force=recording.force * signs))))
    assert findings
    assert {finding.kind for finding in findings} <= {"sign", "swapped"}


def test_a_delay_is_told_and_taken_out() -> None:
    robot, recording = planar()
    late = np.stack([np.interp(recording.time - 0.012, recording.time, x) for x in recording.force.T], axis=1)
    machine = machine_of(robot, replace(recording, force=late))
    fit = judged(machine, fit_machine(machine))
    assert any("ms late" in text for text in lacking(fit))
    mended, delay = with_delay(machine, "weighted")
    assert delay == pytest.approx(0.012, abs=0.002)
    after = judged(mended, fit_machine(mended))
    assert not any("ms late" in text for text in lacking(after))


def test_a_wrong_law_of_friction_is_told_and_a_right_one_is_not() -> None:
    robot, recording = planar()
    machine = machine_of(robot, recording)
    assert not list(lacking(judged(machine, fit_machine(machine))))
    _, _, qd, _ = series(3)
    fading = replace(recording, force=recording.force + 1.5 * np.sign(qd) * np.exp(-((qd / 0.3) ** 2)))
    machine = machine_of(robot, fading)
    said = list(lacking(judged(machine, fit_machine(machine))))
    assert any("friction of joint_1 does not follow its law" in text for text in said)


def test_limbs_that_differ_are_told() -> None:
    robot = catalog.build("delta_3rr2rrr")
    recording = delta_recording(robot)
    assert not any("limbs" in text for text in _judged(robot, recording))
    heavy = recording.force.copy()
    position = recording.position[:, 0]
    heavy[:, 0] += 5.0 * np.cos(position)
    assert any("limbs that are copies differ" in text for text in _judged(robot, replace(recording, force=heavy)))


@cache
def five_bar_forces(heavier: float) -> tuple[Robot, np.ndarray, np.ndarray, np.ndarray]:
    """A five-bar whose left limb is heavier: the robot, time, positions and forces of the actuators."""
    robot = catalog.build("five_bar")
    time, x, xd, xdd = series(2, 8.0, 3)
    axes = [TWIST.index(name) for name in robot.mechanism.platform.mobility]
    position, twist, acceleration = np.zeros((len(x), 3)), np.zeros((len(x), 6)), np.zeros((len(x), 6))
    position[:, [axis - 3 for axis in axes]] = 0.03 * x
    twist[:, axes], acceleration[:, axes] = 0.03 * xd, 0.03 * xdd
    home = np.array(robot.mechanism.platform.home.position, dtype=float)
    moving = Moving(position=home + position, twist=twist, acceleration=acceleration)
    model = MachineModel(shared=False, friction="none", offset=False)
    factors = [heavier if column.owner.startswith("left") else 1.0 for column in model.columns(robot)]
    motors = actuator_positions(robot, **moving).position
    forces = model.matrix(robot, moving, (motors, motors, motors)) @ (nominal(robot, model) * factors)
    return robot, time, motors, forces


@pytest.mark.parametrize(
    ("noise", "heavier", "offset", "said"),
    [
        (0.5, 1.1, 0.0, "offsets of actuators that are copies differ, which limbs that differ in mass by"),
        (0.03, 1.1, 0.0, "limbs that are copies differ"),
        (0.03, 1.0, 0.3, ""),
    ],
)
def test_a_heavier_limb_is_told_beside_offsets_that_take_it_up(
    noise: float, heavier: float, offset: float, said: str
) -> None:
    robot, time, motors, forces = five_bar_forces(heavier)
    forces = forces + np.random.default_rng(2).normal(size=forces.shape) * noise + [offset, 0.0]
    texts = [text for text in _judged(robot, Signals("x.csv", "train", time, motors, forces)) if "copies" in text]
    assert [text[: len(said)] for text in texts] == ([said] if said else [])


def _judged(robot: Robot, recording: Signals) -> list[str]:
    machine = machine_of(robot, recording)
    return warnings(machine, judged(machine, fit_machine(machine)))


@pytest.mark.parametrize(
    ("role", "method", "message"),
    [("test", "weighted", "got none for training"), ("train", "weigthed", "did you mean 'weighted'")],
)
def test_fits_that_cannot_be_are_refused(role: str, method: str, message: str) -> None:
    robot, recording = planar()
    with pytest.raises(ParameterError, match=message):
        fit_machine(machine_of(robot, replace(recording, role=role)), method)
