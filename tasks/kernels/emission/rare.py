"""Loops that most samples spare, as functions of their own: `void (ptr values, ptr results)`, for one group of samples.

What surrounds them keeps its registers, and may have several groups in a vector: only groups that have something to do
in the loop are handed over, through memory. Every value has a place of a cache line there.
"""

from __future__ import annotations

from tasks.kernels.emission.slots import Slots, handed_over
from tasks.kernels.emission.writer import PLACE, FunctionText
from tasks.kernels.program import Program


def function(program: Program, index: int, single: bool, slots: Slots | None) -> list[str]:
    """The text of a loop, which has slots where it is long."""
    writer, loop = FunctionText(program, single), program.loops[index]
    assert loop.skip is not None
    taken, writer.slots = handed_over(program, index), slots
    writer.label("entry")
    writer.places()
    for k, node in enumerate(taken):
        writer.names[node] = _read(writer, "%values", k, program.is_mask(node))
    writer.made(taken)
    entry = [writer.operand(i, scalar=False) for i in loop.initial]
    kept = writer.rounds(index, entry, writer.operand(loop.skip, scalar=False))
    for k, result in enumerate(kept):
        _write(writer, "%results", k, result, mask=False)
    writer.line("ret void")
    head = f"define private void @{_name(index)}(ptr noalias %values, ptr noalias %results) #1 {{"
    return writer.function(_name(index), head)


def call(writer: FunctionText, index: int, values: str, results: str) -> list[str]:
    """Go through the loop with the groups that have something to do in it; the names of its results after it.

    `values` and `results` are places in memory.
    """
    program, loop = writer.program, writer.program.loops[index]
    assert loop.skip is not None
    entry = [writer.operand(i, scalar=False) for i in loop.initial]
    skip, block, width = (
        writer.operand(loop.skip, scalar=False),
        f"rare{index}",
        FunctionText(program, writer.single).lanes,
    )
    parts, before = writer.lanes // width, writer.block
    spared = writer.everywhere_set(skip)
    writer.line(f"br i1 {spared}, label %after{index}, label %{block}, !prof !0")
    writer.label(block)
    ends: list[list[str]] = []
    for part in range(parts):
        for k, node in enumerate(handed_over(program, index)):
            value, mask = writer.operand(node, scalar=False), program.is_mask(node)
            if parts > 1:
                value = writer.pick(writer.mask if mask else writer.vector, value, part, width)
            _write(writer, values, k, value, mask=mask, width=width)
        writer.line(f"call void @{_name(index)}(ptr {values}, ptr {results})")
        ends.append([_read(writer, results, k, mask=False, width=width) for k in range(len(loop.state))])
    last = [writer.joined(writer.format.element, list(halves), width) for halves in zip(*ends, strict=True)]
    writer.line(f"br label %after{index}")
    writer.label(f"after{index}")
    writer.leap()
    around = (f"[ {first}, %{before} ], [ {end}, %{block} ]" for first, end in zip(entry, last, strict=True))
    return [writer.new(f"phi {writer.vector} {way}") for way in around]


def _name(index: int) -> str:
    return f"rare{index}"


def _read(writer: FunctionText, memory: str, k: int, mask: bool, width: int = 0) -> str:
    """The value in a place."""
    at, width = writer.new(f"getelementptr i8, ptr {memory}, i64 {PLACE * k}"), width or writer.lanes
    if mask:
        bits = writer.new(f"load i{width}, ptr {at}, align {PLACE}")
        return writer.new(f"bitcast i{width} {bits} to <{width} x i1>")
    return writer.new(f"load <{width} x {writer.format.element}>, ptr {at}, align {PLACE}")


def _write(writer: FunctionText, memory: str, k: int, value: str, mask: bool, width: int = 0) -> None:
    """Put a value into a place."""
    at, width = writer.new(f"getelementptr i8, ptr {memory}, i64 {PLACE * k}"), width or writer.lanes
    kind = f"<{width} x {writer.format.element}>"
    if mask:
        value, kind = writer.new(f"bitcast <{width} x i1> {value} to i{width}"), f"i{width}"
    writer.line(f"store {kind} {value}, ptr {at}, align {PLACE}")
