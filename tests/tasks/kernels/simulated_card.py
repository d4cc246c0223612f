"""A card that is none: its memory is the host's, and this processor runs the functions, thread by thread.

It takes the text that cards take but for its first and last lines, so that tests without a card see everything of a
kernel there but the translation by a driver.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pytest

from tasks.kernels import cards, device, llvm
from tasks.kernels.cards import CardPlaces
from tasks.kernels.emission import threads

SIGNATURE = ctypes.CFUNCTYPE(None, *(ctypes.c_int64,) * 6, ctypes.c_void_p)
MORE = 3
"""Threads beyond those that have work: a card starts whole blocks."""


class SimulatedCard:
    """Stands in the place of `tasks.kernels.cards.Card`."""

    processors = 1

    def __init__(self, room: int = 1 << 30) -> None:
        self._threads = threading.local()
        self.room = room
        self.pieces: dict[int, np.ndarray] = {}
        self.moved = {"send": 0, "fetch": 0}
        """Bytes."""
        self.most = 0

    @property
    def places(self) -> CardPlaces:
        if not hasattr(self._threads, "places"):
            self._threads.places = CardPlaces(self)  # type: ignore[arg-type]
        return self._threads.places

    def free_bytes(self) -> int:
        return self.room - sum(piece.nbytes for piece in self.pieces.values())

    def most_bytes(self) -> int:
        most, self.most = self.most, 0
        return most

    def functions(self, layout: threads.ThreadLayout) -> dict[str, Callable[..., None]]:
        text = threads.source(layout, threads.PROCESSOR)
        return {name: llvm.compile_text(text, SIGNATURE, name=name).call for name in threads.functions(layout)}

    def launch(self, function: Callable[..., None], count: int, sizes: Sequence[int], table: Sequence[int]) -> None:
        words = (ctypes.c_int64 * len(table))(*table)
        for thread in reversed(range(count + MORE)):  # no order may matter
            function(thread, *sizes, ctypes.addressof(words))

    def allocate(self, size: int) -> int:
        piece = np.full(max(size, 8), 0x5A, dtype=np.uint8)
        address = int(piece.__array_interface__["data"][0])
        self.pieces[address] = piece
        self.most = max(self.most, self.room - self.free_bytes())
        if self.free_bytes() < 0:
            del self.pieces[address]
            raise MemoryError("the graphics card has no memory left")
        return address

    def free(self, address: int) -> None:
        self.pieces.pop(address)[:] = 0xA5

    def send(self, host: int, card: int, size: int) -> None:
        self.moved["send"] += size
        ctypes.memmove(card, host, size)

    def fetch(self, card: int, host: int, size: int) -> None:
        self.moved["fetch"] += size
        ctypes.memmove(host, card, size)

    def wait(self) -> None:
        """Everything is done already."""


@contextmanager
def simulated(room: int = 1 << 30) -> Iterator[SimulatedCard]:
    """Put such a card in the place of that of this process; all of its memory is given back in the end."""
    card = SimulatedCard(room)
    with pytest.MonkeyPatch.context() as patch:
        for module in (cards, device):
            patch.setattr(module, "card", lambda: card)
        yield card
    assert not card.pieces
