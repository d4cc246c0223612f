"""The page about clusters lists the kinds that there are."""

from __future__ import annotations

import re
from pathlib import Path

from pipeline.cluster.kinds import KINDS

PAGE = Path(__file__).parent.parent / "docs" / "clusters.md"


def test_the_table_has_every_kind() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| ([^|]+) \| ([^|]*)\|", PAGE.read_text("utf-8"), re.MULTILINE)
    found = {name: (text.strip(), install.strip()) for name, text, install in rows}
    extras = {name: f"`limbsweep[{kind.extra}]`" if kind.extra else "" for name, kind in KINDS.items()}
    assert found == {name: (kind.text, extras[name]) for name, kind in KINDS.items()}
