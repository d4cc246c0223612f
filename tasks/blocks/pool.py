"""Pool of memory for arrays, because fresh pages cost as much time as the computation that fills them.

`empty` is `numpy.empty` on such memory: a piece goes back to the pool when the last view of its array is gone. The pool
belongs to the process and may be used by many threads. Free and leased memory together stay within the largest amount
that was leased at one time, and a `LITTLE` beyond.
"""

from __future__ import annotations

import ctypes
import math
import sys
import threading
import weakref
from collections import deque
from contextlib import suppress
from typing import Any

import numpy as np

from tasks.kernels.keys import huge_pages

Arrays = dict[str, np.ndarray]
"""Arrays of a block by name."""

KEPT_BYTES = 1 << 31
SMALL = 1 << 16
"""Arrays below this size in bytes are not worth keeping."""
LITTLE = 1.0 / 16.0
"""Share of the largest amount that is not worth a piece: the next block would fill fresh pages in its place."""
SPARE = 1.25
"""Largest size of a piece of memory, relative to the array that gets it."""


class Pool:
    """Free pieces of memory, newest last."""

    def __init__(self, kept_bytes: int = KEPT_BYTES):
        self.kept_bytes = kept_bytes
        self.leased = self.most_leased = 0
        """Bytes that arrays have now, and the most that they had at once."""
        self.free: list[np.ndarray] = []
        self.returned: deque[np.ndarray] = deque()
        self.lock = threading.Lock()

    def empty(self, shape: tuple[int, ...], dtype: Any = float) -> np.ndarray:
        """Return an array with arbitrary contents."""
        kind = np.dtype(dtype)
        size = math.prod(shape) * kind.itemsize
        if size < SMALL:
            return np.empty(shape, dtype)
        lease = _Lease(self._take(size), self)
        return np.asarray(lease)[:size].view(kind).reshape(shape)

    def memory(self, size: int) -> np.ndarray:
        """Return so many bytes with arbitrary contents."""
        return self.empty((size,), np.uint8)

    def _take(self, size: int) -> np.ndarray:
        size = -(-size // 4096) * 4096
        with self.lock:
            self._settle()
            fitting = [i for i, piece in enumerate(self.free) if size <= piece.nbytes <= SPARE * size]
            piece = self.free.pop(min(fitting, key=lambda i: (self.free[i].nbytes, -i))) if fitting else None
            self.leased += size if piece is None else piece.nbytes
            self.most_leased = max(self.most_leased, self.leased)
            self._settle()
        return huge_pages(size) if piece is None else piece

    def make_room(self, size: int) -> None:
        """Release free pieces until `size` bytes that are allocated elsewhere have room beside the pool."""
        with self.lock:
            self._settle(size)

    def give(self, memory: np.ndarray) -> None:
        """Take memory back. Never waits: the garbage collector may call it while this thread holds the lock."""
        self.returned.append(memory)
        if self.lock.acquire(blocking=False):
            try:
                self._settle()
            finally:
                self.lock.release()

    def _settle(self, elsewhere: int = 0) -> None:
        """Put returned memory among the free pieces; the oldest ones are released when there are too many."""
        while self.returned:
            self.free.append(self.returned.popleft())
            self.leased -= self.free[-1].nbytes
        most = int((1.0 + LITTLE) * self.most_leased)
        while sum(piece.nbytes for piece in self.free) > min(self.kept_bytes, most - self.leased - elsewhere):
            if not self.free:
                return
            self.free.pop(0)


class _Lease:
    """Owner of a piece of memory while arrays on it live.

    Not an array itself: NumPy would let a view refer past it to the memory, and the lease would end too early.
    """

    def __init__(self, memory: np.ndarray, pool: Pool):
        self.__array_interface__ = memory.__array_interface__
        weakref.finalize(self, pool.give, memory).atexit = False


_pool = Pool()
empty, memory, make_room = _pool.empty, _pool.memory, _pool.make_room


def trim() -> None:
    """Return all unused memory to the system."""
    make_room(sys.maxsize)
    with suppress(OSError, AttributeError):  # an allocator that is not that of glibc
        ctypes.CDLL(None).malloc_trim(0)


def time_first(array: np.ndarray, samples: int) -> np.ndarray:
    """Return the rows of a kernel, (..., component, padded time), as (..., time, component)."""
    return array[..., :samples].swapaxes(-1, -2)
