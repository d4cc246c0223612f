"""Progress of a run in a notebook: a bar below the cell, drawn again as blocks finish, and the failures.

It is written by `IPython.display` into one display of the cell, from whichever thread an event comes.
"""

from __future__ import annotations

import sys
import threading
import time
import uuid
from collections.abc import Callable
from html import escape
from typing import Any

from pipeline.monitor.log import BlockDone, BlocksAdvanced, BlocksDone, Event, Finished, Started
from pipeline.monitor.progress import Tally, headline, note, summary
from pipeline.monitor.samples import FailedSamples

EVERY = 0.2
"""Least time between two drawings [s]."""

NOTES = 5
"""Notes that are shown below the bar, the last ones."""


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    module = sys.modules.get("IPython")
    return getattr(module and module.get_ipython(), "kernel", None) is not None


class Display:
    """A place below a cell whose HTML can be replaced."""

    def __init__(self, html: str) -> None:
        from IPython.display import HTML, display

        self._html, self._id = HTML, uuid.uuid4().hex
        display(HTML(html), display_id=self._id)

    def replace(self, html: str) -> None:
        """Show something else."""
        from IPython.display import update_display

        update_display(self._html(html), display_id=self._id)


class NotebookProgress:
    """A listener that shows the progress of a run. `place` makes the display from its first HTML."""

    def __init__(
        self, place: Callable[[str], Any] = Display, now: Callable[[], float] = time.monotonic, what: str = "run"
    ) -> None:
        self._now, self._what = now, what
        self._tally, self._next, self._line = Tally(), 0.0, "starting"
        self._notes: list[str] = []
        self._link: str | None = None
        self._lock = threading.Lock()
        """Blocks are done in several threads."""
        self._place = place(self._html())

    def __call__(self, event: Event) -> None:
        """Take one event."""
        with self._lock:
            now = self._now()
            match event:
                case Started():
                    self._tally, self._next, self._link = Tally.of(event, now), now, event.dashboard
                    self._what = headline(event).split("; dashboard")[0]
                    self._line = self._tally.line(now)
                case BlockDone(samples=samples) | BlocksDone(samples=samples):
                    self._tally = self._tally.plus(samples)
                    self._line = self._tally.line(now)
                case BlocksAdvanced(samples):
                    self._tally = self._tally.with_in_flight(samples)
                    self._line = self._tally.line(now)
                case Finished():
                    self._line, self._next = summary(event), 0.0
                case _ if text := note(event):
                    self._notes = [*self._notes, text][-NOTES:]
            if now >= self._next:
                self._next = now + EVERY
                self._place.replace(self._html())

    def results(self, failed: FailedSamples) -> None:
        """Show the failures among the results."""
        self._notes = [*self._notes, *failed.lines()]
        if failed.failed:
            self._place.replace(self._html())

    def stopped(self, error: BaseException) -> None:
        """Say that the run has ended without results; the error itself is shown by who raises it."""
        self._line = f"stopped: {type(error).__name__}"
        self._place.replace(self._html())

    def _html(self) -> str:
        done, total = self._tally.done, max(1, self._tally.total)
        link = f' <a href="{escape(self._link)}" target="_blank">dashboard</a>' if self._link else ""
        notes = "".join(f'<div style="white-space:pre-wrap">{escape(text)}</div>' for text in self._notes)
        return (
            f'<div>{escape(self._what)}{link}<br><progress value="{done}" max="{total}" style="width:20em"></progress> '
            f"{escape(self._line)}{notes}</div>"
        )
