"""One compiled kernel per program and process."""

from __future__ import annotations

import threading

from tasks.kernels.kernel import Kernel
from tasks.kernels.program import Program

_kernels: dict[tuple[int, bool], tuple[Program, Kernel]] = {}
_lock = threading.Lock()


def kernel(program: Program, *, single: bool = False, wide: bool = True) -> Kernel:
    """The kernel of a program in double or single precision, compiled on the first call in this process.

    `wide`: for calls with many samples of each case, see `Kernel.prepare`.
    """
    key = id(program), single
    with _lock:
        if key not in _kernels:
            _kernels[key] = program, Kernel(program, single=single)
        _, known = _kernels[key]
    return known.prepare(wide=wide)


def compiled() -> dict[str, float]:
    """Names of the programs compiled in this process, and the seconds that each took."""
    with _lock:
        return {program.name: each.seconds_to_compile for program, each in _kernels.values()}
