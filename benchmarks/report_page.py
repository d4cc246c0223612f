"""Measures reports in Chromium: size, first paint, when the page answers, a brush, a click, frames of a moving hand.

    python -m benchmarks.report_page [--designs 100000] [PAGE.html ...]

Without pages it makes the report of a made-up study with many designs. Sizes are of the whole page and of the page
without the plotting library. The first paint is the browser's first-contentful-paint; a brush lasts from the new range
until the browser has drawn the frame that shows it, the median of several; so does a click on another design. Frames
follow each other while a hand brushes an axis of the parallel coordinates (with them in view, then the trade-off, then
the matrix) or moves over the lines or over the trade-off: their number in a second, and the processor time of the
page's thread for each, which depends less on other load of the machine; 60 in a second are 16.7 ms. Needs the extras
report and browser, and Chromium with its driver, which draws by the processor here.
"""

from __future__ import annotations

import argparse
import re
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

LIBRARY = re.compile(r'<script type="text/plain" id="plotting">.*?</script>', re.DOTALL)

PAINT = "return performance.getEntriesByType('paint').find((it) => it.name === 'first-contentful-paint')?.startTime"
READY = "return performance.getEntriesByName('ready')[0]?.startTime"
SHOWN = (
    "const start = performance.now(), shown = () => requestAnimationFrame(() => {{ const it = new MessageChannel();"
    " it.port1.onmessage = () => arguments[0](performance.now() - start); it.port2.postMessage(0); }}); {act}; shown();"
)
"""Script that waits until the frame after an act has been painted."""

BRUSHES = 7

FRAMES = 40
FOLLOWED = (
    "const done = arguments[0], start = performance.now(); let k = 0;"
    " const step = () => {{ if (k === {frames}) return done(performance.now() - start);"
    " {act}; k++; requestAnimationFrame(step); }}; requestAnimationFrame(step);"
)
"""An act in each frame."""
BRUSH = (
    "const t = window.limbsweepReport, c = t.table.byName.get(t.state.axes[0]), s = (c.high - c.low) / 100;"
    " t.filter.range(c.name, [c.low + (k + 1) * s, c.high - 20 * s])"
)
HOVER = (
    "const it = document.getElementById('{place}'), b = it.getBoundingClientRect();"
    " it.dispatchEvent(new PointerEvent('pointermove', {{pointerType: 'mouse',"
    " clientX: b.x + b.width * (0.3 + 0.01 * k), clientY: b.y + b.height * (0.4 + 0.005 * k)}}))"
)


def measured(window: Any, act: str) -> float:
    """Return the milliseconds from an act in the page until it is visible, the median of several."""
    times = [float(window.execute_async_script(SHOWN.format(act=act.format(k=k)))) for k in range(BRUSHES)]
    return statistics.median(times)


def frames(window: Any, place: str, act: str) -> str:
    """Return the frames in a second while an act is made in each, with a place in view, and their processor time."""
    window.execute_script(
        f"document.getElementById('{place}').scrollIntoView({{block: 'center', behavior: 'instant'}})"
    )
    time.sleep(2.0)
    before = _busy(window)
    spent = window.execute_async_script(FOLLOWED.format(frames=FRAMES, act=act))
    own = 1e3 * (_busy(window) - before) / FRAMES
    window.execute_script("window.limbsweepReport.filter.ranges.clear(); window.limbsweepReport.filter.update()")
    return f"{1e3 * FRAMES / spent:4.0f} frames a second, {own:5.1f} ms of the processor for each"


def _busy(window: Any) -> float:
    """Return the seconds of the processor that the page's thread has used."""
    metrics = window.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(float(metric["value"]) for metric in metrics if metric["name"] == "TaskDuration")


def report(page: Path) -> None:
    """Open a page and print the measurements."""
    from tests.applications.report.browser import opened

    text = page.read_text("utf-8")
    ours = len(text.encode()) - sum(len(match.encode()) for match in LIBRARY.findall(text))
    print(f"{page.name}: {page.stat().st_size / 1e6:.1f} MB, {ours / 1e6:.2f} MB without the library")
    with opened(page, settled=False) as window:
        window.set_script_timeout(120)
        window.execute_async_script(
            "const ready = () => document.documentElement.dataset.state === 'ready';"
            "const wait = () => ready() ? arguments[0]() : setTimeout(wait, 20);"
            "wait();"
        )
        print(
            f"  first paint {window.execute_script(PAINT):.0f} ms, answers after {window.execute_script(READY):.0f} ms"
        )
        if not window.execute_script("return Boolean(window.limbsweepReport.table)"):
            return
        window.execute_script(
            "document.getElementById('play')?.textContent === 'Pause' && document.getElementById('play').click()"
        )
        size = window.execute_script("return window.limbsweepReport.table.size")
        window.execute_script(
            "document.getElementById('parallel').scrollIntoView({block: 'center', behavior: 'instant'})"
        )
        time.sleep(2.0)
        low = "const t = window.limbsweepReport, c = t.table.byName.get(t.state.axes[0]), s = (c.high - c.low) / 20"
        brush = f"{low}; t.filter.range(c.name, [c.low + ({{k}} + 1) * s, c.high - 2 * s])"
        print(f"  {size:,} designs: brush {measured(window, brush):.0f} ms", end="")
        window.execute_script("window.limbsweepReport.filter.ranges.clear(); window.limbsweepReport.filter.update()")
        click = "const t = window.limbsweepReport; t.choose(({k} * 997 + 1) % t.table.size)"
        print(f", click {measured(window, click):.0f} ms")
        window.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        for place in ("parallel", "front", "matrix"):
            if window.execute_script(f"return Boolean(document.getElementById('{place}'))"):
                print(f"  a brush, {place:8} in view: {frames(window, place, BRUSH)}")
        for place in ("parallel", "front"):
            if window.execute_script(f"return Boolean(document.getElementById('{place}'))"):
                print(f"  a hand over {place:15}: {frames(window, place, HOVER.format(place=place))}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure pages, or that of a made-up study."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--designs", type=int, default=100_000)
    options = parser.parse_args(arguments)
    for page in options.pages:
        report(page)
    if not options.pages:
        from applications.report import write_report
        from tests.applications.report.large import large

        with tempfile.TemporaryDirectory() as folder:
            dataset, start = large(options.designs, failing=10**9), time.perf_counter()
            page = write_report(dataset, Path(folder) / "large.html", objectives=["min peak_force", "min energy"])
            print(f"made in {time.perf_counter() - start:.1f} s")
            report(page)


if __name__ == "__main__":
    main()
