"""Key numbers of an answer: a bound stands beside the number that its condition is about."""

from __future__ import annotations

import numpy as np
import pytest

from applications.report.data.answer import key_numbers
from applications.report.data.recomputed import results_of
from applications.report.data.results import Results
from pipeline.execution.run import compute
from pipeline.sweep.doors import sweep


def results(*conditions: str) -> Results:
    """Three designs of a Delta with objectives and conditions on energy."""
    made = sweep(
        "delta_3rr2rrr",
        design={"upper_arm": [0.24, 0.26, 0.28]},
        trajectories={"line": {"kind": "line_sine", "amplitude": [0.1, 0, 0]}},
        time=(1.0, 0.1),
        metrics=["peak_force", "energy"],
        study={"objectives": ["min peak_force"], "where": list(conditions)},
    )
    return results_of(compute(made))


def test_a_bound_of_the_hardest_actuator_is_none_of_their_sum() -> None:
    """Check `energy`: of the hardest actuator in a condition, the sum of all in the table."""
    found = results("energy < 1.5", "peak_force < 10")
    assert found.designs.meets.all()
    assert (found.designs.column("energy").values > 1.5).all()
    numbers = {number.column.name: number for number in key_numbers(found)}
    assert numbers["energy"].bound is None
    assert numbers["peak_force"].bound == 10.0


def test_a_bound_of_the_sum_is_beside_the_sum() -> None:
    found = results("energy_sum < 4")
    (number,) = (number for number in key_numbers(found) if number.column.name == "energy")
    energy = found.dataset["energy"].sum("actuator").values.ravel()
    assert number.spare(found.place) == pytest.approx(1.0 - energy[found.place] / 4.0, rel=1e-12)
    np.testing.assert_allclose(number.column.values, energy, rtol=1e-12)
