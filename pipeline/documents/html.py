"""Rows of text as a small table of HTML, for objects in notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_CELL = "text-align:left;vertical-align:top;padding:1px 12px 1px 0"


def table(title: str, rows: Iterable[Sequence[str]], heads: Sequence[str] = ()) -> str:
    """A table with a title; the first cell of a row says what the others are."""
    lines = [_row("th", heads)] if heads else []
    lines += [_row("td", row) for row in rows]
    return f'<div><b>{escape(title)}</b><table style="border:none">{"".join(lines)}</table></div>'


def _row(kind: str, cells: Sequence[str]) -> str:
    start, stop = f'<{kind} style="{_CELL}">', f"</{kind}>"
    return f"<tr>{''.join(start + escape(str(cell)) + stop for cell in cells)}</tr>"
