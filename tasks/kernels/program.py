"""A traced function as straight-line regions: once per case, before, inside and after each loop.

`trace` calls a one-sample function on symbols. Products whose only use is a sum become fused multiply-adds here, so
that both the interpreter and the compiler execute the same operations and give the same bits.
"""

from __future__ import annotations

import functools
import gc
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np

from robots.data_classes import dataclass, field
from tasks.kernels.expression import (
    CASE,
    CONSTANT,
    MASKS,
    RESULT,
    SAMPLE,
    STATE,
    Dual,
    Expression,
    Graph,
    Loop,
)
from tasks.kernels.keys import Arrays, Key, Shape, Shapes, arguments

PER_CASE = -1
"""Region of the nodes that depend on case inputs alone."""

UNUSED, SEVERAL = -2, -3
"""Values in place of the region that uses a node: no region does, or more than one."""

_OF_LEAVES = {SAMPLE: 0, STATE: 1, RESULT: 2}
"""Regions of leaves of a sample, of the first loop's state and of its results."""

GONE = ""
"""Operation of a node that is not needed, or has gone into a sum."""

REDUCTIONS = ("max", "min", "sum")


class Node(NamedTuple):
    """One operation of a program; `args` are indices of earlier nodes. `data` as in Expression."""

    op: str
    args: tuple[int, ...] = ()
    data: Any = None


_node = tuple.__new__
"""Maker of a node from its fields, without a call of a function in Python."""


@dataclass(frozen=True)
class Iteration:
    """A loop of a program, all in node indices; its body is the region after the odd number 2 * index + 1."""

    limit: int
    initial: tuple[int, ...]
    state: tuple[int, ...]
    following: tuple[int, ...]
    done: int
    skip: int | None = None
    newton: bool = True

    @property
    def before(self) -> tuple[int, ...]:
        """Nodes that must be computed before the first round."""
        return self.initial if self.skip is None else (*self.initial, self.skip)


@dataclass(frozen=True)
class Program:
    """A function of case inputs (constant along a trajectory) and sample inputs.

    `regions` maps PER_CASE, 0 (before the first loop), 1 (its body), 2 (after it), 3, ... to node indices in order. An
    output named in `reductions` is reduced over the samples of a case.
    """

    name: str
    case: Shapes
    sample: Shapes
    outputs: Mapping[Key, tuple[Shape, tuple[int, ...]]]  # shape, flat node indices
    reductions: Mapping[Key, str]
    nodes: tuple[Node, ...]
    regions: Mapping[int, tuple[int, ...]]
    loops: tuple[Iteration, ...] = field(default=())

    @property
    def inputs(self) -> tuple[Key, ...]:
        """Keys of all inputs, those per case first."""
        return (*self.case, *self.sample)

    @property
    def rare(self) -> frozenset[int]:
        """Regions that most samples spare: bodies of loops that may be skipped."""
        return frozenset(2 * k + 1 for k, loop in enumerate(self.loops) if loop.skip is not None)

    @functools.cached_property
    def sample_operands(self) -> frozenset[int]:
        """Nodes that are arguments, results or outputs of the region of samples."""
        regions = (nodes for key, nodes in self.regions.items() if key != PER_CASE)
        result = {arg for nodes in regions for i in nodes for arg in self.nodes[i].args}
        result |= {i for loop in self.loops for i in (*loop.before, *loop.following, loop.done)}
        return frozenset(result.union(*(nodes for _, nodes in self.outputs.values())))

    @functools.cached_property
    def case_entries(self) -> dict[Key, list[int]]:
        """Indices that the program uses of each case input."""
        entries: dict[Key, set[int]] = defaultdict(set)
        for node in self.nodes:
            if node.op == CASE:
                entries[node.data[0]].add(node.data[1])
        return {key: sorted(places) for key, places in entries.items()}

    def operations(self, *, per_case: bool = False) -> Counter[str]:
        """Count the operations of each kind that one sample costs (or one case, on request).

        The body of each loop is counted once. A loop that may be skipped is not counted: it is for rare samples.
        """
        regions = [k for k in self.regions if (k == PER_CASE) == per_case and k not in self.rare]
        return Counter(self.nodes[i].op for k in regions for i in self.regions[k])

    def constants(self, output: Key, *, single: bool = False) -> dict[int, float]:
        """Return the components of an output that are constant over samples; none of a reduced one."""
        if output in self.reductions:
            return {}
        _, places = self.outputs[output]
        values = {k: self.nodes[node].data for k, node in enumerate(places) if self.nodes[node].op == CONSTANT}
        if not single:
            return {k: float(value) for k, value in values.items()}
        with np.errstate(over="ignore"):
            return {k: float(np.float32(x.single if isinstance(x, Dual) else x)) for k, x in values.items()}

    def is_mask(self, node: int) -> bool:
        """Return whether a node holds truth values."""
        return self.nodes[node].op in MASKS


def size(shape: Shape) -> int:
    """Return the number of elements of an array of this shape."""
    return math.prod(shape)


