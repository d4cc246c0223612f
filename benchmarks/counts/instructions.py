"""Instructions of a sample on three kinds of processors: `python -m benchmarks.counts.instructions [ROBOT ...]`.

The kernels of inverse kinematics and dynamics are compiled for each kind, on any machine, and the instructions that a
group of samples runs through are counted in the text of the assembler: those of an iteration as often as a vector needs
at random states in the robot's region, those of rare loops never. For each kind the table has

- the vector instructions of a sample that compute something, and all of its instructions;
- how many a sample would need if each operation were one instruction for a whole register, in percent of them all. The
  others move numbers between registers and the stack, choose branches or compute addresses.

Divisions and roots count as one, although processors take as long for one as for some ten others.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast
from unittest import mock

import llvmlite.binding as llvm
import numpy as np

from benchmarks import regions
from benchmarks.counts.counting import PASSES, counted, kinds
from benchmarks.robots import Job
from robots import catalog
from robots.model import Robot
from tasks.dynamics.inputs import moving_input
from tasks.dynamics.records import Moving
from tasks.kernels import llvm as compiler
from tasks.kernels.emission.emitter import source
from tasks.kernels.kernel import LANES, Kernel
from tasks.kernels.program import Program

GROUPS = 2
"""Loops around the code of a group of samples, the last of which is that of groups."""

STATES = 512
"""Random states whose iterations are counted."""


class Processor(NamedTuple):
    """A kind of processor: LLVM's names, doubles in a vector register, and how instructions are told."""

    triple: str
    cpu: str
    features: str
    width: int
    arithmetic: re.Pattern[str]
    jump: re.Pattern[str]
    call: re.Pattern[str]

    @property
    def ends(self) -> re.Pattern[str]:
        """Instructions after which another block begins."""
        return re.compile(rf"{self.jump.pattern}|ret")


_X86 = re.compile(
    r"v(add|sub|mul|div|sqrt|fn?m(add|sub)|max|min|cmp|and|or|xor|blend|round|rndscale|psll|psrl|padd|psub|p?ternlog)"
)
_ARM = re.compile(
    r"f(add|sub|mul|div|sqrt|n?m(la|ls|add|sub)|max|min|cm|abs|neg|ac|rint|cvt|nmul)|bsl|bit|bif|and|orr|eor|[su]?shl|ushr"
)
_OF_X86 = (_X86, re.compile(r"j[a-z]+\s+(\.L\w+)"), re.compile(r"callq\s+(\S+)"))
_OF_ARM = (_ARM, re.compile(r"(?:b|b\.\w+|cbn?z|tbn?z)\s.*?(\.L\w+)$"), re.compile(r"bl\s+(\S+)"))
PROCESSORS: Mapping[str, Processor] = {
    "AVX-512": Processor("x86_64-unknown-linux-gnu", "skylake-avx512", "", 8, *_OF_X86),
    "AVX2": Processor("x86_64-unknown-linux-gnu", "haswell", "", 4, *_OF_X86),
    "NEON": Processor("aarch64-unknown-linux-gnu", "neoverse-n1", "", 2, *_OF_ARM),
}
"""Registers: 32 of 8 doubles, 16 of 4, 32 of 2."""


class Count(NamedTuple):
    """Instructions that compute with vectors, and all, of one pass through some code."""

    arithmetic: float = 0.0
    all: float = 0.0

    def plus(self, other: Count, times: float = 1.0) -> Count:
        """Return the sum with several passes through other code."""
        return Count(self.arithmetic + times * other.arithmetic, self.all + times * other.all)


def assembly(program: Program, kind: Processor) -> tuple[str, int]:
    """Return the text of the assembler for a program, and the samples that a group of it has."""
    with mock.patch.object(llvm, "get_host_cpu_features", return_value=_Features(kind)):
        wide = compiler.widens(program)
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(kind.triple)
    machine = target.create_target_machine(kind.cpu, kind.features, opt=compiler.OPTIMISATION)
    return str(machine.emit_assembly(llvm.parse_assembly(source(program, wide=wide)))), LANES * (1 + wide)


class _Features:
    """Features of a kind of processor, as far as the choice of two groups to a vector asks for them."""

    def __init__(self, kind: Processor) -> None:
        self._kind = kind

    def flatten(self) -> str:
        """Return them as LLVM does."""
        return compiler.REGISTERS if self._kind.width == LANES else ""


def of_group(text: str, kind: Processor, passes: float) -> Count:
    """Count the instructions of one group of samples, with so many passes of the iteration that is not rare.

    Loops are nested: cases, groups of samples, iteration.
    """
    functions = _functions(text)
    blocks = _blocks(functions["kernel"], kind)
    total = Count()
    for block, depth in zip(blocks, _depths(blocks), strict=True):
        called = [match[1].removesuffix("@PLT") for line in block.lines if (match := kind.call.match(line))]
        if depth < GROUPS or any("rare" in name for name in called):
            continue
        stretches = [line for name in called if "stretch" in name for line in functions[name]]
        for line in (*block.lines, *stretches):
            total = total.plus(_count(line, kind), passes if depth > GROUPS else 1.0)
    return total


