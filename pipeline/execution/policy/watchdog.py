"""Silence of a run: when to report that no result comes back, and when to give up."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

from pipeline.execution.policy.attempts import Timeouts

Alarm = Literal["fine", "quiet", "hopeless"]


class Watchdog:
    """Alarm for the time since the last news of a run: `quiet` once for each silence, `hopeless` at the end."""

    def __init__(self, timeouts: Timeouts, clock: Callable[[], float] = time.monotonic) -> None:
        self.timeouts = timeouts
        self._clock = clock
        self.news()

    def news(self) -> None:
        """Take note of a sign of life."""
        self._last = self._said = self._clock()

    @property
    def silence(self) -> float:
        """Seconds without news."""
        return self._clock() - self._last

    def look(self) -> Alarm:
        """Return the alarm for the time without news: hopeless, quiet or fine."""
        now = self._clock()
        if now - self._last >= self.timeouts.patience:
            return "hopeless"
        if now - self._said >= self.timeouts.quiet:
            self._said = now
            return "quiet"
        return "fine"
