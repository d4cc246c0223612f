"""Time, memory and size of the page of a run that has very many blocks.

A program: `python -m benchmarks.runs.page [--records 20000 100000] [--keep FOLDER]`. A small sweep is run; its log is
then replaced by that of a run with so many blocks, made up: a record for each block, whose time waves, and in between
looks at the workers, of which some leave, pause and come. `limbsweep status --page` is a process of its own. `--keep`
leaves the pages in a folder, to be looked at. Linux only.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.campaigns.lines import print_lines
from benchmarks.processes import COMMAND
from benchmarks.runs.scale import COMMANDS, THREADS, cost, sweep_of
from pipeline.monitor.log import (
    BlockRetried,
    BlocksDone,
    ClusterState,
    Event,
    Started,
    WorkerPaused,
    WorkersJoined,
    WorkersLeft,
)

PAGE = ("status", "run.zarr", "--page", "page.html")
SAMPLES = 340_000
WORKERS = 40
GIB = 1 << 30
BEGIN = 1.8e9
"""Time of the first record."""


def events(records: int) -> Iterator[tuple[float, Event]]:
    """Yield the events of a made up run, each with the seconds since the one before."""
    yield 0.0, Started(records, 0, SAMPLES, None, "block")
    yield 1.0, WorkersJoined(WORKERS, WORKERS, "tcp://10.0.0.1:4000")
    for block in range(records):
        workers = WORKERS - block // 500 % 8
        yield (1.0 + 0.5 * math.sin(block / 3000)) * WORKERS / workers, BlocksDone(1, SAMPLES)
        if block % 10 == 0:
            memory = int(workers * GIB * (0.6 + 0.2 * math.sin(block / 700)))
            yield 0.0, ClusterState(workers, int(block % 400 == 0), workers, workers, memory, workers * GIB)
        if block % 500 == 0:
            yield 0.0, WorkersLeft(1, "tcp://10.0.0.2:4000")
        if block % 5000 == 0:
            yield 0.0, WorkerPaused("tcp://10.0.0.3:4000", GIB, GIB, "move")
            yield 0.0, BlockRetried(block, "help", "worker tcp://10.0.0.3:4000 is paused")


def write_log(file: Path, records: int) -> None:
    """Write the log of a made up run of so many blocks."""
    now = BEGIN
    with file.open("w", encoding="utf-8") as stream:
        for seconds, event in events(records):
            now += seconds
            record = {"time": now, "pid": 1, "host": "h", "event": type(event).__name__, "what": asdict(event)}
            stream.write(json.dumps(record) + "\n")


def lines(counts: Sequence[int], keep: Path | None) -> Iterator[str]:
    """Yield a line for each number of records. Raises AssertionError where a command fails."""
    with tempfile.TemporaryDirectory(prefix="limbsweep-page-") as name:
        folder = Path(name)
        (folder / "sweep.yaml").write_text(sweep_of(1000), encoding="utf-8")
        (folder / "threads.yaml").write_text(THREADS, encoding="utf-8")
        cost(COMMANDS["run"], folder)
        for count in counts:
            write_log(folder / "run.zarr" / "log.jsonl", count)
            each = cost((*COMMAND, *PAGE), folder)
            size = (folder / "page.html").stat().st_size
            log = (folder / "run.zarr" / "log.jsonl").stat().st_size
            yield f"{count:,} blocks, log of {log / 1e6:.1f} MB: page {each}, {size / 1e3:.0f} kB"
            if keep is not None:
                shutil.copy(folder / "page.html", keep / f"page-{count}.html")


def main(words: list[str] | None = None) -> int:
    """Print the lines; 1 where a command fails."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.page", description=__doc__)
    parser.add_argument("--records", type=int, nargs="+", default=[20_000, 100_000])
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args(words)
    return print_lines(lines(options.records, options.keep))


if __name__ == "__main__":
    sys.exit(main())
