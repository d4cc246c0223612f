"""Identification from encoders: trees, closed chains, platforms; tests of gravity and friction; files, refusals."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from applications.commands.cli import cli
from applications.identification import identify_job
from applications.identification.estimation.base import BaseParameters, base_parameters
from applications.identification.estimation.table import Fits, FitTable, Groupings
from applications.identification.identify import Identified, identify
from applications.identification.identify_job import friction_of
from pipeline import run
from pipeline.errors import InputError
from pipeline.sweep.model import Sweep
from robots import catalog
from storage import open_results
from storage.errors import StoreError
from tasks.dynamics.records import Forces
from tests.pipeline.runs import SYNCHRONOUS

TEXT = """\
limbsweep: 1
robot: ROBOT
seed: 5
friction: FRICTION
trajectories: {TRAJECTORY}
time: {stop: 2.0, samples: 501}
gravity: GRAVITY
outputs: [actuator_position, actuator_force, measured_position, measured_force]
measurement: {encoder_step: 2.0e-6, force_noise: NOISE, cutoff: 20}
"""
SETS = "{law: coulomb_viscous, list: {coulomb: [0.3, 0.2, 0.5], viscous: [0.2, 0.1, 0.1]}}"
MORE = "{law: coulomb_viscous, grid: {coulomb: [0.1, 0.2, 0.3, 0.4], viscous: [0.1, 0.2]}}"
SINGLE = "{law: coulomb_viscous, parameters: {coulomb: 0.3, viscous: 0.2}}"
DRAWN = (
    "excite: {kind: random_fourier, count: 3, seed: 2, period: 2.0, velocity: 4, acceleration: 30, position: LIMITS}"
)
TURN = "0.3, turn: {position: 0.2, velocity: 2, acceleration: 20}"
DOWN, ALONG_Y = "[0, 0, -9.81]", "[0, -9.8, 0]"
CASES = {
    "planar_3r": ("1.0", 0.05, ALONG_Y),
    "three_loop_leg": ("1.0", 0.02, ALONG_Y),
    "irb6": ("[1, 0.5, 0.4, 1, 1]", 0.05, DOWN),
    "delta_3rr2rrr": ("0.12", 0.05, DOWN),
    "gough_stewart": (TURN, 20.0, DOWN),
    "ankle": ("[0.3, 0.15]", 0.05, DOWN),
    "coupled_3rps": ("[0.05, 0.15, 0.15]", 0.5, DOWN),
}


def text_of(robot: str, trajectory: str, noise: float, gravity: str, friction: str = SETS) -> str:
    words = {"ROBOT": robot, "TRAJECTORY": trajectory, "NOISE": str(noise), "GRAVITY": gravity, "FRICTION": friction}
    text = TEXT
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def text_for(robot: str, friction: str = SETS) -> str:
    limits, noise, gravity = CASES[robot]
    return text_of(robot, DRAWN.replace("LIMITS", limits), noise, gravity, friction)


def stored(folder: Path, text: str) -> Path:
    run(Sweep.from_text(text), folder / "s.zarr", SYNCHRONOUS)
    return folder / "s.zarr"


def scores(found: Identified) -> np.ndarray:
    assert not found.failed
    return np.array([each.scores for each in found.fits.values()])


@pytest.fixture(scope="module")
def planar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored(tmp_path_factory.mktemp("planar"), text_for("planar_3r"))


@pytest.mark.parametrize("robot", CASES)
def test_parameters_come_back_from_encoders_within_their_deviations(robot: str, tmp_path: Path) -> None:
    # sets of friction have noise of their own; those of leg and ankle are more, as their parameters are off together;
    # nothing of the motion is stored but what encoders say
    store = stored(tmp_path, text_for(robot, MORE if robot in ("three_loop_leg", "ankle") else SETS))
    assert not [name for name in open_results(store).data_vars if str(name).startswith(("platform", "joint"))]
    found = scores(identify(store, cluster=SYNCHRONOUS))
    squares = np.square(found)
    assert 0.3 < squares.mean() < 2.0
    assert np.abs(found).max() < 4.5
    assert (np.abs(found) < 2.0).mean() > 0.85


def test_deviations_are_not_so_large_that_all_is_within_them(planar: Path) -> None:
    for each in identify(planar, cluster=SYNCHRONOUS).fits.values():
        assert np.median(each.deviations / np.maximum(np.abs(each.truth), 0.1)) < 0.01
        assert each.condition < 100.0


def test_the_commanded_motion_serves_too(planar: Path) -> None:
    found = identify(planar, motion="commanded", designs=[0], cluster=SYNCHRONOUS)
    assert np.square(scores(found)).mean() < 2.0


def test_tasks_of_a_call_open_the_store_once(planar: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(store: str) -> Any:
        calls.append(store)
        return open_results(store)

    monkeypatch.setattr(identify_job, "open_results", counted)
    for opened in (1, 2):  # each call anew: the store may be another
        assert len(identify(planar, cluster=SYNCHRONOUS).fits) > 1
        assert len(calls) == opened


def test_bodies_are_consistent_and_parameters_within_their_deviations(tmp_path: Path) -> None:
    store = stored(
        tmp_path, text_for("delta_3rr2rrr", "{law: coulomb_viscous, parameters: {coulomb: 0.3, viscous: 0.2}}")
    )
    found = scores(identify(store, "consistent", cluster=SYNCHRONOUS))
    assert np.square(found).mean() < 2.0
    assert np.abs(found).max() < 4.5


def test_a_stribeck_velocity_comes_back_with_all_others(tmp_path: Path) -> None:
    law = "{law: stribeck, parameters: {coulomb: 0.3, static: 0.6, viscous: 0.2, stribeck_velocity: 0.2}}"
    found = identify(stored(tmp_path, text_for("planar_3r", law)), "separable", cluster=SYNCHRONOUS)
    fit = found.fits[0, 0]
    assert fit.names[-1] == "stribeck_velocity"
    assert fit.truth[-1] == 0.2
    assert fit.deviations[-1] < 0.02
    assert np.square(fit.scores).mean() < 2.0
    assert abs(fit.scores[-1]) < 3.0


def test_friction_without_such_parameters_is_told(planar: Path) -> None:
    found = identify(planar, "separable", cluster=SYNCHRONOUS)
    assert len(found.failed) == 3
    assert "no parameter that forces are not linear in" in found.failed[0, 0]
    assert dict(found.rows())["identified"] == "0 of 3 robots with their friction"


HELD = {
    "planar_3r": ("1.5", 6),
    "irb6": ("[1, 0.5, 0.4, 1, 1]", 8),
    "gough_stewart": ("0.3, turn: {position: 0.3}", 7),
}


@pytest.mark.parametrize("robot", ["planar_3r", "irb6", pytest.param("gough_stewart", marks=pytest.mark.slow)])
def test_a_gravity_test_gives_what_weight_tells(robot: str, tmp_path: Path) -> None:
    (limits, count), (_, noise, gravity) = HELD[robot], CASES[robot]
    held = f"hold: {{kind: gravity_test, count: 12, seed: 3, position: {limits}}}"
    text = text_of(robot, held, noise, gravity).replace("{stop: 2.0, samples: 501}", "{stop: 1.0, samples: 201}")
    store = stored(tmp_path, text)
    data = open_results(store).load()
    forces = data["actuator_force"].values
    assert data.sizes["trajectory"] == 12
    assert float(np.ptp(forces, axis=3).max()) < 1e-9 * float(np.abs(forces).max())
    found = identify(store, cluster=SYNCHRONOUS)
    assert all(len(each.names) == count for each in found.fits.values())
    assert not any("coulomb" in name for name in found.fits[0, 0].names)
    assert np.square(scores(found)).mean() < 2.0


def test_a_friction_test_gives_the_friction_of_its_joint(tmp_path: Path) -> None:
    slow = "slow: {kind: friction_test, joint: joint_2, speeds: [0.02, 0.05, 0.1, 0.2, 0.3], at: [0.3, -0.2, 0.1]}"
    found = identify(stored(tmp_path, text_of("planar_3r", slow, 0.05, ALONG_Y)), cluster=SYNCHRONOUS)
    for each, (coulomb, viscous) in zip(found.fits.values(), ((0.3, 0.2), (0.2, 0.1), (0.5, 0.1)), strict=True):
        assert each.names[-2:] == ("joint_2.coulomb", "joint_2.viscous")
        assert each.truth[-2:].tolist() == [coulomb, viscous]
        assert not any(name.startswith(("joint_1", "joint_3")) for name in each.names)
    assert np.square(scores(found)).mean() < 2.0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("position: 1.5", "position: 1.5, velocity: 2", "velocity: got an unknown key"),
        ("seed: 3, ", "", "seed, a whole number, so that it can be repeated"),
        ("position: 1.5", "centre: 0", "position, the largest distance from the centre"),
        ("count: 30", "count: 0", "a whole number from 1 to 10000"),
    ],
)
def test_a_wrong_gravity_test_is_refused(old: str, new: str, message: str) -> None:
    held = "hold: {kind: gravity_test, count: 30, seed: 3, position: 1.5}"
    with pytest.raises(InputError, match=message):
        Sweep.from_text(text_of("planar_3r", held.replace(old, new), 0.05, ALONG_Y))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"motion": "planned"}, "motion: got 'planned'; expected one of measured, commanded"),
        ({"motion": "measured", "clean": True}, "expected commanded for clean signals"),
    ],
)
def test_a_motion_that_cannot_be_is_refused(planar: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(StoreError, match=message):
        identify(planar, cluster=SYNCHRONOUS, **options)


def test_encoders_that_do_not_give_the_motion_are_refused(tmp_path: Path) -> None:
    drawn = DRAWN.replace("LIMITS", "0.05").replace("count: 3", "count: 1")
    store = stored(tmp_path, text_of("delta_4rr2rrr", drawn, 0.05, DOWN))
    with pytest.raises(StoreError, match="has 4 actuators and 3 freedoms, so that encoders do not give"):
        identify(store, cluster=SYNCHRONOUS)
    assert not identify(store, motion="commanded", cluster=SYNCHRONOUS).failed


BASE = """\
base:
  {kind: line_sine, amplitude: [0.3, -0.2, 0.5], period: 1,
   turn: {kind: harmonic, amplitude: [0.2, 0.15, -0.1], period: 0.8}}
