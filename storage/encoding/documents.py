"""Read JSON that may come from a stranger: of bounded size and depth, and nothing but data."""

from __future__ import annotations

import json
import math
from typing import Any

METADATA = "zarr.json"
"""Name of the file with the metadata of an array or a group."""

MAX_BYTES = 16 << 20
"""Bytes of a JSON file in a store: its manifest, or metadata of its group, which have the text of the sweep."""


def parse_json(text: bytes | str) -> Any:
    """Parse JSON. Raises ValueError if it is invalid, also for endless brackets and numbers without end."""
    try:
        return json.loads(text, parse_constant=_finite, parse_float=_finite)
    except RecursionError:
        raise ValueError("brackets that are nested too deep") from None


def _finite(text: str) -> float:
    """Return a finite number: others cannot become an integer, and are never written."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:20]}, which is not finite")
    return number
