"""Deaths of the processes around a run: one of each kind."""

from __future__ import annotations

import pytest

from tests.benchmarks.forks import campaign


@pytest.mark.chaos
@pytest.mark.parametrize("victim", ["worker", "nanny", "scheduler"])
def test_a_run_whose_process_dies_ends_the_same(victim: str) -> None:
    code, told = campaign("victims", "--victim", victim, "--work", "search", "--every", "60", "--seed", "1")
    assert code == 0, told
    assert " 0 deaths" not in told


@pytest.mark.chaos
def test_a_run_whose_submitter_dies_ends_the_same() -> None:
    code, told = campaign("victims", "--victim", "submit")
    assert code == 0, told
