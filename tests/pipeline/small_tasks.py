"""Bodies of child processes that import next to nothing, unlike the tests that use them."""

from __future__ import annotations

import os
from typing import Any


def pid(_: None) -> int:
    """The process that computes this."""
    return os.getpid()


def allocate(size: int) -> int:
    """Allocate `size` bytes of memory."""
    return len(bytearray(size))


def unsendable(_: None) -> Any:
    """A result that cannot be pickled."""
    return lambda: None
