from __future__ import annotations

import pytest

from tests.benchmarks.forks import campaign
from tests.waiting import PATIENCE

NO_LOCK = f"""
from contextlib import nullcontext
from multiprocessing import Barrier
from benchmarks.campaigns import races
from pipeline.monitor.log import Started
from storage.places.local import LocalFolder

LocalFolder.lock = lambda folder: nullcontext()
run, together, both = races.run, races.together, Barrier(2, timeout={PATIENCE})

def meet(event):
    if isinstance(event, Started):
        both.wait()

def meeting(sweep, store, cluster, listeners):
    return run(sweep, store, cluster, [*listeners, meet])

def on_a_store_that_is_left(count, work):
    races.run = meeting if work.args[0].exists() else run
    found = together(count, work)
    races.run = run
    return found

races.together = on_a_store_that_is_left
"""
"""Program without a lock: no run is refused, and of two on a store that is left none goes on before both have begun."""


@pytest.mark.parametrize(("races", "coordinators"), [(4, 3), pytest.param(50, 2, marks=pytest.mark.chaos)])
def test_of_many_runs_that_start_together_one_goes_on(races: int, coordinators: int) -> None:
    code, told = campaign("races", "--races", str(races), "--coordinators", str(coordinators))
    assert code == 0, told
    assert f"{races} ran, {races * (coordinators - 1)} " in told or "came when all was done" in told


def test_runs_without_a_lock_do_not_pass() -> None:
    code, told = campaign("races", "--races", "2", "--seed", "1", before=NO_LOCK)  # one kill at least leaves work
    assert code == 1, told
    assert "FAILED: race" in told
