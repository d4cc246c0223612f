"""Page of a run: one HTML file without scripts, from the log of the store and its failed samples.

It shows state, blocks done, samples per second, workers and memory over time, failures by status, and unusual events.
The page of a run that goes on asks the browser to load it again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from pathlib import Path

import numpy as np

from pipeline.errors import size
from pipeline.monitor.log import BlocksDone, ClusterState, LogRecord
from pipeline.monitor.progress import clock, count, counted, note
from pipeline.monitor.samples import FAILED, FailedSamples, failed_samples, none_failed
from pipeline.monitor.status import RunStatus, status_with_run
from robots.data_classes import dataclass
from storage.places.location import LocationLike
from storage.store import open_results, read_parts

RELOAD_SECONDS = 5
"""Time after which a browser loads the page of a run that goes on again."""

POINTS = 40
"""Parts of the time of a run of which each has one throughput."""

RECORDS = 3
"""Records of finished blocks in such a part, at least."""

MOST_STEPS = 800
"""Values of a curve that are drawn; of more the first, last, least and largest of each of a quarter as many parts."""

EVENTS = 200
"""Events that are listed, the last ones."""

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 460, 190, 62, 26, 12

GENERATOR = '<meta name="generator" content="limbsweep status --page">'


@dataclass(frozen=True)
class TimeCurve:
    """Values over the time of a run [s]; `steps`: each holds until the next."""

    title: str
    times: Sequence[float]
    values: Sequence[float]
    unit: str = ""
    steps: bool = False
    limit: float | None = None
    """Value of a line across, such as the memory that is allowed."""


def is_page(path: Path) -> bool:
    """Return whether a file is a page of a run, which may be written again."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return GENERATOR.encode() in stream.read(len(GENERATOR) + 200)


def run_page(store: LocationLike) -> tuple[str, bool]:
    """Return the page of the last run of a store as HTML, and whether the run goes on. Raises StoreError."""
    run_status, records = status_with_run(store)
    failed = _failed(store)
    goes_on = run_status.owner is not None
    reload = f'<meta http-equiv="refresh" content="{RELOAD_SECONDS}">' if goes_on else ""
    instants = elapsed(records)
    seconds = instants[-1] if instants else 0.0
    charts = "".join(
        f"<figure><figcaption>{escape(c.title)}</figcaption>{_svg(c, seconds)}</figure>"
        for c in _curves(records, instants)
    )
    done = f'<progress value="{run_status.done}" max="{max(1, run_status.blocks)}"></progress>'
    style = files("pipeline.monitor").joinpath("page.css").read_text("utf-8").replace("\n", "")
    text = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">{GENERATOR}{reload}'
        f'<meta name="viewport" content="width=device-width"><title>{escape(str(store))}</title><style>{style}</style>'
        f"</head><body><h1>Run of {escape(str(store))}</h1>{done}{_table(run_status.rows())}"
        f'<h2>Over time</h2><div class="charts">{charts}</div>'
        f"{_failures(failed, run_status)}{_events(records)}</body></html>\n"
    )
    return text, goes_on


def _failed(store: LocationLike) -> FailedSamples:
    """Count the failed samples of a store; where none failed, one variable tells that, block by block."""
    if none_failed(read_parts(store, FAILED)):
        return FailedSamples(0, ())
    return failed_samples(open_results(store, unfinished=True))


def elapsed(records: Sequence[LogRecord]) -> list[float]:
    """Return the time of each record since the first [s]; a clock that is set back in a run stands still there."""
    steps = (max(0.0, after.time - before.time) for before, after in itertools.pairwise(records))
    return list(itertools.accumulate(steps, initial=0.0)) if records else []


def _curves(records: Sequence[LogRecord], instants: Sequence[float]) -> Iterator[TimeCurve]:
    if not records:
        return
    rows = list(zip(instants, records, strict=True))
    done = [(at, *_counts(record)) for at, record in rows if isinstance(record.event, BlocksDone)]
    times, blocks, total = [0.0], [0.0], 0
    for at, number, _ in done:
        total += number
        times.append(at)
        blocks.append(total)
    yield TimeCurve("Blocks done in this run", times, blocks, steps=True)
    yield _throughput([(at, samples) for at, _, samples in done], instants[-1])
    yield from _of_workers(rows)


