"""Counted programs compute what the others compute, and count truly; gaps are seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks import delta
from benchmarks.counts.counting import PASSES, counted, kinds, opening, together
from robots import catalog
from tasks import inverse_kinematics
from tasks.kernels.kernel import Kernel
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import iterate
from tasks.stages.limb import limb_program


def halving() -> Program:
    """Halves x until it is at most one: as many passes as that takes, 20 at most."""

    def one_sample(x: Any) -> dict[str, Any]:
        return {"y": iterate(lambda state: ([state[0] * 0.5], state[0] <= 2.0), [x[0]], 20)}

    return trace("halving", one_sample, case={}, sample={"x": (1,)})


@pytest.mark.parametrize("compiled", [True, False])
def test_passes_are_counted_for_each_sample(compiled: bool) -> None:
    x = np.array([2.0, 4.0, 8.0, 1024.0, 1.0, 1e300, 3.0, np.inf]).reshape(1, 1, 8)
    made = Kernel(counted(halving()), compiled=compiled)({"x": x}, 8)
    assert made[PASSES].ravel().tolist() == [1, 2, 3, 10, 1, 20, 2, 20]
    np.testing.assert_array_equal(made["y"], Kernel(halving(), compiled=compiled)({"x": x}, 8)["y"])


def test_a_program_without_a_loop_cannot_be_counted() -> None:
    program = trace("straight", lambda x: {"y": [x[0] + 1.0]}, case={}, sample={"x": (1,)})
    with pytest.raises(ValueError, match="straight has no loop; expected one to count"):
        counted(program)


def test_counting_leaves_a_limb_as_it_is() -> None:
    work = delta.work(2, 16)
    program = limb_program(work.family, 0)
    inputs = {
        "parameters": work.parameters,
        "gravity": delta.GRAVITY,
        "motion": work.motion,
        "mount": work.mounts[0],
    }
    plain, made = Kernel(program)(inputs, 16), Kernel(counted(program))(inputs, 16)
    for name, values in plain.items():
        np.testing.assert_array_equal(made[name], values)
    assert 1 <= made[PASSES].min() <= made[PASSES].max() <= 8


def test_operations_of_a_loop_count_as_often_as_it_runs() -> None:
    program = halving()
    assert kinds(program) == program.operations()
    body = len(program.regions[1])
    thrice, once = (sum(kinds(program, passes).values()) for passes in (3.0, 1.0))
    assert thrice - once == 2.0 * body
    assert together([kinds(program), kinds(program)]) == {op: 2 * n for op, n in program.operations().items()}
    assert body == 2  # a product and a comparison


def test_an_open_loop_is_seen() -> None:
    robot = catalog.build(delta.ROBOT, upper_arm=0.27)
    position = np.array([0.1, 0.05, -0.9])
    angles = inverse_kinematics(robot, position=position).position
    assert opening(robot, angles, position) < 1e-14
    assert opening(robot, angles, position + np.array([0.0, 0.0, 1e-3])) == pytest.approx(1e-3)
    turned = angles.copy()
    turned[1, 4] += 1e-3  # the second rod, which carries nothing but the cut joint
    assert opening(robot, turned, position) == pytest.approx(1e-3, rel=1e-3)
