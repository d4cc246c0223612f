"""Parts of pages that the documentation makes from the code: each has its place, and what it puts there is right."""

from __future__ import annotations

import re

import pytest

from docs.site.parts import PARTS, filled, parts_of
from tests.pages import ROOT, anchors, links, mentioned, pages, unknown

TEXTS = {name: (ROOT / name).read_text("utf-8") for name in pages()}
SLOW = ("docs/robots.md", "docs/project/house.md")
"""Pages whose parts take seconds: `tests/test_robot_pages.py` and `tests/test_house.py` have their own tests."""
QUICK = [name for name, text in TEXTS.items() if parts_of(text) and name not in SLOW]


def test_every_part_has_one_place() -> None:
    assert sorted(name for text in TEXTS.values() for name in parts_of(text)) == sorted(PARTS)


@pytest.mark.parametrize("name", QUICK)
def test_a_filled_page_has_no_mark_left_and_its_links_lead_somewhere(name: str) -> None:
    text = filled(TEXTS[name])
    assert parts_of(text) == []
    assert len(text) > len(TEXTS[name])
    assert [words for words in mentioned(text) if unknown(words)] == []
    for link in links(text):
        path, _, anchor = link.partition("#")
        target = (ROOT / name).parent / path
        assert target.exists() if path else anchor in anchors(text), link


def test_the_text_around_a_part_stays() -> None:
    page = "# Units\n\n<!-- built: units -->\nlater\n<!-- until here -->\n\nMore.\n"
    head, body, tail = filled(page).split("\n\n")
    assert (head, tail) == ("# Units", "More.\n")
    assert re.match(r"`\w+`, `\w+`", body)


def test_an_unknown_part_is_refused() -> None:
    with pytest.raises(KeyError, match="no such part"):
        filled("<!-- built: no such part -->\n<!-- until here -->\n")
