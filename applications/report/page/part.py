"""A part of a page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from robots.data_classes import dataclass, field


@dataclass(frozen=True)
class PagePart:
    """A section of the page; `body` is markup, `figures` plotly figures by id, `data` for the scripts.

    `short` is its title in the table of contents.
    """

    identity: str
    title: str
    body: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    short: str = ""

    def plain_figures(self) -> dict[str, Any]:
        """Return the figures in types of JSON."""
        return {name: json.loads(figure.to_json()) for name, figure in self.figures.items()}
