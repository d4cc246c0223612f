"""Read JSON that may come from a stranger: of bounded size and depth, and nothing but data."""

from __future__ import annotations

import json
from typing import Any

MAX_BYTES = 16 << 20
"""Bytes of a JSON file in a store: its manifest, or metadata of its group, which have the text of the sweep."""


def parse_json(text: bytes | str) -> Any:
    """The data in JSON. Raises ValueError where there is none, also for brackets that are nested without end."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("brackets that are nested too deep") from None
