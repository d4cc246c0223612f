"""Waiting of long kernels for their own instructions: `python -m benchmarks.counts.fetch`.

Straight-line code beyond the cache of instructions comes from the next cache, once for each group of samples. Printed
are the bytes of code that kernels of a tree of 30 bodies run through in a second, and those of code that does nothing
but fused multiply-adds with operands on a large stack, as long as theirs: the limit of a core. Then the same kernels
with stretches that repeat as functions: bytes of code, and their time over that of straight lines.
"""

from __future__ import annotations

import ctypes
import math
import unittest.mock
from collections.abc import Iterator

import llvmlite.binding as llvm
import numpy as np

from benchmarks.figures import best
from benchmarks.peers.trees import Setting
from benchmarks.robots import Job
from tasks.dynamics.inertia import matrix_program
from tasks.dynamics.instant.programs import motion_program
from tasks.kernels.emission import slots
from tasks.kernels.emission.emitter import source
from tasks.kernels.kernel import LANES, Kernel, machine_code
from tasks.kernels.program import Program, size

TREE, SAMPLES, REPEATS, TURNS = "tree_30", 128, 100, 5
CHAINS, FAR, PLACES, ROUNDS = 12, 12_800, 100, 64
LENGTHS = (1_000, 4_000, 16_000)
"""Multiply-adds of the code that is nothing else; each has an operand in memory, whose address takes four bytes."""


def code_bytes(text: str) -> int:
    """Return the bytes of instructions that a text is compiled to."""
    features = llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_default_triple().create_target_machine(llvm.get_host_cpu_name(), features, opt=2)
    sections = llvm.ObjectFileRef.from_data(target.emit_object(llvm.parse_assembly(text))).sections()
    return sum(section.size() for section in sections if section.is_text())


def straight(length: int) -> str:
    """Return a function `kernel(rounds, memory)` of so many multiply-adds in a row, in independent chains."""
    kind = f"<{LANES} x double>"
    lines = ["define void @kernel(i64 %rounds, ptr %memory) #0 {", "entry:", f"  %one = load {kind}, ptr %memory"]
    lines += ["  br label %body", "body:", "  %round = phi i64 [ 0, %entry ], [ %next, %body ]"]
    steps = length // CHAINS
    lines += [f"  %x{k}.0 = phi {kind} [ %one, %entry ], [ %x{k}.{steps}, %body ]" for k in range(CHAINS)]
    for step, k in np.ndindex(steps, CHAINS):
        at = FAR + 8 * LANES * ((step * CHAINS + k) % PLACES)
        lines.append(f"  %p{k}.{step} = getelementptr i8, ptr %memory, i64 {at}")
        lines.append(f"  %y{k}.{step} = load volatile {kind}, ptr %p{k}.{step}, align 64")
        values = f"{kind} %x{k}.{step}, {kind} %y{k}.{step}, {kind} %one"
        lines.append(f"  %x{k}.{step + 1} = call {kind} @llvm.fma.v{LANES}f64({values})")
    lines += ["  %next = add i64 %round, 1", "  %more = icmp slt i64 %next, %rounds"]
    lines += ["  br i1 %more, label %body, label %end", "end:"]
    lines += [f"  store {kind} %x{k}.{steps}, ptr %memory" for k in range(CHAINS)]
    lines += ["  ret void", "}", f"declare {kind} @llvm.fma.v{LANES}f64({kind}, {kind}, {kind})"]
    lines.append('attributes #0 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }')
    return "\n".join(lines)


def streamed(length: int) -> tuple[int, float]:
    """Return the bytes of such code, and how many of them a second are run through."""
    text, memory = straight(length), np.zeros((FAR + 8 * LANES * (PLACES + 1)) // 8)
    code = machine_code(text, ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p))
    aligned = memory.ctypes.data + -memory.ctypes.data % 64
    return code_bytes(text), ROUNDS * code_bytes(text) / best(lambda: code.call(ROUNDS, aligned), REPEATS)


def programs() -> Iterator[Program]:
    """Yield the long programs: inverse dynamics, reactions, inertia matrix and forward dynamics of the tree."""
    setting = Setting(TREE, LANES)
    job = Job(setting.robot, setting.motion, statics=True)
    yield from (program for program in job.programs if len(program.nodes) > LENGTHS[0])
    yield matrix_program(setting.robot.family)
    yield motion_program(setting.robot.family, ())


def seconds(run: Kernel) -> float:
    """Measure the seconds of one sample at random inputs."""
    random, program = np.random.default_rng(1), run.program
    inputs = {key: random.normal(size=(1, size(shape))) for key, shape in program.case.items()}
    inputs |= {key: random.normal(size=(1, size(shape), SAMPLES)) for key, shape in program.sample.items()}
    out = run.allocate(1, SAMPLES)
    return best(lambda: run(inputs, SAMPLES, out), REPEATS) / SAMPLES


def main() -> None:
    """Print both."""
    for length in LENGTHS:
        code, rate = streamed(length)
        print(f"{'multiply-adds alone':32s} {code:8d} bytes {rate * 1e-9:8.1f} GB/s")
    for program in programs():
        kernels, lengths = [], []
        for worth in (math.inf, slots.WORTH):
            with unittest.mock.patch.object(slots, "WORTH", worth):
                kernels.append(Kernel(program, keep=False).prepare())
                lengths.append(code_bytes(source(program)))
        lines, folded = np.min([[seconds(kernel) for kernel in kernels] for _ in range(TURNS)], axis=0)
        rate = lengths[0] / LANES / lines * 1e-9
        print(f"{program.name:32s} {lengths[0]:8d} bytes {rate:8.1f} GB/s", end="")
        print(f" {lengths[1]:8d} bytes {folded / lines:6.2f}")


if __name__ == "__main__":
    main()
