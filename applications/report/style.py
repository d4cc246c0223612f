"""Colours, line styles and sizes that pages and static figures share.

The colours are those of Okabe and Ito, which people with any kind of colour vision tell apart; lines differ in their
dashes too, so that a print without colour can be read. Scales are cividis and its like: even in grey.
"""

from __future__ import annotations

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
"""Dashes of lines by plotly's names."""

MATPLOTLIB_DASHES = ("-", "--", ":", "-.", (0, (8, 3)), (0, (8, 3, 1, 3)))
"""The same for matplotlib, in the same order."""

SCALE = "cividis"
INK, GREY, LIGHT = "#1d2430", "#6b7280", "#c3cad2"
QUIET, LINE, PANE = "#5a6472", "#dfe3e8", "#f6f7f9"
"""Colours of captions, of grids, and of the ground, as the page has them in its light theme (`web/page.css`)."""

BASE, PLATFORM, ARROW = "#555555", "#D55E00", "#000000"
LIMBS = ("#0072B2", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#5D3A9B")
"""Colours of the mechanism: base, payload, forces, and limbs, all different from the platform."""


def of(colours: tuple[str, ...], index: int) -> str:
    """Return the colour or dash of the `index`-th of many things."""
    return colours[index % len(colours)]
