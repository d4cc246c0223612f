"""Parts of a computation that designs share: computed once, with the bits of computing them for each."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.cluster.connection import ClusterConfig
from pipeline.execution.run import run
from pipeline.sweep.model import Sweep
from tasks.blocks.limb_results import OncePerInput, distinct

TEXT = """
limbsweep: 1
robot: ROBOT
design: {grid: {GRID}}
trajectories: {line: {kind: line_sine, amplitude: AMPLITUDE}}
time: {stop: 1.0, samples: 9}
outputs: [OUTPUT]
metrics: [peak_force, condition]
"""
CASES = {
    "delta_rl5_1450": ("upper_arm: [0.34, 0.38, 0.42], payload_mass: [0, 2, 4, 6]", "[0.1, 0, 0.04]", 3),
    "five_bar": ("platform_mass: [0.1, 0.5], distal_length: [0.44, 0.46]", "[0.05, 0, 0.02]", 2),
    "gough_stewart": ("plate_thickness: [0.05, 0.1, 0.2]", "[0.1, 0, 0.04]", 1),
}
"""Designs, a motion, and for how many of a block's designs the first limb is computed at most."""


@pytest.mark.parametrize(
    ("name", "output"), [*((name, "actuator_force") for name in CASES), ("five_bar", "joint_reaction")]
)
def test_designs_that_a_limb_does_not_tell_apart_have_the_bits_of_each(
    name: str, output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid, amplitude, most = CASES[name]
    text = TEXT.replace("ROBOT", name).replace("GRID", grid).replace("AMPLITUDE", amplitude).replace("OUTPUT", output)
    sizes: list[tuple[int, int]] = []
    different = OncePerInput._different

    def told(self: OncePerInput, inputs: dict) -> tuple[np.ndarray, np.ndarray]:
        first, place = different(self, inputs)
        sizes.append((len(first), len(place)))
        return first, place

    monkeypatch.setattr(OncePerInput, "_different", told)
    once = run(Sweep.from_text(text), cluster=ClusterConfig.of("synchronous"))
    assert sizes[0][0] <= most <= sizes[0][1]
    assert any(few < every for few, every in sizes)

    def each(self: OncePerInput, inputs: dict) -> tuple[np.ndarray, np.ndarray]:
        everyone = np.arange(max(len(array) for array in inputs.values()))
        return everyone, everyone

    monkeypatch.setattr(OncePerInput, "_different", each)
    again = run(Sweep.from_text(text), cluster=ClusterConfig.of("synchronous"))
    for variable in once.data_vars:
        np.testing.assert_array_equal(once[variable].values, again[variable].values)
    assert len(np.unique(once["peak_force"].values[:, 0, 0, 0])) == once.sizes["design"]


@pytest.mark.parametrize(
    ("column", "first", "place"),
    [
        ([3.0, 1.0, 2.0], [0, 1, 2], [0, 1, 2]),
        ([3.0, 1.0, 3.0], [0, 1], [0, 1, 0]),
        ([1.0, np.nan, 2.0], [0, 1, 2], [0, 1, 2]),
        ([1.0, np.nan, np.nan], [0, 1], [0, 1, 1]),
        ([np.nan, np.nan, np.nan], [0], [0, 0, 0]),
    ],
)
def test_designs_are_distinct_by_their_numbers_and_nan_equals_itself(
    column: list[float], first: list[int], place: list[int]
) -> None:
    alike = np.ones((3, 1))
    found = distinct([np.array(column)[:, None], alike], 3)
    assert [each.tolist() for each in found] == [first, place]
