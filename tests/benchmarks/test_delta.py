"""The job of the benchmarks: known forces come from the references, and all ways of doing it agree with them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from benchmarks import delta
from benchmarks.delta import GOLDEN, Solver, Twin
from benchmarks.figures import CheckError
from tasks.kernels.kernel import kernel
from tests.reference.delta_bodies import PAPER
from tests.reference.delta_newton_euler import inverse_dynamics


def test_the_known_forces_are_those_of_the_references() -> None:
    motion = delta.work(1, 64).motion[0].T[:: 64 // len(GOLDEN)]
    torques = [inverse_dynamics(PAPER, row[:3], row[3:6], row[6:])["torque"] for row in motion]
    np.testing.assert_allclose(GOLDEN, torques, rtol=1e-11, atol=1e-11)


def test_the_first_design_is_the_default_and_no_other_is() -> None:
    work = delta.work(50, 8)
    defaults = [p.default for p in work.family.parameters]
    np.testing.assert_array_equal(work.parameters[0], defaults)
    assert len({tuple(row) for row in work.parameters.tolist()}) == 50
    np.testing.assert_allclose(work.parameters, np.tile(defaults, (50, 1)), rtol=0.031)


@pytest.mark.parametrize(("designs", "samples"), [(0, 8), (1, 0), (1, 12)])
def test_work_of_odd_size_is_refused(designs: int, samples: int) -> None:
    with pytest.raises(ValueError, match=f"got {designs} designs of {samples} samples; expected at least 1"):
        delta.work(designs, samples)


def test_kernels_and_twins_agree_whatever_the_strip() -> None:
    work = delta.work(5, 16)
    forces = Solver(work, kernel, 5).all()
    delta.check(forces, "kernels")
    np.testing.assert_array_equal(Solver(work, kernel, 2).all(), forces)
    np.testing.assert_array_equal(Solver(work, partial(Twin, exact=True), 3).all(), forces)
    np.testing.assert_allclose(Solver(work, partial(Twin, exact=False), 5).all(), forces, rtol=1e-9, atol=1e-9)


def test_a_part_of_the_work_is_the_same_work() -> None:
    work = delta.work(5, 8)
    assert (work.part(slice(3, 5)).count, work.count) == (16, 40)
    np.testing.assert_array_equal(Solver(work.part(slice(3, 5)), kernel, 2).all(), Solver(work, kernel, 5).all()[3:])


def test_missing_and_wrong_forces_are_seen() -> None:
    forces = Solver(delta.work(2, 8), kernel, 2).all()
    gone, wrong = forces.copy(), forces.copy()
    gone[1, 0, 3] = np.nan
    wrong[0, 2, 1] += 1e-6
    with pytest.raises(CheckError, match="this: 1 forces of 48 are missing"):
        delta.check(gone, "this")
    with pytest.raises(CheckError, match=r"this: forces differ from the known ones by .*; expected below 1e-9"):
        delta.check(wrong, "this")


def test_samples_that_fail_are_missing() -> None:
    work = delta.work(1, 8)
    work.motion[0, 2, 5] = 3.0  # far above the robot
    assert np.isnan(Solver(work, kernel, 1).all()).any(axis=(0, 1)).tolist() == [k == 5 for k in range(8)]
