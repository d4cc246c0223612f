"""How many files of ours each kind of extension changes: from its how-to page, which a test follows.

A kind without a page is counted by the modules outside the catalogue that spell the name of one of today's: what a new
name would have to join, if nothing says otherwise.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path

from benchmarks.house.imports import PACKAGES
from benchmarks.house.sources import Source

KINDS = {
    "robot": "",
    "friction law": "",
    "metric": "",
    "output": "",
    "cluster": "",
    "trajectory": "line_sine",
    "joint": "prismatic",
}
"""Kinds of extensions, each with a name of today for as long as it has no page."""

_NOTE = re.compile(r"<!-- (?:in|file): ([\w/.]+)")


def files_to_touch(root: Path, sources: Iterable[Source]) -> dict[str, int]:
    """Files of our packages that each kind of extension changes or adds."""
    return {kind: len(_of_page(root, kind) or _spelling(sources, name)) for kind, name in KINDS.items()}


def _of_page(root: Path, kind: str) -> set[str]:
    page = root / "docs" / "howto" / f"{kind.replace(' ', '_')}.md"
    notes = _NOTE.findall(page.read_text(encoding="utf-8")) if page.exists() else []
    return {file for file in notes if Path(file).parts[0] in PACKAGES}


def _spelling(sources: Iterable[Source], name: str) -> set[str]:
    """Modules with a text that is this name and nothing else."""
    return {
        source.name
        for source in sources
        if not source.name.startswith("robots.catalog.")
        and any(isinstance(node, ast.Constant) and node.value == name for node in ast.walk(source.tree))
    }
