"""Files of macros as xacro expands them, which engines read then."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import xacro
from xacro import substitution_args

EXPANDED = "expanded.urdf"


def expanded(path: Path, arguments: Mapping[str, str], packages: Mapping[str, str], folder: Path) -> Path:
    """Write a file without macros into a folder, and return its path. Raises whatever xacro raises."""
    kept, substitution_args._eval_find = substitution_args._eval_find, packages.__getitem__
    try:
        text = xacro.process_file(str(path), mappings=dict(arguments)).toxml()
    finally:
        substitution_args._eval_find = kept
    result = folder / EXPANDED
    result.write_text(text, "utf-8")
    return result
