"""Derivatives by differences of a block whose neighbours fail: a computation stands in for that of the block."""

from __future__ import annotations

import numpy as np
import pytest

from robots.status import Status
from tasks.blocks.block import Block, BlockDerivatives
from tasks.blocks.differences import WORST, difference_arrays
from tests.tasks.blocks.test_block import FAMILY, block

ARM = [parameter.name for parameter in FAMILY.parameters].index("upper_arm")


@pytest.mark.parametrize("status", [Status.OK, Status.NOT_REACHABLE])
def test_a_case_that_fails_on_both_sides_has_the_status_of_its_neighbours(status: Status) -> None:
    given = block(designs=1, series=(), metrics=("condition",))
    here = given.designs.parameters[0, ARM]

    def compute(moved: Block) -> dict[str, np.ndarray]:
        is_moved = np.broadcast_to(moved.designs.parameters[:, ARM, None] != here, (len(moved.designs), 2))
        return {
            "condition": np.where(is_moved, np.nan, 2.0),
            WORST: np.where(is_moved, status, Status.OK).astype(np.int8),
        }

    rates = np.zeros((1, 1, len(FAMILY.parameters)))
    rates[..., ARM] = 1.0
    wanted = BlockDerivatives(("condition",), rates, np.zeros((1, 1, 2)), np.zeros((1, 1, 3)))
    found = difference_arrays(given, wanted, compute)
    assert np.isnan(found["condition_derivative"]).all()
    expected = Status.KINK if status == Status.OK else status
    assert (found["condition_derivative_status"] == expected).all()
