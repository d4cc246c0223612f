from __future__ import annotations

import numpy as np
import pytest

from pipeline.execution import trial as module
from pipeline.execution.trial import _places, trial
from pipeline.sweep.model import Sweep

TEXT = """\
limbsweep: 1
robot: delta_3rr2rrr
design: {{grid: {{upper_arm: {arms}, base_radius: {{values: [0.15, 0.2]}}}}}}
friction: {{law: coulomb_viscous, grid: {{coulomb: {{values: [0, 1]}}}}}}
trajectories:
  near: {{kind: circle, radius: 0.05}}
  far: {{kind: circle, radius: {radius}}}
time: {{stop: 1.0, step: 0.01}}
outputs: [joint_reaction]
metrics: [peak_force]
"""


def sweep(arms: str = "{values: [0.2, 0.25]}", radius: float = 0.1) -> Sweep:
    return Sweep.from_text(TEXT.format(arms=arms, radius=radius))


def test_nothing_is_said_where_all_is_well() -> None:
    tried = trial(sweep())
    assert (tried.designs, tried.trajectories, tried.result.failed) == (4, 2, 0)
    assert tried.result.samples == 4 * 2 * 101
    assert list(tried.lines()) == []


def test_failures_are_counted_at_places_of_the_sweep() -> None:
    tried = trial(sweep(radius=2.5))
    (status,) = tried.result.statuses
    assert (status.name, status.cases, status.samples) == ("NOT_REACHABLE", 4, 4 * 101)
    assert status.first == ((0, 0, 1), (1, 0, 1), (2, 0, 1))
    assert not tried.result.all_failed
    assert "tried 4 designs on 2 trajectories: 404 of 808 samples failed (50 %)" in next(iter(tried.lines()))


def test_corners_of_many_designs_are_tried() -> None:
    wide = sweep("{start: 0.2, stop: 9.0, num: 100000}")
    tried = trial(wide)
    assert tried.designs == module.DESIGNS
    (status,) = tried.result.statuses
    assert status.name == "NOT_REACHABLE"
    places = _places(wide.design.size, module.DESIGNS)
    assert {0, wide.design.size - 1} <= {*places.tolist()}
    assert {design for design, _, _ in status.first} <= {*places.tolist()}


def test_long_motions_are_cut() -> None:
    text = TEXT.format(arms="{values: [0.2]}", radius=0.1).replace("step: 0.01", "samples: 1000001")
    assert trial(Sweep.from_text(text)).result.samples <= 2 * module.SAMPLES


@pytest.mark.parametrize(("size", "most"), [(1, 5), (5, 5), (6, 5), (10**9, 12)])
def test_places_are_within(size: int, most: int) -> None:
    places = _places(size, most)
    assert (places[0], places[-1]) == (0, size - 1)
    assert len(places) <= most
    assert (np.diff(places) > 0).all()


RELEASED = """\
limbsweep: 1
robot: planar_3r
gravity: [0, -9.81, 0]
simulation: {{step: {step}, state: {{list: {{joint_1: [0.1, 0.2], joint_2_rate: [0.0, 1.0]}}}}{more}}}
time: {{stop: 2.0, step: 0.1}}
outputs: [joint_position]
"""


def test_steps_that_are_too_long_are_told() -> None:
    tried = trial(Sweep.from_text(RELEASED.format(step=0.1, more="")))
    assert tried.coarse > module.COARSE
    assert "choose a shorter simulation.step" in next(iter(tried.lines()))


@pytest.mark.parametrize(("step", "more"), [(0.001, ""), (0.1, ", tolerance: 1.0e-6")])
def test_short_steps_and_tolerances_need_no_word(step: float, more: str) -> None:
    assert list(trial(Sweep.from_text(RELEASED.format(step=step, more=more))).lines()) == []