def _functions(text: str) -> dict[str, list[str]]:
    """Return the lines of all functions: labels, and instructions without the space before them."""
    result: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        label = re.match(r"([.\w]+):", line)
        if label and not re.match(r"\.L(BB|tmp|func|Cfi|JTI|CPI)", label[1]):
            lines = result.setdefault(label[1], [])
        elif label:
            lines.append(label[0])
        elif re.match(r"\t[a-z]", line):
            lines.append(re.split(r"\s*(?:#|//)", line)[0].strip())
    return result


@dataclass
class _Block:
    """Instructions that are run through from the first to the last, and the numbers of blocks that may follow."""

    lines: list[str]
    after: set[int]


def _blocks(lines: Sequence[str], kind: Processor) -> list[_Block]:
    """Return the blocks of a function; the first one is its entry."""
    blocks, labels, open_end = [_Block([], set())], dict[str, int](), True
    jumps: list[tuple[_Block, str]] = []
    for line in lines:
        jump = kind.jump.match(line)
        if line.endswith(":") or (blocks[-1].lines and kind.ends.match(blocks[-1].lines[-1])):
            blocks.append(_Block([], set()))
            if open_end:
                blocks[-2].after.add(len(blocks) - 1)
        open_end = not re.match(r"(jmp|b|ret\w*)\b(?!\.)", line)
        if line.endswith(":"):
            labels[line.removesuffix(":")] = len(blocks) - 1
        else:
            blocks[-1].lines.append(line)
        if jump:
            jumps.append((blocks[-1], jump[1]))
    for block, label in jumps:
        block.after.add(labels[label])
    return blocks


def _depths(blocks: Sequence[_Block]) -> list[int]:
    """Return the number of loops around each block; a loop is an edge back to a block on the way from the entry."""
    before: dict[int, set[int]] = {}
    for number, block in enumerate(blocks):
        for following in block.after:
            before.setdefault(following, set()).add(number)
    loops: dict[int, set[int]] = {}
    done: set[int] = set()
    way: list[tuple[int, Iterator[int]]] = [(0, iter(sorted(blocks[0].after)))]
    while way:
        number, rest = way[-1]
        following = next(rest, -1)
        if following < 0:
            done.add(number)
            way.pop()
        elif following in (place for place, _ in way):
            body = loops.setdefault(following, {following})
            reached = [number]
            while reached:
                place = reached.pop()
                if place not in body:
                    body.add(place)
                    reached += before.get(place, ())
        elif following not in done:
            way.append((following, iter(sorted(blocks[following].after))))
    return [sum(number in body for body in loops.values()) for number in range(len(blocks))]


def _count(line: str, kind: Processor) -> Count:
    if line.endswith(":"):
        return Count()
    vector = kind.width > 2 or ".2d" in line or ".16b" in line
    return Count(float(bool(vector and kind.arithmetic.match(line))), 1.0)


def passes(job: Job) -> dict[int, float]:
    """Return the mean passes of a group of LANES samples, for each program that iterates, by its identity."""
    result = {}
    for stage in job.stages:
        if any(loop.skip is None for loop in stage.program.loops):
            made = Kernel(counted(stage.program), keep=False)(stage.inputs(job.values), job.states)[PASSES]
            result[id(stage.program)] = float(made.reshape(-1, LANES).max(axis=1).mean())
    return result


def table(names: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"{'':24s}{'operations':>11s}" + "".join(f"{name:>12s}{'all':>8s}{'%':>5s}" for name in PROCESSORS)
    for name in names:
        robot = Robot.of(catalog.family(name), {})
        job = Job(robot, moving_input(robot, cast(Moving, regions.states(robot, STATES)))[1], statics=False)
        job()
        turns = passes(job)
        operations = sum(sum(kinds(each, turns.get(id(each), 1.0)).values()) for each in job.programs)
        cells = []
        for kind in PROCESSORS.values():
            whole = Count()
            texts = {id(each): assembly(each, kind) for each in job.programs}
            for each in job.programs:
                text, samples = texts[id(each)]
                whole = whole.plus(of_group(text, kind, turns.get(id(each), 1.0)), 1.0 / samples)
            share = 100.0 * operations / kind.width / whole.all
            cells.append(f"{whole.arithmetic:12.0f}{whole.all:8.0f}{share:5.0f}")
        yield f"{name:24s}{operations:11.0f}{''.join(cells)}"


def main(words: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.counts.instructions", description=(__doc__ or "").partition(":")[0]
    )
    parser.add_argument("robots", nargs="*", choices=[[], *catalog.FAMILIES], default=[], metavar="ROBOT")
    np.seterr(all="ignore")
    for line in table(parser.parse_args(words).robots or [*catalog.FAMILIES]):
        print(line, flush=True)


if __name__ == "__main__":
    main()
