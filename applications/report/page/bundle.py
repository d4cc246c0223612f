"""Arrays of a page: compressed together, each read on its own by its place.

A bundle is the bytes of all its arrays, those of equal significance side by side, as gzip in base64: numbers that
differ little cost little, a column of a few values nearly nothing. The page unpacks a bundle when it first needs it.
"""

from __future__ import annotations

import base64
import gzip
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

ArrayKind = Literal["f8", "f4", "i4", "i2", "u1"]
LEVEL = 6
MANTISSA = 16
"""Bits of numbers that are drawn and listed, not computed with: nearly five digits."""


class ArrayBundle:
    """Collection of arrays, each with a record of its type, shape and place."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def packed(self, values: ArrayLike, kind: ArrayKind = "f8", *, rounded: bool = False) -> dict[str, Any]:
        """Return the record of an array that is put in; floats of 8 bytes keep all their bits.

        With `rounded`, floats of 4 bytes keep `MANTISSA` bits of their mantissas.
        """
        array = np.ascontiguousarray(values, dtype=np.dtype(f"<{kind}" if kind != "u1" else "u1"))
        if rounded:
            array = _rounded(array)
        self._parts.append(np.ascontiguousarray(array.reshape(-1).view("u1").reshape(-1, array.itemsize).T).tobytes())
        record = {"type": kind, "shape": list(array.shape), "at": self._size}
        self._size += array.nbytes
        return record

    def text(self) -> str:
        """Encode the arrays as a text; equal arrays give equal texts."""
        return base64.b64encode(gzip.compress(b"".join(self._parts), LEVEL, mtime=0)).decode("ascii")


def _rounded(array: np.ndarray) -> np.ndarray:
    """Return 4-byte floats with fewer bits of their mantissas, rounded to nearest; NaN and infinity stay."""
    dropped = 23 - MANTISSA
    bits = array.view("<u4")
    near = (bits + (1 << (dropped - 1))) & np.uint32(0xFFFFFFFF << dropped & 0xFFFFFFFF)
    return np.where(np.isfinite(array), near, bits).astype("<u4").view("<f4")
