"""The pages about clusters and security say what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipeline.cli import cli
from pipeline.cluster_kinds import KINDS

ROOT = Path(__file__).parent.parent
PAGES = ("docs/clusters.md", "SECURITY.md", "docs/decisions/clusters-as-a-table.md")


def test_the_table_has_every_kind() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| ([^|]+) \| ([^|]*)\|", (ROOT / PAGES[0]).read_text("utf-8"), re.MULTILINE)
    found = {name: (text.strip(), install.strip()) for name, text, install in rows}
    extras = {name: f"`limbsweep[{kind.extra}]`" if kind.extra else "" for name, kind in KINDS.items()}
    assert found == {name: (kind.text, extras[name]) for name, kind in KINDS.items()}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere_and_commands_exist(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    assert [link for link in links if not (ROOT / page).parent.joinpath(link).exists()] == []
    assert set(re.findall(r"(?:`|    )limbsweep ([a-z]+)", text)) <= set(cli.commands)
    assert [name for name in re.findall(r"`((?:pipeline|tests)/\w+\.py)`", text) if not (ROOT / name).exists()] == []
