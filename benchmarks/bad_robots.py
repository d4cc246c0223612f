"""Bad robot files and imports: `python -m benchmarks.bad_robots [--all | --sentences]` prints how long each takes.

The rows are those of `tests/bad_inputs` on robots, mechanisms and imports, in one process: that of the first has the
time of imports in it. Lines are those of the message. The exit status is 1 where a row takes more than a second, has
more than a line for each of its mistakes, or asks for a report.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

SECTIONS = ("robots", "mechanisms", "imports")
NEW_LINE = "\n"
LONGEST = 1.0
"""Seconds within which a row is refused on a machine that does nothing else."""


def refused(row: Any) -> tuple[float, int, str]:
    """Return seconds, lines and text of a row's message; put the row's files into the working folder."""
    from applications.commands.cli import cli

    for name, content in {"sweep.yaml": row.sweep, **row.files}.items():
        if content is not None:
            Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.MonkeyPatch.context() as patch:
        if row.prepare:
            row.prepare(patch)
        begin = time.perf_counter()
        result = CliRunner().invoke(cli, row.command)
        seconds = time.perf_counter() - begin
    return seconds, len(result.stderr.splitlines()), result.stderr


def main() -> int:
    """Print the times, longest first, and how many rows there are."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bad_robots", description="Times of bad robot files.")
    parser.add_argument("--all", action="store_true", help="print all rows, not only the ten that take longest")
    parser.add_argument("--sentences", action="store_true", help="print the message of each row, as a table")
    options = parser.parse_args()
    rows, entries, begin = [], [], Path.cwd()
    for section in SECTIONS:
        rows += [row for row in importlib.import_module(f"tests.bad_inputs.{section}").ROWS if row.status == 2]
    for row in rows:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                entries.append((*refused(row), row.name))
            finally:
                os.chdir(begin)
    if options.sentences:
        print("| file | message |\n|---|---|")
        for _, _, text, name in entries:
            print(f"| {name} | {text.strip().replace('|', '&#124;').replace(NEW_LINE, '<br>')} |")
    entries.sort(reverse=True)
    for seconds, lines, _, name in entries if options.all else entries[: 0 if options.sentences else 10]:
        print(f"{seconds:7.3f} s {lines:3d} lines  {name}")
    single, reports = sum(entry[1] == 1 for entry in entries), sum("report it" in entry[2] for entry in entries)
    slow = sum(entry[0] > LONGEST for entry in entries)
    print(f"{len(entries)} rows, {single} of one line, {slow} above {LONGEST:g} s, {reports} that ask for a report")
    return int(bool(slow or reports))


if __name__ == "__main__":
    sys.exit(main())
