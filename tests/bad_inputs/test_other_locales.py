"""A terminal that knows ASCII only (G18): the same messages, in ASCII."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.bad_inputs.rows import edit
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
PROGRAM = [sys.executable, "-W", "error", "-c", "from applications.commands.cli import main; main()"]


def test_messages_and_plans_are_ascii(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(edit("A test", "Ein Prüfstück", "turn:", "no:"), "utf-8")
    (tmp_path / "bad.yaml").write_text(edit("robot: delta", "robot: dęlta"), "utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for name, status, said in (("s.yaml", 0, b"designs"), ("bad.yaml", 2, b"robot: got 'd\\u0119lta_3rr2rrr'")):
        done = subprocess.run(
            [*PROGRAM, "check", name], cwd=tmp_path, env=environment, capture_output=True, check=False, timeout=PATIENCE
        )
        assert done.returncode == status
        assert said in done.stdout + done.stderr
        assert b"Traceback" not in done.stderr
