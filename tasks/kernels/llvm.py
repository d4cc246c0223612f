"""Compile the text of a program to machine code for this processor. The only module that touches LLVM."""

from __future__ import annotations

import ctypes
import functools
import os
import time
from collections.abc import Callable
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from robots.data_classes import dataclass, replace
from tasks.kernels import stored
from tasks.kernels.bytecode import Bytecode, encode, interpreter
from tasks.kernels.emission.emitter import source
from tasks.kernels.levels import COMPILE, requested_level
from tasks.kernels.program import Program

OPTIMISATION = 2
"""Level of optimisation of LLVM."""
OPTIMISATIONS = {"best": OPTIMISATION, "quick": 0}
SHORT = 40_000
"""Lines of a text that may be compiled quickly: each value has a place on the stack of its own then."""
WIDEST = 6_000
"""Operations up to which an iteration is done for two groups of samples at a time."""
REGISTERS = "+avx512f"
"""Feature of processors that have enough registers for it."""
MADE: list[float] = []
"""Seconds of the processor that this process took for each code that other processes find on the disk."""

_SIGNATURE = ctypes.CFUNCTYPE(
    None,
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_int64),
)


@dataclass(frozen=True)
class Machine:
    """Loaded machine code: a function of ctypes that releases the GIL, and its address.

    The code is freed with the last reference to the machine or its function; a running call keeps it alive.
    """

    call: Any
    address: int
    is_best: bool = True
    """False if better code can be made, for more samples."""
    bytecode: Bytecode | None = None
    """Bytecode that the function interprets."""

    @property
    def program(self) -> int:
        """Address of the bytecode, or 0."""
        return self.bytecode.address if self.bytecode else 0


def widens(program: Program) -> bool:
    """Return whether a program takes two groups of samples at a time on this processor.

    In single precision, two groups have twice as many samples. Two groups pay in iterations, where each step waits
    for the result of the one before.
    """
    iterates = any(loop.skip is None for loop in program.loops)
    return iterates and len(program.nodes) <= WIDEST and REGISTERS in llvm.get_host_cpu_features().flatten().split(",")


def compile_program(
    program: Program,
    *,
    single: bool = False,
    wide: bool = False,
    streams: bool = False,
    keep: bool = True,
    few: bool = False,
) -> Machine:
    """Return a program's machine code for this processor, samples in double or single precision; `few`: of them."""
    return compile_text(source(program, single=single, wide=wide, streams=streams), _SIGNATURE, keep=keep, few=few)


def starts_at_once() -> bool:
    """Return whether the first samples may have bytecode."""
    return os.environ.get(COMPILE) != "best"


@functools.cache
def _interpreter() -> Machine:
    return compile_text(interpreter(), _SIGNATURE)


def interpret_program(program: Program) -> Machine:
    """Return the interpreter with the bytecode of a program, samples in double precision."""
    return replace(_interpreter(), is_best=False, bytecode=encode(program))


CARD = ("nvptx64-nvidia-cuda", "sm_70", "+ptx81")
"""Oldest kind of card, and the version of its language that has tables of many arrays: newer ones take its text."""


def text_for_cards(text: str) -> str:
    """Translate a text of LLVM to the language of graphics cards (PTX), which their driver translates further.

    Products and sums stay apart, divisions and roots are rounded correctly, and subnormal numbers are kept: no flag
    that allows otherwise is given.
    """
    triple, kind, features = CARD
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    name = stored.key(text, *CARD, ".".join(map(str, llvm.llvm_version_info)), llvmlite.__version__)
    known = stored.read(name)
    if known is not None:
        return known.decode()
    machine = llvm.Target.from_triple(triple).create_target_machine(kind, features, opt=OPTIMISATION)
    result = str(machine.emit_assembly(llvm.parse_assembly(text)))
    stored.write(name, result.encode())
    return result


def level(text: str, *, few: bool = False) -> int:
    """Return the level of optimisation for a text, as the environment asks for, or the samples. Raises ValueError."""
    speed = requested_level() or ("quick" if few else "best")
    return OPTIMISATIONS[speed] if text.count("\n") <= SHORT else OPTIMISATION


def compile_text(
    text: str, signature: Callable[[int], Any], *, keep: bool = True, name: str = "kernel", few: bool = False
) -> Machine:  # fmt: skip
    """Compile a function of a text to machine code for this processor; `few`: for few samples, so that it is quick.

    The code is read from the disk if another process has stored it, and stored there otherwise, unless `keep` is false.
    """
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple, cpu = llvm.get_default_triple(), llvm.get_host_cpu_name()
    features = llvm.get_host_cpu_features().flatten()
    versions = ".".join(map(str, llvm.llvm_version_info))
    best, optimisation, code = level(text), level(text, few=few), None
    for known_level in dict.fromkeys((best, optimisation)) if keep else ():
        known = stored.key(text, triple, cpu, features, str(known_level), versions, llvmlite.__version__)
        code = stored.read(known)
        if code is not None:
            optimisation = known_level
            break
    target = llvm.Target.from_triple(triple).create_target_machine(cpu, features, opt=optimisation, jit=True)
    if code is None:
        start = time.thread_time()
        code = bytes(target.emit_object(llvm.parse_assembly(text)))
        if keep and stored.write(known, code):
            MADE.append(time.thread_time() - start)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    address = engine.get_function_address(name)
    call = signature(address)
    call.engine = engine
    return Machine(call, address, is_best=optimisation == best)
