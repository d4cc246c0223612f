"""Scheme by which a limb is solved: rows kept of its loops, clusters of loops, joints that follow."""

from __future__ import annotations

from robots.data_classes import dataclass


@dataclass(frozen=True)
class LoopChoice:
    """Choice for the solution of one loop: the link at which it starts, joints of its two sides, kept rows.

    `joints` move the loop: joints of both sides, side a first, with leading joints in place of their followers.
    """

    root: int
    side_a: tuple[int, ...]
    side_b: tuple[int, ...]
    rows: tuple[int, ...]
    joints: tuple[int, ...]


Block = tuple[tuple[int, ...], tuple[int, ...]]
"""Rows and columns of a part of a cluster's matrix, by their numbers there."""


@dataclass(frozen=True)
class ClusterBlocks:
    """A matrix of a cluster in parts: blocks that share neither rows nor columns, and the remaining `border`.

    Blocks are limbs of a platform whose coordinates are among the dependent joints, and these are the border.
    """

    inner: tuple[Block, ...] = ()
    border: Block = ((), ())


NO_BLOCKS = ClusterBlocks()


@dataclass(frozen=True)
class ClusterChoice:
    """Loops that have to be solved together, by their number in the limb, and the joints that they are solved for.

    Clusters come in the order in which they can be solved: other joints of a cluster are independent, or dependent ones
    of clusters before it. Closure forces follow in the opposite order. Overconstrained linkages have more rows than
    joints that follow; they are solved by least squares.
    """

    loops: tuple[int, ...]
    dependent: tuple[int, ...]
    blocks: ClusterBlocks = NO_BLOCKS


@dataclass(frozen=True)
class LimbChoice:
    """Scheme by which a limb is solved; made once per family by `tasks.mechanics.topology`."""

    loops: tuple[LoopChoice, ...]
    clusters: tuple[ClusterChoice, ...]
    independent: tuple[int, ...]
    tip_rows: tuple[tuple[int, ...], ...]
