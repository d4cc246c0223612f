"""Draw the thumbnails of the gallery.

A sweep is drawn as the mechanism of its middle design at some times, a script by the picture that it draws.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from applications.report import style  # noqa: E402
from applications.report.data import series  # noqa: E402
from applications.report.data.recomputed import compute  # noqa: E402
from applications.report.figures.animation import view_axes  # noqa: E402
from docs.site.examples import EXAMPLES  # noqa: E402 - the folder of the pages is not installed
from docs.site.gallery import DRAWN, name, sweeps  # noqa: E402
from pipeline.sweep.doors import read_sweeps  # noqa: E402

PICTURES = HERE / "pictures" / "gallery"
SIZE, COLOURS = (240, 180), 64
PHASES = 4


def draw(path: Path) -> Figure:
    """Draw the mechanism of a sweep at some times."""
    sweep = read_sweeps(path)[0]
    (case,) = compute(sweep, [sweep.design.size // 2], 0)
    (moved, *_), lines = series.motions(case)
    sound = moved.points[np.isfinite(moved.points).all(axis=(1, 2))]
    base = series.mounts(case.mechanism)
    axes_of_view = view_axes(np.concatenate([sound.reshape(-1, 3), base]))
    figure = Figure(figsize=(SIZE[0] / 100, SIZE[1] / 100), layout="constrained")
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="datalim")
    _lines(axes, [base @ axes_of_view.T], style.BASE, 1.0, 1.0)
    for order, frame in enumerate(sound[np.linspace(0, len(sound) - 1, PHASES).astype(int)]):
        alpha = (order + 1) / PHASES
        for index, limb in enumerate(lines.limbs):
            _lines(axes, [frame[pair] @ axes_of_view.T for pair in limb], style.of(style.LIMBS, index), 1.6, alpha)
        if len(lines.platform):
            _lines(axes, [frame[lines.platform] @ axes_of_view.T], style.PLATFORM, 2.2, alpha)
    return figure


def _lines(axes: object, ways: Sequence[NDArray[np.float64]], colour: str, width: float, alpha: float) -> None:
    for way in ways:
        axes.plot(*way.T, color=colour, linewidth=width, alpha=alpha, solid_capstyle="round")  # type: ignore[attr-defined]


def save(image: Image.Image, path: Path) -> None:
    """Write a thumbnail: small, on white, few colours."""
    image = image.convert("RGB")
    if image.height > image.width:  # the top of a long page
        image = image.crop((0, 0, image.width, image.width * SIZE[1] // SIZE[0]))
    image.thumbnail(SIZE)
    board = Image.new("RGB", SIZE, "white")
    board.paste(image, tuple((whole - part) // 2 for whole, part in zip(SIZE, image.size, strict=True)))
    board.quantize(COLOURS).save(path, optimize=True)


def pictures() -> None:
    """Draw all thumbnails."""
    PICTURES.mkdir(exist_ok=True)
    for path in sweeps():
        stream = BytesIO()
        draw(path).savefig(stream, dpi=200)
        save(Image.open(stream), PICTURES / name(path))
    for script, picture in DRAWN.items():
        save(Image.open(HERE / "pictures" / picture), PICTURES / name(EXAMPLES / script))


if __name__ == "__main__":
    pictures()
