"""Runs on graphics cards: the same store, or one sentence; a simulated card stands in the place of one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner

from applications.commands.cli import cli
from pipeline.cluster.arguments import local
from pipeline.cluster.file import ClusterConfig
from pipeline.errors import InputError
from pipeline.execution.run import run
from pipeline.stores.append import append
from pipeline.stores.verify import verify
from pipeline.sweep.model import Sweep
from robots.status import Status
from tasks.kernels import cards
from tests.tasks.kernels.simulated_card import simulated

SWEEP = """
limbsweep: 1
robot: five_bar
design: {grid: {proximal_length: [0.5, 0.53]}}
trajectories: {circle: {kind: circle, radius: 0.05, normal: [0, 1, 0]}}
time: {stop: 1.0, step: 0.1}
outputs: [actuator_force]
metrics: [peak_force]
"""
LOCK = "coordinator.lock"
ON_CARD = ClusterConfig.of("threads", device="gpu")


def test_a_run_on_a_card_has_the_same_results(tmp_path: Path) -> None:
    far = "far: {kind: line_sine, amplitude: [9, 0, 0], period: 1.0}"
    sweep = Sweep.from_text(SWEEP.replace("trajectories: {", f"trajectories: {{{far}, "))
    expected = run(sweep, tmp_path / "here.zarr", ClusterConfig.of("threads"))
    assert set(np.unique(expected["status"])) == {Status.OK, Status.NOT_REACHABLE}
    with simulated() as card:
        found = run(sweep, tmp_path / "there.zarr", ON_CARD)
        in_memory = run(sweep, cluster=ON_CARD)
    assert card.moved["fetch"]
    xr.testing.assert_identical(found.drop_attrs(), expected.drop_attrs())
    xr.testing.assert_equal(in_memory.drop_attrs(), expected.drop_attrs())


def test_the_command_takes_a_device(tmp_path: Path) -> None:
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    words = ["run", str(tmp_path / "sweep.yaml"), "--store", str(tmp_path / "results.zarr"), "--device", "gpu"]
    with simulated() as card:
        done = CliRunner().invoke(cli, words)
    assert (done.exit_code, bool(card.moved["fetch"])) == (0, True), done.output


def test_a_store_is_grown_and_computed_again_on_a_card(tmp_path: Path) -> None:
    larger = Sweep.from_text(SWEEP.replace("[0.5, 0.53]", "[0.5, 0.53, 0.56]"))
    run(Sweep.from_text(SWEEP), tmp_path / "s.zarr", ClusterConfig.of("threads"))
    with simulated() as card:
        found = append(tmp_path / "s.zarr", larger, ON_CARD)
        fetched = card.moved["fetch"]
        verification = verify(tmp_path / "s.zarr", 1.0, cluster=ON_CARD)
    assert 0 < fetched < card.moved["fetch"]
    assert verification.is_sound
    assert len(verification.recomputed) == verification.blocks
    xr.testing.assert_equal(found.drop_attrs(), run(larger, cluster=ClusterConfig.of("threads")).drop_attrs())


@pytest.mark.skipif(cards.cuda is not None, reason="cuda-bindings is here")
def test_without_a_card_a_store_stays_as_it_was(tmp_path: Path) -> None:
    larger = Sweep.from_text(SWEEP.replace("[0.5, 0.53]", "[0.5, 0.53, 0.56]"))
    run(Sweep.from_text(SWEEP), tmp_path / "s.zarr", ClusterConfig.of("threads"))
    before = files(tmp_path / "s.zarr")
    with pytest.raises(InputError, match="expected a graphics card that can be used"):
        append(tmp_path / "s.zarr", larger, ON_CARD)
    with pytest.raises(InputError, match="expected a graphics card that can be used"):
        verify(tmp_path / "s.zarr", 1.0, cluster=ON_CARD)
    assert files(tmp_path / "s.zarr") == before


def files(store: Path) -> dict[str, bytes]:
    """Contents of a store by name, but for the lock, which has the time of its last holder."""
    return {str(path): path.read_bytes() for path in store.rglob("*") if path.is_file() and path.name != LOCK}


@pytest.mark.skipif(cards.cuda is not None, reason="cuda-bindings is here")
def test_without_a_card_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    words = ["run", str(tmp_path / "sweep.yaml"), "--store", str(tmp_path / "results.zarr"), "--device", "gpu"]
    refused = CliRunner().invoke(cli, words)
    assert refused.exit_code == 2
    assert "limbsweep.cluster.device: got 'gpu'" in refused.output.replace("got gpu", "got 'gpu'")
    assert "limbsweep[gpu]" in refused.output
    assert not (tmp_path / "results.zarr").exists()


def test_simulations_are_refused() -> None:
    controller = "{kind: pd, parameters: {kp: 900, kd: 40}}"
    motion = SWEEP.replace("metrics: [peak_force]", f"simulation: {{controller: {controller}}}")
    with simulated(), pytest.raises(InputError, match="Leave device out"):
        run(Sweep.from_text(motion), cluster=ON_CARD)


def test_kinds_without_devices_refuse_them() -> None:
    with pytest.raises(InputError, match="It is for kind: local, threads, synchronous, address, scheduler-file"):
        ClusterConfig.of("slurm", device="gpu", insecure=True)
    with pytest.raises(InputError, match="device: got 'tpu'"):
        ClusterConfig.of("threads", device="tpu")


def test_workers_of_this_machine_say_that_they_have_a_card() -> None:
    config = ClusterConfig.of("local", device="gpu", threads_per_worker=3, n_workers=1)
    assert local(config, None)["resources"] == {"GPU": 3}
    assert "resources" not in local(ClusterConfig.of("local", n_workers=1), None)
