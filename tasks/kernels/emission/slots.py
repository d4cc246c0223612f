"""Where values of a long program are between uses that are far apart: in memory, which its text says.

Left to itself LLVM keeps every value in a register until its last use, and finds out value by value that there are only
32. That takes time which grows faster than the program, and what it moves to memory is not always what is needed last.
So a value that nothing has touched for FAR operations is read again, from a slot or from the array that it came from.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from tasks.kernels.expression import CASE, CONSTANT, RESULT, SAMPLE
from tasks.kernels.program import PER_CASE, Program

LONG = 2000
"""Operations of a sample beyond which a program is long, rare loops left out; in others no value is far."""
FAR = 150
"""Operations after which a value is read again rather than kept in a register."""
PART = 100
"""Operations of a part of a region: LLVM looks at one after the other."""


def is_long(program: Program) -> bool:
    """Whether values of a program have slots."""
    return program.operations().total() > LONG


class Trail:
    """How many operations ago each value was made or used."""

    def __init__(self) -> None:
        self.place = 0
        self._touched: dict[int, int] = {}

    def touch(self, node: int) -> bool:
        """Use a value, or make it; whether that is far from where it was made or used before."""
        before = self._touched.get(node)
        self._touched[node] = self.place
        return before is None or self.place - before > FAR

    def step(self) -> None:
        """Go on to the next operation."""
        self.place += 1

    def leap(self) -> None:
        """Go into a loop or out of it, where all values are far."""
        self.place += FAR + 1


def slots(program: Program) -> tuple[dict[int, int], int]:
    """The slots of values that are read again, and how many there are: after its last use a value's slot is another's.

    Goes through the program as emission does.
    """
    others = {i for i, node in enumerate(program.nodes) if node.op in (CONSTANT, CASE, SAMPLE) or program.is_mask(i)}
    others |= set(program.regions.get(PER_CASE, ()))
    trail, again = Trail(), set[int]()
    made: dict[int, int] = {}
    last: dict[int, int] = {}

    def make(nodes: Iterable[int]) -> None:
        for node in nodes:
            trail.touch(node)
            made[node] = trail.place

    def use(nodes: Iterable[int]) -> None:
        for node in nodes:
            if node not in others:
                if trail.touch(node):
                    again.add(node)
                last[node] = trail.place

    def region(key: int) -> None:
        for node in program.regions.get(key, ()):
            use(program.nodes[node].args)
            make((node,))
            trail.step()

    region(0)
    for k, loop in enumerate(program.loops):
        use(loop.before)
        trail.leap()
        start = trail.place
        make(loop.state)
        region(2 * k + 1)
        use((loop.done, *loop.following, *loop.state))
        # what was made before the loop is there in every round
        last.update({node: trail.place for node, place in last.items() if place >= start > made[node]})
        trail.leap()
        make(i for i, node in enumerate(program.nodes) if node.op == RESULT and node.data[0] == k)
        region(2 * k + 2)
    use(node for _, nodes in program.outputs.values() for node in nodes)
    return _placed([(made[node], last[node], node) for node in again])


def _placed(lives: list[tuple[int, int, int]]) -> tuple[dict[int, int], int]:
    """Slots of values that are needed from one place to another, and how many there are."""
    result: dict[int, int] = {}
    taken: list[tuple[int, int]] = []
    free: list[int] = []
    count = 0
    for start, stop, node in sorted(lives):
        while taken and taken[0][0] < start:
            free.append(heappop(taken)[1])
        if not free:
            free.append(count)
            count += 1
        result[node] = free.pop()
        heappush(taken, (stop, result[node]))
    return result, count
