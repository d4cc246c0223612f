"""Campaigns that fork, run in a process of their own, which has no threads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def campaign(module: str, *words: str, before: str = "") -> tuple[int, str]:
    """Exit status and output of a campaign; `before` is a mistake that is put into the code first."""
    code = f"import sys\nfrom benchmarks.campaigns.{module} import main\n{before}\nsys.exit(main(sys.argv[1:]))"
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    line = [sys.executable, "-c", code, *words]
    done = subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    print(done.stdout + done.stderr)
    return done.returncode, done.stdout + done.stderr
