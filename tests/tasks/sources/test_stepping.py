"""Steps that are cut in halves until the error of a case meets a tolerance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pipeline.execution import work
from pipeline.execution.blocks import block_of
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from robots.status import Status
from tasks.blocks.block import Block
from tasks.blocks.pool import Arrays

RELEASE = {"list": {"joint_1": [0.5, 0.5, 0.5], "joint_2_rate": [0.0, 6.0, 12.0]}}


def block(method: str, **options: Any) -> Block:
    simulation = {"state": RELEASE, "method": method, "step": 0.005, **options}
    text = {"robot": "planar_3r", "gravity": [0.0, -9.81, 0.0], "time": {"stop": 0.2, "step": 0.05}}
    metrics = ["integration_error", "work", *(["substeps"] if "tolerance" in options else [])]
    text |= {"outputs": ["joint_position"], "metrics": metrics, "simulation": simulation}
    return block_of(plan(Sweep.from_dict(text)), 0)


def computed(method: str, **options: Any) -> Arrays:
    return work.whole(block(method, **options))


def test_each_case_has_the_longest_step_that_meets_the_tolerance() -> None:
    tolerance = 1e-8
    arrays = computed("rk4", tolerance=tolerance)
    fine = computed("rk4", step=0.05 / 640)
    error = np.abs(arrays["joint_position"] - fine["joint_position"]).max(axis=(0, 1, 2, 4, 5, 6))
    substeps, told = arrays["substeps"].ravel(), arrays["integration_error"].ravel()
    assert (error <= 1.2 * tolerance).all()
    assert (told <= tolerance).all()
    assert np.abs(told - error).max() < 0.2 * tolerance
    assert 1 <= substeps[0] < substeps[2]
    fixed = computed("rk4", step=0.005 / int(substeps[2]) * 2)  # one step longer would not do
    assert fixed["integration_error"].ravel()[2] > tolerance


def test_bits_are_those_of_the_same_step_and_of_no_neighbour() -> None:
    whole = block("rk4", tolerance=1e-8)
    arrays = work.whole(whole)
    for k in range(3):
        simulation = whole.simulation
        assert simulation is not None
        alone = work.whole(replace(whole, simulation=replace(simulation, state=simulation.state[k : k + 1])))
        fixed = computed("rk4", step=0.005 / int(arrays["substeps"].ravel()[k]))
        for other, at in ((alone, 0), (fixed, k)):
            assert np.array_equal(arrays["joint_position"][:, :, :, k], other["joint_position"][:, :, :, at])


def test_what_cannot_be_met_has_a_status_and_no_numbers() -> None:
    arrays = computed("euler", tolerance=1e-9, step=0.05)
    assert (arrays["worst_status"] == Status.INTEGRATION_FAILED).all()
    assert (arrays["failed_samples"] == 5).all()
    assert np.isnan(arrays["joint_position"]).all()
    assert np.isnan(arrays["work"]).all()
    assert (arrays["integration_error"] > 1e-9).all()
    assert (arrays["substeps"] == 256).all()
