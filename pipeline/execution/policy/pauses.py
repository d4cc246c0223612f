"""Workers that are paused because their memory is full, though they compute nothing: steps that end it, in order."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from pipeline.errors import size
from pipeline.execution.policy.memory_restarts import LISTED
from robots.data_classes import dataclass


@dataclass(frozen=True)
class PausedWorker:
    """A worker that gets no task because its memory is full, and computes none, so that its memory stays as it is.

    `nanny`: a process beside it would start it anew.
    """

    address: str
    used: int
    limit: int
    nanny: bool

    def __str__(self) -> str:
        return f"{self.address} with {size(self.used)} of {size(self.limit)}"

    @classmethod
    def of(cls, address: str, row: Mapping[str, Any]) -> PausedWorker:
        """Return a paused worker from the report of a scheduler on it."""
        used, limit = row.get("metrics", {}).get("memory"), row.get("memory_limit")
        return cls(address, int(used or 0), int(limit or 0), bool(row.get("nanny")))


PauseStep = Literal["trim", "move", "restart"]

PAUSE_STEPS: Mapping[PauseStep, float] = {"trim": 0.0, "move": 5.0, "restart": 15.0}
"""Seconds of an idle pause after which a worker gives free memory back, its blocks go to others, it is started anew."""

PAUSE_END = 90.0
"""Seconds after which a run ends whose workers are all paused."""


PAUSE_RESTARTS = 3
"""Workers that are started anew because they are paused and idle, without a block that is done between."""


class Pauses:
    """Workers that are paused and idle: steps that are due for each, and the time at which the run has to end."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since: dict[str, float] = {}
        self._made: dict[str, set[PauseStep]] = {}
        self._restarts = 0

    def succeeded(self) -> None:
        """Reset the restarts after a block was computed: it is worth while to start workers anew."""
        self._restarts = 0

    def due(self, paused: Iterable[PausedWorker]) -> list[tuple[PausedWorker, PauseStep]]:
        """Return the steps due now, each once for a pause; workers that are no longer among `paused` are forgotten."""
        now, here = self._clock(), {worker.address: worker for worker in paused}
        self._since = {address: self._since.get(address, now) for address in here}
        self._made = {address: self._made.get(address, set()) for address in here}
        steps: list[tuple[PausedWorker, PauseStep]] = []
        for address, worker in here.items():
            for step, seconds in PAUSE_STEPS.items():
                is_possible = step != "restart" or (worker.nanny and self._restarts < PAUSE_RESTARTS)
                if is_possible and step not in self._made[address] and now - self._since[address] >= seconds:
                    self._made[address].add(step)
                    self._restarts += step == "restart"
                    steps.append((worker, step))
        return steps

    def stop(self, paused: Sequence[PausedWorker], others: int) -> str:
        """Return the reason to stop the run, in words; "" while `others`, workers that are not paused, may continue."""
        first = max(self._since.values(), default=math.inf)
        if others or not paused or self._clock() - first < PAUSE_END:
            return ""
        return (
            f"all {len(paused)} workers are paused, because their memory stays full though they compute nothing: "
            f"{', '.join(map(str, paused[:LISTED]))}; give workers more memory (memory-limit), or end other work with "
            "results there; stored results are kept"
        )
