"""Fewer poses of a platform that are solved one after the other: recordings of the tests are short and smooth."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits

from applications.identification.estimation.machines import recorded_motion


@pytest.fixture(autouse=True)
def few_anchors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Solve 25 poses of 8 s of a recording one after the other; the others start from the nearest of them."""
    monkeypatch.setattr(recorded_motion, "LEGS", 25)


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Small matrices take several times as long where threads share them."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield
