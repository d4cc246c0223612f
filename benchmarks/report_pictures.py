"""Pictures and times of the reports of three studies in Chromium, also beside those of another commit.

    python -m benchmarks.report_pictures [--folder pictures] [--against REV] [--studies pick_and_place ...]

Runs each study, writes its report, and takes a picture of the whole page at the width of a desktop, a tablet and a
phone, in light and in dark colours, as the browser asks a page for them. `--against 3ce654e` does the same with the
packages and the example of another commit, written by `git archive`, and puts both pages side by side; a study that it
does not have, or cannot run, is said to lack there.

Times are those of the desktop, and mean the same for any page: the first paint; when the page is done (the end of the
last long task before a second without one, and when it says that it is ready, if it does); and a drag of the mouse
along the first axis of the parallel coordinates: from its release until the next paint (Event Timing), and the long
tasks after it. Needs the extras report and browser, and Chromium with its driver; times depend on the machine, and on
its other load.
"""

from __future__ import annotations

import argparse
import base64
import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw

from benchmarks import against
from benchmarks.hiplot_page import PAINT, mouse
from benchmarks.report_page import READY

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

STUDIES = ("pick_and_place", "hexapod_stiffness", "friction_share")
WIDTHS = {"desktop": (1280, 900), "tablet": (820, 1180), "phone": (390, 844)}
"""Pixels of the windows: width and height."""

THEMES = ("light", "dark")
TALLEST = 16_000
"""Pixels of a picture that Chromium paints at once."""

QUIET = 1.0
"""Seconds without a long task after which a page is done."""

PATIENCE = 90.0
"""Seconds after which a page that goes on working is looked at all the same."""

SHORTEST = 16.0
"""Milliseconds of an event below which Event Timing does not tell it."""

PROGRAM = "from applications.commands.cli import main; main()"

OBSERVE = """
window.longTasks = []; window.events = [];
new PerformanceObserver((list) => { for (const it of list.getEntries()) longTasks.push([it.startTime, it.duration]); })
  .observe({ type: "longtask", buffered: true });
new PerformanceObserver((list) => { for (const it of list.getEntries()) events.push([it.startTime, it.duration]); })
  .observe({ type: "event", durationThreshold: 16, buffered: true });
"""

AXES = """
const old = document.querySelector(".parcoords"), now = document.getElementById("parallel");
const it = old ?? now;
if (!it) return null;
it.scrollIntoView({ block: "center", behavior: "instant" });
const box = (old?.querySelector(".axis-brush") ?? now?.querySelector("canvas") ?? it).getBoundingClientRect();
return old ? [box.x + box.width / 2, box.y + 10, box.height - 20] : [box.x + 55, box.y + 40, box.height - 80];
"""
"""Brings the parallel coordinates into the window; where their first axis is then: x, y, height."""


@dataclass(frozen=True)
class PageTimes:
    """Milliseconds of a page, and its size; a drag is None where it changes nothing, or there is nothing to drag."""

    megabytes: float
    paint: float
    done: float
    release: float | None
    busy: float

    def __str__(self) -> str:
        """Format the times in one line for people."""
        drag = "no axes that a drag changes"
        if self.release is not None:
            drag = f"release of a drag {self.release:.0f} ms, long tasks after it {self.busy:.0f} ms"
        return f"{self.megabytes:.1f} MB, first paint {self.paint:.0f} ms, done after {self.done:.0f} ms, {drag}"


def report(root: Path, study: str, folder: Path) -> Path:
    """Run a study with the packages of a checkout and write its report. Raises RuntimeError where that fails."""
    sweep, store, page = root / "examples" / f"{study}.yaml", folder / f"{study}.zarr", folder / f"{study}.html"
    if not sweep.exists():
        raise RuntimeError(f"there is no examples/{study}.yaml")
    for command in (("run", str(sweep), "--store", str(store)), ("report", str(store), "--output", str(page))):
        environment = os.environ | {"PYTHONPATH": str(root)}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *command], cwd=folder, env=environment, capture_output=True, text=True
        )
        if done.returncode:
            raise RuntimeError((done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1])
    return page


@contextmanager
def watched(page: Path) -> Iterator[Chrome]:
    """A browser that shows a page whose long tasks and events have been counted from its start, and that is done."""
    from tests.applications.report.browser import opened

    with opened(page, settled=False) as window:
        window.set_page_load_timeout(PATIENCE)
        window.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": OBSERVE})
        _resize(window, *WIDTHS["desktop"])
        window.get(page.resolve().as_uri())
        _until_quiet(window)
        yield window


def _until_quiet(window: Chrome) -> float:
    """Wait until a page has had no long task for a while; when the last one ended [ms]."""
    start = time.perf_counter()
    while time.perf_counter() - start < PATIENCE:
        time.sleep(0.2)
        last, now = window.execute_script(
            "return [Math.max(0, ...longTasks.map(([at, long]) => at + long)), performance.now()]"
        )
        if now - last > 1e3 * QUIET:
            break
    return float(last)


