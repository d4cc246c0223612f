"""End a run in order when the system asks for it: SIGTERM of batch systems and containers, SIGHUP of a lost terminal.

Both are met like Ctrl-C: the cluster is closed, the log gets its last record, the lock is given back. The second
signal ends the process at once.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class EndedBySignal(KeyboardInterrupt):
    """The system has asked this process to end."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(f"ended by {signal.Signals(number).name}")


@contextmanager
def orderly_end() -> Iterator[None]:
    """Raise EndedBySignal in the block when the process is asked to end.

    Nothing changes in other threads than the main one, and for signals that somebody handles, or ignores (`nohup`).
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = [number for number in SIGNALS if signal.getsignal(number) is signal.SIG_DFL]

    def end(number: int, frame: FrameType | None) -> None:
        for known in ours:
            signal.signal(known, signal.SIG_DFL)
        raise EndedBySignal(number)

    for number in ours:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def exit_status(error: KeyboardInterrupt) -> int:
    """Return the exit status of a process that was interrupted: 128 and the number of the signal."""
    return 128 + (error.number if isinstance(error, EndedBySignal) else signal.SIGINT)
