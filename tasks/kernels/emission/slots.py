"""Slots in memory for values of a long function, and its repeated stretches of operations.

Without slots, LLVM keeps every value in a register until its last use, and finds out value by value that there are only
32 registers. Its time grows faster than the length of the function, and it often does not move the value with the
latest next use to memory. So a value without a use for FAR operations is stored in a slot and read again.

A long program repeats stretches of operations with other values: a tree has the same few hundred operations for each of
its bodies. Such a stretch becomes one function that is called for each body with the slots of its values. It is
compiled once and stays in the processor's cache; results do not depend on it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush

import numpy as np

from robots.data_classes import dataclass
from tasks.kernels.expression import CASE, CONSTANT, RESULT, SAMPLE
from tasks.kernels.program import PER_CASE, Program

SIZES = (128, 256)
"""Lengths of stretches in the search, powers of two; stretches that are found are extended as far as possible."""
MOST = 300
"""Largest number of operations of a stretch; values inside a stretch get no slots."""
WORTH = 0.2
"""Share of all operations that the stretches must save at least; with less, handing values over costs the gain."""
FACTOR = 0x9E3779B97F4A7C15 - 2**64
"""An odd number whose bits are well mixed."""

Nodes = tuple[int, ...]


@dataclass(frozen=True)
class Argument:
    """An argument of an operation of a stretch.

    `inside`: number of the operation in the stretch that gives it; None if it is computed before the stretch. `nodes`:
    nodes that give it, for each place of the stretch, if it is computed before the stretch.
    """

    inside: int | None
    nodes: Nodes = ()


@dataclass(frozen=True)
class Stretch:
    """Operations that occur at several places: the nodes at each of them, one for one."""

    places: tuple[Nodes, ...]
    arguments: tuple[tuple[Argument, ...], ...]
    """Arguments of each operation."""
    written: Nodes
    """Operations whose results are used after the stretch, at any of its places."""
    taken: tuple[Nodes, ...]
    """Values from before the stretch, each once: its node at every place. Constants are not included."""
    constants: tuple[Nodes, ...]
    """Constants that differ between the places of the stretch."""

    @property
    def saves(self) -> int:
        """Operations that are not written again, less values that are handed over in memory instead."""
        spared = (len(self.places) - 1) * len(self.arguments)
        return spared - len(self.places) * (len(self.taken) + len(self.written))


@dataclass(frozen=True)
class StretchCall:
    """A stretch at one of its places."""

    stretch: Stretch
    number: int
    place: int

    @property
    def taken(self) -> Nodes:
        """Nodes of the values that go into the stretch at this place."""
        return tuple(nodes[self.place] for nodes in self.stretch.taken)

    @property
    def written(self) -> Nodes:
        """Nodes of the results of the stretch at this place, one after the other."""
        nodes = self.stretch.places[self.place]
        return tuple(nodes[k] for k in self.stretch.written)


class Repeats:
    """Repeated stretches of some regions of a program, by their first nodes; empty where they save little."""

    def __init__(self, program: Program, regions: Sequence[int]) -> None:
        stretches = _stretches(program, [program.regions.get(key, ()) for key in regions])
        whole = sum(len(program.regions.get(key, ())) for key in regions)
        self.stretches = stretches if sum(stretch.saves for stretch in stretches) > WORTH * whole else []
        self._by_start = {
            nodes[0]: StretchCall(stretch, number, place)
            for number, stretch in enumerate(self.stretches)
            for place, nodes in enumerate(stretch.places)
        }

    def pieces(self, nodes: Nodes) -> Iterator[int | StretchCall]:
        """Yield the operations of a region: nodes, and calls in place of stretches."""
        k = 0
        while k < len(nodes):
            call = self._by_start.get(nodes[k])
            yield nodes[k] if call is None else call
            k += 1 if call is None else len(call.stretch.arguments)


def _stretches(program: Program, regions: Sequence[Nodes]) -> list[Stretch]:
    """Return the repeated stretches that save instructions."""
    operations = _Operations(program)
    stretches = list(_places(operations, np.array([node for region in regions for node in (*region, -1)], dtype=int)))
    for places in stretches:
        operations.home[places], operations.number[places] = places[:, :1], np.arange(places.shape[1])
    outside = _used_outside(program, operations)
    whole = (_stretch(places, operations, outside) for places in stretches)
    return [stretch for stretch in whole if stretch.saves > 0]


class _Operations:
    """Operations of each node: arguments (node, 3), -1 for none, whether it is a constant, and its machine code.

    For operations of stretches, once these are known, also the first node there and the number of the operation. The
    last row is a placeholder for no node.
    """

    def __init__(self, program: Program) -> None:
        size, numbers = len(program.nodes) + 1, dict[str, int]()
        self.args = np.full((size, 3), -1)
        for node, row in enumerate(program.nodes):
            self.args[node, : len(row.args)] = row.args
        self.constant = np.array([*(node.op == CONSTANT for node in program.nodes), False])
        codes = np.array([*(numbers.setdefault(node.op, len(numbers)) for node in program.nodes), -1])
        self.code = np.unique(codes * 8 + self.constant[self.args] @ (1, 2, 4), return_inverse=True)[1]
        self.home, self.number = np.full((2, size), -1)


def _stretch(places: np.ndarray, operations: _Operations, outside: np.ndarray) -> Stretch:
    """Build a stretch from its places: arguments, inputs, outputs and constants."""
    values = operations.args[places]  # (place, operation, argument)
    inner = np.where(operations.home[values] == places[:, :1, None], operations.number[values], -1)
    inside = np.where((inner == inner[0]).all(axis=0), inner[0], -1)
    outside = outside.copy()
    outside[values[:, inside < 0]] = True  # inside at one place, from before at another: read from memory at both
    before: dict[Nodes, Argument] = {}
    arguments = []
    for k, count in enumerate((values[0] >= 0).sum(axis=1).tolist()):
        row = []
        for j in range(count):
            if inside[k, j] >= 0:
                row.append(Argument(int(inside[k, j])))
            else:
                nodes = tuple(values[:, k, j].tolist())
                row.append(before.setdefault(nodes, Argument(None, nodes)))
        arguments.append(tuple(row))
    numbers = {nodes for nodes in before if operations.constant[nodes[0]]}
    return Stretch(
        tuple(map(tuple, places.tolist())),
        tuple(arguments),
        tuple(np.flatnonzero(outside[places].any(axis=0)).tolist()),
        tuple(nodes for nodes in before if nodes not in numbers),
        tuple(nodes for nodes in before if nodes in numbers and len({*nodes}) > 1),
    )


def _used_outside(program: Program, operations: _Operations) -> np.ndarray:
    """Return for each node whether it is needed outside the stretch that gives it."""
    args, home = operations.args, operations.home
    result = np.zeros(len(args), dtype=bool)
    for _, nodes in program.outputs.values():
        result[list(nodes)] = True
    for loop in program.loops:
        result[[*loop.before, *loop.following, loop.done]] = True
    result[args[home[args] != home[:, None]]] = True
    return result


def _places(operations: _Operations, nodes: np.ndarray) -> Iterator[np.ndarray]:
    """Yield nodes (place, operation) of disjoint stretches; from each place on, the stretches that save most."""
    kinds = np.where(nodes >= 0, operations.code[nodes], -1 - np.arange(len(nodes)))
    rows = {size: _rows(kinds, size) for size in SIZES if size <= len(kinds)}
    free, first = np.ones(len(nodes), dtype=bool), 0
    while rows:
        room = _room(free)
        for start in _several(rows[SIZES[0]], room >= SIZES[0], first):
            sizes = {size: _alike(rows[size], room >= size, start, size) for size in rows}
            places = sizes[max(sizes, key=lambda size: size * (len(sizes[size]) - 1))]
            if len(places) > 1:
                break
        else:
            return
        columns = places[:, None] + np.arange(_length(kinds, room, places))
        yield nodes[columns]
        free[columns], first = False, start


def _rows(kinds: np.ndarray, size: int) -> np.ndarray:
    """Return a number for the `size` consecutive operations from each one on; equal sequences have equal numbers."""
    mixed, width = np.random.default_rng(0).integers(2**63, size=int(kinds.max()) + 1 + len(kinds))[kinds], 1
    while width < size:
        left, right = mixed[:-width], mixed[width:]
        mixed = (left ^ (left >> 29)) * FACTOR + right  # modulo 2^64
        width *= 2
    return np.unique(mixed, return_inverse=True)[1]


def _room(free: np.ndarray) -> np.ndarray:
    """Count the free operations in a row from each operation on."""
    ends = np.append(np.flatnonzero(~free), len(free))
    return np.repeat(ends, np.diff(ends, prepend=-1))[: len(free)] - np.arange(len(free))


def _several(rows: np.ndarray, fits: np.ndarray, start: int) -> list[int]:
    """Return the places, from `start` on, of rows that fit and have at least one equal row that fits as well."""
    fits = fits[: len(rows)]
    counts = np.bincount(rows[fits], minlength=len(rows))
    places = np.flatnonzero(fits & (counts[rows] > 1))
    return list(places[places >= start])


def _alike(rows: np.ndarray, fits: np.ndarray, start: int, size: int) -> np.ndarray:
    """Return `start` and the places after it of equal rows that fit, without overlap."""
    result = [start]
    if start < len(rows) and fits[start]:
        for place in np.flatnonzero((rows == rows[start]) & fits[: len(rows)]).tolist():
            if place >= result[-1] + size:
                result.append(place)
    return np.array(result)


def _length(kinds: np.ndarray, room: np.ndarray, places: np.ndarray) -> int:
    """Return the number of operations that are alike from all places on: MOST at most, no place overlaps the next."""
    most = min(MOST, int(room[places].min()), int(np.diff(places).min()))
    columns = places[:, None] + np.arange(most)
    good = (kinds[columns] == kinds[columns[0]]).all(axis=0)
    return most if good.all() else int(good.argmin())


LONG = 2000
"""Operations of a sample beyond which a function is long; in others no value is far."""
FAR = 150
"""Operations after which a value is read again rather than kept in a register."""
PART = 100
"""Operations of a part of a region: LLVM looks at one after the other."""


class Trail:
    """Number of operations since each value was last made or used."""

    def __init__(self) -> None:
        self.place = 0
        self._touched: dict[int, int] = {}

    def touch(self, node: int) -> bool:
        """Note a use of a value, or its making; return whether the previous one is far away."""
        before = self._touched.get(node)
        self._touched[node] = self.place
        return before is not None and self.place - before > FAR

    def step(self) -> None:
        """Count one more operation."""
        self.place += 1

    def leap(self) -> None:
        """Enter or leave a loop; all values count as far then."""
        self.place += max(FAR, 0) + 1


class Slots(dict[int, int]):
    """The slots of values that are read again; `count`: how many there are, as a slot has several values in turn."""

    def __init__(self, places: dict[int, int], count: int, repeats: Repeats) -> None:
        super().__init__(places)
        self.count, self.repeats, self.trail = count, repeats, Trail()


def is_long(program: Program, rare: int | None = None) -> bool:
    """Return whether a program without its rare loops is long; with `rare`, whether that loop is long."""
    if rare is None:
        return program.operations().total() > LONG
    return len(program.regions.get(2 * rare + 1, ())) > LONG


def kernel_slots(program: Program, repeats: Repeats) -> Slots:
    """Return the slots of a program without its rare loops."""
    inputs = {i for i, node in enumerate(program.nodes) if node.op == SAMPLE}
    per_case = {i for i, node in enumerate(program.nodes) if node.op == CASE} | {*program.regions.get(PER_CASE, ())}
    walk = _StretchWalk(program, repeats, per_case)
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
    """Return the slots of a loop that is a function of its own."""
    walk = _StretchWalk(program, repeats, set())
    walk.make(handed_over(program, index))
    walk.use(program.loops[index].before)
    walk.loop(index)
    return walk.slots()


def handed_over(program: Program, index: int) -> tuple[int, ...]:
    """Return the nodes that a loop takes from before it, in their order, without constants."""
    loop, body = program.loops[index], program.regions.get(2 * index + 1, ())
    results = {*loop.before, *loop.following, loop.done}.union(*(program.nodes[i].args for i in body))
    inside = {*loop.state, *body}
    return tuple(sorted(i for i in results - inside if program.nodes[i].op != CONSTANT))


class _StretchWalk:
    """Pass through a function in the order of emission that finds distant values, their origins and their uses.

    Masks have slots for calls alone, and so have values that are `still`, which are the same for all samples.
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
            if isinstance(piece, StretchCall):
                self.call(piece)
                continue
            self.use(self.program.nodes[piece].args)
            self.make((piece,))
            self.trail.step()

    def call(self, call: StretchCall) -> None:
        """Record a call of a stretch: its inputs and outputs are in memory, the outputs in neighbouring slots."""
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
        # values from before the loop are needed in every round
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
    """Return the slots of values with their lifetimes, neighbours for several values; and the number of slots."""
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
