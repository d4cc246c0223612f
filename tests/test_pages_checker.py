"""The checks of pages see what is wrong: tried on made-up pages, because a checker that looks at nothing passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.site import docstrings, mermaid
from docs.site import links as site_links
from tests import pages

PAGE = """\
# A page, and more

    limbsweep robots --help     # a comment
    limbsweep check x.yaml

<!-- file: deep/x.yaml -->
```yaml
a: 1
```

<!-- not run: it takes a day -->
```python
raise RuntimeError
```

```python
from pathlib import Path
found = Path("deep/x.yaml").read_text()
```

See `limbsweep nothing` and `limbsweep run --store here --hops 3`, [here](missing.md) and [there](#a-page-and-more).
"""


def test_blocks_are_found_with_language_line_and_note() -> None:
    found = [(block.line, block.language, block.note[0]) for block in pages.blocks(PAGE)]
    assert found == [(3, "sh", ""), (7, "yaml", "file"), (12, "python", "not run"), (16, "python", "")]


def test_a_table_without_a_separator_is_seen() -> None:
    table = "| a | b |\n|---|:-:|\n| 1 | 2 |\n"
    assert pages.open_tables(f"{table}\n```text\n| x |\n| y |\n```\n\n{table}") == []
    assert pages.open_tables(f"{table}\n| a | b |\n| 1 | 2 |\n") == [5]


def test_a_page_runs_in_its_folder_and_skips_what_is_for_reading(tmp_path: Path, monkeypatch) -> None:
    text = PAGE.replace("    limbsweep check x.yaml\n", "")
    pages.prepare(tmp_path, text)
    monkeypatch.chdir(tmp_path)
    assert pages.run_page("page", text)["found"] == "a: 1\n"


def test_a_command_that_fails_fails_the_page(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match=r"page:3: limbsweep check x\.yaml"):
        pages.run_page("page", PAGE)


def test_unknown_commands_options_and_targets_are_seen() -> None:
    assert [pages.unknown(words) for words in pages.mentioned(PAGE)] == [["nothing"], ["--hops"], [], []]
    assert pages.links(PAGE) == ["missing.md", "#a-page-and-more"]
    assert pages.anchors(PAGE) == {"a-page-and-more"}


@pytest.mark.parametrize(
    ("text", "told"),
    [("<!-- not run: long -->\ntext\n", "expected a block"), ("```python\nx = 1\n", "a fence that stays open")],
)
def test_a_page_that_cannot_be_read_is_refused(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        list(pages.blocks(text))


def test_links_out_of_the_folder_lead_to_pages_of_the_site() -> None:
    text = "[a](../SECURITY.md) [b](../examples) [c](../examples/delta.yaml) [d](design.md)"
    led = "[a](project/security.md) [b](examples.md) [c](../examples/delta.yaml) [d](design.md)"
    assert site_links.led(text, "clusters") == led
    assert site_links.led("[a](../../SECURITY.md)", "theory/drives") == "[a](../project/security.md)"
    assert site_links.led("[a](../SECURITY.md)", "theory/drives") == "[a](../SECURITY.md)"

    shown = "[a](SECURITY.md) [b](docs/design.md) [c](pyproject.toml) [d](https://example.org/x)"
    led = "[a](../project/security.md) [b](../design.md) [c](../../pyproject.toml) [d](https://example.org/x)"
    assert site_links.led_from_top(shown, "project/contributing") == led
    assert site_links.SHOWN["project/changelog"] == "CHANGELOG.md"


GRAPH = ["flowchart LR", "base([base])", 'base ==>|"1 R"| arm', 'arm -->|"2 R"| rod', 'rod -.->|"3 U"| platform']


def test_a_graph_is_drawn_in_columns_with_every_joint() -> None:
    places = mermaid.places(mermaid.parse(GRAPH))
    assert places == {"base": (0, 0.0), "arm": (1, 0.0), "rod": (2, 0.0), "platform": (3, 0.0)}
    drawn = mermaid.svg(GRAPH)
    assert [drawn.count(f">{label}<") for label in ("1 R", "2 R", "3 U", "base", "rod", "platform")] == [1] * 6
    assert ("stroke-dasharray" in drawn, 'stroke-width="3"' in drawn) == (True, True)


def test_a_graph_in_other_words_is_refused() -> None:
    with pytest.raises(ValueError, match=r"graph: got 'base ~~~ arm'; expected"):
        mermaid.svg(["flowchart LR", "base ~~~ arm"])


def test_docstrings_keep_their_signs_and_their_indented_lines() -> None:
    lines = ["Forces (*batch, 3), see `a_` and |x|_.", "", "    M q'' = u * 2", "", "More."]
    expected = [r"Forces (\*batch, 3), see `a_` and \|x\|_.", "", "::", "", "    M q'' = u * 2", "", "More."]
    assert docstrings.plain(lines) == expected
