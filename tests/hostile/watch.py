"""Run commands on stores in forks of one process, and say what each of them did: status, text, time, memory, calls.

Time is that of the processor, which other work on the machine does not change, children included. An audit hook sees
what a command opens for writing, removes, renames, imports or starts. A program of its own because a hook cannot be
taken back, and because a fork needs a process of a single thread:
`python -m tests.hostile.watch FOLDER MODULE` loads what the commands of a module need, then reads lines
`[folder, arguments, allowed]` and answers each with a line of JSON.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import resource
import signal
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

SECONDS = 30
"""Processor time until a command counts as hanging, and a tenth of the wall time."""

CHANGES = {
    **dict.fromkeys(("os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod", "os.chown", "os.utime"), 1),
    **dict.fromkeys(("os.rename", "os.link", "os.symlink", "shutil.move"), 2),
    "shutil.rmtree": 1,
}
"""Events that change files, and how many of their arguments are paths."""

DESCRIPTORS = {"os.mkdir": 2, "os.truncate": 2, "os.chmod": 2, "os.chown": 3, "os.utime": 3}
"""Index of open folders in the arguments of an event, where mode or owner stand before them."""

STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "socket.connect")
UNPICKLED = ("os", "posix", "subprocess", "sys", "runpy", "importlib", "pty")
"""Modules of which no pickle of ours, which Dask makes of its graphs in memory, has anything."""


CHILDREN = ("mjcf_child.py", "pipeline.documents.tables.bag_reader")
"""The programs that a command starts: within bounds one compiles models of MuJoCo, one unpacks bags."""

PRIVATE = ("/etc/passwd", "/etc/hostname")


class Watch:
    """Collects what goes beyond what a command may do: writing outside of `allowed`, starting or importing anything.

    Machine code is kept in the folder of kernels.

    Nor may it read what is in a folder `victim` beside or in the one it works in.
    """

    def __init__(self, folder: str, allowed: list[str]) -> None:
        self.folder, self.calls = folder, list[str]()
        sys.dont_write_bytecode = True  # what a command imports late is Python's to keep, and no act of the command
        scratch = os.path.join(tempfile.gettempdir(), "limbsweep-")
        kernels = os.path.realpath(os.environ["LIMBSWEEP_CACHE"]) if "LIMBSWEEP_CACHE" in os.environ else scratch
        self.allowed = (scratch, kernels, *(os.path.join(folder, name) for name in allowed))

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        """Look at one event of Python."""
        if event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            self._writes(event, arguments[0])
        elif event == "open":
            self._reads(arguments[0])
        elif event in CHANGES:
            folders = arguments[DESCRIPTORS.get(event, CHANGES[event]) :]
            relative = any(type(value) is int and value >= 0 for value in folders)
            for path in () if relative else arguments[: CHANGES[event]]:  # the folder that is open was looked at
                self._writes(event, path)
        elif event in STARTS and not (event == "subprocess.Popen" and _is_child(arguments[1])):
            self.calls.append(f"{event} {arguments[:2]!r:.200}")
        elif event == "pickle.find_class" and str(arguments[0]).partition(".")[0] in UNPICKLED:
            self.calls.append(f"{event} {arguments!r:.200}")
        elif event == "exec" and str(getattr(arguments[0], "co_filename", "")).startswith(self.folder):
            self.calls.append(f"exec {arguments[0]!r:.200}")

    def _reads(self, path: object) -> None:
        """Files of somebody else are in a folder called victim, or of the system."""
        if isinstance(path, str | bytes | os.PathLike):
            text = os.path.realpath(os.fsdecode(path))
            if f"{os.sep}victim{os.sep}" in text or text in PRIVATE:
                self.calls.append(f"read {text}")

    def _writes(self, event: str, path: object) -> None:
        if not isinstance(path, str | bytes | os.PathLike):
            return  # a descriptor, which was opened before
        text = os.path.realpath(os.fsdecode(path))
        here = os.path.join(os.path.realpath(os.path.dirname(os.fsdecode(path)) or "."), os.path.basename(text))
        if not any(place.startswith(self.allowed) for place in (text, here)) and text != os.devnull:
            self.calls.append(f"{event} {text}")


def _is_child(words: object) -> bool:
    return isinstance(words, list) and any(str(word).endswith(CHILDREN) for word in words)


def act(arguments: list[str]) -> int:
    """Do what a command does; its exit status."""
    from click import ClickException
    from click.exceptions import Exit

    from applications.commands.cli import cli
    from storage import open_results
    from storage.errors import StoreError

    try:
        if arguments[0] == "open":
            open_results(arguments[1], unfinished=True).load(scheduler="synchronous")
        else:
            cli(arguments, standalone_mode=False)
    except Exit as end:
        return end.exit_code
    except ClickException as error:
        error.show()
        return error.exit_code
    except StoreError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def child(folder: str, arguments: list[str], allowed: list[str]) -> dict[str, object]:
    """One command, in a process of its own."""
    os.chdir(folder)
    watch, out, err = Watch(os.path.realpath(folder), allowed), io.StringIO(), io.StringIO()
    sys.addaudithook(watch)
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, processor_seconds()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            status: object = act(arguments)
        except BaseException as error:  # whatever it is, it is no answer
            status = f"{type(error).__name__}: {error}"[:300]
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    grown = max(grown, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)  # one that compiles a model, say
    return {"status": status, "out": out.getvalue(), "err": err.getvalue(), "seconds": processor_seconds() - start,
            "grown": grown >> 10, "calls": watch.calls}  # fmt: skip


def processor_seconds() -> float:
    """Return the processor time of this process and of its children that have ended [s]."""
    parts = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(part.ru_utime + part.ru_stime for part in parts)


def serve() -> None:
    """Answer commands."""
    for line in sys.stdin:
        folder, arguments, allowed = json.loads(line)
        receiver, sender = os.pipe()
        if not (pid := os.fork()):
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            signal.alarm(10 * SECONDS)  # what waits, or the work of others takes all processors
            with os.fdopen(sender, "w") as answer:
                answer.write(json.dumps(child(folder, arguments, allowed)))
            os._exit(0)
        os.close(sender)
        with os.fdopen(receiver) as answer:
            text = answer.read()
        _, status = os.waitpid(pid, 0)
        print(text or json.dumps({"status": f"killed {status}", "out": "", "err": "", "seconds": SECONDS, "grown": 0,
                                  "calls": []}), flush=True)  # fmt: skip


def main() -> None:
    """Load what commands need, then serve."""
    folder = Path(sys.argv[1])
    import dask

    module = importlib.import_module(sys.argv[2])
    dask.config.set(scheduler="synchronous")  # threads of this process would not be there in its forks
    os.chdir(module.prepared(folder / "warm").parent)
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        for arguments, _ in module.COMMANDS.values():
            act([module.XML if word == "FILE" else word for word in arguments])
    print("ready", flush=True)
    serve()


if __name__ == "__main__":
    main()
