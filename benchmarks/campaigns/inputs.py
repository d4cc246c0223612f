"""Every bad input of the tests through the real command: status, words, time, and that nothing is written.

A program: `python -m benchmarks.campaigns.inputs [--every N] [--sections IJK] [--rows "I work" ...]`. Rows whose input
a file cannot hold (a full disk, other rights) are left out. Time is that of the processor, which other work on the
machine does not change.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.processes import COMMAND, environment
from tests.bad_inputs.rows import Row
from tests.bad_inputs.test_bad_inputs import ROWS

ROOT = Path(__file__).parents[2]
SECONDS = 1.0
"""Processor time that a refusal may take, the start of Python included [s]."""

CONNECTS = "J address"
"""Rows that import Dask's client, which takes longer than a second on some machines."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the campaign; 1 where a row did not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="every so many rows")
    parser.add_argument("--sections", default="ABCDEFGHIJK", help="letters of sections")
    parser.add_argument("--rows", nargs="+", default=[""], help="beginnings of their names")
    options = parser.parse_args(arguments)
    rows = [row for row in ROWS if row.status == 2 and row.prepare is None and row.id[0] in options.sections]
    rows = [row for row in rows if row.name.startswith(tuple(options.rows))]
    bad, times = 0, []
    for row in rows[:: options.every]:
        seconds, problems = run(row)
        times.append((seconds, row.name))
        if problems:
            bad += 1
            print(f"{row.name}: {'; '.join(problems)}", flush=True)
    times.sort(reverse=True)
    median = times[len(times) // 2][0] if times else 0.0
    alone = min(_version_seconds() for _ in range(3))
    print(f"{len(times)} bad inputs, {bad} of them not met as they should be; processor time: median {median:.2f} s")
    print(f"  {alone:.2f} s  limbsweep --version, for comparison")
    for seconds, name in times[: 5 if options.rows == [""] else None]:
        print(f"  {seconds:.2f} s  {name[:80]}")
    return int(bad > 0)


def run(row: Row) -> tuple[float, list[str]]:
    """Return the processor time of a row [s], and the faults of its message."""
    with tempfile.TemporaryDirectory(prefix="limbsweep-bench-") as folder:
        for name, content in {"sweep.yaml": row.sweep, **row.files}.items():
            if content is not None:
                Path(folder, name).write_bytes(content if isinstance(content, bytes) else content.encode())
        before = _contents(folder)
        start = _processor_time()
        done = subprocess.run(
            [*COMMAND, *row.command],
            cwd=folder,
            env=environment(PYTHONPATH=str(ROOT)),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        seconds = _processor_time() - start
        return seconds, list(_problems(row, done, seconds, written=_contents(folder) != before))


def _version_seconds() -> float:
    """Return the processor time of a command that reads nothing [s]."""
    start = _processor_time()
    subprocess.run([*COMMAND, "--version"], env=environment(PYTHONPATH=str(ROOT)), capture_output=True, check=True)
    return _processor_time() - start


def _problems(row: Row, done: subprocess.CompletedProcess[str], seconds: float, *, written: bool) -> Iterator[str]:
    if done.returncode != 2:
        yield f"exit status {done.returncode}"
    if "Traceback" in done.stderr or done.stdout:
        yield "a traceback, or words on standard output"
    missing = [fragment for fragment in row.said if fragment not in done.stderr]
    if missing:
        yield f"it does not say {missing[0]!r}, but {done.stderr[:200]!r}"
    if written:
        yield "something was written"
    if seconds > SECONDS and not row.name.startswith(CONNECTS):
        yield f"{seconds:.2f} s"


def _processor_time() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _contents(folder: str) -> dict[str, tuple[int, int]]:
    return {str(path): (path.lstat().st_size, path.lstat().st_mtime_ns) for path in Path(folder).rglob("*")}


if __name__ == "__main__":
    sys.exit(main())
