"""Common parts of all static figures: an empty figure, and the error for results that are missing."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure

from applications.report import style
from pipeline.errors import InputError, refused


class Drawing(Figure):
    """A figure that notebooks show by themselves, whether or not pyplot has been loaded in them."""

    def _repr_png_(self) -> bytes:
        stream = BytesIO()
        self.savefig(stream, format="png")
        return stream.getvalue()


def new(width: float = 8.0, height: float = 4.5) -> Figure:
    """Return an empty figure of that size [inch]."""
    return Drawing(figsize=(width, height), layout="constrained")


def dress(figure: Figure) -> Figure:
    """Draw all axes of a figure as on the page: grey frames and ticks, light grids behind the data."""
    for axes in figure.axes:
        is_bar = axes.get_label() == "<colorbar>"
        for name in "xyz":
            paint = getattr(getattr(axes, f"{name}axis", None), "set_pane_color", None)
            if paint is not None:  # axes in three dimensions
                paint(style.PANE)
        for side, spine in axes.spines.items():
            spine.set_edgecolor(style.LINE if is_bar else style.QUIET)
            spine.set_visible(spine.get_visible() and (is_bar or side in ("left", "bottom")))
        axes.tick_params(colors=style.QUIET, labelcolor=style.INK)
        axes.set_axisbelow(True)
        if not is_bar and any(spine.get_visible() for spine in axes.spines.values()):
            axes.grid(visible=True, color=style.LINE, linewidth=0.8)
        for label in (axes.xaxis.label, axes.yaxis.label, axes.title):
            label.set_color(style.INK)
    return figure


def lacks(kind: str, what: str) -> InputError:
    """Return the error for a kind of figure whose data these results lack."""
    return refused(kind, "results without it", what)
