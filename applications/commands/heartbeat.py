"""Lines on standard error that report that a command is still at work, unless it shows progress of its own."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import click

BEATS = (3.0, 10.0, 30.0, 60.0)
"""Seconds of each wait before a line is written; the last entry repeats."""
FIRST_IN_FILE = 1
"""Index of the first wait if standard error is no terminal, such as in a log."""
SHOWING = frozenset({"run", "append", "attach", "submit", "status", "bench"})
"""Commands that show progress of their own, or wait for others."""


class Heartbeat:
    """Thread that writes the name and the stage of a command."""

    def __init__(self, name: str) -> None:
        self.name, self.stage = name, ""
        self._start, self._end = time.monotonic(), threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def begin(self) -> None:
        """Begin to write lines."""
        self._thread.start()

    def end(self) -> None:
        """Write no further lines."""
        self._end.set()

    def line(self, seconds: float) -> str:
        """Return the line after `seconds` seconds of work."""
        minutes, remainder = divmod(round(seconds), 60)
        spent = f"{self.name}: at work for {minutes // 60}:{minutes % 60:02}:{remainder:02}"
        return f"{spent}, {self.stage}" if self.stage else spent

    def _beat(self) -> None:
        number = 0 if sys.stderr.isatty() else FIRST_IN_FILE
        while True:
            later = max(0, number - len(BEATS) + 1)
            due = BEATS[min(number, len(BEATS) - 1)] + later * BEATS[-1]
            if self._end.wait(max(0.0, self._start + due - time.monotonic())):
                return
            with suppress(OSError, ValueError):  # of a terminal that has gone
                click.echo(self.line(time.monotonic() - self._start), err=True)
            number += 1


_CURRENT: list[Heartbeat] = []


@contextmanager
def beating(name: str) -> Iterator[None]:
    """Report now and then that a command is at work, until its body ends."""
    if name in SHOWING:
        yield
        return
    heart = Heartbeat(name)
    _CURRENT.append(heart)
    heart.begin()
    try:
        yield
    finally:
        heart.end()
        _CURRENT.remove(heart)


def set_stage(stage: str) -> None:
    """Name the stage of the running command."""
    for heart in _CURRENT:
        heart.stage = stage


def with_heartbeat(name: str, body: Callable[..., None]) -> Callable[..., None]:
    """Return the body of a command with lines that report that it is at work."""

    def beaten(**options: object) -> None:
        with beating(name):
            body(**options)

    beaten.__module__, beaten.__qualname__ = body.__module__, body.__qualname__
    return beaten
