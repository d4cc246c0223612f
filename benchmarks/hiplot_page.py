"""Compares a report with HiPlot in Chromium on the same designs: size of the page, first paint, a brush by the mouse.

    python -m benchmarks.hiplot_page [--designs 10000] [--dashboard]

Both pages are files without network. The brush is a real drag of the mouse along the first axis: for each move the time
until the browser has painted the next frame, and from the release until the lines stand still (their canvases are the
same for 300 ms, which are taken off). With `--dashboard` the designs are also trials of a study of Optuna, in its
dashboard, a server on this machine (package optuna-dashboard): megabytes that it sends, first paint, and the time until
there is a chart. Needs the extras report, browser and peers, and Chromium with its driver; times depend on the machine,
and on its other load.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import numpy as np
from xarray import Dataset

MOVES = 6
QUIET = 0.3
"""Seconds for which canvases that stay the same stand still."""

FRAME = (
    "const start = performance.now(); requestAnimationFrame(() => { const it = new MessageChannel();"
    " it.port1.onmessage = () => arguments[0](performance.now() - start); it.port2.postMessage(0); });"
)
DRAWN = (
    "return [...document.querySelectorAll('canvas')].map((it) => { const s = it.getContext('2d');"
    " if (!s || !it.width || !it.height) return 0; const d = s.getImageData(0, 0, it.width, it.height).data;"
    " let sum = 0; for (let i = 0; i < d.length; i += 97) sum = (sum * 31 + d[i]) | 0; return sum; }).join()"
)
"""A sum over the pixels of all canvases."""

PAINT = "return performance.getEntriesByType('paint').find((it) => it.name === 'first-contentful-paint')?.startTime"
CHART = "return Boolean(document.querySelector('.main-svg, canvas.gl-canvas, .js-plotly-plot .plot-container'))"
AXES = {
    "report": "document.getElementById('parallel').querySelector('canvas') ?? document.getElementById('parallel')",
    "HiPlot": "document.querySelector('.pplot-brush')",
}
"""Element along which the mouse is dragged."""


def columns(dataset: Dataset) -> list[dict[str, float]]:
    """Return the designs as rows of numbers, which both pages show."""
    from applications.studies.columns import column, names

    table = {name: column(dataset, name).tolist() for name in names(dataset)}
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def settled(window: Any) -> float:
    """Return the seconds until the canvases of a page stand still."""
    start = last = time.perf_counter()
    drawn = window.execute_script(DRAWN)
    while time.perf_counter() - last < QUIET:
        now = window.execute_script(DRAWN)
        if now != drawn:
            drawn, last = now, time.perf_counter()
    return last - start


def mouse(window: Any, kind: str, x: float, y: float) -> None:
    """Send an event of the mouse, as the browser gets it from a hand."""
    event = {"type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1}
    window.execute_cdp_cmd("Input.dispatchMouseEvent", event)


def measure(name: str, page: Path) -> str:
    """Return a row of the table."""
    from tests.applications.report.browser import opened

    with opened(page, settled=False) as window:
        window.set_script_timeout(120)
        start = time.perf_counter()
        while window.execute_script(f"return !({AXES[name]})") and time.perf_counter() - start < 60.0:
            time.sleep(0.1)
        window.execute_script("document.getElementById('play')?.click()")  # so that nothing moves by itself
        paint = window.execute_script(PAINT)
        window.execute_script(f"({AXES[name]}).scrollIntoView({{block: 'center', behavior: 'instant'}})")
        settled(window)
        box = window.execute_script(
            f"const b = ({AXES[name]}).getBoundingClientRect(); return [b.x, b.y, b.width, b.height]"
        )
        x, y, wide, high = box
        if name == "report":  # its first axis, within the drawing of all
            x, y, wide, high = window.execute_script(
                f"const b = ({AXES[name]}).getBoundingClientRect(); return [b.x + 55, b.y + 40, 0, b.height - 80]"
            )
        across = x + wide / 2.0
        mouse(window, "mouseMoved", across, y + 0.2 * high)
        mouse(window, "mousePressed", across, y + 0.2 * high)
        frames = []
        before = window.execute_script(DRAWN)
        for k in range(1, MOVES + 1):
            mouse(window, "mouseMoved", across, y + (0.2 + 0.5 * k / MOVES) * high)
            frames.append(float(window.execute_async_script(FRAME)))
        mouse(window, "mouseReleased", across, y + 0.7 * high)
        rest = settled(window)
        changed = window.execute_script(DRAWN) != before
    size = page.stat().st_size / 1e6
    moved = f"{statistics.median(frames):7.0f}{1e3 * rest:9.0f}" if changed else "  the drag changed nothing"
    return f"{name:<8}{size:8.1f}{paint:14.0f}{moved}"


@contextmanager
def dashboard(dataset: Dataset, objectives: Sequence[str]) -> Iterator[tuple[str, dict[str, int]]]:
    """Serve the designs as a study of Optuna; gives the address of the page of the study, and the bytes sent so far."""
    import optuna
    from optuna_dashboard import wsgi

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    rows = columns(dataset)
    parameters = [name for name in rows[0] if name in dataset.coords]
    unit: optuna.distributions.BaseDistribution = optuna.distributions.FloatDistribution(0.0, 1.0)
    ranges = dict.fromkeys(parameters, unit)
    study = optuna.create_study(directions=["minimize" for _ in objectives], storage=optuna.storages.InMemoryStorage())
    study.add_trials(
        optuna.create_trial(
            params={name: row[name] for name in parameters}, distributions=ranges, values=[row[o] for o in objectives]
        )
        for row in rows
        if np.isfinite([row[name] for name in objectives]).all()
    )
    sent, app = {"bytes": 0}, wsgi(study._storage)

    def counted(environ: dict[str, Any], start: Callable[..., Any]) -> Iterator[bytes]:
        for part in app(environ, start):
            sent["bytes"] += len(part)
            yield part

    with make_server("127.0.0.1", 0, counted, handler_class=_Quiet) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/dashboard/studies/{study._study_id}", sent
        server.shutdown()
        thread.join()


class _Quiet(WSGIRequestHandler):
    """Handler that prints nothing."""

    def log_message(self, format: str, *args: Any) -> None:  # its name in the base class
        """Print nothing."""


def measure_dashboard(dataset: Dataset, objectives: Sequence[str]) -> str:
    """Return the row of Optuna's dashboard: megabytes sent, first paint, and milliseconds until it stands still."""
    from tests.applications.report.browser import chrome

    with dashboard(dataset, objectives) as (address, sent), chrome() as window:
        start = time.perf_counter()
        window.get(address)
        while not window.execute_script(CHART) and time.perf_counter() - start < 240.0:
            time.sleep(0.1)
        drawn = 1e3 * (time.perf_counter() - start)
        paint = window.execute_script(PAINT)
    return f"{'Optuna':<8}{sent['bytes'] / 1e6:8.1f}{paint:14.0f}   a chart after {drawn:.0f} ms"


def main(arguments: Sequence[str] | None = None) -> None:
    """Make both pages of a made-up study and measure them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--designs", type=int, default=10_000)
    parser.add_argument("--dashboard", action="store_true", help="Also Optuna's, by the package optuna-dashboard.")
    options = parser.parse_args(arguments)
    import hiplot

    from applications.report import write_report
    from tests.applications.report.large import large

    with tempfile.TemporaryDirectory() as folder:
        dataset = large(options.designs, failing=10**9)
        ours = write_report(dataset, Path(folder) / "report.html", objectives=["min peak_force", "min energy"])
        theirs = Path(folder) / "hiplot.html"
        hiplot.Experiment.from_iterable(columns(dataset)).to_html(str(theirs))
        print("page          MB  first paint ms  move ms  rest ms")
        for name, page in (("report", ours), ("HiPlot", theirs)):
            print(measure(name, page))
        if options.dashboard:
            print(measure_dashboard(dataset, ["peak_force", "energy"]))


if __name__ == "__main__":
    main()
