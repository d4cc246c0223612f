"""Where values of a long function are between uses that are far apart: in memory, which its text says.

Left to itself LLVM keeps every value in a register until its last use, and finds out value by value that there are only
32. That takes time which grows faster than the function, and what it moves to memory is not always what is needed last.
So a value that nothing has touched for FAR operations is read again, from a slot.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from heapq import heappop, heappush

from tasks.kernels.emission.repeats import Call, Nodes, Repeats
from tasks.kernels.expression import CASE, CONSTANT, RESULT, SAMPLE
from tasks.kernels.program import PER_CASE, Program

LONG = 2000
"""Operations of a sample beyond which a function is long; in others no value is far."""
FAR = 150
"""Operations after which a value is read again rather than kept in a register."""
PART = 100
"""Operations of a part of a region: LLVM looks at one after the other."""


class Trail:
    """How many operations ago each value was made or used."""

    def __init__(self) -> None:
        self.place = 0
        self._touched: dict[int, int] = {}

    def touch(self, node: int) -> bool:
        """Use a value, or make it; whether that is far from where it was made or used before."""
        before = self._touched.get(node)
        self._touched[node] = self.place
        return before is not None and self.place - before > FAR

    def step(self) -> None:
        """Go on to the next operation."""
        self.place += 1

    def leap(self) -> None:
        """Go into a loop or out of it, where all values are far."""
        self.place += max(FAR, 0) + 1


class Slots(dict[int, int]):
    """The slots of values that are read again; `count`: how many there are, as a slot has several values in turn."""

    def __init__(self, places: dict[int, int], count: int, repeats: Repeats) -> None:
        super().__init__(places)
        self.count, self.repeats, self.trail = count, repeats, Trail()


def is_long(program: Program, rare: int | None = None) -> bool:
    """Whether a program without its rare loops is long, or one of these."""
    if rare is None:
        return program.operations().total() > LONG
    return len(program.regions.get(2 * rare + 1, ())) > LONG


def kernel_slots(program: Program, repeats: Repeats) -> Slots:
    """Slots of a program without its rare loops."""
    inputs = {i for i, node in enumerate(program.nodes) if node.op == SAMPLE}
    per_case = {i for i, node in enumerate(program.nodes) if node.op == CASE} | {*program.regions.get(PER_CASE, ())}
    walk = _Walk(program, repeats, per_case)
    walk.make(inputs)
    walk.region(0)
    for k, loop in enumerate(program.loops):
        walk.use(loop.before)
        if loop.skip is None:
            walk.loop(k)
        else:
            walk.use(handed_over(program, k))
            walk.trail.leap()
        walk.make(i for i, node in enumerate(program.nodes) if node.op == RESULT and node.data[0] == k)
        walk.region(2 * k + 2)
    for name, (_, nodes) in program.outputs.items():
        walk.use(nodes if name in program.reductions else inputs.intersection(nodes))
    return walk.slots()


def loop_slots(program: Program, index: int, repeats: Repeats) -> Slots:
    """Slots of a loop that is a function of its own."""
    walk = _Walk(program, repeats, set())
    walk.make(handed_over(program, index))
    walk.use(program.loops[index].before)
    walk.loop(index)
    return walk.slots()


def handed_over(program: Program, index: int) -> tuple[int, ...]:
    """What a loop takes from before it, in the order of the nodes: constants are none."""
    loop, body = program.loops[index], program.regions.get(2 * index + 1, ())
    wanted = {*loop.before, *loop.following, loop.done}.union(*(program.nodes[i].args for i in body))
    known = {*loop.state, *body}
    return tuple(sorted(i for i in wanted - known if program.nodes[i].op != CONSTANT))


class _Walk:
    """Goes through a function as emission does, and finds what is far, from where and to where that is needed.

    Masks have slots for calls alone, and so has what is `still`: the same for all samples.
    """

    def __init__(self, program: Program, repeats: Repeats, still: set[int]) -> None:
        self.program, self.repeats, self.still, self.trail = program, repeats, still, Trail()
        self._others = {i for i, node in enumerate(program.nodes) if node.op == CONSTANT or program.is_mask(i)} | still
        self._again: set[int] = set()
        self._made = dict.fromkeys(still, -1)
        self._last: dict[int, int] = {}
        self._blocks: list[Nodes] = []

    def make(self, nodes: Iterable[int]) -> None:
        for node in nodes:
            self.trail.touch(node)
            self._made[node] = self.trail.place

    def use(self, nodes: Iterable[int]) -> None:
        for node in nodes:
            if node not in self._others:
                if self.trail.touch(node):
                    self._again.add(node)
                self._last[node] = self.trail.place

    def region(self, key: int) -> None:
        for piece in self.repeats.pieces(self.program.regions.get(key, ())):
            if isinstance(piece, Call):
                self.call(piece)
                continue
            self.use(self.program.nodes[piece].args)
            self.make((piece,))
            self.trail.step()

    def call(self, call: Call) -> None:
        """What goes in and out is in memory, the latter in neighbouring slots."""
        self._again.update(call.taken)
        self._last.update(dict.fromkeys(call.taken, self.trail.place))
        self.make(call.written)
        self._last.update(dict.fromkeys(call.written, self.trail.place))
        self._blocks.append(call.written)
        self.trail.leap()

    def loop(self, index: int) -> None:
        loop = self.program.loops[index]
        self.trail.leap()
        start = self.trail.place
        self.make(loop.state)
        self.region(2 * index + 1)
        self.use((loop.done, *loop.following, *loop.state))
        # what was made before the loop is there in every round
        still = {node for node, place in self._last.items() if place >= start > self._made[node]}
        self._last.update(dict.fromkeys(still, self.trail.place))
        self.trail.leap()

    def slots(self) -> Slots:
        self._last.update(dict.fromkeys(self.still & self._again, self.trail.place))
        together = {node for block in self._blocks for node in block}
        blocks = [*self._blocks, *((node,) for node in self._again - together)]
        lives = [(self._made[block[0]], max(self._last[node] for node in block), block) for block in blocks]
        return Slots(*_placed(lives), self.repeats)


def _placed(lives: list[tuple[int, int, Nodes]]) -> tuple[dict[int, int], int]:
    """Slots of values that are needed from one place to another, neighbours for several, and how many there are."""
    result: dict[int, int] = {}
    taken: list[tuple[int, int, int]] = []
    free = defaultdict[int, list[int]](list)
    count = 0
    for start, stop, nodes in sorted(lives):
        while taken and taken[0][0] < start:
            _, slot, size = heappop(taken)
            free[size].append(slot)
        if not free[len(nodes)]:
            free[len(nodes)].append(count)
            count += len(nodes)
        slot = free[len(nodes)].pop()
        result.update(zip(nodes, range(slot, slot + len(nodes)), strict=True))
        heappush(taken, (stop, slot, len(nodes)))
    return result, count
