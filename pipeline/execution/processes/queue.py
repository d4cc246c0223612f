"""A queue of submitted runs of one user on one machine, so that many do not share its cores and memory at once.

Every run has a ticket, a file that its process locks as long as it lives; a run begins when the number of older live
tickets is below the limit. The queue needs no service: a process that dies leaves an unlocked ticket, which the next
run removes. The folder also keeps the output of runs for some weeks.
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

RUNS = "LIMBSWEEP_RUNS"
"""Environment variable: how many submitted runs of a user may compute on this machine at once."""

ELSEWHERE = 8
"""Runs at once whose workers are on other machines: here they only coordinate."""

CORES_OF_RUN = 4
KEPT_DAYS = 30.0
POLL_SECONDS = 1.0
TICKET, PRINTED = ".ticket", ".log"


def runs_at_once(*, computes_here: bool) -> int:
    """Return the number of runs that may begin: from the environment, or one for every few cores."""
    text = os.environ.get(RUNS, "")
    if text.isdecimal() and 0 < int(text) <= 1000:
        return int(text)
    return max(1, (os.cpu_count() or 1) // CORES_OF_RUN) if computes_here else ELSEWHERE


def private_folder() -> Path:
    """Return the private folder of this user's runs. Raises OSError if no place allows such a folder."""
    home = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    places = [Path(home) / "limbsweep" / "runs", Path(tempfile.gettempdir()) / f"limbsweep-{os.geteuid()}"]
    for place in places:
        with suppress(OSError):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = place.lstat()
            if stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid():
                place.chmod(0o700)
                return place
    raise OSError(f"no folder for submitted runs: {' and '.join(map(str, places))} cannot be made, or are not yours")


def printed_file(folder: Path) -> tuple[int, str]:
    """Return a new file for the output of a run, as a descriptor and a path; old ones are removed."""
    for path in folder.glob(f"*{PRINTED}"):
        with suppress(OSError):
            if time.time() - path.lstat().st_mtime > KEPT_DAYS * 86400:
                path.unlink()
    return tempfile.mkstemp(prefix=time.strftime("%Y%m%d-%H%M%S-"), suffix=PRINTED, dir=folder)


@contextmanager
def turn(folder: Path, most: int, tell: Callable[[int], None]) -> Iterator[None]:
    """Wait until fewer than `most` runs are before this one; `tell` is called when their number changes."""
    descriptor, ticket = _ticket(folder)
    try:
        before: int | None = None
        while (count := len(_live_before(ticket))) >= most:
            if count != before:
                before = count
                tell(count)
            time.sleep(POLL_SECONDS)
        yield
    finally:
        with suppress(OSError):
            ticket.unlink()
        os.close(descriptor)


def _ticket(folder: Path) -> tuple[int, Path]:
    """Return a ticket that is locked before others can see it."""
    name = f"{time.time_ns():020}-{os.getpid()}"
    draft, ticket = folder / f".{name}", folder / f"{name}{TICKET}"
    descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    draft.rename(ticket)
    return descriptor, ticket


def _live_before(ticket: Path) -> list[Path]:
    """Return the tickets before one whose runs live; remove the others."""
    live = []
    for path in sorted(ticket.parent.glob(f"*{TICKET}")):
        if path.name >= ticket.name:
            break
        try:
            descriptor = os.open(path, os.O_RDWR)
        except OSError:
            continue  # it has ended meanwhile
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink(missing_ok=True)
        except BlockingIOError:
            live.append(path)
        finally:
            os.close(descriptor)
    return live
