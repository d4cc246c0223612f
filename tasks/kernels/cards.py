"""Graphics card of this process: memory on it, and functions that run there. The only module that touches CUDA.

An array of the host may have a place on the card: `CardPlaces` maps the addresses of its bytes there. Slices and
broadcast views of such an array are found by their addresses, so programs take the same arrays in either memory. Each
thread has a stream of its own, in which its calls and copies are done in order, while streams of other threads run
concurrently.

The driver comes with the card. Only the package `cuda-bindings` (extra `gpu`) is needed to call it: the driver
translates the text of functions to machine code and keeps it on the disk.
"""

from __future__ import annotations

import bisect
import ctypes
import functools
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from robots.data_classes import dataclass, field
from robots.extras import how_to_install
from tasks.kernels.emission import threads
from tasks.kernels.llvm import text_for_cards

try:
    from cuda.bindings import driver as cuda
except ImportError:
    cuda = None  # without the extra

NEEDED = 7
"""Compute capability that cards need at least, its first number."""


class CardError(RuntimeError):
    """A card that is not there, or a call of its driver that failed."""


def _called(result: tuple[Any, ...]) -> Any:
    """Return the result of a call of the driver. Raises CardError, and MemoryError where the card is full."""
    status, *values = result
    if status == cuda.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
        raise MemoryError("the graphics card has no memory left; use smaller blocks or fewer threads")
    if status != cuda.CUresult.CUDA_SUCCESS:
        known, text = cuda.cuGetErrorString(status)
        words = text.decode() if known == cuda.CUresult.CUDA_SUCCESS and text else str(status)
        raise CardError(f"the graphics card's driver says: {words}")
    return values[0] if len(values) == 1 else tuple(values)


