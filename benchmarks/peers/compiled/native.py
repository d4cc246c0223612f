"""Jobs in Pinocchio compiled for this machine, `native.cpp`: one call for all samples, without Python in between."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from functools import cache

import numpy as np

from benchmarks.peers.bodies import Skeleton
from benchmarks.peers.compiled.compiler import ALGORITHMS, FOLDER, NATIVE, PINOCCHIO, library
from benchmarks.peers.compiled.plain import ARGUMENTS, PlainJobs, PlainTree, address

Array = np.ndarray
OPTIONS = ("-O3", NATIVE, "-DNDEBUG", "-DEIGEN_UNALIGNED_VECTORIZE=0", *PINOCCHIO)
"""Options of the compiler; without Eigen's vectors of unaligned numbers everything is quicker."""

ARRAYS = {"inverse_dynamics": 4, "forward_dynamics": 4, "inertia_matrix": 2, "reactions": 4}
"""Functions of the library by the number of arrays that they take, the last of which they fill."""


class Tree(PlainJobs):
    """The spanning tree of a skeleton; functions take and give (sample, body), and use their buffers again."""

    def __init__(self, skeleton: Skeleton, gravity: Sequence[float]):
        super().__init__(gravity)
        self._release = lambda: None
        self.change(self.numbers(skeleton))

    def reactions(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return (force, moment) on each body by its parent (sample, body, 6), at its joint, in the body's axes."""
        return self._run("reactions", (*q.shape, 6), q, qd, qdd)

    def change(self, numbers: PlainTree) -> None:
        """Become another design."""
        self._release()
        compiled = _library()
        self._model = compiled.make(*numbers.arguments)
        self._release = weakref.finalize(self, compiled.discard, self._model)

    def call(self, job: str, given: Sequence[Array], found: Array) -> None:
        """Do a job in the library."""
        getattr(_library(), job)(self._model, len(found), *map(address, (*given, found)))


@cache
def _library() -> ctypes.CDLL:
    text = (FOLDER / "native.cpp").read_text("utf-8")
    made = library(text, "c++", OPTIONS, ALGORITHMS)
    made.make.argtypes, made.make.restype = ARGUMENTS, ctypes.c_void_p
    made.discard.argtypes = [ctypes.c_void_p]
    for name, count in ARRAYS.items():
        getattr(made, name).argtypes = [ctypes.c_void_p, ctypes.c_long, *[ctypes.c_void_p] * count]
    return made
