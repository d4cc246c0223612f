"""Checkouts of the repository: their commit, and packages of another one for benchmarks that compare two."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path


def use_packages(root: Path) -> None:
    """Import our packages from a checkout. Raises RuntimeError where they have been imported from another."""
    sys.path.insert(0, str(root))
    import pipeline

    if Path(pipeline.__file__).parent.parent != root:
        raise RuntimeError(f"pipeline: got {pipeline.__file__}; expected the package below {root}, in a new process")


def commit(root: Path) -> str:
    """Return the commit of a checkout, with `-dirty` where files were changed; empty where there is no repository."""
    if not is_repository(root):
        return ""
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=7"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def is_repository(root: Path) -> bool:
    """Return True for the top folder of a checkout, where git is installed."""
    return (root / ".git").exists() and shutil.which("git") is not None
