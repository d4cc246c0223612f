"""Jobs in C that Pinocchio's code generation writes for one tree: all numbers are constants, all loops unrolled.

`generated.cpp` writes the statements for a sample; `batch.cpp` is the code around them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache

import numpy as np

from benchmarks.peers.bodies import Skeleton
from benchmarks.peers.compiled.compiler import FOLDER, GENERATION, NATIVE, PINOCCHIO, library
from benchmarks.peers.compiled.plain import ARGUMENTS, PlainJobs, PlainTree, address

Array = np.ndarray
WRITER = ("-O1", "-DNDEBUG", *PINOCCHIO)
"""Options of the compiler for the program that writes the code."""

OPTIONS = ("-Ofast", NATIVE)
"""Options of the compiler for the code: those of Pinocchio, and this processor."""


class Tree(PlainJobs):
    """The spanning tree of a skeleton; functions take and give (sample, body), and use their buffers again.

    The code of each is written when it is called first. It is run for `lanes` samples at once.
    """

    lanes = 1

    def __init__(self, skeleton: Skeleton, gravity: Sequence[float]):
        super().__init__(gravity)
        self.change(self.numbers(skeleton))

    def change(self, numbers: PlainTree) -> None:
        """Become another design: all code is written again."""
        self._plain, self._functions = numbers, dict[str, ctypes.CDLL]()

    def call(self, job: str, given: Sequence[Array], found: Array) -> None:
        """Run the code of a job, which is written first where it is not there."""
        if (function := self._functions.get(job)) is None:
            text = batch(job, self._plain, len(given), self.lanes)
            function = self._functions[job] = library(text, "c++", OPTIONS)
        places = (ctypes.c_void_p * len(given))(*map(address, given))
        function.run(ctypes.c_long(len(found)), places, ctypes.c_void_p(address(found)))


def batch(job: str, plain: PlainTree, arrays: int, lanes: int) -> str:
    """Return a function that does a job with so many `arrays` for all samples, some at once."""
    body = statements(job, plain, arrays)
    sizes = {"LANES": lanes, "ARRAYS": arrays, "SIZE": len(plain.parents), "SYMMETRIC": int(job == "inertia_matrix")}
    lines = [f"#define {name} {value}" for name, value in sizes.items()]
    around = (FOLDER / "batch.cpp").read_text("utf-8")
    return "\n".join([*lines, around.replace("// the code", body)])


def statements(job: str, plain: PlainTree, arrays: int) -> str:
    """Return the C statements that Pinocchio's code generation writes for one sample."""
    compiled = _writer()
    place = compiled.make(job.encode(), arrays * len(plain.parents), *plain.arguments)
    try:
        return ctypes.string_at(place).decode()
    finally:
        compiled.discard(place)


@cache
def _writer() -> ctypes.CDLL:
    made = library((FOLDER / "generated.cpp").read_text("utf-8"), "c++", WRITER, GENERATION)
    made.make.argtypes, made.make.restype = (ctypes.c_char_p, ctypes.c_int, *ARGUMENTS), ctypes.c_void_p
    made.discard.argtypes = [ctypes.c_void_p]
    return made
