"""Twelve kinds of computations that go wrong, as data; and bodies of blocks in which some designs do.

They are chosen by the length of the upper arm, a value and no index, so that a part of a block goes wrong as its block
does. Child processes import this module by its name.
"""

from __future__ import annotations

import ctypes
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.execution import work
from tasks.blocks.block import Block

FOREVER = 3600.0


class UnsendableError(Exception):
    def __reduce__(self) -> str:
        raise TypeError("cannot be pickled")


def _raise() -> None:
    raise ZeroDivisionError("a poisoned design")


def _unpicklable() -> None:
    raise UnsendableError("no way")


def _huge() -> None:
    raise ValueError("x" * 10**7)


def _recursion() -> None:
    _recursion()


def _memory() -> None:
    raise MemoryError("no more")


def _exit() -> None:
    os._exit(3)


def _segfault() -> None:
    ctypes.string_at(8)


def _abort() -> None:
    os.abort()


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _loop() -> None:
    while True:
        pass


def _hang() -> None:
    """Sleep in C with the lock of the interpreter held: no other thread of the process goes on."""
    ctypes.PyDLL(None).sleep(int(FOREVER))


def _threads() -> None:
    for _ in range(4):
        threading.Thread(target=time.sleep, args=(FOREVER,)).start()
    raise RuntimeError("threads are left behind")


KINDS: Mapping[str, tuple[Callable[[], Any], str]] = {
    "raises": (_raise, "ZeroDivisionError: a poisoned design"),
    "unpicklable": (_unpicklable, "UnsendableError: no way"),
    "huge message": (_huge, "ValueError: xxxxxxxx"),
    "recursion": (_recursion, "RecursionError: maximum recursion depth exceeded"),
    "memory": (_memory, "MemoryError: no more"),
    "exit": (_exit, "its process ended with exit status 3"),
    "segfault": (_segfault, "its process died of SIGSEGV"),
    "abort": (_abort, "its process died of SIGABRT"),
    "kill": (_kill, "its process died of SIGKILL"),
    "loop": (_loop, "no result within"),
    "hang": (_hang, "no result within"),
    "threads": (_threads, "RuntimeError: threads are left behind"),
}
"""Faults by name, each with the beginning of its reason in a process of its own."""

WRONG_TYPE = "wrong type"
WRONG_REASON = "a block computed a str; expected ["


@dataclass(frozen=True)
class Bad:
    """The body of a block in which a kind of thing goes wrong for each of some upper arms."""

    kinds: tuple[tuple[float, str], ...]

    def __call__(self, block: Block) -> Any:
        arms = block.named_parameters()["upper_arm"].tolist()
        for arm, kind in self.kinds:
            if arm in arms:
                if kind == WRONG_TYPE:
                    return "what is this?"
                KINDS[kind][0]()
        return work.whole(block)


class BadFriction:
    """Fails for one friction set on one trajectory of one design."""

    def __call__(self, block: Block) -> Any:
        """Compute a block without that case."""
        viscous = block.friction[:, 1].tolist()
        kinds = [each.kind for each in block.trajectories]
        if 0.05 in viscous and "circle" in kinds and 0.25 in block.named_parameters()["upper_arm"]:
            raise RuntimeError("stuck")
        return work.whole(block)


class FailsOnce:
    """Ends its process the first time; a file at `mark` tells that it has done so."""

    def __init__(self, mark: str) -> None:
        self.mark = mark

    def __call__(self, block: Block) -> Any:
        """Compute a block, but for the first time."""
        try:
            os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return work.whole(block)
        os._exit(1)
