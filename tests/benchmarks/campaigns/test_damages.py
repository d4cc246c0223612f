"""A short version of the campaign of damages."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.campaigns import damages
from benchmarks.campaigns.damages import DAMAGES, campaign
from pipeline.plan import plan as planning


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The campaign cuts its sweep finely; that must not outlast it."""
    monkeypatch.setattr("os.fsync", lambda descriptor: None)
    for name in ("SMALL_BLOCK", "WANTED_BLOCKS", "FRICTION_SAMPLES"):
        monkeypatch.setattr(planning, name, getattr(planning, name))


def test_no_damage_is_silent(tmp_path: Path) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    assert "33 damages, 0 silent" in list(campaign(tmp_path, 33, seed))[-1]


@pytest.mark.parametrize("bug", ["is_sound", "checksums"])
def test_the_campaign_finds_a_reader_that_does_not_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bug: str
) -> None:
    if bug == "is_sound":
        monkeypatch.setattr("storage.expected.Expected.is_sound", lambda *_: True)
        monkeypatch.setattr(damages, "DAMAGES", {"swap": DAMAGES["swap"]})
    else:
        monkeypatch.setattr("storage.integrity.matches", lambda *_: True)
        monkeypatch.setattr(damages, "DAMAGES", {"flip": DAMAGES["flip"]})
    with pytest.raises(AssertionError, match=r"other numbers were read without an error|verify says|not named"):
        list(campaign(tmp_path, 40, 1))
