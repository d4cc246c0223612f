"""Run the three studies of `examples/` and take the pictures of their reports that docs/report.md shows.

python docs/make_reports.py [folder], by default runs/. Needs the extras report and browser, and Chromium.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parent.parent
STUDIES = ("pick_and_place", "hexapod_stiffness", "friction_share")
WIDTH, COLOURS = 1400, 128
"""Pixels and colours of a picture of two columns: large enough to read, small enough to keep."""

TOPS = "return [...document.querySelectorAll('section')].map((each) => each.getBoundingClientRect().top)"
"""Where a page may be cut."""


def shrink(source: Path, target: Path, cuts: Sequence[float]) -> None:
    """A screenshot as a small PNG: two columns, cut where a section begins."""
    with Image.open(source) as taken:
        page = taken.convert("RGB")
    cut = round(min(cuts, key=lambda top: abs(top - page.height / 2)))
    both = Image.new("RGB", (2 * page.width, max(cut, page.height - cut)), "white")
    both.paste(page.crop((0, 0, page.width, cut)), (0, 0))
    both.paste(page.crop((0, cut, page.width, page.height)), (page.width, 0))
    small = both.resize((WIDTH, both.height * WIDTH // both.width), Image.Resampling.LANCZOS)
    small.quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(target, optimize=True)


def load(path: Path) -> object:
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(folder: Path = Path("runs")) -> None:
    """Make stores, reports and pictures."""
    sys.path.insert(0, str(ROOT))
    from tests.pipeline.report.browser import complaints, opened, picture

    for name in STUDIES:
        load(ROOT / "examples" / f"{name}.py").main(folder)  # type: ignore[attr-defined]
        with opened(folder / f"{name}.html") as window:
            picture(window, folder / f"{name}.page.png", 1280)
            cuts = window.execute_script(TOPS)
            assert complaints(window) == []
        shrink(folder / f"{name}.page.png", ROOT / "docs" / "pictures" / f"report_{name}.png", cuts)
        print(f"wrote docs/pictures/report_{name}.png")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
