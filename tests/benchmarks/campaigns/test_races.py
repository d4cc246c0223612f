from __future__ import annotations

import pytest

from tests.benchmarks.forks import campaign

NO_LOCK = """
import time
from contextlib import contextmanager
from storage.places.local import LocalFolder
@contextmanager
def nothing(folder):
    time.sleep(2.0)
    yield
LocalFolder.lock = nothing
"""
"""Program without a lock: no run is refused, and each lasts until the other one starts."""


@pytest.mark.parametrize(("races", "coordinators"), [(4, 3), pytest.param(50, 2, marks=pytest.mark.chaos)])
def test_of_many_runs_that_start_together_one_goes_on(races: int, coordinators: int) -> None:
    code, told = campaign("races", "--races", str(races), "--coordinators", str(coordinators))
    assert code == 0, told
    assert f"{races} ran, {races * (coordinators - 1)} " in told or "came when all was done" in told


def test_runs_without_a_lock_do_not_pass() -> None:
    code, told = campaign("races", "--races", "2", "--seed", "1", before=NO_LOCK)  # one kill at least leaves work
    assert code == 1, told
    assert "FAILED: race" in told
