"""The graphs of limbs as pictures: the few words of Mermaid that `docs.site.robots` writes, drawn as SVG.

Places that show Markdown draw them by a script of some megabytes; a page of ours carries the drawing. Columns are
distances from the base, rows come from the leaves of the tree.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

_EDGE = re.compile(r'([\w.]+) (==>|-->|-\.->)\|"([^"]*)"\| ([\w.]+)')
_STYLE = {"==>": ' stroke-width="3"', "-->": "", "-.->": ' stroke-dasharray="4 4"'}
TREE = ("==>", "-->")
COLUMN, ROW, HIGH, WIDE = 190, 64, 28, 84
"""Distances of columns and rows, height and width of a body [px]."""


class Edge(NamedTuple):
    """A joint: bodies, arrow, label."""

    start: str
    arrow: str
    label: str
    end: str


def parse(lines: Sequence[str]) -> list[Edge]:
    """The joints of a graph. Raises ValueError for a line that is no part of the language that is drawn here."""
    edges = []
    for line in map(str.strip, lines):
        found = _EDGE.fullmatch(line)
        if found:
            edges.append(Edge(*found.groups()))
        elif line and line != "flowchart LR" and not re.fullmatch(r"\w+\(\[\w+\]\)", line):
            raise ValueError(f"graph: got {line!r}; expected 'flowchart LR', 'name([name])' or 'a -->|\"label\"| b'")
    return edges


def places(edges: Sequence[Edge]) -> dict[str, tuple[float, float]]:
    """Column and row of each body."""
    children: dict[str, list[str]] = {}
    for edge in edges:
        if edge.arrow in TREE:
            children.setdefault(edge.start, []).append(edge.end)
    found: dict[str, tuple[float, float]] = {}
    leaves = iter(range(len(edges) + 1))

    def place(body: str, column: int) -> float:
        rows = [place(each, column + 1) for each in children.get(body, [])]
        row = sum(rows) / len(rows) if rows else float(next(leaves))
        found[body] = (column, row)
        return row

    place(edges[0].start, 0)
    last = 1 + max(column for column, _ in found.values())
    for edge in edges:  # what cut joints alone lead to: the platform
        if edge.end not in found:
            rows = [found[each.start][1] for each in edges if each.end == edge.end]
            found[edge.end] = (last, sum(rows) / len(rows))
    return found


def svg(lines: Sequence[str]) -> str:
    """The drawing of a graph."""
    edges = parse(lines)
    at = {body: (column * COLUMN + WIDE / 2 + 4, row * ROW + HIGH) for body, (column, row) in places(edges).items()}
    width, height = (max(axis) for axis in zip(*at.values(), strict=True))
    drawn = [*(_joint(edge, at) for edge in edges), *(_body(name, *place) for name, place in at.items())]
    size = f'viewBox="0 0 {width + WIDE / 2 + 4:g} {height + HIGH:g}" width="{width + WIDE / 2 + 4:g}"'
    title = escape(", ".join(f"{edge.start} to {edge.end}: joint {edge.label}" for edge in edges))
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}><title>{title}</title>{"".join(drawn)}</svg>'


def _joint(edge: Edge, at: Mapping[str, tuple[float, float]]) -> str:
    (x_a, y_a), (x_b, y_b) = at[edge.start], at[edge.end]
    if x_a == x_b:  # bodies one above the other
        path, middle = f"M{x_a:g} {y_a:g} L{x_b:g} {y_b:g}", (x_a, (y_a + y_b) / 2)
    else:
        x_a, x_b = (x_a + WIDE / 2, x_b - WIDE / 2) if x_a < x_b else (x_a - WIDE / 2, x_b + WIDE / 2)
        path, middle = f"M{x_a:g} {y_a:g} L{x_b:g} {y_b:g}", ((x_a + x_b) / 2, (y_a + y_b) / 2)
    wide = 7.5 * len(edge.label) + 6
    box = f'<rect class="label" x="{middle[0] - wide / 2:g}" y="{middle[1] - 9:g}" width="{wide:g}" height="18"/>'
    return f'<path class="line" d="{path}"{_STYLE[edge.arrow]}/>{box}{_text(edge.label, *middle)}'


def _body(name: str, x: float, y: float) -> str:
    corner = HIGH / 2 if name in ("base", "platform") else 3
    box = f'x="{x - WIDE / 2:g}" y="{y - HIGH / 2:g}" width="{WIDE}" height="{HIGH}" rx="{corner:g}"'
    return f'<rect class="body" {box}/>{_text(name, x, y)}'


def _text(text: str, x: float, y: float) -> str:
    return f'<text x="{x:g}" y="{y + 4:g}" text-anchor="middle">{escape(text)}</text>'


class Mermaid(Directive):
    """A fence with the word `mermaid`."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """The drawing; a line that cannot be drawn is an error of the page."""
        try:
            drawn = svg(list(self.content))
        except ValueError as error:
            raise self.error(str(error)) from None
        return [nodes.raw("", f'<figure class="graph">{drawn}</figure>', format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Draw such fences."""
    app.add_directive("mermaid", Mermaid)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
