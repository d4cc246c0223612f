"""Fewer poses of a platform that are solved one after the other: recordings of the tests are short and smooth."""

from __future__ import annotations

import pytest

from applications.identification.estimation.machines import machine


@pytest.fixture(autouse=True)
def few_anchors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Solve 25 poses of 8 s of a recording one after the other; the others start from the nearest of them."""
    monkeypatch.setattr(machine, "LEGS", 25)
