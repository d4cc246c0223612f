"""A program as a function of C for one sample: the same operations in the same order, so the same bits as the kernel.

Fused multiply-adds are calls of `fma`; nothing else of the C library is used but `sqrt`, `fabs`, `rint` and `floor`,
which IEEE 754 rounds in one way.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence

from tasks.kernels.expression import CASE, CONSTANT, LEAVES, RESULT, SAMPLE, STATE
from tasks.kernels.keys import Key
from tasks.kernels.program import PER_CASE, Program

STRICT = """\
#if defined(__FAST_MATH__)
#error "compile without -ffast-math: results rest on IEEE 754"
#endif
"""

HELPERS = {
    "power_of_two": """\
static double power_of_two(double n)
{
    double biased = n + 4503599627371519.0;
    uint64_t bits;
    memcpy(&bits, &biased, sizeof bits);
    bits <<= 52;
    memcpy(&biased, &bits, sizeof bits);
    return biased;
}
""",
    "exponent": """\
static double exponent(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (double)((bits >> 52) & 0x7FF) - 1023.0;
}
""",
}
"""Operations that are functions of their own; they need stdint.h and string.h."""

_FORMS = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "neg": "-{0}",
    "abs": "fabs({0})",
    "sqrt": "sqrt({0})",
    "rint": "rint({0})",
    "floor": "floor({0})",
    "power_of_two": "power_of_two({0})",
    "exponent": "exponent({0})",
    "lt": "{0} < {1}",
    "le": "{0} <= {1}",
    "eq": "{0} == {1}",
    "and": "{0} & {1}",
    "or": "{0} | {1}",
    "not": "!{0}",
    "select": "{0} ? {1} : {2}",
    "fma": "fma({0}, {1}, {2})",
    "fms": "fma({0}, {1}, -{2})",
    "fnma": "fma(-{0}, {1}, {2})",
}


def identifier(key: Key) -> str:
    """Return a key as a name of C."""
    return re.sub(r"\W+", "_", str(key).replace("-", "minus_"))


def literal(value: float) -> str:
    """Return a double as C writes it without loss."""
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "(-INFINITY)"
    text = repr(float(value)) if float(value).is_integer() and abs(value) < 1e15 else float(value).hex()
    return f"({text})" if text.startswith("-") else text


def needed_nodes(program: Program, outputs: Collection[Key]) -> set[int]:
    """Return the nodes on which some outputs depend; of a loop with a needed result, all that it takes."""
    nodes: set[int] = set()
    stack = [node for key in outputs for node in program.outputs[key][1]]
    while stack:
        number = stack.pop()
        if number in nodes:
            continue
        nodes.add(number)
        node = program.nodes[number]
        stack += node.args
        if node.op == RESULT:
            loop = program.loops[node.data[0]]
            stack += (*loop.before, *loop.following, loop.done)
    return nodes


def needed_inputs(program: Program, outputs: Collection[Key]) -> list[Key]:
    """Return the inputs on which some outputs depend, in the order of the program."""
    nodes = (program.nodes[number] for number in needed_nodes(program, outputs))
    keys = {node.data[0] for node in nodes if node.op in (CASE, SAMPLE)}
    return [key for key in program.inputs if key in keys]


def c_function(name: str, program: Program, outputs: Sequence[Key]) -> str:
    """Return a static function of C that computes some outputs; its arguments are `needed_inputs`, then the outputs.

    Raises ValueError for outputs that are reduced over the samples of a case.
    """
    if reduced := [str(key) for key in outputs if key in program.reductions]:
        raise ValueError(f"{program.name}: {reduced[0]} is reduced over samples; expected outputs of one sample")
    return "\n".join(_lines(name, program, outputs)) + "\n"


def _lines(name: str, program: Program, outputs: Sequence[Key]) -> Iterator[str]:
    nodes = needed_nodes(program, outputs)
    loops = {program.nodes[number].data[0] for number in nodes if program.nodes[number].op == RESULT}
    arguments = [f"const double *{identifier(key)}" for key in needed_inputs(program, outputs)]
    arguments += [f"double *{identifier(key)}_out" for key in outputs]
    yield f"static void {name}({', '.join(arguments)})"
    yield "{"
    for region in (PER_CASE, 0):
        yield from _region(program, region, nodes, "    ")
    for index in range(len(program.loops)):
        if index in loops:
            yield from _loop(program, index, nodes)
        yield from _region(program, 2 * index + 2, nodes, "    ")
    for key in outputs:
        for place, number in enumerate(program.outputs[key][1]):
            yield f"    {identifier(key)}_out[{place}] = {_value(program, number)};"
    yield "}"


def _region(program: Program, region: int, nodes: Collection[int], indent: str) -> Iterator[str]:
    for number in program.regions.get(region, ()):
        if number in nodes:
            node = program.nodes[number]
            kind = "int" if program.is_mask(number) else "double"
            text = _FORMS[node.op].format(*(_value(program, arg) for arg in node.args))
            yield f"{indent}const {kind} v{number} = {text};"


def _loop(program: Program, index: int, nodes: Collection[int]) -> Iterator[str]:
    """Yield the C text of a loop: a sample continues until it is done; its last round counts."""
    loop = program.loops[index]
    for place, number in enumerate(loop.initial):
        yield f"    double s{index}_{place} = {_value(program, number)};"
    skip = "0" if loop.skip is None else _value(program, loop.skip)
    yield f"    for (int round = 0, done = {skip}; round < {loop.limit} && !done; ++round) {{"
    yield from _region(program, 2 * index + 1, nodes, "        ")
    for place, number in enumerate(loop.following):
        yield f"        const double n{place} = {_value(program, number)};"
    yield f"        done = {_value(program, loop.done)};"
    for place in range(len(loop.following)):
        yield f"        s{index}_{place} = n{place};"
    yield "    }"


def _value(program: Program, number: int) -> str:
    """Return a node as an operand."""
    node = program.nodes[number]
    if node.op not in LEAVES:
        return f"v{number}"
    if node.op == CONSTANT:
        return literal(float(node.data))
    if node.op in (STATE, RESULT):
        return f"s{node.data[0]}_{node.data[1]}"
    key, place = node.data
    return f"{identifier(key)}[{place}]"
