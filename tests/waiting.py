"""Waits of tests for other threads and processes, long enough for a machine that other work keeps busy."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

PATIENCE = 120.0
"""Seconds that something may take which takes a moment on a quiet machine. Only a test that fails waits for so long."""


def until(look: Callable[[], Any], what: str = "what the test waits for") -> Any:
    """Wait until something is true and return it; `what` is said where it does not come."""
    deadline = time.monotonic() + PATIENCE
    while not (found := look()):
        assert time.monotonic() < deadline, f"{what} has not come in {PATIENCE:.0f} s"
        time.sleep(0.02)
    return found
