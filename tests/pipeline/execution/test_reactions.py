"""Reactions of all joints as outputs of a sweep."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import xarray

from pipeline.execution.graph import block_graph
from pipeline.execution.run import run
from pipeline.plan.plan import plan
from robots import catalog
from robots.status import Status
from storage.store import StoreWriter
from tasks import joint_reactions
from tests.pipeline.runs import SYNCHRONOUS, content_hash, cut_finely, sweep

TEXT = """
limbsweep: 1
robot: ROBOT
design: {grid: {density: {values: [2000, 2700]}}}
trajectories:
  line: {kind: line_sine, amplitude: [0.1, 0, 0.05], period: 1}
  far: {kind: line_sine, amplitude: [AWAY, 0, 0], period: 1}
time: {stop: 0.5, step: 0.1}
outputs: [joint_reaction, platform_position, platform_twist, platform_acceleration]
metrics: [peak_reaction]
"""


def results(path: Path, robot: str, away: str = "0.15") -> xarray.Dataset:
    return run(sweep(TEXT.replace("ROBOT", robot).replace("AWAY", away)), path, SYNCHRONOUS).load()


@pytest.mark.parametrize("robot", ["delta_3rr2rrr", "gough_stewart"])
def test_every_wrench_is_that_of_a_single_evaluation(tmp_path: Path, robot: str) -> None:
    ds = results(tmp_path / "a.zarr", robot)
    for design, density in enumerate(ds.density.values):
        for trajectory in range(2):
            motion = {
                "position": ds.platform_position[trajectory].values,
                "twist": ds.platform_twist[trajectory].values,
                "acceleration": ds.platform_acceleration[trajectory].values,
            }
            alone = joint_reactions(catalog.build(robot, density=float(density)), **motion).wrench
            stored = ds.joint_reaction[design, trajectory].values
            np.testing.assert_array_equal(stored, alone)
            peak = np.linalg.norm(stored[..., 3:], axis=-1).max(axis=0)
            np.testing.assert_allclose(ds.peak_reaction[design, trajectory].values, peak, rtol=1e-14)
    unique = np.array(json.loads(ds.attrs["joint_reaction_unique"]))
    assert unique.shape == stored.shape[1:]
    assert unique.all() == (robot == "gough_stewart")
    assert ds.joint.values.tolist() == list(catalog.build(robot).mechanism.limbs[0].joints)


def test_the_cut_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results(tmp_path / "whole.zarr", "delta_3rr2rrr")
    cut_finely(monkeypatch, small=6)
    text = TEXT.replace("ROBOT", "delta_3rr2rrr").replace("AWAY", "0.15")
    made = sweep(text)
    assert plan(made).blocks > 1
    run(made, tmp_path / "cut.zarr", SYNCHRONOUS, granularity="block")
    assert content_hash(tmp_path / "whole.zarr") == content_hash(tmp_path / "cut.zarr")


def test_failed_samples_are_nan_and_others_are_not(tmp_path: Path) -> None:
    ds = results(tmp_path / "far.zarr", "delta_3rr2rrr", away="1.5")
    bad = ds.status.values != Status.OK
    assert bad[:, 1].any()
    assert not bad[:, 0].any()
    assert (np.isnan(ds.joint_reaction.values).all(axis=(-1, -2, -3)) == bad).all()
    assert np.isnan(ds.peak_reaction.values[:, 1]).all()
    assert np.isfinite(ds.peak_reaction.values[:, 0]).all()


def test_one_more_task_for_each_limb(tmp_path: Path) -> None:
    made = plan(sweep(TEXT.replace("ROBOT", "delta_3rr2rrr").replace("AWAY", "0.15")))
    results(tmp_path / "a.zarr", "delta_3rr2rrr")
    graph, _ = block_graph(made, 0, StoreWriter(tmp_path / "a.zarr"), "run")
    assert len(graph) == made.tasks_per_block == 9
    names = {key[0] for key in graph}
    assert {f"limb{k}-reactions-run" for k in (1, 2, 3)} < names
