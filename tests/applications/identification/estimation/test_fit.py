"""Identification of designs: numbers beside those of functions of one robot, bits in any grouping, calls, failures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from applications.identification import identify as identification
from applications.identification import identify_job
from applications.identification.estimation import fit as fits
from applications.identification.estimation.base import BaseParameters, base_parameters
from applications.identification.estimation.bases import Conditions, bases_of, geometry_parameters
from applications.identification.estimation.fit import fit_designs
from applications.identification.estimation.fit_data import FitData
from applications.identification.estimation.fitted import Fit
from applications.identification.estimation.machines.recorded_motion import is_direct
from applications.identification.estimation.methods import METHODS, FitMethod, FittedParameters
from applications.identification.estimation.recorded import Filtering, Recordings
from applications.identification.estimation.states import random_motion, random_motions
from applications.identification.estimation.table import FoundFits
from applications.identification.identify import Identified, grouped, identify
from applications.identification.identify_job import friction_of, robot_of
from applications.identification.recordings import recordings_of
from pipeline import run
from pipeline.sweep.model import Sweep
from pipeline.sweep.stored import stored_sweep
from robots import catalog
from robots.model import Robot
from storage import open_results
from tasks import forward_kinematics, regressor
from tasks.dynamics.design_regressor import regressors
from tasks.dynamics.designs import NO_FRICTION, RobotDesigns
from tasks.dynamics.records import Environment, Forces, Motion, Moving
from tasks.dynamics.regressor import columns_of, standard_parameters
from tasks.kernels.kernel import Kernel
from tasks.mathematics.signals import filtered, rate
from tasks.sources.commanded import moving
from tests.pipeline.runs import SYNCHRONOUS

TEXT = """\
limbsweep: 1
robot: ROBOT
seed: 5
design: {sample: {method: sobol, count: COUNT, parameters: {PARAMETERS}}}
friction: {law: stribeck, parameters: {coulomb: 0.3, static: 0.5, viscous: 0.2, stribeck_velocity: 0.1}}
trajectories:
  excite: {kind: random_fourier, count: 3, seed: 2, period: 1.0, velocity: 4, acceleration: 30, position: LIMITS}
time: {stop: 1.0, samples: 101}
outputs: [actuator_position, actuator_force, measured_position, measured_force]
measurement: {encoder_step: 2.0e-6, force_noise: 0.02, cutoff: 30}
split: {validation: 0.34, by: motion}
"""
CASES = {
    "planar_3r": ("length_1: {low: 0.4, high: 0.6}, gravity_y: {low: -9.8, high: -8}", "1.0"),
    "five_bar": ("proximal_length: {low: 0.5, high: 0.55}, proximal_mass: {low: 1, high: 2}", "0.1"),
    "delta_3rr2rrr": ("upper_arm: {low: 0.24, high: 0.26}, density: {low: 2000, high: 3000}", "0.12"),
    "irb6": ("forearm: {low: 0.65, high: 0.7}", "[1, 0.5, 0.4, 1, 1]"),
    "gough_stewart": ("base_radius: {low: 2.9, high: 3.1}", "0.3, turn: {position: 0.2, velocity: 2}"),
}
FAST = ("planar_3r", "five_bar")
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in CASES if name not in FAST]
ENCODED = ("planar_3r", "five_bar", "delta_3rr2rrr")
"""Robots whose encoders give their motion without more than forward kinematics of platforms that do not turn."""


def stored(folder: Path, robot: str, count: int = 3, parameters: str = "", text: str = TEXT) -> Path:
    swept, limits = CASES[robot]
    words = {"ROBOT": robot, "COUNT": str(count), "PARAMETERS": parameters or swept, "LIMITS": limits}
    for word, value in words.items():
        text = text.replace(word, value)
    run(Sweep.from_text(text), folder / f"{robot}.zarr", SYNCHRONOUS)
    return folder / f"{robot}.zarr"


@pytest.fixture(scope="module")
def five_bars(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored(tmp_path_factory.mktemp("designs"), "five_bar", 12)


def assert_close(found: Identified, alone: Identified) -> None:
    assert list(found.fits) == list(alone.fits)
    for case, fit in found.fits.items():
        assert_same(fit, alone.fits[case])


def assert_same(fit: Fit, other: Fit) -> None:
    assert fit.names == other.names
    size = np.abs(other.truth).max()
    np.testing.assert_allclose(fit.truth, other.truth, rtol=0, atol=1e-11 * size)
    np.testing.assert_allclose(fit.values, other.values, rtol=0, atol=1e-6 * float(other.deviations.max()))
    for name in ("deviations", "condition", "noise", "validation"):
        np.testing.assert_allclose(getattr(fit, name), getattr(other, name), rtol=1e-6, err_msg=name)


def fit_of_one(store: Path, design: int, *, measured: bool) -> Fit:
    """Identify a design by the public functions of one robot and least squares of NumPy, weighted by actuator."""
    sweep, data = stored_sweep(store), open_results(store).isel(design=design, friction=0).load()
    robot, gravity = robot_of(sweep, design), Environment(gravity=sweep.gravity_of(design))
    rubbing = Forces(friction=friction_of(sweep, 0))
    base = base_parameters(robot, rubbing, gravity, shared=True)
    assert sweep.measurement is not None
    filtering, step, rows = Filtering(sweep.measurement.values, sweep.grid.step), sweep.grid.step, []
    for k, trajectory in enumerate(sweep.trajectories):
        motion = moving(robot.family, trajectory, sweep.grid.values, sweep.family.reference.platform.home.position)
        if measured:
            motion = motion_seen(robot, data["measured_position"].values[k], motion, step)
        matrix = base.reduced(regressor(robot, Motion(**motion), rubbing, gravity, shared=True).matrix)
        used = filtering.kept(len(matrix))
        rows.append((filtered(filtering.values, step, matrix)[used], data["measured_force"].values[k][used]))
    trains = data["trajectory_part"].values == "train"
    parts = [[row for row, part in zip(rows, trains, strict=True) if part == want] for want in (True, False)]
    (y, tau), (other, unused) = ((np.concatenate(arrays) for arrays in zip(*part, strict=True)) for part in parts)
    spread = np.sqrt(np.square(tau - y @ np.linalg.lstsq(y.reshape(-1, base.count), tau.ravel())[0]).mean(axis=0))
    scaled, side = (y / spread[:, None]).reshape(-1, base.count), (tau / spread).ravel()
    sizes = np.linalg.norm(scaled, axis=0)
    inverse = np.linalg.pinv(scaled / sizes) / sizes[:, None]
    values = inverse @ side
    degrees = len(side) - base.count
    variance = np.sum((side - scaled @ values) ** 2) / degrees
    return Fit(
        base.groupings,
        base.of(list(standard_parameters(robot, friction=rubbing.friction, shared=True).values())),
        values,
        np.sqrt(variance) * np.linalg.norm(inverse, axis=1),
        float(np.linalg.cond(scaled / sizes)),
        float(np.sqrt(np.sum((tau - y @ values) ** 2) / degrees)),
        float(np.linalg.norm(unused - other @ values) / np.linalg.norm(unused)),
    )


def motion_seen(robot: Robot, seen: np.ndarray, near: Moving, step: float) -> Moving:
    """Return the motion of a chain driven in its joints, or of a platform that does not turn, from its encoders."""
    if robot.mechanism.is_chain:
        assert is_direct(robot)
        return {"q": seen, "qd": rate(seen, step), "qdd": rate(rate(seen, step), step)}
    place = forward_kinematics(robot, actuator_position=seen, position=near["position"]).position
    velocity, still = rate(place, step), np.zeros_like(place)
    twist, change = (np.concatenate([still, part], axis=1) for part in (velocity, rate(velocity, step)))
    return {"position": place, "twist": twist, "acceleration": change}


@pytest.mark.parametrize("robot", [*FAST, *SLOW])
def test_designs_have_the_numbers_that_functions_of_one_robot_give(robot: str, tmp_path: Path) -> None:
    store = stored(tmp_path, robot)
    for measured in (False, *([True] if robot in ENCODED else [])):
        found = identify(store, cluster=SYNCHRONOUS, motion="measured" if measured else "commanded")
        assert not found.failed
        assert sum(len(table.designs) for table in found.fits.tables) == 3
        for design in (0, 2):
            assert_same(found.fits[design, 0], fit_of_one(store, design, measured=measured))


def test_bits_do_not_depend_on_the_grouping(five_bars: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identification, "TASKS", 1)
    (whole,) = identify(five_bars, cluster=SYNCHRONOUS).fits.tables
    single = [identify(five_bars, designs=[k], cluster=SYNCHRONOUS).fits.tables[0] for k in (0, 7)]
    monkeypatch.setattr(fits, "BYTES", 1)  # a design at a time
    parts = identify(five_bars, cluster=SYNCHRONOUS).fits.tables
    assert len(parts) == 12
    for name in ("truth", "values", "deviations", "condition", "noise", "validation"):
        numbers = getattr(whole, name)
        assert np.isfinite(numbers).all()
        assert np.array_equal(np.concatenate([getattr(part, name) for part in parts]), numbers)
        assert np.array_equal(np.concatenate([getattr(part, name) for part in single]), numbers[[0, 7]])


def test_many_samples_of_a_design_are_taken_one_trajectory_after_another(
    five_bars: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = identify(five_bars, cluster=SYNCHRONOUS, designs=[0]).fits[0, 0]
    samples: list[int] = []

    def counted(designs: RobotDesigns, motion: dict[str, np.ndarray], *rest: Any) -> np.ndarray:
        samples.append(motion["position"].shape[1])
        return regressors(designs, motion, *rest)

    monkeypatch.setattr(fits, "regressors", counted)
    for most, expected in ((2 * 101, [202, 101]), (50, [101] * 3), (1000, [303])):
        samples.clear()
        monkeypatch.setattr(fits, "_bytes_of_a_sample", lambda _, most=most: fits.BYTES // most)
        fit = identify(five_bars, cluster=SYNCHRONOUS, designs=[0]).fits[0, 0]
        assert samples == expected
        for name in ("values", "deviations", "validation"):
            assert np.array_equal(getattr(fit, name), getattr(whole, name))


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    counts, call = [0], Kernel.__call__

    def counted(self: Kernel, *arguments: object, **options: object) -> object:
        counts[0] += 1
        return call(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Kernel, "__call__", counted)
    return counts


def test_twice_as_many_designs_take_no_more_calls_of_kernels(
    five_bars: Path, calls: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identification, "TASKS", 1)
    identify(five_bars, cluster=SYNCHRONOUS, designs=[0])  # traced, and states of the nominal robot
    numbers = []
    for count in (3, 6):
        calls[0] = 0
        assert len(identify(five_bars, cluster=SYNCHRONOUS, designs=range(count)).fits) == count
        numbers.append(calls[0])
    assert 0 < numbers[0] == numbers[1]


def test_designs_of_one_geometry_share_a_decision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identification, "TASKS", 1)
    store = stored(tmp_path, "five_bar", 4, "proximal_mass: {low: 1, high: 2}")
    (table,) = identify(store, cluster=SYNCHRONOUS).fits.tables
    assert len(table.groupings.coefficients) == 1
    assert table.groupings.numbers.tolist() == [0] * 4
    family = catalog.build("five_bar").family
    names = [family.parameters[k].name for k in geometry_parameters(family)]
    assert names == ["proximal_length", "distal_length", "base_half_width", "home_height"]


def test_a_design_that_fails_leaves_the_others_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identification, "TASKS", 1)
    store = stored(tmp_path, "five_bar", 6, "proximal_length: {low: 0.2, high: 0.6}")
    found = identify(store, cluster=SYNCHRONOUS)
    assert found.failed
    assert all("more rows than parameters" in text for text in found.failed.values())
    assert len(found.fits) + len(found.failed) == 6
    assert found.fits
    good = [design for design, _ in found.fits]
    assert_close(identify(store, cluster=SYNCHRONOUS, designs=good), found)


def test_samples_that_are_lost_are_those_of_their_design(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a filter only these are left out: rows of a design are fewer, and other designs keep their bits."""
    monkeypatch.setattr(identification, "TASKS", 1)
    store = stored(tmp_path, "five_bar", text=TEXT.replace(", cutoff: 30", ""))
    whole = identify(store, cluster=SYNCHRONOUS)

    def with_losses(*arguments: object) -> Recordings:
        recorded = recordings_of(*arguments)  # type: ignore[arg-type]
        if len(recorded.forces) == 3:
            recorded.forces[1, 20:31] = np.nan
            assert recorded.positions is not None
            recorded.positions[1, 120:123] = np.nan
        return recorded

    monkeypatch.setattr(identify_job, "recordings_of", with_losses)
    found = identify(store, cluster=SYNCHRONOUS)
    assert not found.failed
    for name in ("values", "deviations", "noise"):
        same = [np.array_equal(getattr(found.fits[k, 0], name), getattr(whole.fits[k, 0], name)) for k in range(3)]
        assert same == [True, False, True]
    lost, kept = found.fits[1, 0], whole.fits[1, 0]
    assert np.abs((lost.values - kept.values) / kept.deviations).max() < 3.0
    assert 0.9 < np.median(lost.deviations / kept.deviations) < 1.3


