"""Which tests need the repository: its pages, examples and sources. The others run beside an installed wheel.

`make wheel-test` copies this folder to a place where nothing else is; `tests/conftest.py` leaves these modules out
there.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent
MODULES = ()

HERE = (ROOT / "docs").is_dir()
"""Whether the repository is there."""
