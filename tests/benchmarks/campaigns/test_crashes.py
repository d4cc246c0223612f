"""Deaths of the coordinator at its numbered steps: some of them here, all of them behind `-m chaos`."""

from __future__ import annotations

import pytest

from tests.benchmarks.forks import campaign

IN_PLACE = """
from storage.places.local import LocalFolder

def write(self, key, parts):
    with (self.path / key).open("wb") as stream:
        stream.writelines(parts)

LocalFolder.write = write
"""
"""Files that are not whole at every instant."""


def test_a_coordinator_that_dies_at_some_steps_is_gone_on_with() -> None:
    code, told = campaign("crashes", "--scenario", "few", "--every", "250")
    assert code == 0, told
    assert told.count("every store is bit-identical to an undisturbed one, and sound") == 5


@pytest.mark.chaos
@pytest.mark.parametrize(
    "scenario", ["run", "append", "repair", "simulation", "search", "stops", "shapes", "learning search"]
)
def test_a_coordinator_that_dies_at_any_step_is_gone_on_with(scenario: str) -> None:
    code, told = campaign("crashes", "--scenario", scenario)
    assert code == 0, told


def test_a_store_that_is_written_in_place_does_not_pass() -> None:
    code, told = campaign("crashes", "--scenario", "repair", "--seed", "1", before=IN_PLACE)
    assert code == 1, told
    assert "FAILED: " in told
