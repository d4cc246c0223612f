"""Reusable memory for large arrays: fresh pages cost as much time as computing what goes into them.

`empty` is `numpy.empty` on memory that goes back to a pool when the last view of the array is gone. The pool keeps a
bounded number of bytes; it belongs to the process and may be used by many threads.
"""

from __future__ import annotations

import math
import threading
import weakref
from collections import deque
from typing import Any

import numpy as np

KEPT_BYTES = 1 << 31
SMALL = 1 << 16
"""Arrays below this size in bytes are not worth keeping."""


class Pool:
    """Free pieces of memory, newest last."""

    def __init__(self, kept_bytes: int = KEPT_BYTES):
        self.kept_bytes = kept_bytes
        self.free: list[np.ndarray] = []
        self.returned: deque[np.ndarray] = deque()
        self.lock = threading.Lock()

    def empty(self, shape: tuple[int, ...], dtype: Any = float) -> np.ndarray:
        """An array with arbitrary contents."""
        kind = np.dtype(dtype)
        size = math.prod(shape) * kind.itemsize
        if size < SMALL:
            return np.empty(shape, dtype)
        lease = _Lease(self._take(size), self)
        return np.asarray(lease)[:size].view(kind).reshape(shape)

    def _take(self, size: int) -> np.ndarray:
        with self.lock:
            self._settle()
            for i in reversed(range(len(self.free))):
                if size <= self.free[i].nbytes <= 2 * size:
                    return self.free.pop(i)
        return np.empty(-(-size // 4096) * 4096, dtype=np.uint8)

    def give(self, memory: np.ndarray) -> None:
        """Take memory back. Never waits: the garbage collector may call it while this thread holds the lock."""
        self.returned.append(memory)
        if self.lock.acquire(blocking=False):
            try:
                self._settle()
            finally:
                self.lock.release()

    def _settle(self) -> None:
        """Put what has come back among the free pieces; the oldest go when there is too much."""
        while self.returned:
            self.free.append(self.returned.popleft())
        while sum(piece.nbytes for piece in self.free) > self.kept_bytes:
            self.free.pop(0)


class _Lease:
    """Owner of a piece of memory while arrays on it live.

    Not an array itself: NumPy would let a view refer past it to the memory, and the lease would end too early.
    """

    def __init__(self, memory: np.ndarray, pool: Pool):
        self.__array_interface__ = memory.__array_interface__
        weakref.finalize(self, pool.give, memory).atexit = False


_pool = Pool()
empty = _pool.empty


def keep(size: int) -> None:
    """Keep at most so many bytes of free memory from now on."""
    _pool.kept_bytes = size
    with _pool.lock:
        _pool._settle()
