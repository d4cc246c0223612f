"""Run the three studies of `examples/` and take the pictures of their reports that docs/report.md shows.

python docs/make_reports.py [folder], by default runs/. Needs the extras report and browser, and Chromium.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image

ROOT = Path(__file__).parent.parent
STUDIES = ("pick_and_place", "hexapod_stiffness", "friction_share")
WIDTH, COLOURS = 1400, 160
"""Pixels and colours of a picture of two columns: large enough to read, small enough to keep."""

LEFT_OUT = ("series-part", "swept", "provenance")
"""Parts that pictures leave out."""

HIDE = "for (const each of arguments[0]) { const part = document.getElementById(each); if (part) part.hidden = true; }"
NARROW_WIDTH = 900
NARROW = ((820, 1500, "dark"), (390, 1500, "light"))
"""A tablet and a phone: width and height in pixels, and colours."""

TOPS = "return [...document.querySelectorAll('section')].map((each) => each.getBoundingClientRect().top)"
"""Elements between which a page may be cut."""


def shrink(source: Path, target: Path, cuts: Sequence[float]) -> None:
    """A screenshot as a small PNG: two columns, cut where a section begins."""
    with Image.open(source) as taken:
        page = taken.convert("RGB")
    cut = round(min(cuts, key=lambda top: abs(top - page.height / 2)))
    both = Image.new("RGB", (2 * page.width, max(cut, page.height - cut)), page.getpixel((3, page.height - 3)))
    both.paste(page.crop((0, 0, page.width, cut)), (0, 0))
    both.paste(page.crop((0, cut, page.width, page.height)), (page.width, 0))
    save(both.resize((WIDTH, both.height * WIDTH // both.width), Image.Resampling.LANCZOS), target)


def save(picture: Image.Image, target: Path) -> None:
    """A picture in few colours."""
    picture.quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(target, optimize=True)


def themed(window: Any, theme: str) -> None:
    """Press the button for light and dark colours where the page has the others."""
    pressed = window.execute_script("return document.getElementById('theme').ariaPressed === 'true'")
    if pressed != (theme == "dark"):
        window.execute_script("document.getElementById('theme').click()")


def narrow(window: Any, folder: Path, target: Path) -> None:
    """The top of a page on a tablet and on a phone, side by side."""
    from tests.applications.report.browser import settle

    shots = []
    for width, height, theme in NARROW:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        window.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        themed(window, theme)
        window.execute_script("scrollTo(0, 0)")
        settle(window)
        window.save_screenshot(str(folder / f"{width}.png"))
        with Image.open(folder / f"{width}.png") as taken:
            shots.append(taken.convert("RGB"))
    both = Image.new("RGB", (sum(shot.width for shot in shots) + 20, max(shot.height for shot in shots)), "white")
    both.paste(shots[0], (0, 0))
    both.paste(shots[1], (shots[0].width + 20, 0))
    save(both.resize((NARROW_WIDTH, both.height * NARROW_WIDTH // both.width), Image.Resampling.LANCZOS), target)


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
    from tests.applications.report.browser import complaints, opened, picture

    for name in STUDIES:
        load(ROOT / "examples" / f"{name}.py").main(folder)  # type: ignore[attr-defined]
        with opened(folder / f"{name}.html") as window:
            narrow(window, folder, ROOT / "docs" / "pictures" / f"report_{name}_narrow.png")
            window.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
            themed(window, "light")
            window.execute_script(HIDE, list(LEFT_OUT))
            picture(window, folder / f"{name}.page.png", 1280)
            cuts = window.execute_script(TOPS)
            assert complaints(window) == []
        shrink(folder / f"{name}.page.png", ROOT / "docs" / "pictures" / f"report_{name}.png", cuts)
        print(f"wrote docs/pictures/report_{name}.png")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
