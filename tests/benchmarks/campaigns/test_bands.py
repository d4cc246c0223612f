from __future__ import annotations

import numpy as np

from applications.identification.estimation.machines.preparation import Signals
from benchmarks.campaigns.bands import part


def test_parts_are_all_of_the_time_one_after_another() -> None:
    time = np.arange(10) * 0.1
    signals = Signals("whole", "train", time, np.stack([time, -time], 1), np.stack([2.0 * time] * 2, 1))
    parts = [part(signals, number, 3) for number in range(3)]
    assert [each.name for each in parts] == ["part 1", "part 2", "part 3"]
    np.testing.assert_array_equal(np.concatenate([each.time for each in parts]), time)
    np.testing.assert_array_equal(np.concatenate([each.position for each in parts]), signals.position)
    np.testing.assert_array_equal(np.concatenate([each.force for each in parts]), signals.force)