def trace(
    name: str,
    function: Callable[..., Mapping[Any, Any]],
    *,
    case: Shapes,
    sample: Shapes,
    reductions: Mapping[Any, str] | None = None,
    first: Sequence[Key] = (),
    fuse: bool = True,
) -> Program:
    """Return the program of `function(**case arrays, **sample arrays) -> {output key: array}`; see `keys.arguments`.

    `function` is written for one sample; it is called once, on arrays of symbols of the given shapes. Outputs that are
    named `first` have the same bits with any other outputs. Without `fuse` every product is rounded, as in NumPy.
    """
    return trace_keyed(
        name, lambda inputs: function(**arguments(inputs)),
        case=case, sample=sample, reductions=reductions, first=first, fuse=fuse,
    )  # fmt: skip


def trace_keyed(
    name: str,
    function: Callable[[Mapping[Key, Any]], Mapping[Any, Any]],
    *,
    case: Shapes,
    sample: Shapes,
    reductions: Mapping[Any, str] | None = None,
    first: Sequence[Key] = (),
    fuse: bool = True,
) -> Program:
    """Return the same for a function of one mapping, from keys to arrays."""
    unknown = set((reductions or {}).values()) - set(REDUCTIONS)
    if unknown:
        raise ValueError(f"unknown reduction {sorted(unknown)}; known: {', '.join(REDUCTIONS)}")
    with _collecting_nothing():
        graph = Graph()
        ordering = _Ordering(graph, _results(graph, name, function, case, sample), first, fuse=fuse)
        program = ordering.program(name, case, sample, reductions or {})
        graph.clear()
        del ordering  # all nodes, which the collector would look at
    return program


def _results(
    graph: Graph, name: str, function: Callable[[Mapping[Key, Any]], Mapping[Any, Any]], case: Shapes, sample: Shapes
) -> dict[Key, np.ndarray]:
    """Return the arrays of symbols that a function gives."""
    inputs = {key: _symbols(graph, CASE, key, shape) for key, shape in case.items()}
    inputs |= {key: _symbols(graph, SAMPLE, key, shape) for key, shape in sample.items()}
    results = {key: np.asarray(value, dtype=object) for key, value in function(inputs).items()}
    if double := sorted(map(str, results.keys() & inputs.keys())):
        raise ValueError(f"{name}: {', '.join(double)} is the name of an input and of an output; rename the output")
    return results


