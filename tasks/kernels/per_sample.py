"""Programs whose case inputs differ from sample to sample: the lanes of a vector are cases of their own.

A simulation has one sample of each case at a time, thousands of cases. What depends on the case alone is computed in
every call then, by the same operations, so that the bits are those of the program as it was traced.
"""

from __future__ import annotations

import threading
from dataclasses import replace

from tasks.kernels.expression import CASE, CONSTANT, SAMPLE
from tasks.kernels.program import PER_CASE, Program

_programs: dict[int, tuple[Program, Program]] = {}
_lock = threading.Lock()


def per_sample(program: Program) -> Program:
    """The same program with all inputs per sample, (cases or 1, size, padded samples). Made once for each program.

    Raises ValueError for a program with reductions, which are over the samples of one case.
    """
    with _lock:
        if id(program) not in _programs:
            _programs[id(program)] = (program, _moved(program))
        return _programs[id(program)][1]


def _moved(program: Program) -> Program:
    if program.reductions:
        names = ", ".join(map(str, program.reductions))
        raise ValueError(f"{program.name}: reduces {names} over the samples of a case; expected no reductions")
    nodes = tuple(replace(node, op=SAMPLE) if node.op == CASE else node for node in program.nodes)
    regions = dict(program.regions)
    once = regions.pop(PER_CASE, ())
    # without a sample input constants are all that there is; what is made of them alone may stay
    constant = _constant(program)
    moved = tuple(sorted((*(k for k in once if k not in constant), *regions.get(0, ()))))
    kept = tuple(k for k in once if k in constant)
    regions |= ({0: moved} if moved else {}) | ({PER_CASE: kept} if kept else {})
    sample = {**program.case, **program.sample}
    ordered = dict(sorted(regions.items()))
    return replace(program, name=f"{program.name}.per_sample", case={}, sample=sample, nodes=nodes, regions=ordered)


def _constant(program: Program) -> frozenset[int]:
    """Nodes that depend on no input."""
    found: set[int] = set()
    for number, node in enumerate(program.nodes):
        if node.op == CONSTANT or (node.args and all(k in found for k in node.args)):
            found.add(number)
    return frozenset(found)