class Card:
    """The first card that this process sees; `CUDA_VISIBLE_DEVICES` names another one."""

    def __init__(self) -> None:
        if cuda is None:
            raise CardError(f"the package cuda-bindings is not here. {how_to_install('gpu')}")
        try:
            _called(cuda.cuInit(0))
            count = _called(cuda.cuDeviceGetCount())
        except (CardError, RuntimeError) as error:  # the bindings raise RuntimeError without a driver
            raise CardError(f"no driver of a graphics card is here ({error})") from None
        if not count:
            raise CardError("no graphics card is here")
        self._device = _called(cuda.cuDeviceGet(0))
        self._context = _called(cuda.cuDevicePrimaryCtxRetain(self._device))
        self._threads = threading.local()
        self.name = _called(cuda.cuDeviceGetName(96, self._device)).split(b"\0")[0].decode()
        kinds = cuda.CUdevice_attribute
        self.capability = (
            self._number(kinds.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
            self._number(kinds.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        )
        if self.capability[0] < NEEDED:
            raise CardError(f"{self.name} has compute capability {self.capability}; expected {NEEDED}.0")
        self.processors = self._number(kinds.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
        self._pool = _called(cuda.cuDeviceGetDefaultMemPool(self._device))
        kept = cuda.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        _called(cuda.cuMemPoolSetAttribute(self._pool, kept, cuda.cuuint64_t(2**64 - 1)))

    def _number(self, kind: Any) -> int:
        return int(_called(cuda.cuDeviceGetAttribute(kind, self._device)))

    @property
    def stream(self) -> Any:
        """The stream of this thread."""
        if not hasattr(self._threads, "stream"):
            _called(cuda.cuCtxSetCurrent(self._context))
            self._threads.stream = _called(cuda.cuStreamCreate(cuda.CUstream_flags.CU_STREAM_NON_BLOCKING))
        return self._threads.stream

    @property
    def places(self) -> CardPlaces:
        """Arrays of this thread that have a place here.

        Threads share arrays of the host, but not places: one thread would give back what another still reads.
        """
        if not hasattr(self._threads, "places"):
            self._threads.places = CardPlaces(self)
        return self._threads.places

    def free_bytes(self) -> int:
        """Return how much memory of the card is free."""
        self.stream  # noqa: B018  # the context of this thread
        free, _ = _called(cuda.cuMemGetInfo())
        return int(free)

    def most_bytes(self) -> int:
        """Return the peak memory of the card [bytes] that this process has used since the last call of this."""
        most = cuda.CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_HIGH
        used = int(_called(cuda.cuMemPoolGetAttribute(self._pool, most)))
        _called(cuda.cuMemPoolSetAttribute(self._pool, most, cuda.cuuint64_t(0)))
        return used

    def functions(self, layout: threads.ThreadLayout) -> dict[str, Any]:
        """Return the functions of a program by name, translated by the driver."""
        self.stream  # noqa: B018
        text = text_for_cards(threads.source(layout, threads.NVIDIA))
        module = _called(cuda.cuModuleLoadData(text.encode() + b"\0"))
        return {name: _called(cuda.cuModuleGetFunction(module, name.encode())) for name in threads.functions(layout)}

    def launch(self, function: Any, count: int, sizes: Sequence[int], table: Sequence[int]) -> None:
        """Call a function in `count` threads or a few more, `sizes` and `table` of 64-bit numbers as its arguments."""
        numbers, words = (ctypes.c_int64 * len(sizes))(*sizes), (ctypes.c_int64 * len(table))(*table)
        places = [ctypes.addressof(numbers) + 8 * k for k in range(len(sizes))] + [ctypes.addressof(words)]
        arguments = (ctypes.c_void_p * len(places))(*places)
        grid, where = -(-count // threads.BLOCK), ctypes.addressof(arguments)
        _called(cuda.cuLaunchKernel(function, grid, 1, 1, threads.BLOCK, 1, 1, 0, self.stream, where, 0))

    def allocate(self, size: int) -> int:
        """Allocate `size` bytes on the card and return their address."""
        return int(_called(cuda.cuMemAllocAsync(max(size, 8), self.stream)))

    def free(self, address: int) -> None:
        """Release memory of the card, after the present calls of this thread."""
        _called(cuda.cuMemFreeAsync(address, self.stream))

    def send(self, host: int, card: int, size: int) -> None:
        """Copy bytes to the card. The host's may be changed afterwards."""
        if size:
            _called(cuda.cuMemcpyHtoDAsync(card, host, size, self.stream))

    def fetch(self, card: int, host: int, size: int) -> None:
        """Copy bytes from the card. They are there after `wait`."""
        if size:
            _called(cuda.cuMemcpyDtoHAsync(host, card, size, self.stream))

    def wait(self) -> None:
        """Wait for all calls and copies of this thread."""
        _called(cuda.cuStreamSynchronize(self.stream))


@functools.cache
def card() -> Card:
    """Return the graphics card of this process. Raises CardError."""
    with _lock:
        return Card()


_lock = threading.Lock()


@dataclass(eq=False)
class Span:
    """Bytes of the host that have a place on the card."""

    start: int
    size: int
    card: int
    array: np.ndarray
    """Array that keeps the memory of the host alive."""
    filled: set[int] = field(default_factory=set)
    """Addresses of the host from which on an output begins whose constants are in their places."""


def span_of(array: np.ndarray) -> tuple[int, int]:
    """Return the address of the first byte of an array and the number of bytes to the end of its last element."""
    if not array.size:
        return array.__array_interface__["data"][0], 0
    reach = sum((length - 1) * stride for length, stride in zip(array.shape, array.strides, strict=True))
    return array.__array_interface__["data"][0], reach + array.itemsize


class CardPlaces:
    """Arrays of the host that have a place on the card, found by address."""

    def __init__(self, card: Card) -> None:
        self._card, self._lock = card, threading.Lock()
        self._starts: list[int] = []
        self._spans: list[Span] = []

    def place(self, array: np.ndarray, *, send: bool = False) -> Span:
        """Give an array a place on the card, with its values if `send`; it has it until `remove`."""
        start, size = span_of(array)
        if self.find(array) is not None:
            raise ValueError("array: got one that has a place on the card; expected another")
        span = Span(start, size, self._card.allocate(size), array)
        if send:
            self._card.send(start, span.card, size)
        with self._lock:
            at = bisect.bisect(self._starts, start)
            self._starts.insert(at, start)
            self._spans.insert(at, span)
        return span

    def remove(self, span: Span) -> None:
        """Take an array's place away."""
        with self._lock:
            at = next(k for k, each in enumerate(self._spans) if each is span)
            del self._starts[at], self._spans[at]
        self._card.free(span.card)

    def find(self, array: np.ndarray) -> Span | None:
        """Return the span that an array is part of, if it has a place on the card."""
        start, size = span_of(array)
        with self._lock:
            at = bisect.bisect(self._starts, start) - 1
            span = self._spans[at] if at >= 0 else None
        return span if span is not None and size and start + size <= span.start + span.size else None