def _of_workers(rows: Sequence[tuple[float, LogRecord]]) -> Iterator[TimeCurve]:
    states = [(at, record.event) for at, record in rows if isinstance(record.event, ClusterState)]
    if states:
        looks = [at for at, _ in states]
        yield TimeCurve("Workers", looks, [state.workers for _, state in states], steps=True)
        limit = states[-1][1].limit
        memory = [state.memory for _, state in states]
        yield TimeCurve("Memory of all workers", looks, memory, "B", steps=True, limit=limit or None)


def _counts(record: LogRecord) -> tuple[int, int]:
    event = record.event
    return (event.blocks, event.samples) if isinstance(event, BlocksDone) else (0, 0)


def _throughput(done: Sequence[tuple[float, int]], seconds: float) -> TimeCurve:
    """Return samples per second in parts of a run's time; those of a record were computed since the one before."""
    parts = max(1, min(POINTS, int(seconds), len(done) // RECORDS))
    edges = np.linspace(0.0, seconds, parts + 1)
    times, sums = [0.0], [0]
    for at, samples in done:
        times.append(at)
        sums.append(sums[-1] + samples)
    rates = np.diff(np.interp(edges, times, sums)) / (seconds / parts or 1.0)
    return TimeCurve("Samples per second", edges[:-1].tolist(), rates.tolist(), steps=True)


def _thinned(curve: TimeCurve) -> Iterator[tuple[float, float]]:
    """Yield the points of a curve that a picture of some hundred pixels can show."""
    points = list(zip(curve.times, curve.values, strict=True))
    if len(points) <= MOST_STEPS:
        yield from points
        return
    length = -(-4 * len(points) // MOST_STEPS)
    for start in range(0, len(points), length):
        part = points[start : start + length]
        values = np.array([value for _, value in part])
        yield from (part[k] for k in sorted({0, len(part) - 1, int(values.argmin()), int(values.argmax())}))


def _svg(curve: TimeCurve, seconds: float) -> str:
    """Draw a curve from zero to its largest value, over the time of a run."""
    last = max(seconds, curve.times[-1], 1e-9)
    top = max([*curve.values, curve.limit or 0.0, 1e-9])
    across, up = (WIDTH - LEFT - 8) / last, (HEIGHT - BOTTOM - TOP) / top
    points: list[tuple[float, float]] = []
    for x, y in _thinned(curve):
        if curve.steps and points:
            points.append((x, points[-1][1]))
        points.append((x, y))
    if curve.steps:
        points.append((last, points[-1][1]))
    path = " ".join(f"{LEFT + x * across:.1f},{HEIGHT - BOTTOM - y * up:.1f}" for x, y in points)
    base = HEIGHT - BOTTOM
    label = size(int(top)) if curve.unit == "B" else count(top)
    limit = ""
    if curve.limit:
        at = base - curve.limit * up
        limit = f'<path class="limit" d="M{LEFT} {at:.1f}H{WIDTH - 8}"/>'
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(curve.title)}, at most {label}">'
        f'<path d="M{LEFT} {TOP}V{base}H{WIDTH - 8}"/>{limit}'
        f'<polyline points="{path}"/>'
        f'<g><text x="{LEFT - 6}" y="{TOP + 8}" text-anchor="end">{label}</text>'
        f'<text x="{LEFT - 6}" y="{base}" text-anchor="end">0</text><text x="{LEFT}" y="{HEIGHT - 8}">0</text>'
        f'<text x="{WIDTH - 8}" y="{HEIGHT - 8}" text-anchor="end">{clock(last)} h:mm:ss</text></g></svg>'
    )


def _table(rows: Iterable[tuple[str, str]]) -> str:
    lines = (f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows)
    return f"<table>{''.join(lines)}</table>"


def _failures(failed: FailedSamples, run_status: RunStatus) -> str:
    rows = [(row.name, f"{row.samples:,} samples in {row.cases:,} cases: {row.advice}") for row in failed.statuses]
    if not rows:
        return f"<h2>Failures</h2><p>No sample failed in {counted(run_status.done, 'block')}.</p>"
    return f"<h2>Failures by status</h2><p>{failed.failed:,} of {failed.samples:,} samples hold NaN.</p>{_table(rows)}"


def _events(records: Sequence[LogRecord]) -> str:
    notes = ((record.time, text) for record in records if (text := note(record.event)))
    rows = [(f"{datetime.fromtimestamp(at, UTC):%m-%d %H:%M:%S}", text) for at, text in notes]
    return f"<h2>Events, by UTC</h2>{_table(rows[-EVENTS:])}" if rows else ""
