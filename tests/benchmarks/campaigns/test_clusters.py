"""Clusters that are started by hand: some of their disturbances."""

from __future__ import annotations

import pytest

from tests.benchmarks.forks import campaign


@pytest.mark.chaos
@pytest.mark.parametrize("step", ["restart", "foreign", "two-clients", "scheduler-restarted"])
def test_a_disturbed_cluster_gives_the_same_store_and_is_never_silent(step: str) -> None:
    code, told = campaign("clusters", "--quick", "--only", step)
    assert code == 0, told
    assert told.rstrip().endswith("identical"), told
