"""Stretches that repeat as functions: `void (ptr out, ptr slots, ptr where, ptr numbers)`, for one group of samples.

`where` lists how far from the first slot the values are that go in, `numbers` constants; what comes out goes to
neighbouring slots, from `out` on. Both lists are tables that each call has of its own.
"""

from __future__ import annotations

from tasks.kernels.emission.repeats import Argument, Stretch
from tasks.kernels.emission.writer import FunctionText
from tasks.kernels.program import Program


def function(program: Program, stretch: Stretch, number: int, single: bool) -> list[str]:
    """The text of a stretch."""
    text = _StretchText(program, stretch, single)
    text.label("entry")
    names: list[str] = []
    places = {operation: k for k, operation in enumerate(stretch.written)}
    for k, (node, arguments) in enumerate(zip(stretch.places[0], stretch.arguments, strict=True)):
        operands = [text.value(arg) if arg.inside is None else names[arg.inside] for arg in arguments]
        names.append(text.operation(program.nodes[node].op, operands, scalar=False))
        if k in places:  # at once: at some places what is read may be what was written just before
            at = text.new(f"getelementptr {text.vector}, ptr %out, i64 {places[k]}")
            text.write(at, names[k], mask=program.is_mask(node))
    text.line("ret void")
    head = f"define private void @stretch{number}(ptr %out, ptr %slots, ptr noalias %where, ptr noalias %numbers) #0 {{"
    return text.function(f"stretch{number}", head)


class _StretchText(FunctionText):
    """Writes a stretch; what comes from before is read where it is needed first."""

    def __init__(self, program: Program, stretch: Stretch, single: bool) -> None:
        super().__init__(program, single)
        self._taken = {nodes: k for k, nodes in enumerate(stretch.taken)}
        self._constants = {nodes: k for k, nodes in enumerate(stretch.constants)}
        self._known: dict[tuple[int, ...], str] = {}

    def value(self, argument: Argument) -> str:
        """The name of a value that comes from before."""
        nodes = argument.nodes
        if nodes not in self._known:
            self._known[nodes] = self._read(nodes)
        return self._known[nodes]

    def _read(self, nodes: tuple[int, ...]) -> str:
        if nodes in self._constants:
            element = self.format.element
            at = self.new(f"getelementptr {element}, ptr %numbers, i64 {self._constants[nodes]}")
            return self.spread(self.vector, self.new(f"load {element}, ptr {at}"))
        if nodes in self._taken:
            offset = self.new(f"load i32, ptr {self.new(f'getelementptr i32, ptr %where, i64 {self._taken[nodes]}')}")
            at = self.new(f"getelementptr i8, ptr %slots, i32 {offset}")
            return self.read(at, mask=self.program.is_mask(nodes[0]))
        return self.number(nodes[0], self.vector)
