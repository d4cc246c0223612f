"""A short version of the campaign of losses of power."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from benchmarks.campaigns.crashes import SCENARIOS
from benchmarks.campaigns.power import Moment, State, after, campaign
from pipeline.plan import plan as planning


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The campaign cuts its sweep finely; that must not outlast it."""
    for name in ("SMALL_BLOCK", "WANTED_BLOCKS", "FRICTION_SAMPLES"):
        monkeypatch.setattr(planning, name, getattr(planning, name))


def test_what_goes_on_after_a_loss_of_power_ends_the_same(tmp_path: Path) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    assert "bit-identical" in list(campaign(SCENARIOS["run"], tmp_path, 29, seed))[-1]


def test_disks_keep_what_was_forced(tmp_path: Path) -> None:
    forced, now = State(1), State(1)
    forced.folders, forced.files = {1: {"a": 2}}, {2: b"old"}
    now.folders, now.files = {1: {"a": 2, "b": 3}}, {2: b"old and new", 3: b"12"}
    moment = Moment("replace", now, forced)
    assert after(moment, "dropped", random.Random(0)) == {"a": b"old"}
    assert after(moment, "torn", random.Random(0)) == {"a": b"old and", "b": b"1"}


def test_the_campaign_finds_files_that_are_not_forced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unforced(file: Path, parts: object) -> None:
        with file.open("wb") as stream:
            stream.writelines(parts)  # type: ignore[arg-type]

    monkeypatch.setattr("storage.places.local._write", unforced)
    assert os.fsync is not None
    with pytest.raises(AssertionError, match=r"run, (dropped|torn|chance), before step"):
        list(campaign(SCENARIOS["run"], tmp_path, 5, 0))
