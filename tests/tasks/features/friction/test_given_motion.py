"""Friction under loads that it causes, along motions: whether there is one, none or several, beside free bodies."""

from __future__ import annotations

import numpy as np

from benchmarks.motion.given import counted
from pipeline import Sweep, run
from robots.status import Status
from tests.pipeline.runs import SYNCHRONOUS

SINGLE = """\
limbsweep: 1
robot: five_bar
precision: PRECISION
friction: {law: coulomb_viscous, joints: all, load: reaction, parameters: {coulomb: 0.2}}
trajectories: {swing: {kind: line_sine, amplitude: [0.1, 0, 0.05], period: 1.0}}
time: {stop: 1.0, step: 0.1}
outputs: [actuator_force]
"""


def test_statuses_tell_how_many_solutions_there_are() -> None:
    """Of several joints with such loads it is not proven that there is none, but no search finds one here."""
    found = counted("delta_3rr2rrr", 0.3, 0.02, 8)
    number = {Status.OK: 1, Status.FRICTION_NOT_CONVERGED: 0, Status.FRICTION_SEVERAL_SOLUTIONS: 2}
    assert {*found.status} == {*number}
    assert not found.wrong.any()
    assert [number[status] for status in found.status] == list(found.solutions)


def test_it_settles_in_single_precision() -> None:
    texts = (SINGLE.replace("PRECISION", precision) for precision in ("double", "single"))
    double, single = (run(Sweep.from_text(text), cluster=SYNCHRONOUS) for text in texts)
    assert not double["worst_status"].values.any()
    assert not single["worst_status"].values.any()
    size = np.abs(double["actuator_force"].values).max()
    np.testing.assert_allclose(single["actuator_force"], double["actuator_force"], rtol=0, atol=1e-4 * size)
