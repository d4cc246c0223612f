"""A short version of the campaign of damages."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.campaigns import damages
from benchmarks.campaigns.damages import DAMAGES, NOT_COMPUTED, campaign
from tests.pipeline.stores.corpus import STORES


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[] if kind == "simulation" else pytest.mark.slow) for kind in STORES]
)
def test_no_damage_is_silent(kind: str, tmp_path: Path) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    counts = campaign(kind, tmp_path, 10, seed)
    assert sum(counts[name] for name in DAMAGES) == 10
    assert (counts["repair: identical"] > 0) == (kind not in NOT_COMPUTED)


@pytest.mark.parametrize("bug", ["is_sound", "checksums"])
def test_the_campaign_finds_a_reader_that_does_not_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bug: str
) -> None:
    if bug == "is_sound":
        monkeypatch.setattr("storage.expected.Expected.is_sound", lambda *_: True)
        monkeypatch.setattr(damages, "DAMAGES", {"exchange": DAMAGES["exchange"]})
    else:
        monkeypatch.setattr("storage.integrity.matches", lambda *_: True)
        monkeypatch.setattr(damages, "DAMAGES", {"flip": DAMAGES["flip"]})
    with pytest.raises(AssertionError, match=r"other numbers were read without an error|verify says|not named"):
        campaign("metrics", tmp_path, 40, 1)


def test_the_campaign_finds_a_repair_that_makes_other_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(damages, "DAMAGES", {"lose": DAMAGES["lose"]})
    stores = damages.prepare("metrics", tmp_path)
    stores.expected["peak_force"] = stores.whole["peak_force"] = b""
    with pytest.raises(AssertionError, match="a repair has made a store with other bits"):
        damages.mend(stores.sound, stores)
