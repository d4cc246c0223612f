"""Every law in every joint with all that may act; of more robots: `python -m benchmarks.motion combinations`."""

from __future__ import annotations

import pytest

from benchmarks.motion import combinations
from benchmarks.motion.round_trip import CLOSE

REFUSED = {("passive", "gear"): "passive joints among it", ("actuated", "gear", "lugre"): "whose bristles give way"}


@pytest.mark.parametrize("law", combinations.LAWS)
@pytest.mark.parametrize("load", combinations.LOADS)
@pytest.mark.parametrize("joints", combinations.JOINTS)
def test_a_platform_takes_every_law_in_every_joint(joints: str, load: str, law: str) -> None:
    line = REFUSED.get((joints, load), REFUSED.get((joints, load, law)))
    if line is not None:
        with pytest.raises(ValueError, match=line):
            combinations.difference("five_bar", joints, load, law)
        return
    off, count = combinations.difference("five_bar", joints, load, law)
    assert off <= CLOSE
    assert count == combinations.STATES


@pytest.mark.parametrize(
    ("joints", "load", "law"),
    [("actuated", "gear", "stiction"), ("passive", "reaction", "lugre"), ("passive", "reaction", "stribeck")],
)
def test_a_chain_with_drives_does_so(joints: str, load: str, law: str) -> None:
    off, count = combinations.difference("irb6", joints, load, law)
    assert off <= CLOSE
    assert count == combinations.STATES
