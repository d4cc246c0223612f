"""The bits of forces do not depend on what else is asked for."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import regions
from robots import catalog
from robots.quantities import names
from tasks.dynamics import inputs
from tasks.kernels.kernel import kernel
from tasks.kernels.program import trace
from tasks.stages.limb import FIRST, LimbRequest, limb_program

SAMPLES = 64


@pytest.mark.parametrize("name", catalog.FAMILIES)
def test_series_and_statics_change_no_bit_of_a_limb(name: str) -> None:
    robot = catalog.build(name)
    states = regions.states(robot, SAMPLES)
    _, motion = inputs.moving_input(robot, states)
    given = {"parameters": inputs.parameters(robot), "gravity": inputs.gravity_input((0, 0, -9.81)), "motion": motion}
    given |= {"mount": inputs.mounts(robot)[0]}
    plain = kernel(limb_program(robot.family, 0))(given, SAMPLES)
    assert np.isfinite(plain["wrench"]).all()
    for series, statics in ((names("limb"), False), ((), True), (names("limb"), True)):
        other = kernel(limb_program(robot.family, 0, LimbRequest(series, reactions=statics)))(given, SAMPLES)
        for output in FIRST:
            np.testing.assert_array_equal(other[output], plain[output])


def test_outputs_that_come_first_are_fused_as_if_alone() -> None:
    def sums(x: np.ndarray) -> dict[str, list[object]]:
        product = x[0] * x[1]
        return {"sum": [product + x[2]], "product": [product]}

    alone = trace("alone", lambda x: {"sum": sums(x)["sum"]}, case={}, sample={"x": (3,)})
    beside = trace("beside", sums, case={}, sample={"x": (3,)})
    first = trace("first", sums, case={}, sample={"x": (3,)}, first=("sum",))
    assert dict(alone.operations()) == {"fma": 1}
    assert dict(beside.operations()) == {"mul": 1, "add": 1}
    assert dict(first.operations()) == {"fma": 1, "mul": 1}
