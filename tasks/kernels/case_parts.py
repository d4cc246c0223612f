"""Division of a program into operations on case inputs alone, and all others, which read the results of the first part.

Both do the operations of the whole program, so all bits are the same.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping

from tasks.kernels.expression import CASE, CONSTANT, SAMPLE
from tasks.kernels.program import PER_CASE, Iteration, Node, Program

PREPARED = "prepared"
"""Name of the values that depend on case inputs alone: output of a program's first part, sample input of the second."""

_parts: dict[int, tuple[Program, tuple[Program, Program]]] = {}
_lock = threading.Lock()


def split(program: Program) -> tuple[Program, Program]:
    """Return the parts of a program, both without case inputs: first the part with PREPARED outputs, then the rest.

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
    waiting = [i for i in program.sample_operands if i in of_case]
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
    remaining_program = Program(
        name=f"{program.name}.lanes",
        case={},
        sample={PREPARED: (len(order),), **program.sample},
        outputs={key: (shape, tuple(number[i] for i in values)) for key, (shape, values) in program.outputs.items()},
        reductions={},
        nodes=nodes,
        regions=dict(sorted(regions.items())),
        loops=tuple(_loop(each, number) for each in program.loops),
    )
    return prepare, remaining_program


def _renumbered(
    program: Program, kept: Iterable[int], inputs: Mapping[int, Node]
) -> tuple[dict[int, int], tuple[Node, ...]]:
    """Return some nodes of a program, with `inputs` in the place of others, and their new numbers by the old ones."""
    number = {i: k for k, i in enumerate(sorted(kept))}
    nodes = [program.nodes[i] for i in number]
    return number, tuple(
        inputs[i] if i in inputs else node._replace(args=tuple(number[arg] for arg in node.args))
        for i, node in zip(number, nodes, strict=True)
    )


def _loop(loop: Iteration, number: Mapping[int, int]) -> Iteration:
    initial, state, following = (tuple(number[i] for i in row) for row in (loop.initial, loop.state, loop.following))
    skip = None if loop.skip is None else number[loop.skip]
    return Iteration(loop.limit, initial, state, following, number[loop.done], skip)
