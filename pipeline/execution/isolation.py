"""A block that keeps failing, computed in a process of its own and in parts, until the cases that fail are known.

A case is one design with one friction set on one trajectory; its times are never cut. All parts are computed within one
task and stored in one write, because a block is one aligned region of whole shards and has one receipt: parts that were
written by several tasks would share shards. The process takes crashes, endless loops and memory with it when it dies,
and the worker stays. Cases that fail hold NaN and the status COMPUTATION_FAILED; where a variable does not have the dim
that a case was cut along, as `status` mostly has no friction, the status of all that share it says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pipeline.errors import TaskError
from pipeline.execution.child_process import ChildProcess
from robots.status import Status
from storage.layout import Layout, lengths
from storage.ledger import Receipt
from storage.schema import SPLIT
from tasks.blocks import compute
from tasks.blocks.block import Block

Arrays = dict[str, np.ndarray]
CaseRanges = tuple[slice, slice, slice]
"""Ranges of designs, friction sets and trajectories within a block."""

MOST_FAILURES = 400
"""Failed parts of a block after which it is not worth going on: not single cases fail, but all."""

TRIES = 2
"""Times that a single case has to fail, the last time in a fresh process, before it is flagged."""

MISSING = -1
"""What an integer is where its case was not computed; statuses and counts are set afterwards."""


@dataclass(frozen=True)
class FailedCase:
    """A case that cannot be computed: its place along the dims of the dataset, and why."""

    design: int
    friction: int
    trajectory: int
    reason: str


@dataclass(frozen=True)
class ReceiptWithFailures:
    """The receipt of a block that was isolated, and the cases in it that hold NaN."""

    receipt: Receipt
    flags: tuple[FailedCase, ...]


@dataclass(frozen=True)
class Isolation:
    """How a block is isolated: time limits for a part and for all of them [s], bytes that a whole block takes."""

    part_seconds: float
    seconds: float
    memory: int
    body: Callable[[Block], Arrays] = compute.whole

    def compute(self, block: Block, layout: Layout) -> tuple[Arrays, tuple[FailedCase, ...]]:
        """The block's arrays, and which cases hold NaN. Raises TaskError where more fails than single cases."""
        arrays = _empty(layout, block.index)
        bounds = tuple(layout.bounds(block.index)[dim] for dim in SPLIT)
        flags: list[FailedCase] = []
        with ChildProcess(self.body, self.memory) as child:
            for part, result in self._parts(child, block, layout):
                if isinstance(result, str):
                    design, friction, trajectory = (
                        at.start + each.start for at, each in zip(bounds, part, strict=True)
                    )
                    flags.append(FailedCase(design, friction, trajectory, result))
                else:
                    _place(layout, arrays, part, result)
        for flag in flags:
            _flag(layout, arrays, flag, bounds, len(block.times))
        return arrays, tuple(flags)

    def _parts(self, child: ChildProcess, block: Block, layout: Layout) -> Iterator[tuple[CaseRanges, Arrays | str]]:
        """Arrays of all parts that can be computed, and reasons for single cases that cannot."""
        stack, failed, tries = [whole(block)], 0, 0
        deadline = time.monotonic() + self.seconds
        while stack:
            part = stack.pop()
            done, result = child.compute(cut(block, part), self.part_seconds)
            wrong = misfits(layout, block.index, result, part) if done else str(result)
            if not wrong:
                tries = 0
                yield part, result
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


def whole(block: Block) -> CaseRanges:
    """The part that is all of a block."""
    return slice(0, block.designs), slice(0, len(block.friction)), slice(0, len(block.trajectories))


def cases(part: CaseRanges) -> int:
    """Number of cases in a part."""
    designs, frictions, trajectories = lengths(part)
    return designs * frictions * trajectories


def halves(part: CaseRanges) -> tuple[CaseRanges, CaseRanges]:
    """A part with more than one case, cut in the middle of its longest range."""
    sizes = lengths(part)
    axis = sizes.index(max(sizes))
    middle = part[axis].start + sizes[axis] // 2
    first, second = list(part), list(part)
    first[axis], second[axis] = slice(part[axis].start, middle), slice(middle, part[axis].stop)
    return (first[0], first[1], first[2]), (second[0], second[1], second[2])


def cut(block: Block, part: CaseRanges) -> Block:
    """The block that is a part of a block."""
    design, friction, trajectory = part
    return replace(
        block,
        parameters=block.parameters[design],
        friction=block.friction[friction],
        trajectories=block.trajectories[trajectory],
        measurement=block.measurement and block.measurement.moved(*(each.start for each in part)),
    )


def first_case(block: Block) -> Block:
    """The block of the first case of a block."""
    return cut(block, (slice(0, 1), slice(0, 1), slice(0, 1)))


def misfits(layout: Layout, index: int, arrays: Any, part: CaseRanges | None = None) -> str:
    """What is wrong with the arrays of a block, or of a part of it; empty where nothing is."""
    names = layout.owned(index)
    if not isinstance(arrays, Mapping) or set(arrays) != set(names):
        got = f"variables {sorted(arrays)}" if isinstance(arrays, Mapping) else f"a {type(arrays).__name__}"
        return f"a block computed {got}; expected {sorted(names)}"
    for name in names:
        variable, array = layout.variable(name), arrays[name]
        region = dict(zip(variable.dims, layout.region(index, name), strict=True))
        region |= {dim: each for dim, each in zip(SPLIT, part or (), strict=False) if dim in region}
        wanted = lengths(tuple(region.values()))
        shape, kind = getattr(array, "shape", None), str(getattr(array, "dtype", type(array).__name__))
        if (shape, kind) != (wanted, variable.dtype):
            return f"a block computed {name} of shape {shape} and type {kind}; expected {wanted} of {variable.dtype}"
    return ""


def require_fit(layout: Layout, index: int, arrays: Any) -> None:
    """See that arrays are what a block stores. Raises TaskError: it is the computation that is wrong, not the store."""
    if wrong := misfits(layout, index, arrays):
        raise TaskError(wrong)


def _empty(layout: Layout, index: int) -> Arrays:
    """Arrays of a block in which nothing is computed."""
    variables = [layout.variable(name) for name in layout.owned(index)]
    shapes = {each.name: lengths(layout.region(index, each.name)) for each in variables}
    return {
        each.name: np.full(shapes[each.name], np.nan if each.dtype == "float64" else MISSING, each.dtype)
        for each in variables
    }


def _within(layout: Layout, name: str, part: CaseRanges) -> tuple[slice, ...]:
    """The region of a part in a variable of its block."""
    ranges = dict(zip(SPLIT, part, strict=True))
    return tuple(ranges.get(dim, slice(None)) for dim in layout.variable(name).dims)


def _place(layout: Layout, arrays: Arrays, part: CaseRanges, results: Arrays) -> None:
    for name, array in results.items():
        arrays[name][_within(layout, name, part)] = array


def _flag(layout: Layout, arrays: Arrays, flag: FailedCase, bounds: tuple[slice, ...], times: int) -> None:
    """Statuses and counts of a case that failed; they may be shared with cases that did not."""
    place = (flag.design, flag.friction, flag.trajectory)
    here = [slice(at - whole.start, at - whole.start + 1) for at, whole in zip(place, bounds, strict=True)]
    part = here[0], here[1], here[2]
    for name, array in arrays.items():
        if layout.variable(name).kind == "status":
            array[_within(layout, name, part)] = Status.COMPUTATION_FAILED
        elif array.dtype.kind == "i":
            array[_within(layout, name, part)] = times
