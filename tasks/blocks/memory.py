"""Memory of a block's intermediate results: memory of the host, or of a graphics card.

On a card, results of stages stay on the card, strip by strip of designs, and metrics come to the host at the end. The
arrays of the host that stand for these results are never touched, so that they take addresses but no memory. Only
results that are stored are fetched into them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from tasks.blocks import pool
from tasks.kernels.kernel import Kernel
from tasks.kernels.keys import Values, padded
from tasks.kernels.program import Program

SAMPLES = 1 << 22
"""Samples of a strip on a card: enough to keep it busy."""
BYTES = 1 << 32
"""Largest bytes of the intermediate results of a strip; a share of the card's free memory limits them as well."""
SHARE = 8
"""The card's free memory is divided by this: several threads compute on it at a time."""
TIMED = 3
"""Dims of the outputs of programs that are no reductions."""
FETCHED = 1 << 28
"""Largest bytes of a strip with stored results, which are fetched to the host."""


class HostMemory:
    """Intermediate results in the memory of the processors."""

    on_card = False

    def __init__(self, kernel: Callable[[Program], Kernel]) -> None:
        self.kernel = kernel

    def allocate(self, program: Program, cases: int, samples: int) -> Values:
        """Return arrays for the outputs of a program, constants in their places."""
        return self.kernel(program).allocate(cases, samples, pool.memory)

    def send(self, arrays: Iterable[np.ndarray]) -> None:
        """Take arrays that stay as they are while the block is computed."""

    def place(self, arrays: Iterable[np.ndarray]) -> None:
        """Take arrays for results that are fetched at the end."""

    def fetch(self, arrays: Iterable[np.ndarray]) -> None:
        """Bring values to where NumPy sees them."""

    def close(self) -> None:
        """Give everything back."""


class CardMemory(HostMemory):
    """Intermediate results on the card, for blocks in which only kernels need them."""

    on_card = True

    def __init__(self, kernel: Callable[[Program], Kernel]) -> None:
        from tasks.kernels.device import Residents  # needs the extra `gpu`

        super().__init__(kernel)
        self._residents = Residents()

    def allocate(self, program: Program, cases: int, samples: int) -> Values:
        """Return arrays whose memory is on the card."""
        arrays = self.kernel(program).reserve(cases, samples)
        self.place(arrays.values())
        return arrays

    def send(self, arrays: Iterable[np.ndarray]) -> None:
        """Copy arrays to the card."""
        self._residents.send(arrays)

    def place(self, arrays: Iterable[np.ndarray]) -> None:
        """Give arrays a place on the card."""
        self._residents.place(arrays)

    def fetch(self, arrays: Iterable[np.ndarray]) -> None:
        """Copy values from the card."""
        self._residents.fetch(arrays)

    def close(self) -> None:
        """Give all memory of the card back."""
        self._residents.close()

    def designs(self, programs: Sequence[Program], times: int, *, fetched: bool) -> int:
        """Return the number of designs of a strip in which these programs run, for a number of times."""
        width = padded(times)
        shapes = [self.kernel(program).shapes(1, 1).values() for program in programs]
        numbers = sum(shape[1] for each in shapes for shape in each if len(shape) == TIMED) or 1
        most = min(BYTES, self._residents.free_bytes() // SHARE, FETCHED if fetched else BYTES)
        return max(1, min(SAMPLES // width, most // (8 * numbers * width)))
