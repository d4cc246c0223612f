"""Run the three studies of `examples/` and take the pictures of their reports that docs/report.md shows.

python docs/make_reports.py [folder], by default runs/. Needs the extras report and browser, and Chromium.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parent.parent
STUDIES = ("pick_and_place", "hexapod_stiffness", "friction_share")
WIDTH, COLOURS = 640, 256
"""Pixels and colours of a picture: large enough to read, small enough to keep."""


def shrink(source: Path, target: Path) -> None:
    """A screenshot as a small PNG."""
    with Image.open(source) as taken:
        small = taken.convert("RGB").resize((WIDTH, taken.height * WIDTH // taken.width), Image.Resampling.LANCZOS)
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
            picture(window, folder / f"{name}.page.png")
            assert complaints(window) == []
        shrink(folder / f"{name}.page.png", ROOT / "docs" / "pictures" / f"report_{name}.png")
        print(f"wrote docs/pictures/report_{name}.png")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
