"""The number of files that a plan tells is that of the finished store."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.execution.contents import stored_size
from pipeline.execution.run import run
from pipeline.plan.coordinates import chunks
from pipeline.plan.plan import plan
from storage.layout import COORDINATE_CHUNK
from tests.pipeline.runs import FEW, SYNCHRONOUS, sweep

DATASET = """\
limbsweep: 1
robot: planar_3r
design: {grid: {length_1: [0.5, 0.6]}}
trajectories: {swing: {kind: harmonic, centre: [-1.2, 0.6, 0.3], amplitude: [0.5, 0.4, 0.6], period: 1.5}}
time: {stop: 1.0, step: 0.1}
outputs: [actuator_force]
split: {validation: 0.5}
"""


@pytest.mark.parametrize("text", [FEW, DATASET], ids=["results", "dataset"])
def test_files_are_counted_as_they_are_stored(tmp_path: Path, text: str) -> None:
    made = sweep(text)
    run(made, tmp_path / "s.zarr", SYNCHRONOUS)
    assert stored_size(plan(made))[1] == sum(file.is_file() for file in (tmp_path / "s.zarr").rglob("*"))


def test_coordinates_that_may_grow_are_cut() -> None:
    assert chunks("design", 10**7) == -(-(10**7) // COORDINATE_CHUNK)
    assert chunks("time", 10**7) == 1
