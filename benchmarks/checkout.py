"""Packages of another checkout, for benchmarks that compare two."""

from __future__ import annotations

import sys
from pathlib import Path


def use_packages(root: Path) -> None:
    """Import our packages from a checkout. Raises RuntimeError where they have been imported from another."""
    sys.path.insert(0, str(root))
    import pipeline

    if Path(pipeline.__file__).parent.parent != root:
        raise RuntimeError(f"pipeline: got {pipeline.__file__}; expected the package below {root}, in a new process")
