"""Number of our files that each kind of extension changes, from its how-to page, which a test follows.

A kind without a page is counted by the modules outside the catalogue that contain the name of a present member: without
other knowledge, a new name would have to join these.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from benchmarks.house.imports import PACKAGES
from benchmarks.house.sources import Source


class Kind(NamedTuple):
    """A kind of extension: its how-to page, the first example there, and a name of today if there is no page."""

    page: str
    example: str
    today: str = ""


KINDS = {
    "robot": Kind("robot", "cart_pole"),
    "friction law": Kind("friction_law", "hess_soom"),
    "metric": Kind("metric", "mean_power"),
    "output": Kind("output", "friction_power"),
    "cluster": Kind("cluster", "moab"),
    "trajectory": Kind("trajectory", "figure_eight", "line_sine"),
    "feature with a section": Kind("feature", "damper"),
    "joint": Kind("joint_kind", "barrel_cam", "prismatic"),
}

_NOTE = re.compile(r"<!-- (?:in|file): ([\w/.]+)")


def files_to_touch(root: Path, sources: Iterable[Source]) -> dict[str, int]:
    """Return the number of limbsweep's files that each kind of extension changes or adds."""
    return {name: len(_of_page(root, kind) or _spelling(sources, kind.today)) for name, kind in KINDS.items()}


def _of_page(root: Path, kind: Kind) -> set[str]:
    """Return the files of the blocks that have the example's name; of all blocks, if none has it."""
    page = root / "docs" / "howto" / f"{kind.page}.md"
    _, *parts = _NOTE.split(page.read_text(encoding="utf-8")) if page.exists() else [""]
    blocks = [
        (file, text) for file, text in zip(parts[::2], parts[1::2], strict=True) if Path(file).parts[0] in PACKAGES
    ]
    return {file for file, text in blocks if kind.example in text} or {file for file, _ in blocks}


def _spelling(sources: Iterable[Source], name: str) -> set[str]:
    """Return the modules with a text that is exactly this name."""
    return {
        source.name
        for source in sources
        if not source.name.startswith("robots.catalog.")
        and any(isinstance(node, ast.Constant) and node.value == name for node in ast.walk(source.tree))
    }
