"""The peak is that of work that was done."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.counts import peak
from benchmarks.figures import CheckError


def test_the_peak_is_positive_and_its_result_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert peak.peak(1) > 0.0
    program = peak._kernel().program
    assert dict(program.operations()) == {"fma": peak.CHAINS * peak.DEPTH}

    class Idle:
        def allocate(self, cases: int, samples: int) -> dict[str, np.ndarray]:
            return {"y": np.zeros((cases, peak.CHAINS, samples))}

        def __call__(self, *_: object) -> None:
            return None

    monkeypatch.setattr(peak, "_kernel", Idle)
    with pytest.raises(CheckError, match="has not come to its fixed point 2"):
        peak.peak(1)
