"""Memory that this process holds."""

from __future__ import annotations

import psutil

from tasks.blocks.pool import trim


def held_memory() -> int:
    """Return the resident size of this process without memory that nothing uses [bytes]."""
    trim()
    return int(psutil.Process().memory_info().rss)
