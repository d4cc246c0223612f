"""Run a part of a block in a subprocess, so that crashes, hangs and memory are contained.

The subprocess is a new interpreter, not a fork, because the process that starts it has threads. Objects are pickled by
reference, so both have to find the same modules; the child gets the import path of its parent, to which the current
folder is not added. It ends with its parent: the pipe between them closes. `python -m
pipeline.execution.processes.child_process DESCRIPTOR MEMORY` is the other end.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any, Generic, Literal, Self, TypeVar

from pipeline.cluster.settings import SAFE_PATH
from pipeline.errors import TaskError

Argument = TypeVar("Argument")
Value = TypeVar("Value")

BASE_MEMORY = 4 << 30
BLOCKS = 4
"""Address space of a child: a number of whole blocks, and the need of Python itself."""

ROOT = Path(__file__).parents[__spec__.name.count(".")]
"""The folder that our packages are in, or the package `limbsweep` that a wheel has them in."""

READY = "ready"
START_SECONDS = 120.0
GRACE_SECONDS = 2.0


class ChildProcess(Generic[Argument, Value]):
    """A subprocess for `body`, started when there is work; `memory` is the need of a whole block [bytes]."""

    def __init__(self, body: Callable[[Argument], Value], memory: int) -> None:
        self.body = body
        self.memory = BASE_MEMORY + BLOCKS * memory
        self._process: subprocess.Popen[bytes] | None = None
        self._link: Connection[Any, Any] | None = None

    def compute(self, argument: Argument, seconds: float) -> tuple[Literal[True], Value] | tuple[Literal[False], str]:
        """Compute the body for an argument: True and the result, or False and the reason as a text.

        A process that has died or has not come back is ended; the next computation starts another.
        """
        try:
            link = self._ready()
            link.send(argument)
            if link.poll(seconds):
                answer: tuple[Literal[True], Value] | tuple[Literal[False], str] = link.recv()
                return answer
            reason = f"no result within {seconds:g} s"
        except (EOFError, OSError):
            reason = f"its process {self._end()}"
        self.stop()
        return False, reason

    def _ready(self) -> Connection[Any, Any]:
        """Return the link to a process that has said that it is there. Raises OSError where none starts."""
        if self._link is None or self._process is None:
            self._link, far_end = Pipe()
            with far_end:
                self._process = _start(far_end.fileno(), self.memory)
            # Its imports do not count in the time of a computation.
            self._link.send(self.body)
            if not self._link.poll(START_SECONDS) or self._link.recv() != READY:
                raise OSError("the process did not start")
        return self._link

    def _end(self) -> str:
        """Describe the end of the process in words."""
        if self._process is None:
            return "could not be started"
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_SECONDS)
        code = self._process.poll()
        if code is None:
            return "closed its connection"
        return f"died of {signal.Signals(-code).name}" if code < 0 else f"ended with exit status {code}"

    def stop(self) -> None:
        """End the process, if there is one; the next computation starts another."""
        if self._link is not None:
            self._link.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._link = self._process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


def module_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a limbsweep module, without Python files of the current folder, maybe anybody's."""
    return [sys.executable, "-P", "-m", module, *arguments]


def import_path() -> dict[str, str]:
    """Return the environment in which another interpreter finds the modules of this one, and no others.

    Our own packages come last, in case this process found them through a folder that it has left.
    """
    folders = dict.fromkeys([*(folder or os.getcwd() for folder in sys.path), str(ROOT)])
    return {"PYTHONPATH": os.pathsep.join(folders), **SAFE_PATH}


def _start(descriptor: int, memory: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        module_command("pipeline.execution.processes.child_process", str(descriptor), str(memory)),
        env=os.environ | import_path(),
        pass_fds=(descriptor,),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def serve(link: Connection[Any, Any]) -> None:
    """Compute the jobs from the link until it closes; errors are sent as texts of bounded length."""
    body = link.recv()
    link.send(READY)
    while True:
        try:
            argument = link.recv()
        except (EOFError, OSError):
            return
        try:
            link.send((True, body(argument)))
        except Exception as error:
            link.send((False, str(TaskError.of(error))))


def _limit(memory: int) -> None:
    """Let allocations beyond a limit fail in this process, before the system ends another one."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (memory if hard < 0 else min(memory, hard), hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    _limit(int(sys.argv[2]))
    with suppress(BrokenPipeError, EOFError):
        serve(Connection(int(sys.argv[1])))
    os._exit(0)  # threads that a computation left behind do not keep the process