"""


@pytest.mark.parametrize(
    ("robot", "more"), [("planar_3r", 8), pytest.param("delta_3rr2rrr", 1, marks=pytest.mark.slow)]
)
def test_a_base_that_moves_shows_more_parameters(tmp_path: Path, robot: str, more: int) -> None:
    """All of them are those of the robot: exactly without noise, within their deviations with it."""
    text = text_for(robot, SINGLE)
    standing = base_parameters(
        catalog.build(robot), forces=Forces(friction=friction_of(Sweep.from_text(text), 0)), shared=True
    )
    store = stored(tmp_path, text + BASE)
    clean = identify(store, clean=True, cluster=SYNCHRONOUS).fits[0, 0]
    assert len(clean.names) >= standing.count + more
    np.testing.assert_allclose(clean.values, clean.truth, atol=1e-7 * np.abs(clean.truth).max())
    if robot == "planar_3r":
        assert (np.abs(scores(identify(store, cluster=SYNCHRONOUS))) < 4.5).all()


def test_friction_that_reactions_load_is_not_identified_on_a_base_that_moves(tmp_path: Path) -> None:
    loaded = "{law: coulomb_viscous, load: reaction, joints: passive, parameters: {coulomb: 0.05, pin_radius: 0.01}}"
    text = text_of("five_bar", DRAWN.replace("LIMITS", "0.1").replace("count: 3", "count: 1"), 0.02, DOWN, loaded)
    found = identify(stored(tmp_path, text + BASE), cluster=SYNCHRONOUS)
    assert "on a base that moves, of which the model of such friction knows nothing" in found.failed[0, 0]


def test_what_is_found_is_written_as_json_and_csv(planar: Path, tmp_path: Path) -> None:
    cluster = tmp_path / "c.yaml"
    cluster.write_text("limbsweep: {cluster: {kind: synchronous}}\n")
    call = ["identify", str(planar), "--cluster", str(cluster), "--output"]
    for ending in ("json", "csv"):
        told = CliRunner().invoke(cli, [*call, str(tmp_path / f"found.{ending}"), "--method", "reweighted"])
        assert told.exit_code == 0, told.output
    made = json.loads((tmp_path / "found.json").read_text())
    with (tmp_path / "found.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [case["friction"] for case in made["cases"]] == [0, 1, 2]
    flat = [(case, each) for case in made["cases"] for each in case["parameters"]]
    assert [float(row["value"]) for row in rows] == [each["value"] for _, each in flat]
    assert [float(row["condition"]) for row in rows] == [case["condition"] for case, _ in flat]
    assert made["cases"][0]["validation"] is None
    told = CliRunner().invoke(cli, [*call, str(tmp_path / "found.txt")])
    assert (told.exit_code, "got the ending '.txt'; expected one of .csv, .json" in told.output) == (2, True)


def test_friction_that_reactions_load_comes_back_with_all_others(tmp_path: Path) -> None:
    loaded = (
        "{law: coulomb_viscous, joints: passive, load: reaction, parameters: {coulomb: 0.3, viscous: 0.002, "
        "pin_radius: 0.01, friction_arm: 0.01, bending_arm: 0.05}}"
    )
    text = text_of("five_bar", DRAWN.replace("LIMITS", "0.1"), 0.02, DOWN, loaded)
    store = stored(tmp_path, text)
    found = identify(store, cluster=SYNCHRONOUS)
    assert not found.failed
    (fit,) = found.fits.values()
    assert np.square(fit.scores).mean() < 3.0
    place = fit.names.index("friction.coulomb")
    assert fit.truth[place] == 0.3
    assert fit.deviations[place] < 0.05
    (exact,) = identify(store, clean=True, cluster=SYNCHRONOUS).fits.values()
    np.testing.assert_allclose(exact.values, exact.truth, atol=1e-4)
    assert identify(store, "separable", cluster=SYNCHRONOUS).failed


@pytest.mark.parametrize(("errors", "measured", "told"), [(9.0, True, True), (9.0, False, False), (1.0, True, False)])
def test_deviations_that_are_too_small_are_told(errors: float, measured: bool, told: bool) -> None:
    base = BaseParameters((0, 1), np.eye(2), ("mass", "inertia"), np.inf)
    truth, one = np.array([[1.0, 2.0]]), np.ones(1)
    values, deviations = truth + errors * 0.1, np.full((1, 2), 0.1)
    table = FitTable(0, np.zeros(1, dtype=int), Groupings.of([base]), truth, values, deviations, one, one, one * np.nan)
    fits = Fits()
    fits.add(table)
    rows = dict(Identified(fits, {}, measured=measured).rows())
    assert ("--motion commanded" in rows.get("deviations too small", "")) == told


def test_parameters_that_the_data_move_together_are_told(tmp_path: Path, planar: Path) -> None:
    """Identify an arm whose joints move in step: few shapes of forces, fourteen parameters within two deviations."""
    step = "excite: {kind: harmonic, amplitude: [0.5, 0.5, 0.5], centre: [0.1, 0.2, 0.3], period: 1.0}"
    store = stored(tmp_path, text_of("planar_3r", step, 0.05, ALONG_Y, SINGLE))
    found = identify(store, cluster=SYNCHRONOUS)
    assert found.fits[0, 0].condition > 1e9
    rows = dict(found.rows())
    assert rows["identified"] == "0 of 1 robots with their friction"
    assert rows["not told apart"].startswith("parameters of 1 robot: the data move them together")
    assert "not told apart" not in dict(identify(planar, cluster=SYNCHRONOUS).rows())
