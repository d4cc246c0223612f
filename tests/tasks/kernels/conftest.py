"""Tests of kernels look at the best code, also where the gate compiles quickly."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tasks.kernels.levels import COMPILE


@pytest.fixture(scope="module", autouse=True)
def best_code() -> Iterator[None]:
    """Compile as for many samples."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(COMPILE, "best")
        yield
