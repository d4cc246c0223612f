"""Identification of many designs together, beside one at a time: numbers, bits in any grouping, calls and memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from applications.identification import identify as identification
from applications.identification import identify_job
from applications.identification.estimation.designs import fits
from applications.identification.estimation.designs.bases import bases_of, geometry_parameters
from applications.identification.estimation.designs.states import random_motions
from applications.identification.estimation.designs.table import Fits, FitTable
from applications.identification.estimation.states import random_motion
from applications.identification.identify import Identified, grouped, identify
from applications.identification.identify_job import IdentifyJob
from pipeline import run
from pipeline.sweep.model import Sweep
from robots import catalog
from robots.model import Robot
from tasks.dynamics.designs import NO_FRICTION, RobotDesigns
from tasks.dynamics.regressor import columns_of
from tasks.kernels.kernel import Kernel
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
SLOW = [pytest.param(name, "weighted", marks=pytest.mark.slow) for name in CASES if name not in FAST]


def stored(folder: Path, robot: str, count: int = 3, parameters: str = "") -> Path:
    swept, limits = CASES[robot]
    words = {"ROBOT": robot, "COUNT": str(count), "PARAMETERS": parameters or swept, "LIMITS": limits}
    text = TEXT
    for word, value in words.items():
        text = text.replace(word, value)
    run(Sweep.from_text(text), folder / f"{robot}.zarr", SYNCHRONOUS)
    return folder / f"{robot}.zarr"


@pytest.fixture(scope="module")
def five_bars(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored(tmp_path_factory.mktemp("designs"), "five_bar", 12)


def tables(found: Identified) -> list[FitTable]:
    assert isinstance(found.fits, Fits)
    assert not found.fits.single
    return found.fits.tables


def assert_close(found: Identified, alone: Identified) -> None:
    assert list(found.fits) == sorted(alone.fits)
    for case, fit in found.fits.items():
        other = alone.fits[case]
        assert fit.names == other.names
        size = np.abs(other.truth).max()
        np.testing.assert_allclose(fit.truth, other.truth, rtol=0, atol=1e-11 * size)
        np.testing.assert_allclose(fit.values, other.values, rtol=0, atol=1e-6 * float(other.deviations.max()))
        for name in ("deviations", "condition", "noise", "validation"):
            np.testing.assert_allclose(getattr(fit, name), getattr(other, name), rtol=1e-7, err_msg=name)


@pytest.mark.parametrize(
    ("robot", "method"), [("five_bar", "reweighted"), *((robot, "weighted") for robot in CASES if robot in FAST), *SLOW]
)
def test_designs_together_have_the_numbers_of_each_alone(
    robot: str, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = stored(tmp_path, robot)
    for options in ({}, {"motion": "commanded"}):
        together = identify(store, method, cluster=SYNCHRONOUS, **options)  # type: ignore[arg-type]
        assert sum(len(table.designs) for table in tables(together)) == 3
        with monkeypatch.context() as patch:
            patch.setattr(IdentifyJob, "together", lambda *_: [])
            alone = identify(store, method, cluster=SYNCHRONOUS, **options)  # type: ignore[arg-type]
        assert not alone.failed
        assert_close(together, alone)


def test_bits_do_not_depend_on_the_grouping(five_bars: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identification, "TASKS", 1)
    (whole,) = tables(identify(five_bars, cluster=SYNCHRONOUS))
    single = [tables(identify(five_bars, designs=[k], cluster=SYNCHRONOUS))[0] for k in (0, 7)]
    monkeypatch.setattr(fits, "BYTES", 1)  # a design at a time
    parts = tables(identify(five_bars, cluster=SYNCHRONOUS))
    assert len(parts) == 12
    for name in ("truth", "values", "deviations", "condition", "noise", "validation"):
        numbers = getattr(whole, name)
        assert np.isfinite(numbers).all()
        assert np.array_equal(np.concatenate([getattr(part, name) for part in parts]), numbers)
        assert np.array_equal(np.concatenate([getattr(part, name) for part in single]), numbers[[0, 7]])


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
    (table,) = tables(identify(store, cluster=SYNCHRONOUS))
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
    assert all(found.failed.values())
    assert len(found.fits) + len(found.failed) == 6
    assert found.fits
    good = [design for design, _ in found.fits]
    assert_close(identify(store, cluster=SYNCHRONOUS, designs=good), found)


def test_an_error_of_designs_together_leaves_each_to_be_fitted_alone(
    five_bars: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = identify(five_bars, cluster=SYNCHRONOUS)

    def broken(*_: object) -> object:
        raise RuntimeError("not foreseen")

    monkeypatch.setattr(identify_job, "fit_designs", broken)
    alone = identify(five_bars, cluster=SYNCHRONOUS)
    assert isinstance(alone.fits, Fits)
    assert not alone.fits.tables
    assert not alone.failed
    assert_close(together, alone)


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


def test_base_parameters_of_designs_without_good_states_are_none() -> None:
    robot = catalog.build("five_bar")
    values = dict(robot.values) | {"distal_length": 0.01}
    numbers = np.array([list(robot.values.values()), list(values.values())])
    designs = RobotDesigns(robot.family, numbers, np.zeros((1, 3)))
    bases, geometry = bases_of(designs, Robot(robot.family, robot.values), columns_of(robot, shared=True), NO_FRICTION)
    assert bases[geometry[0]] is not None
    assert bases[geometry[1]] is None


def test_groups_keep_to_chunks_and_leave_several_tasks() -> None:
    assert grouped(range(5), 3, 1) == [(0, 1), (2,), (3, 4)]
    assert grouped([9, 2, 2], 10, 4) == [(2,), (9,)]
    groups = grouped(range(10_000), 1000, 2)
    assert max(map(len, groups)) == identification.GROUP
    assert [design for group in groups for design in group] == list(range(10_000))
