"""Rows of samples as kernels work on them: whole groups of lanes, and how wide they lie in memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

LANES = 8
SHARING = 128
"""Numbers in a row, or a multiple of them, that make it a bad neighbour: measured up to four times slower."""


def padded(samples: int) -> int:
    """Samples rounded up to whole groups of lanes."""
    return -(-samples // LANES) * LANES


def spaced(width: int) -> int:
    """Numbers from the start of a row to that of the next."""
    return width + LANES if width % SHARING == 0 else width


def empty_rows(shape: tuple[int, ...], empty: Callable[[tuple[int, ...]], np.ndarray] = np.empty) -> np.ndarray:
    """An uninitialised array whose rows do not start a multiple of 1 KiB apart: such share few lines of a cache."""
    *outer, width = shape
    return empty((*outer, spaced(width)))[..., :width]
