"""Events of a run: the small records that it sends to its listeners. Progress, log and history are built from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Started:
    """The run begins: blocks of the plan, how many are done already, samples of a full block, link to the dashboard.

    granularity: what has a task of its own, "limb" or "block"; empty in logs of older versions.
    """

    total_blocks: int
    done_blocks: int
    samples_per_block: int
    dashboard: str | None
    granularity: str = ""


@dataclass(frozen=True)
class BlockDone:
    """A block is computed and stored: its index, its samples, the time that it took [s]."""

    block: int
    samples: int
    seconds: float


@dataclass(frozen=True)
class BlocksDone:
    """Blocks and samples that are done since the last such record: many BlockDone in one, as a log has them."""

    blocks: int
    samples: int


@dataclass(frozen=True)
class BlockRetried:
    """An attempt at a block failed, or is slow, and another follows: the way of the next one, the reason in words."""

    block: int
    step: str
    reason: str


@dataclass(frozen=True)
class CaseFailed:
    """A case of a block cannot be computed and holds NaN: its place along the dims of the dataset, and the reason."""

    block: int
    design: int
    friction: int
    trajectory: int
    reason: str


@dataclass(frozen=True)
class MetricFailed:
    """A metric of a user's own is NaN in cases of a block: how many, the place of the first of them, its reason."""

    block: int
    metric: str
    cases: int
    design: int
    friction: int
    trajectory: int
    reason: str


@dataclass(frozen=True)
class BlockFailed:
    """A block was given up: its index and the reason in words."""

    block: int
    reason: str


@dataclass(frozen=True)
class Waiting:
    """Nothing has come back for some time [s]: what is going on, in words."""

    seconds: float
    what: str


@dataclass(frozen=True)
class ClusterRestarted:
    """The run's own cluster was lost and has been made anew: the reason in words."""

    reason: str


@dataclass(frozen=True)
class Finished:
    """The run is over: samples computed in it, its wall time [s], blocks that were given up, cases that hold NaN."""

    samples: int
    seconds: float
    failed_blocks: int
    failed_cases: int = 0


@dataclass(frozen=True)
class Stopped:
    """The run ended before its sweep did: the reason in words, and whether somebody asked for it."""

    reason: str
    cancelled: bool = False


Event = (
    Started
    | BlockDone
    | BlocksDone
    | BlockRetried
    | CaseFailed
    | MetricFailed
    | BlockFailed
    | Waiting
    | ClusterRestarted
    | Finished
    | Stopped
)
Listener = Callable[[Event], None]


def broadcast(listeners: tuple[Listener, ...]) -> Listener:
    """One listener that passes events to many, in order."""

    def notify(event: Event) -> None:
        for listener in listeners:
            listener(event)

    return notify
