"""Kernels on a graphics card, with the same bits as kernels on a processor.

A `CardKernel` takes the same arrays as a `Kernel`. Arrays with a place on the card, see `Residents`, stay there; others
are copied to the card and back at each call. See `tasks.kernels.emission.threads` for the way a program runs there.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

import numpy as np

from tasks.kernels.cards import CardPlaces, Span, card, span_of
from tasks.kernels.emission import threads
from tasks.kernels.kernel import Kernel
from tasks.kernels.keys import LANES, Arrays, padded
from tasks.kernels.program import Program

BUSY = 2048
"""Threads of each multiprocessor that keep it busy."""


class CardKernel(Kernel):
    """A program on the card of this process; the first call translates it. Raises CardError where there is no card."""

    def __init__(self, program: Program, *, single: bool = False) -> None:
        super().__init__(program)
        self.single = single
        self._layout = threads.ThreadLayout(program, single)
        self._making = threading.Lock()
        self._made: dict[Any, dict[str, Any]] = {}

    def _functions(self) -> dict[str, Any]:
        """Return the functions on the card of this process, translated at the first call."""
        device = card()
        with self._making:
            if device not in self._made:
                start = time.perf_counter()
                self._made[device] = device.functions(self._layout)
                self.seconds_to_compile += time.perf_counter() - start
            return self._made[device]

    def prepare(self, *, wide: bool = True) -> CardKernel:
        """Translate now."""
        self._functions()
        return self

    def __call__(self, inputs: Arrays, samples: int, out: Arrays | None = None, *, filled: bool = False) -> Arrays:
        """Run on all cases and samples, see `Kernel`.

        Outputs without a place on the card are in the host's memory after the call; outputs with a place are fetched by
        `Residents.fetch`.
        """
        device, cases = card(), self._cases(inputs)
        out = self.reserve(cases, samples, once=True) if out is None else out
        hosts, strides = self._arguments(inputs, out, cases, padded(samples))
        fetched: list[tuple[int, np.ndarray]] = []
        spans: list[Span] = []
        with ExitStack() as stack:
            table: list[int] = []
            for host, (name, _, _, is_input) in zip(hosts, self._places, strict=True):
                array = inputs[name] if is_input else out[name]
                span = device.places.find(array)
                if span is not None:
                    table.append(span.card + host - span.start)
                    if not is_input:
                        spans.append(span)
                    continue
                size = span_of(array)[1]
                table.append(device.allocate(size))
                stack.callback(device.free, table[-1])
                if is_input or size > array.nbytes:  # memory between the rows of an output belongs to other arrays
                    device.send(host, table[-1], size)
                if not is_input:
                    fetched.append((table[-1], array))
            known = filled and not fetched and self._fill(spans, out)
            self._run(cases, samples, [*table, *strides], stack, known)
            for place, array in fetched:
                device.fetch(place, *span_of(array))
            if fetched:
                device.wait()
        return out

    def _fill(self, spans: list[Span], out: Arrays) -> bool:
        """Return whether constants are in their places already; after this call they are."""
        starts = [out[name].__array_interface__["data"][0] for name in self.program.outputs]
        done = all(start in span.filled for span, start in zip(spans, starts, strict=True))
        for span, start in zip(spans, starts, strict=True):
            span.filled.add(start)
        return done

    def _run(self, cases: int, samples: int, table: list[int], stack: ExitStack, known: bool) -> None:
        """Launch the functions, with memory for their intermediate results."""
        device, layout, functions = card(), self._layout, self._functions()
        lanes = cases * layout.lanes
        rounds = -(-padded(samples) // layout.lanes)
        parts = 1 if layout.reduced else max(1, min(rounds, device.processors * BUSY // max(lanes, 1)))
        for count in (len(layout.kept) * cases, len(layout.reduced) * lanes):
            place = device.allocate(8 * count)
            stack.callback(device.free, place)
            table.append(place)
        sizes = (cases, padded(samples) // LANES, samples, int(known), parts)
        for name in threads.functions(layout):
            device.launch(functions[name], lanes * parts if name == threads.SAMPLES else cases, sizes, table)


_kernels: dict[tuple[int, bool], CardKernel] = {}
_lock = threading.Lock()


def card_kernel(program: Program, *, single: bool = False) -> CardKernel:
    """Return the kernel of a program on the card, made on the first call in this process."""
    with _lock:
        return _kernels.setdefault((id(program), single), CardKernel(program, single=single))


class Residents:
    """Arrays of a block that stay on the card while it is computed, in the thread that computes it."""

    def __init__(self) -> None:
        self._spans: list[Span] = []
        self._end = weakref.finalize(self, _remove, card().places, self._spans)
        self._end.atexit = False

    def send(self, arrays: Iterable[np.ndarray]) -> None:
        """Give arrays a place on the card, with their values, which do not change any more."""
        self._place(arrays, send=True)

    def place(self, arrays: Iterable[np.ndarray]) -> None:
        """Give arrays a place on the card for results."""
        self._place(arrays, send=False)

    def _place(self, arrays: Iterable[np.ndarray], *, send: bool) -> None:
        places = card().places
        for array in arrays:
            if array.size and places.find(array) is None:
                self._spans.append(places.place(array, send=send))

    def fetch(self, arrays: Iterable[np.ndarray]) -> None:
        """Bring the values of arrays, or of parts of them, to the host."""
        device = card()
        for array in arrays:
            start, size = span_of(array)
            if (span := device.places.find(array)) is not None:
                device.fetch(span.card + start - span.start, start, size)
        device.wait()

    def free_bytes(self) -> int:
        """Return how much memory of the card is free."""
        return card().free_bytes()

    def close(self) -> None:
        """Remove all places. The garbage collector does this too when it collects the residents."""
        self._end()


def _remove(places: CardPlaces, spans: list[Span]) -> None:
    while spans:
        places.remove(spans.pop())
