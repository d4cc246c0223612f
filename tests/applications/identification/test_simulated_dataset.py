"""Datasets from simulations: measured signals of closed loops, the truth found from them, parts, loader, exports."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import limbsweep as ls
from applications.commands.cli import cli
from applications.export.tables import export
from applications.identification.batches import Loader
from applications.identification.identify import identify
from pipeline import compute, run
from pipeline.sweep.model import Sweep
from storage import open_results
from storage.errors import StoreError
from tests.pipeline.runs import SYNCHRONOUS

CLOSED = """\
limbsweep: 1
robot: planar_3r
seed: 3
gravity: [0, -9.81, 0]
friction: {law: coulomb_viscous, parameters: {coulomb: 0.2, width: 0.05, viscous: 0.2}}
trajectories:
  excite: {kind: random_fourier, count: 4, seed: 2, period: 0.8, position: 1.0, velocity: 4, acceleration: 40}
simulation:
  controller: {kind: computed_torque, space: joint, parameters: {kd: 40.0}}
  gains: {list: {kp: [400.0, 900.0]}}
  step: 0.001
time: {stop: 0.8, samples: 401}
outputs: [actuator_position, actuator_force, measured_position, measured_velocity, measured_force]
measurement: {force_noise: 0.2, encoder_step: 1.0e-6, cutoff: 60}
split: {validation: 0.1, test: 0.2}
"""
FALLING = """\
limbsweep: 1
robot: planar_3r
seed: 1
gravity: [0, -9.81, 0]
simulation:
  state: {list: {joint_1: [0.1, 0.2, 0.3, 0.4, 0.5]}}
time: {stop: 0.128, step: 0.002}
outputs: [actuator_position, actuator_force, measured_position, measured_force]
measurement: {encoder_step: 1.0e-4}
split: {validation: 0.1, test: 0.2}
"""
PUSHED = """\
limbsweep: 1
robot: five_bar
seed: 1
gravity: [0, 0, 0]
friction: {law: viscous, parameters: {viscous: 0.01}}
simulation:
  forces: {push: {file: push.csv}, pull: {file: pull.csv}}
  state: {list: {x: [0.0, 0.02], z: [0.01, 0.0]}}
  step: 0.001
