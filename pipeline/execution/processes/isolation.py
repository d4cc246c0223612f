"""Compute a block that keeps failing in parts, in a subprocess, until the single cases that fail are known.

A case is one design with one friction set on one trajectory, of simulations with one set of gains from one initial
state; its times are never cut. All parts are computed within one task and stored in one write, because a block is one
aligned region of whole shards and has one receipt: parts that were written by several tasks would share shards. The
subprocess takes crashes, endless loops and memory with it when it dies, and the worker stays. Cases that fail hold NaN
and the status COMPUTATION_FAILED; where a variable does not have the dim that a case was cut along, as `status` mostly
has no friction, all cases that share that status get COMPUTATION_FAILED.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping, Set

import numpy as np

from pipeline.errors import TaskError
from pipeline.execution.processes.child_process import ChildProcess
from pipeline.monitor.log import CaseFailed
from robots.data_classes import dataclass, replace
from robots.status import Status
from storage.layout import Layout
from storage.ledger import Receipt
from storage.variables import SPLIT, WHERE_VARIED, lengths
from tasks.blocks.block import Block
from tasks.blocks.pool import Arrays
from tasks.blocks.user_metrics import MetricWarning

CaseRanges = tuple[slice, ...]
"""Ranges of designs, friction sets and trajectories within a block; of simulations of gains and initial states too."""

CompletedPart = tuple[Arrays, tuple[MetricWarning, ...]]
"""Arrays that a part of a block stores, and warnings of metrics of a user."""

PartBody = Callable[[Block], CompletedPart]

AXES = (*SPLIT, *WHERE_VARIED)

MOST_FAILURES = 400
"""Failed parts of a block after which it is not worth going on: not single cases fail, but all."""

TRIES = 2
"""Times that a single case has to fail, the last time in a fresh process, before it is flagged."""

MISSING = -1
"""Value of an integer whose case was not computed; statuses and counts are set afterwards."""

LISTED = 10
"""Names of variables in a reason, which is a line of a log."""


@dataclass(frozen=True)
class ReceiptWithFailures:
    """The receipt of a block that was isolated, and the cases in it that hold NaN."""

    receipt: Receipt
    failures: tuple[CaseFailed, ...]


@dataclass(frozen=True)
class Isolation:
    """Limits of a block that runs in a subprocess: seconds per part, seconds in all, bytes of a whole block."""

    part_seconds: float
    seconds: float
    memory: int
    body: Callable[[Block], Arrays]
    """Function that computes a part of the block."""

    def compute(self, block: Block, layout: Layout) -> tuple[Arrays, tuple[CaseFailed, ...]]:
        """Compute the block's arrays, and the cases that are NaN. Raises TaskError where more than cases fail."""
        results = _PartialResults(layout, block.index)
        failed: list[tuple[CaseRanges, str]] = []
        with ChildProcess(self.body, self.memory) as child:
            for part, result in self._parts(child, block, layout):
                if isinstance(result, str):
                    failed.append((part, result))
                else:
                    results.put(part, result)
        for part, _ in failed:  # last, because a status may be shared with cases that did not fail
            results.flag(part, len(block.times))
        return results.arrays, tuple(_failure(layout, block.index, part, reason) for part, reason in failed)

    def _parts(
        self, child: ChildProcess[Block, Arrays], block: Block, layout: Layout
    ) -> Iterator[tuple[CaseRanges, Arrays | str]]:
        """Yield the arrays of all parts that can be computed, and the reasons for single cases that cannot."""
        stack, failed, tries = [whole(block)], 0, 0
        deadline = time.monotonic() + self.seconds
        while stack:
            part = stack.pop()
            computed = child.compute(cut(block, part), self.part_seconds)
            wrong = misfits(layout, block.index, computed[1], part) if computed[0] else computed[1]
            if computed[0] and not wrong:
                tries = 0
                yield part, computed[1]
                continue
            failed, tries = failed + 1, tries + 1
            if failed > MOST_FAILURES or time.monotonic() > deadline:
                raise TaskError(f"{failed} parts of the block failed in a process of their own; the last: {wrong}")
            if cases(part) > 1:
                stack += reversed(halves(part))
                tries = 0
            elif tries < TRIES:
                child.stop()
                stack.append(part)
            else:
                tries = 0
                yield part, wrong


class _PartialResults:
    """Arrays of a block while its parts arrive; missing parts are NaN, or MISSING."""

    def __init__(self, layout: Layout, index: int) -> None:
        self._variables = layout.owned(index)
        self.arrays: Arrays = {
            name: np.full(
                variable.region_shape(index),
                np.nan if variable.row.dtype == "float64" else MISSING,
                variable.row.dtype,
            )
            for name, variable in self._variables.items()
        }

    def put(self, part: CaseRanges, results: Arrays) -> None:
        """Take the results of a part."""
        for name, array in results.items():
            self.arrays[name][self._region(name, part)] = array

    def flag(self, part: CaseRanges, times: int) -> None:
        """Set the status of a part that failed, and its counts to the number of times."""
        for name, array in self.arrays.items():
            if self._variables[name].row.kind == "status":
                array[self._region(name, part)] = Status.COMPUTATION_FAILED
            elif array.dtype.kind == "i":
                array[self._region(name, part)] = times

    def _region(self, name: str, part: CaseRanges) -> tuple[slice, ...]:
        """Return the region of a part in a variable of the block."""
        ranges = dict(zip(AXES, part, strict=False))
        return tuple(ranges.get(dim, slice(None)) for dim in self._variables[name].dims)


