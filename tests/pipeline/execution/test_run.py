"""Content of the store of a run, for any cut into blocks and any place of computation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import xarray

from pipeline.cluster.arguments import as_cluster
from pipeline.cluster.connection import ClusterConfig, connect
from pipeline.execution.conventions import structure
from pipeline.execution.graph import Granularity
from pipeline.execution.run import _Run, run
from pipeline.monitor.log import BlockDone, Event, Finished, Started
from pipeline.stores.verify import verify
from pipeline.sweep.model import Sweep
from robots import catalog
from robots.quantities import QUANTITIES
from robots.status import Status
from storage import open_results
from storage.places.location import DRAFT
from tasks import inverse_dynamics, inverse_kinematics
from tasks.dynamics.records import Forces
from tests.pipeline.runs import EVERYTHING, FEW, METRICS, OUTPUTS, SYNCHRONOUS, content_hash, cut_finely, done, sweep

OUT_OF_REACH = EVERYTHING.replace("[0.1, 0.15, 0.05]", "[0.45, 0.5, 0.1]").replace("0.31]", "0.31, 0.05]")
"""Arms that are too short: with 0.05 m nearly nothing is reachable on `slow`, with others something is not."""


@pytest.fixture(scope="module")
def everything() -> xarray.Dataset:
    return run(sweep(EVERYTHING), cluster=SYNCHRONOUS)


@pytest.fixture(scope="module")
def cluster() -> Iterator[ClusterConfig]:
    """Two worker processes of one thread, found by their address."""
    with connect(ClusterConfig.of("local", n_workers=2, threads_per_worker=1, insecure=True)) as owner:
        assert owner is not None
        yield ClusterConfig.of("address", address=owner.cluster.scheduler_address)


# the same bits everywhere


CUTS = {
    "whole": {"small": 10**6, "wanted": 1, "friction": 10**9},
    "pairs": {"small": 41, "wanted": 10**9, "friction": 41},
    "two pairs, two friction sets": {"small": 82, "wanted": 10**9, "friction": 164},
    "five designs": {"small": 5 * 41, "wanted": 10**9, "friction": 10**6},
}


@pytest.mark.parametrize("granularity", ["limb", "block"])
@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
def test_any_blocks_give_the_same_bits(
    cut: dict[str, int], granularity: Granularity, everything: xarray.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_finely(monkeypatch, **cut)
    events: list[Event] = []
    found = run(sweep(EVERYTHING), None, SYNCHRONOUS, [events.append], granularity)
    assert (len(done(events)) > 1) == (cut["small"] < 10**6)
    assert content_hash(found) == content_hash(everything)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_any_number_of_threads_gives_the_same_bits(
    threads: int, everything: xarray.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_finely(monkeypatch, small=82)
    found = run(sweep(EVERYTHING), None, ClusterConfig.of("threads", threads_per_worker=threads))
    assert content_hash(found) == content_hash(everything)


@pytest.mark.parametrize("granularity", ["limb", "block"])
def test_two_processes_give_the_same_bits(
    granularity: Granularity, cluster: ClusterConfig, everything: xarray.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_finely(monkeypatch, small=82)
    events: list[Event] = []
    found = run(sweep(EVERYTHING), None, cluster, [events.append], granularity)
    assert len(done(events)) > 10
    assert content_hash(found) == content_hash(everything)


def test_a_cluster_made_for_the_run_gives_the_same_bits(
    everything: xarray.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_finely(monkeypatch, small=82)
    (tmp_path / "c.yaml").write_text("limbsweep: {cluster: {kind: local, n-workers: 1, threads-per-worker: 4}}\n")
    found = run(sweep(EVERYTHING), tmp_path / "s.zarr", tmp_path / "c.yaml")
    assert content_hash(found) == content_hash(tmp_path / "s.zarr") == content_hash(everything)


def test_workers_of_a_cluster_of_others_may_not_see_the_folder_of_a_store() -> None:
    kinds = {"local": False, "address": True}
    for kind, is_far in kinds.items():
        address = {"address": "tcp://h:1"} if kind == "address" else {}
        ours = SimpleNamespace(cluster=ClusterConfig.of(kind, insecure=True, **address))  # type: ignore[arg-type]
        assert _Run._is_far(ours, client=object()) == is_far  # type: ignore[arg-type]
        assert not _Run._is_far(ours, client=None)  # type: ignore[arg-type]


def test_without_a_cluster_file_one_is_made_on_this_machine(tmp_path: Path) -> None:
    assert as_cluster(None) == ClusterConfig()
    assert as_cluster(SYNCHRONOUS) is SYNCHRONOUS


# equality with what a user can compute otherwise


def test_every_design_equals_a_sweep_of_that_design(everything: xarray.Dataset) -> None:
    for index in (0, 5, 11):
        arm, radius = (float(everything[name][index]) for name in ("upper_arm", "base_radius"))
        text = EVERYTHING.replace("[0.22, 0.25, 0.28, 0.31]", f"[{arm!r}]").replace(
            "[0.14, 0.15, 0.16]", f"[{radius!r}]"
        )
        single = run(sweep(text), cluster=SYNCHRONOUS)
        assert content_hash(single) == content_hash(everything.isel(design=[index]))


def test_every_friction_set_and_trajectory_equals_a_sweep_of_it(everything: xarray.Dataset) -> None:
    for index, viscous in enumerate(everything.viscous.values):
        text = EVERYTHING.replace("[0.0, 0.05, 0.1]", f"[{float(viscous)!r}]")
        assert content_hash(run(sweep(text), cluster=SYNCHRONOUS)) == content_hash(everything.isel(friction=[index]))
    for index, name in enumerate(("slow", "fast")):
        lines = [
            line for line in EVERYTHING.splitlines() if not line.startswith(f"  {'fast' if index == 0 else 'slow'}:")
        ]
        single = run(sweep("\n".join(lines)), cluster=SYNCHRONOUS)
        assert single.trajectory.values.tolist() == [name]
        assert content_hash(single) == content_hash(everything.isel(trajectory=[index]))


def _motion(data: xarray.Dataset, trajectory: int) -> dict[str, np.ndarray]:
    one = data.isel(trajectory=trajectory)
    return {name: one[f"platform_{name}"].values for name in ("position", "twist", "acceleration")}


@pytest.mark.parametrize("trajectory", [0, 1])
def test_every_design_equals_a_single_evaluation(everything: xarray.Dataset, trajectory: int) -> None:
    motion = _motion(everything, trajectory)
    for design in (0, 7, 11):
        one = everything.isel(design=design, trajectory=trajectory)
        robot = catalog.build("delta_3rr2rrr", upper_arm=float(one.upper_arm), base_radius=float(one.base_radius))
        joints = inverse_kinematics(robot, **motion)
        np.testing.assert_array_equal(one.joint_position.values, joints.position)
        np.testing.assert_array_equal(one.joint_velocity.values, joints.velocity)
        np.testing.assert_array_equal(one.joint_acceleration.values, joints.acceleration)
        for k, viscous in enumerate(everything.viscous.values):
            friction = {"law": "coulomb_viscous", "coulomb": 0.2, "viscous": float(viscous)}
            found = inverse_dynamics(robot, forces=Forces(friction=friction), **motion)
            np.testing.assert_array_equal(one.actuator_force[k].values, found.force)
            np.testing.assert_array_equal(one.actuator_velocity.values, found.velocity)


def test_metrics_are_what_numpy_makes_of_the_series(everything: xarray.Dataset) -> None:
    data, time = everything, everything.time.values
    force, velocity = data.actuator_force.values, data.actuator_velocity.values
    power = force * velocity[:, None]
    np.testing.assert_array_equal(data.actuator_power.values, power)
    np.testing.assert_array_equal(data.peak_force.values, np.abs(force).max(axis=3))
    np.testing.assert_array_equal(data.peak_power.values, np.abs(power).max(axis=3))
    np.testing.assert_array_equal(data.peak_velocity.values, np.abs(velocity).max(axis=2))
    mean_square = np.trapezoid(force**2, time, axis=3) / time[-1]
    np.testing.assert_allclose(data.rms_force.values, np.sqrt(mean_square), rtol=1e-12)
    for name, sign in (("energy", 1), ("regenerated_energy", -1)):
        expected = np.trapezoid(np.maximum(sign * power, 0.0), time, axis=3)
        np.testing.assert_allclose(data[name].values, expected, rtol=1e-12, atol=1e-14)
    assert (data.condition.values > 1.0).all()


def test_actuator_positions_are_those_of_the_driven_joints(everything: xarray.Dataset) -> None:
    driven = everything.joint_position.values[..., 0]
    np.testing.assert_array_equal(everything.actuator_position.values, driven)


# out of reach


def test_what_cannot_be_reached_is_nan_and_says_so_and_leaves_the_rest_alone(everything: xarray.Dataset) -> None:
    data = run(sweep(OUT_OF_REACH), cluster=SYNCHRONOUS)
    bad = data.status.values != Status.OK
    assert 0 < bad.sum() < bad.size
    assert bad[12:, 0].any()
    np.testing.assert_array_equal(data.failed_samples.values, bad.sum(axis=2))
    np.testing.assert_array_equal(data.worst_status.values, data.status.values.max(axis=2))
    for name in OUTPUTS:
        variable = data[name]
        if "design" in variable.dims:
            values = variable.transpose("design", "trajectory", "time", ...).values
            lost = np.isnan(values).reshape(*bad.shape, -1)
            np.testing.assert_array_equal(lost.all(axis=-1), bad, err_msg=name)
            np.testing.assert_array_equal(lost.any(axis=-1), bad, err_msg=name)
    for name in METRICS:
        lost = np.isnan(data[name].transpose("design", "trajectory", ...).values).reshape(*bad.shape[:2], -1)
        np.testing.assert_array_equal(lost.all(axis=-1), bad.any(axis=2), err_msg=name)
        np.testing.assert_array_equal(lost.any(axis=-1), bad.any(axis=2), err_msg=name)
    same = {"design": slice(0, 12), "trajectory": [1]}
    assert content_hash(data.isel(same)) == content_hash(everything.isel(trajectory=[1]))


# all kinds at once, and what the dataset says


KINDS = """\
limbsweep: 1
robot: {robot}
trajectories:
  line: {{kind: line_sine, amplitude: [0.05, 0.05, 0.02]}}
  ring: {{kind: circle, radius: 0.05, normal: [0.1, 0, 1]}}
  coil: {{kind: spiral, radius: 0.02, radial_speed: 0.02, axial_speed: 0.01}}
  hop: {{kind: quintic, end: [0.05, 0, 0.02], duration: 0.7}}
  path: {{kind: waypoints, file: points.csv}}
