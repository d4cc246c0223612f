"""Bounds of an expansion of macros: steps, characters and seconds, and the error that tells them."""

from __future__ import annotations

import time

from robots.data_classes import dataclass, field
from robots.formats.xml_tree import FormatError

MAX_STEPS = 1_000_000
"""Elements and operations of an expansion. The largest of 27 description packages takes 40 000."""

MAX_CHARACTERS = 16 << 20
"""Characters of all texts that an expansion makes."""

MAX_SECONDS = 5.0
"""Processor time of an expansion [s]; a second limit beside steps, whose cost differs. Other work does not count."""

_CLOCK = 64
"""Number of steps between two readings of the clock."""


class MacroError(FormatError):
    """An error at a line of `file`, which is the file of the macro or an included one."""

    def __init__(self, file: str, line: int, place: str, got: str, expected: str, hint: str = "") -> None:
        super().__init__(line, place, got, expected, hint)
        self.file = file


class Refusal(ValueError):  # noqa: N818 - a refusal without place; MacroError adds the place
    """A text, value or file that macros may not have: got, expected, advice."""

    def __init__(self, got: str, expected: str, hint: str = "") -> None:
        super().__init__(f"got {got}; expected {expected}. {hint}".rstrip())
        self.got, self.expected, self.hint = got, expected, hint


@dataclass
class Budget:
    """Steps and characters that are left to an expansion, and the processor time at which it ends."""

    steps: int = MAX_STEPS
    characters: int = MAX_CHARACTERS
    end: float = field(default_factory=lambda: time.thread_time() + MAX_SECONDS)

    def spend(self, steps: int = 1, characters: int = 0) -> None:
        """Take steps and characters away. Raises Refusal when nothing is left, or the time is over."""
        before, self.steps = self.steps, self.steps - steps
        self.characters -= characters
        if self.steps < 0:
            raise Refusal(f"more than {MAX_STEPS} steps", "macros that end sooner")
        if self.characters < 0:
            raise Refusal(f"more than {MAX_CHARACTERS >> 20} MiB of text", "macros that make less")
        if before // _CLOCK != self.steps // _CLOCK and time.thread_time() > self.end:
            raise Refusal(f"more than {MAX_SECONDS:g} s", "macros that end sooner")
