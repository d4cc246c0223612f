"""Format small pieces of HTML; all text is escaped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape


def table(rows: Iterable[Sequence[str]], heads: Sequence[str] = (), identity: str = "") -> str:
    """Return a table whose first cells name the rows; `identity` is the id of its body."""
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in cells)}</tr>'
        for first, *cells in rows
    )
    place = f' id="{identity}"' if identity else ""
    top = f"<thead><tr>{head}</tr></thead>" if head else ""
    return f'<div class="table"><table>{top}<tbody{place}>{body}</tbody></table></div>'


def paragraph(text: str, kind: str = "", identity: str = "", live: bool = False) -> str:
    """Return a paragraph; with `live`, screen readers tell when it changes."""
    attributes = f' class="{kind}"' if kind else ""
    attributes += f' id="{identity}"' if identity else ""
    attributes += ' aria-live="polite"' if live else ""
    return f"<p{attributes}>{escape(text)}</p>"


def figure(identity: str, description: str) -> str:
    """Return the place of a figure, with a description for screen readers."""
    return f'<div class="figure" id="{identity}" role="group" aria-label="{escape(description, quote=True)}"></div>'


def select(identity: str, label: str, options: Iterable[tuple[str, str]], selection: str = "") -> str:
    """Return a choice between values, each with a text."""
    items = "".join(
        f'<option value="{escape(value, quote=True)}"{" selected" * (value == selection)}>{escape(text)}</option>'
        for value, text in options
    )
    return f'<label for="{identity}">{escape(label)} <select id="{identity}">{items}</select></label>'


def slider(identity: str, label: str, most: int = 0, value: int = 0) -> str:
    """Return a slider over whole numbers from 0, and a place for the meaning of its value."""
    return (
        f'<label class="wide" for="{identity}">{escape(label)} '
        f'<input type="range" id="{identity}" min="0" max="{most}" value="{value}" step="1">'
        f'<output id="{identity}-value" for="{identity}"></output></label>'
    )


def button(identity: str, text: str) -> str:
    """Return a button."""
    return f'<button type="button" id="{identity}">{escape(text)}</button>'


def details(summary: str, inner: str, is_open: bool = False) -> str:
    """Return a block that can be folded away; `inner` is markup."""
    return f"<details{' open' * is_open}><summary>{escape(summary)}</summary>{inner}</details>"


def bar(share: float, text: str, kind: str = "bar") -> str:
    """Return a number as a bar with its text: `share` of the room that it has."""
    return f'<span class="{kind}" style="--share:{min(1.0, max(0.0, share)):.4f}">{escape(text)}</span>'


def markup_table(rows: Iterable[Sequence[str]], heads: Sequence[str], kind: str = "") -> str:
    """Return a table of cells that are markup already; the first of each row names it.

    On a narrow page tables of the kinds `bars` and `stack` stand cell below cell, each after the head of its column.
    """
    head = "".join(f'<th scope="col">{text}</th>' for text in heads)
    plain = [re.sub("<[^>]*>", "", text).replace('"', "&quot;") for text in heads]
    body = "".join(
        f'<tr><th scope="row">{first}</th>'
        + "".join(f'<td data-head="{text}">{cell}</td>' for text, cell in zip(plain[1:], cells, strict=True))
        + "</tr>"
        for first, *cells in rows
    )
    name = f' class="{kind}"' if kind else ""
    return f'<div class="table"><table{name}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def drawing(identity: str, description: str, kind: str = "") -> str:
    """Return the place of a drawing by the page itself, moved by keys; its label describes it."""
    canvas = f'<canvas id="{identity}" role="img" tabindex="0" aria-label="{escape(description)}"></canvas>'
    return f'<div class="drawing {kind}">{canvas}</div>'


def script_json(data: Mapping[str, object]) -> str:
    """Return JSON that may stand inside a script element: no text in it can end that element."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