time: {{stop: 1.0, step: 0.05}}
outputs: [{outputs}]
metrics: [{metrics}]
"""
POINTS = "t,x,y,z\n0,0,0,0\n0.5,0.05,0,0.02\n1,0.05,0.05,0\n"


@pytest.mark.parametrize("robot", ["delta_3rr2rrr", "delta_rl5_1450", "gough_stewart"])
def test_all_outputs_of_all_kinds_of_trajectory(robot: str, tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text(POINTS)
    text = KINDS.format(robot=robot, outputs=", ".join(OUTPUTS), metrics=", ".join(METRICS))
    run(Sweep.from_text(text, folder=tmp_path), tmp_path / "s.zarr", SYNCHRONOUS)
    data = open_results(tmp_path / "s.zarr")
    assert set(data.data_vars) == {*OUTPUTS, *METRICS, "status", "failed_samples", "worst_status"}
    assert all(data[name].chunks is not None for name in data.data_vars), "lazy"
    for name, variable in data.data_vars.items():
        dims = QUANTITIES[str(name)].dims
        steady = name in ("status", "failed_samples", "worst_status")  # no friction here could fail a sample
        assert variable.dims == (tuple(dim for dim in dims if dim != "friction") if steady else dims)
        assert {"units", "long_name", "frame"} <= set(variable.attrs)
    assert (data.status.values == Status.OK).all()
    limb = catalog.build(robot).mechanism.limbs[0]
    several = [closure.joint for closure in limb.tips if closure.kind != "revolute"]  # no joint variable of their own
    for name, variable in data.data_vars.items():
        valued = variable.drop_sel(joint=several) if "joint" in variable.dims else variable
        assert np.isfinite(valued.values).all(), name
        assert valued.size, name
    drive = {"gough_stewart": ("N", "m", "m/s")}.get(robot, ("N m", "rad", "rad/s"))
    assert tuple(data[f"actuator_{each}"].units for each in ("force", "position", "velocity")) == drive
    assert (data.peak_force.units, data.energy.units, data.peak_velocity.units) == (drive[0], "J", drive[2])
    assert data.trajectory.values.tolist() == ["line", "ring", "coil", "hop", "path"]
    assert data.time.units == "s"
    assert data.status.flag_meanings.split()[:2] == ["OK", "NOT_REACHABLE"]
    home = np.asarray(catalog.build(robot).mechanism.platform.home.position)
    np.testing.assert_allclose(
        data.platform_position.sel(trajectory="path").values[10] - home, [0.05, 0, 0.02], atol=1e-9
    )


def test_velocities_and_accelerations_are_derivatives(tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text(POINTS)
    text = KINDS.format(robot="delta_3rr2rrr", outputs=", ".join(OUTPUTS), metrics="energy")
    data = run(Sweep.from_text(text.replace("step: 0.05", "step: 0.0005"), folder=tmp_path), cluster=SYNCHRONOUS)
    step = float(data.time[1])
    for low, high in (("position", "velocity"), ("velocity", "acceleration")):
        slope = np.gradient(data[f"joint_{low}"].values, step, axis=2)[:, :, 4:-4]
        np.testing.assert_allclose(slope, data[f"joint_{high}"].values[:, :, 4:-4], atol=2e-2)
    slope = np.gradient(data.platform_position.values, step, axis=1)[:, 4:-4]
    np.testing.assert_allclose(slope, data.platform_twist.values[:, 4:-4, 3:], atol=1e-4)


def test_the_dataset_says_where_it_comes_from(everything: xarray.Dataset) -> None:
    asked = sweep(EVERYTHING)
    assert (everything.Conventions, everything.title, everything.robot) == ("CF-1.11", "a small sweep", asked.robot)
    assert (everything.sweep, everything.fingerprint) == (asked.text, asked.fingerprint)
    assert {"python", "limbsweep", "numpy", "zarr", "llvmlite"} <= set(structure(everything.attrs, "versions"))
    assert everything.upper_arm.dims == everything.base_radius.dims == ("design",)
    assert everything.viscous.dims == ("friction",)
    assert everything.upper_arm.units == "m"


# events


def test_listeners_hear_of_every_block_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cut_finely(monkeypatch)
    monkeypatch.setattr("pipeline.execution.run.find_spec", lambda name: name)  # dashboards can be drawn
    events: list[Event] = []
    run(sweep(FEW), None, SYNCHRONOUS, [events.append, events.append])
    first, second, *between, last, _ = events
    assert first is second
    assert first == Started(total_blocks=48, done_blocks=0, samples_per_block=41, dashboard=None, granularity="limb")
    assert sorted(done(between)) == sorted([*range(48), *range(48)])  # type: ignore[arg-type]
    assert all(isinstance(each, BlockDone) and each.samples == 41 and each.seconds > 0 for each in between)
    assert isinstance(last, Finished)
    assert (last.samples, last.failed_blocks) == (48 * 41, 0)


def test_a_draft_that_a_killed_worker_has_left_goes_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_finely(monkeypatch, small=82)
    drafts: list[Path] = []

    def kill(event: Event) -> None:
        if isinstance(event, BlockDone):
            drafts.append(tmp_path / "s.zarr/peak_force" / f".c.0.{event.block}{DRAFT}")
            drafts[-1].write_bytes(b"half")

    run(sweep(FEW), tmp_path / "s.zarr", SYNCHRONOUS, [kill])
    assert drafts
    assert not [draft for draft in drafts if draft.exists()]
    assert verify(tmp_path / "s.zarr").is_sound