@contextmanager
def _collecting_nothing() -> Iterator[None]:
    """Context without the garbage collector, which would look at all nodes again and again: a quarter of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def require_shapes(program: Program, shapes: Shapes) -> None:
    """Check that outputs have the shapes declared before the program was traced. Raises ValueError."""
    traced = {key: shape for key, (shape, _) in program.outputs.items()}
    if traced != dict(shapes):
        raise ValueError(f"{program.name}: its outputs have the shapes {traced}; expected {dict(shapes)}")


def _symbols(graph: Graph, op: str, name: Key, shape: tuple[int, ...]) -> Any:
    flat = [graph.node(op, data=(name, i)) for i in range(size(shape))]
    array = np.empty(len(flat), dtype=object)
    array[:] = flat
    return array.reshape(shape) if shape else flat[0]


def _skipped(loop: Loop) -> tuple[Expression, ...]:
    return () if loop.skip is None else (loop.skip,)


class _Ordering:
    """Analysis of a graph: the nodes that are needed, their regions, and products that can be fused into sums.

    Tables have a place for each node of the graph; arguments of a node have lower numbers than the node.
    """

    def __init__(
        self, graph: Graph, results: Mapping[Key, np.ndarray], first: Sequence[Key] = (), *, fuse: bool = True
    ):
        self.graph, self.fuse = graph, fuse
        self.results = {key: [graph.lift(x) for x in value.ravel()] for key, value in results.items()}
        self.shapes = {key: value.shape for key, value in results.items()}
        roots = [x for values in self.results.values() for x in values]
        self.roots, (self.needed, self.uses) = roots, self._needed(roots)
        # sums that these outputs need are fused as if there were no others
        none = bytearray(len(graph.nodes)), self.uses
        self.core, self.core_uses = self._needed([x for key in first for x in self.results[key]]) if first else none

    def _needed(self, roots: Sequence[Expression]) -> tuple[bytearray, list[int]]:
        """Return whether each node is needed for the roots or by a loop, and how often needed ones use it."""
        nodes = self.graph.nodes
        uses = [0] * len(nodes)
        for x in roots:
            uses[x.number] += 1
        for loop in self.graph.loops:  # whole, though some of its results may not be used
            assert loop.done is not None
            for x in (*loop.initial, *loop.following, loop.done, *_skipped(loop)):
                uses[x.number] += 1
        for node in reversed(nodes):
            if uses[node.number]:
                for arg in node.args:
                    uses[arg.number] += 1
        marks = bytearray(map(bool, uses))
        for loop in self.graph.loops:
            for x in loop.state:
                marks[x.number] = True
        return marks, uses

    def _formed(self) -> tuple[list[str], list[tuple[Expression, ...]], list[int]]:
        """Return operation and arguments of each node, after products have gone into sums, and regions.

        A sum takes in one of its terms that is a product with no other use; a product without another use is gone.
        """
        count, fuse, uses, core, core_uses = len(self.graph.nodes), self.fuse, self.uses, self.core, self.core_uses
        ops, region = [GONE] * count, [PER_CASE] * count
        arguments: list[tuple[Expression, ...]] = [()] * count
        for node in itertools.compress(self.graph.nodes, self.needed):
            number = node.number
            ops[number] = op = node.op
            arguments[number] = args = node.args
            if len(args) == 2:
                left, right = args
                of_left, of_right = region[left.number], region[right.number]
                region[number] = place = of_left if of_left > of_right else of_right
                if not fuse or (op != "add" and op != "sub"):
                    continue
                counts = core_uses if core[number] else uses
                if left.op == "mul" and of_left == place and counts[left.number] == 1:
                    ops[number], arguments[number] = "fma" if op == "add" else "fms", (*left.args, right)
                    product = left.number
                elif right.op == "mul" and of_right == place and counts[right.number] == 1:
                    ops[number], arguments[number] = "fma" if op == "add" else "fnma", (*right.args, left)
                    product = right.number
                else:
                    continue
                if uses[product] == 1:
                    ops[product] = GONE
            elif args:
                region[number] = max([region[arg.number] for arg in args])
            elif op in _OF_LEAVES:
                region[number] = _OF_LEAVES[op] + (0 if op == SAMPLE else 2 * node.data[0])
        return ops, arguments, region

    def program(self, name: str, case: Shapes, sample: Shapes, reductions: Mapping[Key, str]) -> Program:
        ops, arguments, region = self._formed()
        placed = self._placed(ops, arguments, region)
        index = [-1] * len(ops)
        nodes: list[Node] = []
        regions: dict[int, list[int]] = defaultdict(list)
        for node, op, args, key in zip(self.graph.nodes, ops, arguments, placed, strict=True):
            if op is GONE:
                continue
            index[node.number] = place = len(nodes)
            if len(args) == 2:
                places: tuple[int, ...] = index[args[0].number], index[args[1].number]
            else:
                places = tuple([index[arg.number] for arg in args])
            nodes.append(_node(Node, (op, places, node.data)))
            if args:
                regions[key].append(place)
        loops = tuple(
            Iteration(
                loop.limit,
                tuple(index[x.number] for x in loop.initial),
                tuple(index[x.number] for x in loop.state),
                tuple(index[x.number] for x in loop.following),
                index[loop.done.number] if loop.done is not None else -1,
                None if loop.skip is None else index[loop.skip.number],
                loop.newton,
            )
            for loop in self.graph.loops
        )
        outputs = {
            key: (self.shapes[key], tuple(index[x.number] for x in values)) for key, values in self.results.items()
        }
        ordered = {key: tuple(value) for key, value in sorted(regions.items())}
        return Program(name, dict(case), dict(sample), outputs, dict(reductions), tuple(nodes), ordered, loops)

    def _placed(
        self, ops: Sequence[str], arguments: Sequence[tuple[Expression, ...]], region: Sequence[int]
    ) -> Sequence[int]:
        """Return the region of each remaining node: nodes used only in the body of a rare loop are computed there.

        Fused products are chosen before, so that no bit depends on the regions.
        """
        rare = {2 * k + 1 for k, loop in enumerate(self.graph.loops) if loop.skip is not None}
        if not rare:
            return region
        placed = list(region)
        used = [UNUSED] * len(placed)  # the only region that uses a node
        outside = list(self.roots)
        for k, loop in enumerate(self.graph.loops):
            assert loop.done is not None
            outside += [*loop.initial, *_skipped(loop)]
            for x in (*loop.following, loop.done):
                used[x.number] = 2 * k + 1 if used[x.number] in (UNUSED, 2 * k + 1) else SEVERAL
        for x in outside:
            used[x.number] = SEVERAL
        for i in range(len(ops) - 1, -1, -1):
            args = arguments[i]
            if not args or ops[i] is GONE:
                continue
            place = placed[i]
            if used[i] in rare and place > PER_CASE:
                placed[i] = place = max(place, used[i])
            for arg in args:
                number = arg.number
                if used[number] != place:
                    used[number] = place if used[number] == UNUSED else SEVERAL
        return placed


class Runner(Protocol):
    """Callable that runs a program on arrays, as a `tasks.kernels.kernel.Kernel` does."""

    def __call__(self, inputs: Arrays, samples: int, out: Arrays | None = None, *, filled: bool = False) -> Arrays:
        """Compute outputs for all cases and samples, in `out` if given; `filled`: all but those constant there."""


Kernels = Callable[[Program], Runner]
"""Function from a program to its runner, in the precision of a block."""
