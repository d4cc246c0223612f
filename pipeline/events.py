"""What a run tells its listeners: small records, and nothing else. Progress, log and history are built from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Started:
    """The run begins: blocks of the plan, how many are done already, samples of a full block, link to the dashboard."""

    total_blocks: int
    done_blocks: int
    samples_per_block: int
    dashboard: str | None


@dataclass(frozen=True)
class BlockDone:
    """A block is computed and stored: its index, its samples, the time that it took [s]."""

    block: int
    samples: int
    seconds: float


@dataclass(frozen=True)
class BlockFailed:
    """A block was given up: its index and the reason in words."""

    block: int
    reason: str


@dataclass(frozen=True)
class Finished:
    """The run is over: samples computed in it, its wall time [s], number of blocks that were given up."""

    samples: int
    seconds: float
    failed_blocks: int


Event = Started | BlockDone | BlockFailed | Finished
Listener = Callable[[Event], None]
