"""Patterns of campaigns are words of warnings and findings that identification has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from applications.identification.estimation import machines
from benchmarks.campaigns import faults, payloads

FOLDER = Path(str(machines.__file__)).parent
PATTERNS = sorted(
    {fault.pattern for fault in faults.faults()} | {loading.pattern for loading in payloads.LOADINGS} - {""}
)

COMPOSED = ("run", "forces of {1} alone are", "heavier than", "lighter than")
"""Words that are put together when the text is made."""


def sources() -> str:
    """Return the sources of the package as one text, with strings joined that line ends cut."""
    whole = "\n".join(path.read_text("utf-8") for path in sorted(FOLDER.rglob("*.py")))
    return re.sub(r'"\s*\n\s*f?"', "", whole)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_words_of_a_pattern_are_said_somewhere(pattern: str) -> None:
    text = sources()
    pieces = {piece.strip() for piece in re.split(r"\.\*|\brun \{\d\}|(?<!{)[-\d.]+(?!})|recording \d|:", pattern)}
    for piece in pieces - {*COMPOSED}:
        words = re.sub(r"\\\{\d*\\\}", r"\\{[^}]*\\}", re.escape(piece))
        assert re.search(words, text), f"no text of identification has {piece!r}"
