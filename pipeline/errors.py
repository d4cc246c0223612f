"""Errors: problems of an input as data (place, got, expected, advice), and failures of a run."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from robots.data_classes import astuple, dataclass

LIMIT = 50
"""Problems that are reported at once; a file with more of them is not the file that was meant."""

REASON = 500
"""Characters of the reason why a task failed."""

_WIDTH = 60

_DIRECTIONS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Letters that turn the direction of those after them."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: `line` and `column` count from 1, both 0 where the whole file is meant."""

    file: str
    line: int
    column: int
    key: str
    got: str
    expected: str
    hint: str = ""

    def __str__(self) -> str:
        """Format one line: `<file>:<line>:<col> <key.path>: got <value>; expected <rule>. <hint>`."""
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        start = f"{place} {self.key}" if self.key else place
        return f"{start}: got {self.got}; expected {self.expected}." + (f" {self.hint}" if self.hint else "")


class InputError(Exception):
    """An invalid input, with all its problems in order of place; the command line exits with status 2.

    >>> try:
    ...     ls.Sweep.from_yaml("swep.yaml")
    ... except ls.InputError as error:
    ...     print(error)
    swep.yaml: got no such file; expected an existing file. Did you mean sweep.yaml?
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=astuple))
        super().__init__(self.problems)

    def __str__(self) -> str:
        """Format one line for each problem, 50 at most."""
        lines = [str(problem) for problem in self.problems[:LIMIT]]
        if more := len(self.problems) - LIMIT:
            lines += [f"... and {more} more"] if more > 0 else []
        return "\n".join(lines)


def visible(text: str) -> str:
    """Return the text without characters that a terminal would obey, or that would change its visible order."""
    return "".join(
        f"\\x{ord(letter):02x}" if unicodedata.category(letter) in ("Cc", "Cs") and letter not in "\n\t"
        else f"\\u{ord(letter):04x}" if letter in _DIRECTIONS
        else letter
        for letter in text
    )  # fmt: skip


def show(value: object) -> str:
    """Return a value as a message shows it: text in quotes, one line, long ones cut."""
    text = {True: "true", False: "false"}.get(value) if isinstance(value, bool) else None
    text = text or ("nothing" if value is None else _brief(value))
    return text if len(text) <= _WIDTH else text[: _WIDTH - 3] + "..."


def _brief(value: object) -> str:
    if isinstance(value, str):
        return ascii(value[:_WIDTH])
    if isinstance(value, dict):
        return "a mapping with " + (", ".join(map(str, list(value)[:5])) or "no keys")
    if isinstance(value, list | tuple):
        return "[" + ", ".join(show(entry) for entry in value[:8]) + (", ...]" if len(value) > 8 else "]")
    return repr(value)


class ClusterLostError(Exception):
    """Loss of the cluster during a run: of its scheduler, or all its workers. Stored results are kept."""


class RunStoppedError(Exception):
    """A run that ended before its sweep and can be resumed; the command line exits with status 1.

    >>> try:
    ...     results = ls.run(ls.Sweep.from_yaml("sweep.yaml"), "out.zarr", progress=False)
    ... except ls.RunStoppedError as error:
    ...     print(error, "run it again to go on")
    """


class RunCancelledError(RunStoppedError):
    """A run that was asked to end; the command line exits with status 130."""


class TaskError(Exception):
    """A task failed: the kind of error and its text, nothing else."""

    @classmethod
    def of(cls, error: BaseException) -> TaskError:
        """Return an error as one line of bounded length; a TaskError is that already."""
        if isinstance(error, TaskError):
            return error
        return cls(f"{type(error).__name__}: {' '.join(str(error).split())[:REASON]}")


def reason(error: Exception) -> str:
    """Return the message of a library about a broken file: one line, its bytes escaped."""
    return ascii(" ".join(str(error).split()))[1:-1][:120]


def refused(name: str, got: str, expected: str, hint: str = "", *, key: str = "") -> InputError:
    """Return the error of a file, or an input of this name, that cannot be used: one problem without a line."""
    return InputError([Problem(name, 0, 0, key, got, expected, hint)])


def size(number: int) -> str:
    """Format a number of bytes with a binary prefix."""
    for scale, unit in ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if number >= scale:
            return f"{number / scale:.3g} {unit}"
    return f"{number} B"