def in_parts(block: Block, layout: Layout, steps: Mapping[str, int], body: PartBody) -> CompletedPart:
    """Compute a block part after part, with the bits of computing it at once; return arrays and user warnings.

    `steps`: lengths of a part along the dims that are cut; `body` computes a part. Memory is that of the results and of
    one part.
    """
    results, complaints = _PartialResults(layout, block.index), list[MetricWarning]()
    ranges = [
        [slice(start, min(start + step, axis.stop)) for start in range(0, axis.stop, step)]
        for dim, axis in zip(AXES, whole(block), strict=False)
        for step in (steps.get(dim, axis.stop),)
    ]
    for part in itertools.product(*ranges):
        piece = cut(block, part)
        arrays, warnings = body(piece)
        if wrong := misfits(layout, block.index, arrays, part):
            raise TaskError(wrong)
        results.put(part, arrays)
        complaints += (row.moved(tuple(cases.start for cases in part)) for row in warnings)
    return results.arrays, tuple(complaints)


def _failure(layout: Layout, index: int, case: CaseRanges, reason: str) -> CaseFailed:
    design, friction, trajectory = case[: len(SPLIT)]
    return CaseFailed(index, *layout.place(index, (design.start, friction.start, trajectory.start)), reason)


def whole(block: Block) -> CaseRanges:
    """Return a part that is the whole of a block."""
    lengths = [len(block.designs), len(block.friction), len(block.trajectories)]
    if block.simulation is not None:
        lengths += [len(block.simulation.gains), len(block.simulation.state)]
    return tuple(slice(0, length) for length in lengths)


def cases(part: CaseRanges) -> int:
    """Return the number of cases in a part."""
    return math.prod(lengths(part))


def halves(part: CaseRanges) -> tuple[CaseRanges, CaseRanges]:
    """Cut a part with more than one case in the middle of its longest range."""
    sizes = lengths(part)
    axis = sizes.index(max(sizes))
    middle = part[axis].start + sizes[axis] // 2
    first, second = list(part), list(part)
    first[axis], second[axis] = slice(part[axis].start, middle), slice(middle, part[axis].stop)
    return tuple(first), tuple(second)


def cut(block: Block, part: CaseRanges) -> Block:
    """Cut a part out of a block, as a block."""
    design, friction, trajectory, *varied = part
    simulation = block.simulation
    if simulation is not None and varied:
        gains, state = varied
        simulation = replace(simulation, gains=simulation.gains[gains], state=simulation.state[state])
    return replace(
        block,
        simulation=simulation,
        designs=block.designs.take(design),
        friction=block.friction[friction],
        derivatives=block.derivatives and block.derivatives.cut(design, friction, *varied),
        trajectories=block.trajectories[trajectory],
        measurement=block.measurement and block.measurement.moved(*(cases.start for cases in part)),
    )


def first_case(block: Block) -> Block:
    """Return the block of the first case of a block; of simulations the first stored step."""
    first = cut(block, tuple(slice(0, 1) for _ in whole(block)))
    return first if block.simulation is None else replace(first, times=block.times[:2], length=0)


def misfits(layout: Layout, index: int, arrays: object, part: CaseRanges | None = None) -> str:
    """Return the error in the arrays of a block, or of a part of it; empty where they fit the layout."""
    owned = layout.owned(index)
    if not isinstance(arrays, Mapping) or set(arrays) != set(owned):
        found = set(arrays) if isinstance(arrays, Mapping) else None
        got = f"a {type(arrays).__name__}" if found is None else f"variables {_listed(found, set(owned))}"
        return f"a block computed {got}; expected {_listed(set(owned), found or set())}"
    for name, variable in owned.items():
        dtype, array = variable.row.dtype, arrays[name]
        region = dict(zip(variable.dims, variable.region(index), strict=True))
        region |= {dim: cases for dim, cases in zip(AXES, part or (), strict=False) if dim in region}
        expected = lengths(tuple(region.values()))
        shape, kind = getattr(array, "shape", None), str(getattr(array, "dtype", type(array).__name__))
        if (shape, kind) != (expected, dtype):
            return f"a block computed {name} of shape {shape} and type {kind}; expected {expected} of {dtype}"
    return ""


def _listed(names: Set[str], others: Set[str]) -> str:
    """Format some names as a list, with the names that are missing in the other set first."""
    ordered = [*sorted(names - others), *sorted(names & others)]
    more = f", and {len(ordered) - LISTED} more" if len(ordered) > LISTED else ""
    return f"[{', '.join(map(repr, ordered[:LISTED]))}{more}]"


def require_fit(layout: Layout, index: int, arrays: object) -> None:
    """Check that arrays have the variables and shapes of a block. Raises TaskError, a fault of the computation."""
    if wrong := misfits(layout, index, arrays):
        raise TaskError(wrong)
