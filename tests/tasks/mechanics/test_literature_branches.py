"""Robots of the literature lose no pose of their home branch and return no other, beside closed forms."""

from __future__ import annotations

import pytest

from benchmarks.branches import Score, chain_score, score
from tests.reference.literature_branches import CHAINS, PLATFORMS

POSES = 400


def beside(name: str) -> Score:
    """A robot beside its closed form."""
    return score(name, 1.0, POSES, PLATFORMS[name]) if name in PLATFORMS else chain_score(name, POSES, CHAINS[name])


def test_a_slide_and_a_turn_about_one_line_lead_around_the_middle() -> None:
    """A limb of a Tripteron folds where its platform is on its rail."""
    result = beside("tripteron")
    assert result.right == result.found == result.reached > POSES / 10


@pytest.mark.parametrize("name", [*PLATFORMS, *CHAINS])
def test_recall_and_precision(name: str) -> None:
    result = beside(name)
    assert result.right == result.found == result.reached > POSES / 20