time: {stop: 0.6, step: 0.002}
outputs: [actuator_position, actuator_force, measured_position, measured_force]
measurement: {force_noise: 2.0e-2, encoder_step: 1.0e-6, cutoff: 60}
"""


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("closed") / "s.zarr"
    run(Sweep.from_text(CLOSED), store, SYNCHRONOUS)
    return store


@pytest.fixture(scope="module")
def falling(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("falling") / "s.zarr"
    run(Sweep.from_text(FALLING), store, SYNCHRONOUS)
    return store


def test_what_closed_loops_show_is_the_truth_within_its_deviations(closed: Path) -> None:
    identified = identify(closed, cluster=SYNCHRONOUS)
    (fit,) = identified.fits.values()
    assert np.square(fit.scores).mean() < 2.0
    assert np.abs(fit.scores).max() < 4.0
    assert np.median(fit.deviations / np.maximum(np.abs(fit.truth), 0.1)) < 0.05
    assert fit.validation < 0.01


def test_a_force_that_is_held_is_seen_as_the_mean_of_before_and_after() -> None:
    errors = CLOSED[CLOSED.index("measurement") :].splitlines()[0]
    exact = CLOSED.replace("0.8, samples: 401", "0.1, step: 0.001").replace(errors, "measurement: {}")
    data = compute(Sweep.from_text(exact))
    force, seen = data["actuator_force"].values, data["measured_force"].values
    assert (seen[..., 1:, :] == 0.5 * (force[..., :-1, :] + force[..., 1:, :])).all()
    assert (seen[..., 0, :] == force[..., 0, :]).all()
    assert np.abs(np.diff(force, axis=-2)).max() > 0.1
    assert np.array_equal(data["measured_position"].values, data["actuator_position"].values)


def test_forces_over_time_from_other_states_serve_too(tmp_path: Path) -> None:
    times, names = np.linspace(0.0, 0.6, 121), ",".join(ls.robots.build("five_bar").mechanism.actuators)
    for name, phase in (("push", 0.0), ("pull", 1.0)):
        waves = [6.0 * np.sin(2.0 * np.pi * (k + 2.0) * times + phase * k) for k in range(2)]
        rows = [",".join(f"{x:.9g}" for x in row) for row in zip(times, *waves, strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join([f"t,{names}", *rows]) + "\n")
    data = run(Sweep.from_text(PUSHED, folder=tmp_path), tmp_path / "s.zarr", SYNCHRONOUS)
    assert int(data["worst_status"].max()) == 0
    assert float(np.ptp(data["actuator_position"].values, axis=4).max()) > 0.2  # further than one guess serves
    (fit,) = identify(tmp_path / "s.zarr", cluster=SYNCHRONOUS).fits.values()
    assert np.square(fit.scores).mean() < 2.5
    assert fit.condition < 1e3


def test_only_encoders_tell_how_a_simulated_robot_has_moved(closed: Path) -> None:
    for options in ({"clean": True}, {"motion": "commanded"}):
        with pytest.raises(StoreError, match="simulations, which do not move as they are commanded; expected measured"):
            identify(closed, cluster=SYNCHRONOUS, **options)  # type: ignore[arg-type]


def test_batches_know_the_gains_of_their_cases(closed: Path) -> None:
    data = open_results(closed).load()
    seen = []
    for part in ("train", "test"):
        for batch in Loader(closed, part, ("measured_force",), batch=1, labels=True):
            place = {name: int(batch[name][0]) for name in ("design", "friction", "trajectory", "gains")}
            assert data["trajectory_part"].values[place["trajectory"]] == part
            assert (batch["measured_force"][0] == data["measured_force"].isel(place).values).all()
            seen.append(tuple(place.values()))
    assert sorted(seen) == [(0, 0, j, g) for j in range(4) for g in range(2)]


def test_an_export_has_all_cases_and_their_gains(closed: Path, tmp_path: Path) -> None:
    data = open_results(closed).load()
    for form in ("csv", "npz"):
        export(closed, tmp_path / form, form)
    with (tmp_path / "csv" / "gains.csv").open(newline="") as file:
        assert [float(row["kp"]) for row in csv.DictReader(file)] == [400.0, 900.0]
    count = 0
    for path in (tmp_path / "csv" / f"{part}.csv" for part in ("train", "test")):
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                j, g, k = int(row["trajectory"]), int(row["gains"]), round(float(row["time"]) / 0.002)
                assert data["trajectory_part"].values[j] == path.stem
                assert float(row["measured_force_joint_2"]) == data["measured_force"].values[0, 0, j, g, k, 1]
                count += 1
    assert count == 8 * 401
    (path,) = (tmp_path / "npz").glob("*.npz")
    with np.load(path) as archive:
        assert (archive["measured_force"] == data["measured_force"].values[0]).all()
        assert archive["case_part"].tolist() == data["trajectory_part"].values.tolist()


def test_the_parts_of_released_robots_are_those_of_their_states(falling: Path, tmp_path: Path) -> None:
    data = open_results(falling)
    assert "trajectory_part" not in data.coords
    parts = data["state_part"].values.tolist()
    assert {*parts} == {"train", "test"}
    for part in {*parts}:
        (batch,) = Loader(falling, part, ("actuator_position",), labels=True)
        assert sorted(batch["state"].tolist()) == [k for k, name in enumerate(parts) if name == part]
    export(falling, tmp_path / "npz", "npz")
    (path,) = (tmp_path / "npz").glob("*.npz")
    with np.load(path) as archive:
        assert archive["case_part"].tolist() == [parts]


def test_the_card_says_how_motions_came_about(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        CLOSED.replace("count: 4", "count: 1").replace("0.8, samples: 401", "0.2, step: 0.002")
    )
    done = CliRunner().invoke(cli, ["dataset", str(tmp_path / "s.yaml"), "--store", str(tmp_path / "s.zarr")])
    assert done.exit_code == 0, done.output
    card = (tmp_path / "s.zarr" / "CARD.md").read_text()
    for line in (
        *("- controller `computed_torque` in the joint space", "- `kd`: 40", "`kp` from 400 to 900 1/s^2"),
        *("motions follow from forces, integrated by rk4 with steps of 0.001 s", "that begin with `true_`"),
    ):
        assert line in card


def test_cases_that_came_to_an_end_are_left_out_and_counted(tmp_path: Path) -> None:
    wild = CLOSED.replace("kp: [400.0, 900.0]", "kp: [400.0, 1.0e+8]").replace("0.8, samples: 401", "0.4, step: 0.002")
    data = run(Sweep.from_text(wild), tmp_path / "s.zarr", SYNCHRONOUS)
    assert (data["worst_status"].isel(gains=1) != 0).all()
    identified = identify(tmp_path / "s.zarr", cluster=SYNCHRONOUS)
    assert dict(identified.rows())["left out"] == "4 simulated cases that came to an end"
    assert not identified.failed
