"""The direct and the inverse problem are inverse to each other; of all robots: `python -m benchmarks.motion`."""

from __future__ import annotations

import pytest

from benchmarks.motion import round_trip
from benchmarks.motion.machines import machine


@pytest.mark.parametrize("law", round_trip.LAWS)
@pytest.mark.parametrize("name", ["irb6", "five_bar"])
def test_forces_and_accelerations_come_back(name: str, law: str) -> None:
    back, forth, count = round_trip.differences(machine(name), round_trip.LAWS[law], 16)
    assert count == 16
    assert max(back, forth) <= round_trip.CLOSE
