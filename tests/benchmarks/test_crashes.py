"""Deaths of the coordinator at its numbered steps: some of them here, all of them behind `-m chaos`."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = "import sys; from benchmarks.crashes import main; sys.exit(main(sys.argv[1:]))"
IN_PLACE = """
from storage.local import LocalPlace

def write(self, key, parts):
    with (self.path / key).open("wb") as stream:
        stream.writelines(parts)

LocalPlace.write = write
"""
"""A mistake: files that are not whole at every instant."""


def program(scenario: str, every: int, seed: int, before: str = "") -> tuple[int, str]:
    """Exit status and output of a campaign in a process of its own, which forks and so must not have threads."""
    words = [sys.executable, "-c", before + PROGRAM, "--scenario", scenario, "--every", str(every), "--seed", str(seed)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_coordinator_that_dies_at_some_steps_is_gone_on_with() -> None:
    code, told = program("all", 130, random.randrange(2**32))
    print(told)
    assert code == 0, told
    assert told.count("every store is bit-identical to an undisturbed one, and sound") == 3


@pytest.mark.chaos
@pytest.mark.parametrize("scenario", ["run", "append", "repair"])
def test_a_coordinator_that_dies_at_any_step_is_gone_on_with(scenario: str) -> None:
    code, told = program(scenario, 1, random.randrange(2**32))
    print(told)
    assert code == 0, told


def test_a_store_that_is_written_in_place_does_not_pass() -> None:
    code, told = program("repair", 1, 1, IN_PLACE)
    assert code == 1, told
    assert "FAILED: " in told
