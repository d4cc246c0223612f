"""A run in a thread of this process: its progress, its result, its end."""

from __future__ import annotations

import asyncio
import threading
import time
import warnings
from collections.abc import Callable, Generator
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING, Any, Literal

from dask.base import annotate, get_annotations

from pipeline.cluster.arguments import running_loop
from pipeline.errors import RunCancelledError, refused
from pipeline.monitor.log import BlockDone, BlockFailed, CaseFailed, Event, Listener, Started
from pipeline.monitor.notebook import EVERY, Display, in_notebook
from robots.data_classes import dataclass, replace

if TYPE_CHECKING:
    from xarray import Dataset

AWAIT = "expected an await: results = await ls.run(...)"

HandleState = Literal["starting", "running", "finished", "failed", "cancelled"]


@dataclass(frozen=True)
class HandleStatus:
    """Progress of a run: state, counts of blocks (all, done, given up) and of cases with NaN, seconds since start."""

    state: HandleState = "starting"
    blocks: int = 0
    done: int = 0
    failed: int = 0
    cases: int = 0
    seconds: float = 0.0

    def after(self, event: Event) -> HandleStatus:
        """Return the status after an event."""
        match event:
            case Started():
                return replace(self, state="running", blocks=event.total_blocks, done=event.done_blocks)
            case BlockDone():
                return replace(self, done=self.done + 1)
            case BlockFailed():
                return replace(self, failed=self.failed + 1)
            case CaseFailed():
                return replace(self, cases=self.cases + 1)
        return self


class PendingRun:
    """Results of `run` with an asynchronous client, to be awaited. A warning reports results that were not awaited.

    Status, result and cancel are those of the handle of the run.
    """

    def __init__(self, handle: RunHandle) -> None:
        self._handle, self._used = handle, False

    def __await__(self) -> Generator[Any, None, Dataset]:
        """Wait for the results as the handle does."""
        self._used = True
        return self._handle.__await__()

    def __getattr__(self, name: str) -> Any:
        """Return a public attribute of the handle. Raises AttributeError for another name."""
        if name.startswith("__") or not hasattr(RunHandle, name):
            raise AttributeError(f"{name}: got results of `run` that were not awaited; {AWAIT}")
        self._used = True
        return getattr(self._handle, name)

    def __getitem__(self, name: object) -> Any:
        """Raise TypeError: the results are not there yet."""
        raise TypeError(f"{name!r}: got results of `run` that were not awaited; {AWAIT}")

    def __repr__(self) -> str:
        """Format the state and progress of the run in one line."""
        return f"{self._handle!r}, to be awaited"

    def __del__(self) -> None:
        """Warn where neither the results were awaited nor the status was read."""
        if not self._used:
            text = (
                f"`run` with an asynchronous client was never awaited; the run goes on until this process ends; {AWAIT}"
            )
            warnings.warn(text, RuntimeWarning, stacklevel=2)


class RunHandle:
    """A run in a thread of its own: `status()`, `result()`, `cancel()`; it can be awaited.

    It ends with this process. `action` is called with a listener for its events, and with a function that returns
    whether the run was asked to end.
    """

    def __init__(self, action: Callable[[Listener, Callable[[], bool]], Dataset], loop: object = None) -> None:
        self._future: Future[Dataset] = Future()
        self._stop = threading.Event()
        self._status, self._start, self._end = HandleStatus(), time.monotonic(), float("inf")
        self._loop = loop
        self._shown: list[Display] = []
        """Cells of a notebook that show it."""
        self._drawn = 0.0
        work = (action, dict(get_annotations()))  # annotations in force here
        threading.Thread(target=self._work, args=work, name="limbsweep-run", daemon=True).start()

    def _work(self, action: Callable[[Listener, Callable[[], bool]], Dataset], annotations: dict[str, Any]) -> None:
        try:
            with annotate(**annotations):
                dataset = action(self._listen, self._stop.is_set)
        except BaseException as error:
            self._end = time.monotonic()
            state: HandleState = "cancelled" if isinstance(error, RunCancelledError) else "failed"
            self._status = replace(self._status, state=state)
            self._draw()
            self._future.set_exception(error)
        else:
            self._end = time.monotonic()
            self._status = replace(self._status, state="finished")
            self._draw()
            self._future.set_result(dataset)

    def _listen(self, event: Event) -> None:
        self._status = self._status.after(event)
        if self._shown and time.monotonic() - self._drawn >= EVERY:
            self._draw()

    def _draw(self) -> None:
        """Draw the handle again in each cell that shows it."""
        self._drawn = time.monotonic()
        for place in self._shown:
            place.replace(self._repr_html_())

    def status(self) -> HandleStatus:
        """Return the progress of the run at once."""
        return replace(self._status, seconds=min(time.monotonic(), self._end) - self._start)

    def done(self) -> bool:
        """Return whether the run has ended, in whatever way."""
        return self._future.done()

    def result(self, timeout: float | None = None) -> Dataset:
        """Wait for the results, `timeout` seconds at most, and return them as `run` does; raises the errors of `run`.

        Raises TimeoutError, and InputError in the thread of an asynchronous client, whose run would wait for it.
        """
        if self._loop is not None and self._loop is running_loop() and not self._future.done():
            got = "result() in the thread of its event loop, which would block both"
            raise refused("an asynchronous client", got, "an await", "Write: await handle.")
        return self._future.result(timeout)

    def cancel(self, timeout: float | None = 120.0) -> bool:
        """Ask the run to end, wait until it has, and return whether that stopped it. Stored results are kept.

        Raises TimeoutError where a task holds it up for longer than `timeout` seconds.
        """
        self._stop.set()
        if self._loop is None or self._loop is not running_loop():
            self._future.exception(timeout)
        return not self._future.done() or isinstance(self._future.exception(), RunCancelledError)

    def __await__(self) -> Generator[Any, None, Dataset]:
        """Wait for the results while the event loop goes on; a cancelled wait cancels the run."""
        return self._wait().__await__()

    async def _wait(self) -> Dataset:
        try:
            return await asyncio.wrap_future(self._future)
        except (asyncio.CancelledError, CancelledError):
            self._stop.set()
            raise

    def __repr__(self) -> str:
        """Format the state and progress in one line."""
        status = self.status()
        failures = f", {status.failed} failed" if status.failed else ""
        return f"<run {status.state}: {status.done:,} of {status.blocks:,} blocks{failures}, {status.seconds:.1f} s>"

    def _ipython_display_(self) -> None:
        """Show it in a cell that follows the run; in a terminal as a line."""
        if in_notebook():
            self._shown.append(Display(self._repr_html_()))
            self._draw()  # it may have ended meanwhile
        else:
            print(repr(self))

    def _repr_html_(self) -> str:
        """Return the same with a bar, for notebooks."""
        status = self.status()
        return (
            f"<div><progress value='{status.done}' max='{max(1, status.blocks)}'></progress> "
            f"{status.state}: {status.done:,} of {status.blocks:,} blocks, {status.seconds:.1f} s</div>"
        )
