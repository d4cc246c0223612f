"""Kernels whose cases lie in the lanes of vectors: one sample at a time of each of many cases.

A program computes what depends on its case inputs alone once for each case, and a vector holds samples of one case.
Where there is one sample of each case at a time, as in a motion over time, that would leave all lanes but one empty.
`split` cuts a program in two: what depends on the case inputs alone, which is done once with one case in each lane, and
the rest, which reads what came of that. Both do the operations that the whole program does, so all bits are the same.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tasks.kernels.batches import rows
from tasks.kernels.cache import kernel
from tasks.kernels.expression import CASE, CONSTANT, SAMPLE
from tasks.kernels.keys import Arrays
from tasks.kernels.program import PER_CASE, Iteration, Node, Program
from tasks.kernels.rows import LANES
from tasks.kernels.sequence import Sequence, Slot, Slots

PREPARED = "prepared"
"""What depends on case inputs alone: output of the first part of a program, sample input of the second."""

_parts: dict[int, tuple[Program, tuple[Program, Program]]] = {}
_lock = threading.Lock()


def split(program: Program) -> tuple[Program, Program]:
    """The parts of a program, both without case inputs: first what gives PREPARED, then the rest.

    The second takes PREPARED in place of the case inputs. Raises ValueError for a program with reductions, which are
    over the samples of a case.
    """
    if program.reductions:
        raise ValueError(f"{program.name}: got reductions of {', '.join(map(str, program.reductions))}; expected none")
    with _lock:
        if id(program) not in _parts:
            _parts[id(program)] = (program, _split(program))
        return _parts[id(program)][1]


def _split(program: Program) -> tuple[Program, Program]:
    of_case = {i for i, node in enumerate(program.nodes) if node.op == CASE} | set(program.regions.get(PER_CASE, ()))
    live, again = set[int](), set[int]()
    waiting = [i for i in _wanted(program) if i in of_case]
    while waiting:
        i = waiting.pop()
        if program.is_mask(i):  # an array holds numbers, so that the comparison is made once more
            again.add(i)
            waiting += [arg for arg in program.nodes[i].args if arg in of_case]
        else:
            live.add(i)
    order = {i: k for k, i in enumerate(sorted(live))}
    constants = {i for i, node in enumerate(program.nodes) if node.op == CONSTANT}
    inputs = {i: Node(SAMPLE, data=program.nodes[i].data) for i in of_case if program.nodes[i].op == CASE}
    number, nodes = _renumbered(program, of_case | constants, inputs)
    prepare = Program(
        name=f"{program.name}.cases",
        case={},
        sample=dict(program.case),
        outputs={PREPARED: ((len(order),), tuple(number[i] for i in order))},
        reductions={},
        nodes=nodes,
        regions={0: tuple(number[i] for i in program.regions.get(PER_CASE, ()))},
    )
    inputs = {i: Node(SAMPLE, data=(PREPARED, k)) for i, k in order.items()}
    number, nodes = _renumbered(program, (set(range(len(program.nodes))) - of_case) | live | again, inputs)
    regions = {key: tuple(number[i] for i in region) for key, region in program.regions.items() if key != PER_CASE}
    regions[0] = (*(number[i] for i in sorted(again)), *regions.get(0, ()))
    rest = Program(
        name=f"{program.name}.lanes",
        case={},
        sample={PREPARED: (len(order),), **program.sample},
        outputs={key: (shape, tuple(number[i] for i in values)) for key, (shape, values) in program.outputs.items()},
        reductions={},
        nodes=nodes,
        regions=dict(sorted(regions.items())),
        loops=tuple(_loop(each, number) for each in program.loops),
    )
    return prepare, rest


def _wanted(program: Program) -> set[int]:
    """Nodes that are asked for outside of what is computed once for each case."""
    regions = (nodes for key, nodes in program.regions.items() if key != PER_CASE)
    result = {arg for nodes in regions for i in nodes for arg in program.nodes[i].args}
    result |= {i for loop in program.loops for i in (*loop.before, *loop.following, loop.done)}
    return result | {i for _, nodes in program.outputs.values() for i in nodes}


def _renumbered(
    program: Program, kept: Iterable[int], inputs: Mapping[int, Node]
) -> tuple[dict[int, int], tuple[Node, ...]]:
    """Some nodes of a program, with `inputs` in the place of others, and their numbers by the old ones."""
    number = {i: k for k, i in enumerate(sorted(kept))}
    nodes = [program.nodes[i] for i in number]
    return number, tuple(
        inputs[i] if i in inputs else replace(node, args=tuple(number[arg] for arg in node.args))
        for i, node in zip(number, nodes, strict=True)
    )


def _loop(loop: Iteration, number: Mapping[int, int]) -> Iteration:
    initial, state, following = (tuple(number[i] for i in row) for row in (loop.initial, loop.state, loop.following))
    skip = None if loop.skip is None else number[loop.skip]
    return Iteration(loop.limit, initial, state, following, number[loop.done], skip)


class BoundKernel:
    """A kernel of a program with its case inputs (cases, size): one case for all samples, or one for each of them.

    With one case they are shared by all samples. With several, sample k is of case k: then the part of the program that
    is the same for all samples of a case is computed here.
    """

    def __init__(self, program: Program, case: Arrays, prepared: np.ndarray | None = None):
        self.program, self.case = program, {key: case[key] for key in program.case}
        self.cases = max((len(values) for values in self.case.values()), default=1)
        self._prepared = prepared
        if self.cases > 1 and prepared is None:
            lanes = {key: rows(values, (self.cases,))[None] for key, values in self.case.items()}
            values = kernel(split(program)[0])(lanes, self.cases)[PREPARED]
            self._prepared = np.ascontiguousarray(_grouped(values))

    def __call__(self, inputs: Arrays, samples: int) -> Arrays:
        """Outputs (1, size, padded samples) for sample inputs, as `Kernel` gives them."""
        if self._prepared is None:
            return kernel(self.program)({**self.case, **inputs}, samples)
        run = kernel(split(self.program)[1], wide=False)
        out = run.allocate(1, samples, once=True)
        grouped = {PREPARED: self._prepared, **{key: _grouped(values) for key, values in inputs.items()}}
        run(grouped, LANES, {key: _grouped(values) for key, values in out.items()})
        return out

    @property
    def in_lanes(self) -> bool:
        """Whether it can be part of a sequence: every sample is of a case of its own, or there are no case inputs."""
        return self._prepared is not None or not self.program.case

    def add_to(self, sequence: Sequence, inputs: Slots, outputs: Slots | None = None) -> dict[Any, Slot]:
        """Make it the next of a sequence; see `Sequence.add`."""
        program, slots = self.program, dict(inputs)
        if self._prepared is not None:
            program, slots = split(self.program)[1], {PREPARED: sequence.fixed(self._prepared), **inputs}
        return sequence.add(program, slots, outputs or {})

    def of(self, columns: np.ndarray) -> BoundKernel:
        """The same for some of the samples."""
        if self._prepared is None:
            return self
        chosen = self._prepared[columns // LANES, :, columns % LANES]
        grouped = chosen.reshape(-1, LANES, chosen.shape[1]).transpose(0, 2, 1)
        return BoundKernel(self.program, self.case, np.ascontiguousarray(grouped))


def _grouped(values: np.ndarray) -> np.ndarray:
    """(1, size, samples) seen as (groups of lanes, size, LANES), without a copy.

    Laid out like this, what a group reads lies side by side: thousands of numbers of a case, each in a row of its own,
    would be in as many pages of the memory.
    """
    _, size, samples = values.shape
    return values[0].reshape(size, samples // LANES, LANES).transpose(1, 0, 2)