def _resize(window: Chrome, width: int, height: int) -> None:
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    window.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def times(window: Chrome, page: Path) -> PageTimes:
    """Measure a page that is done."""
    last = window.execute_script("return Math.max(0, ...longTasks.map(([at, long]) => at + long))")
    paint, ready = (float(window.execute_script(asked) or 0.0) for asked in (PAINT, READY))
    release, busy = None, 0.0
    if window.execute_script(AXES):
        _until_quiet(window)  # parts that are drawn when they come into view move the parts below
        x, y, high = window.execute_script(AXES)
        time.sleep(QUIET)
        before = window.get_screenshot_as_png()
        mouse(window, "mouseMoved", x, y + 0.2 * high)
        mouse(window, "mousePressed", x, y + 0.2 * high)
        for k in range(1, 7):
            mouse(window, "mouseMoved", x, y + (0.2 + 0.5 * k / 6) * high)
        since = window.execute_script("window.events.length = 0; window.longTasks.length = 0; return performance.now()")
        mouse(window, "mouseReleased", x, y + 0.7 * high)
        _until_quiet(window)
        release, busy = window.execute_script(
            "return [Math.max(0, ...events.filter(([at]) => at >= arguments[0] - 1).map(([, long]) => long)),"
            " longTasks.reduce((sum, [, long]) => sum + long, 0)]",
            since,
        )
        release = None if window.get_screenshot_as_png() == before else max(release, SHORTEST)
    return PageTimes(page.stat().st_size / 1e6, paint, max(float(last), paint, ready), release, busy)


def picture(window: Chrome, width: int, height: int, theme: str) -> Image.Image:
    """Return the whole page at a width, in light or dark colours, after its drawings are complete."""
    from tests.applications.report.browser import settle

    features = [{"name": "prefers-color-scheme", "value": theme}, {"name": "prefers-reduced-motion", "value": "reduce"}]
    window.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    _resize(window, width, height)
    window.refresh()
    _until_quiet(window)
    window.execute_script("history.scrollRestoration = 'manual'; scrollTo(0, 0)")
    for _ in range(2):  # parts that are drawn when they come into view make the page longer
        tall = int(window.execute_script("return document.documentElement.scrollHeight"))
        _resize(window, width, min(tall, TALLEST))
        if window.execute_script("return document.documentElement.dataset.state === 'ready'"):
            settle(window)
        _until_quiet(window)
    shot = window.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    return Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")


def beside(before: Image.Image, now: Image.Image, names: Sequence[str]) -> Image.Image:
    """Return two pages side by side, from the top of both, each under its name."""
    head, gap = 24, 16
    both = Image.new("RGB", (before.width + gap + now.width, head + max(before.height, now.height)), "white")
    draw = ImageDraw.Draw(both)
    for x, page, name in zip((0, before.width + gap), (before, now), names, strict=True):
        draw.text((x + 8, 6), name, fill="black")
        both.paste(page, (x, head))
    return both


def pictures(page: Path, folder: Path, name: str) -> dict[str, Image.Image]:
    """Measure a page and write its pictures; by width and colours."""
    from tests.applications.report.browser import complaints

    shots = {}
    with watched(page) as window:
        print(f"{name}: {times(window, page)}", flush=True)
        for line in dict.fromkeys(complaints(window)):
            print(f"  the page says: {line}")
        for width, size in WIDTHS.items():
            for theme in THEMES:
                shots[f"{width}_{theme}"] = shot = picture(window, *size, theme)
                shot.save(folder / f"{name}_{width}_{theme}.png")
                wide = window.execute_script("return document.documentElement.scrollWidth")
                if wide > size[0]:
                    print(f"  at the width of a {width} the page is {wide - size[0]} px too wide")
    return shots


def main(arguments: Sequence[str] | None = None) -> None:
    """Make reports, pictures and the lines of times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("pictures"), help="where pictures are written")
    parser.add_argument("--against", metavar="REV", help="a commit whose reports stand beside those of this checkout")
    parser.add_argument("--studies", nargs="+", choices=STUDIES, default=STUDIES, metavar="NAME")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        other, here, there = Path(work) / "packages", Path(work) / "now", Path(work) / "before"
        for place in (here, there):
            place.mkdir()
        if options.against:
            against.write(options.against, other)
        for study in options.studies:
            now = pictures(report(against.ROOT, study, here), options.folder, study)
            if not options.against:
                continue
            name = f"{study}_{options.against}"
            try:
                before = pictures(report(other, study, there), options.folder, name)
            except RuntimeError as error:
                print(f"{name}: no report there: {error}")
                continue
            for key, shot in now.items():
                both = beside(before[key], shot, (options.against, "now"))
                both.save(options.folder / f"{study}_{key}_beside_{options.against}.png")


if __name__ == "__main__":
    main()
