"""A result of a paper, and the lines that compare printed with computed values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

DPI, COLOURS = 85, 128
NOT_PRINTED = "drawn, no numbers"


@dataclass(frozen=True)
class Line:
    """One comparison: the quantity, the printed value, the computed one, and a remark."""

    what: str
    printed: str
    computed: str
    verdict: str

    def markdown(self) -> str:
        """Return a row of a table."""
        return f"| {self.what} | {self.printed} | {self.computed} | {self.verdict} |"


@dataclass(frozen=True)
class Outcome:
    """Comparisons of a result, and its figures by the names of their files."""

    lines: Sequence[Line]
    figures: Sequence[tuple[str, Figure]] = ()


@dataclass(frozen=True)
class Result:
    """A result of a paper: `name` on the command line, place in the paper, and the function that computes it."""

    name: str
    source: str
    title: str
    compute: Callable[[], Outcome]

    def show(self, folder: Path) -> Iterator[str]:
        """Compute it, write its figures into the folder, and tell its table in Markdown."""
        outcome = self.compute()
        yield f"## {self.title}\n"
        yield f"{self.source}. `python -m benchmarks.papers {self.name}`\n"
        yield "| quantity | printed, or closed form | computed | |"
        yield "|---|---|---|---|"
        yield from (line.markdown() for line in outcome.lines)
        for stem, figure in outcome.figures:
            save(figure, folder / f"{stem}.png")
            yield f"\n![{self.title}]({folder.name}/{stem}.png)"
        yield ""


def panels(title: str, count: int) -> tuple[Figure, list[Axes]]:
    """Return a figure with axes beside each other."""
    figure = Figure(figsize=(5.0 * count, 3.8), layout="constrained")
    figure.suptitle(title, fontsize=11)
    axes = figure.subplots(1, count, squeeze=False)
    return figure, list(axes[0])


def label(axes: Axes, ylabel: str, title: str) -> None:
    """Label a curve over time."""
    axes.set(xlabel="time [s]", ylabel=ylabel)
    axes.set_title(title, fontsize=9)
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.legend(frameon=False, fontsize=8, ncols=2)


def save(figure: Figure, path: Path) -> None:
    """Save a figure as a small picture: the colours of a drawing fit into a palette."""
    path.parent.mkdir(parents=True, exist_ok=True)
    buffer = BytesIO()
    figure.savefig(buffer, dpi=DPI, format="png")
    Image.open(buffer).convert("RGB").quantize(COLOURS).save(path, optimize=True)
