"""Bounded effort of adaptive integrators: cases that crawl come to their end."""

from __future__ import annotations

import numpy as np

CRAWLING, WAY_ON = 20_000, 1e-3
"""Evaluations in which a case has to go on by this share of the whole time; one that does not has come to its end."""


class Effort:
    """Evaluations of a case that lasts so long [s], and whether they lead anywhere."""

    def __init__(self, whole: float):
        self.whole, self.evaluations = whole, 0
        self._mark = 0, -np.inf

    def crawls(self, time: float) -> bool:
        """Return whether the case has hardly gone on in its last evaluations."""
        if time >= self._mark[1] + WAY_ON * self.whole:
            self._mark = self.evaluations, time
        return self.evaluations > self._mark[0] + CRAWLING