def test_an_error_of_a_method_costs_the_design_that_is_its_cause_alone(
    five_bars: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identification, "TASKS", 1)
    whole, fit = identify(five_bars, cluster=SYNCHRONOUS), METHODS["weighted"].fit

    def broken(data: FitData) -> FittedParameters:
        if 5 in data.numbers:
            raise RuntimeError("not foreseen")
        return fit(data)

    monkeypatch.setitem(METHODS, "weighted", FitMethod(broken, together=True))
    found = identify(five_bars, cluster=SYNCHRONOUS)
    assert found.failed == {(5, 0): "RuntimeError: not foreseen"}
    for case, fit_of_case in found.fits.items():
        assert np.array_equal(fit_of_case.values, whole.fits[case].values)


def test_an_error_before_that_does_so_too(five_bars: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(designs: RobotDesigns, numbers: np.ndarray, *rest: Any) -> FoundFits:
        if 5 in numbers:
            raise RuntimeError("not foreseen")
        return fit_designs(designs, numbers, *rest)

    monkeypatch.setattr(identify_job, "fit_designs", broken)
    found = identify(five_bars, cluster=SYNCHRONOUS)
    assert found.failed == {(5, 0): "RuntimeError: not foreseen"}
    assert len(found.fits) == 11


@pytest.mark.parametrize("name", ["planar_3r", "irb6", "delta_3rr2rrr"])
@pytest.mark.parametrize("moves", [True, False])
def test_states_are_those_of_one_design(name: str, moves: bool) -> None:
    robot = catalog.build(name)
    numbers = np.array([[robot.values[p.name] for p in robot.family.parameters]])
    designs = RobotDesigns(robot.family, np.repeat(numbers, 2, axis=0), np.zeros((1, 3)))
    nominal = np.full(numbers.shape[1], np.nan) if not moves else numbers[0]  # a robot that nothing can solve
    states, found = random_motions(designs, tuple(nominal.tolist()), 12)
    assert found.all()
    for key, values in random_motion(robot, 12).items():
        for design in range(2):
            np.testing.assert_allclose(states[key][design], np.asarray(values), rtol=1e-14, atol=1e-14)


def test_base_parameters_of_designs_without_good_states_are_the_reason() -> None:
    robot = catalog.build("five_bar")
    values = dict(robot.values) | {"distal_length": 0.01}
    numbers = np.array([list(robot.values.values()), list(values.values())])
    designs = RobotDesigns(robot.family, numbers, np.zeros((1, 3)))
    bases, geometry = bases_of(designs, Conditions(robot, columns_of(robot, shared=True), NO_FRICTION))
    assert isinstance(bases[geometry[0]], BaseParameters)
    assert "fewer than a third of the random poses" in str(bases[geometry[1]])


def test_groups_keep_to_chunks_and_leave_several_tasks() -> None:
    assert grouped(range(5), 3, 1) == [(0, 1), (2,), (3, 4)]
    assert grouped([9, 2, 2], 10, 4) == [(2,), (9,)]
    groups = grouped(range(10_000), 1000, 2)
    assert max(map(len, groups)) == identification.GROUP
    assert [design for group in groups for design in group] == list(range(10_000))
