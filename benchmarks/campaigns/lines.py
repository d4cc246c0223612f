"""Lines of a campaign as they come, and the exit status that follows from them."""

from __future__ import annotations

from collections.abc import Iterable


def print_lines(lines: Iterable[str]) -> int:
    """Print lines at once and return 0; 1 where a check of the campaign fails, which is printed too."""
    try:
        for line in lines:
            print(line, flush=True)
    except AssertionError as error:
        print(f"FAILED: {error}", flush=True)
        return 1
    return 0
