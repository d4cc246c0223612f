"""What all static figures share: an empty figure, and the error for what results do not have."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure

from pipeline.errors import InputError, Problem


class Drawing(Figure):
    """A figure that notebooks show by themselves, whether or not pyplot has been loaded in them."""

    def _repr_png_(self) -> bytes:
        stream = BytesIO()
        self.savefig(stream, format="png")
        return stream.getvalue()


def new(width: float = 8.0, height: float = 4.5) -> Figure:
    """An empty figure of that size [inch]."""
    return Drawing(figsize=(width, height), layout="constrained")


def lacks(kind: str, what: str) -> InputError:
    """The error for a kind of figure that needs what these results do not have."""
    return InputError([Problem(kind, 0, 0, "", "results without it", what)])
