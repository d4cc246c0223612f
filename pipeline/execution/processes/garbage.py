"""Rare garbage collection of Python in processes of our own, because all threads of one wait meanwhile.

Objects without references are freed at once, as always. A collection finds objects that refer to themselves or to
each other, of which there are few here.
"""

from __future__ import annotations

import gc

COLLECTED = 10_000
"""Number of new objects after which Python looks for reference cycles.

With Python's own 700 this took a tenth of the time of a small run, because its modules make many objects that they
keep.
"""


def collect_rarely() -> None:
    """Look that rarely from now on in this process."""
    gc.set_threshold(COLLECTED)


def keep_all() -> None:
    """Exclude the objects that exist now, such as modules, from all later garbage collections."""
    gc.freeze()
