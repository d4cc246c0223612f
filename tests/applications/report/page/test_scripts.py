"""The scripts of a page are one: it is no JavaScript where a name is declared twice, and then nothing is drawn."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from applications.report.page import page

DECLARED = re.compile(r"^(?:async )?(?:function\*?|const|let|class) +([\w$]+|[\[{][^=]*)", re.MULTILINE)


def script() -> str:
    folder = Path(page.__file__).parent.parent / "web"
    return "\n".join((folder / name).read_text("utf-8") for name in page.SCRIPTS)


def test_no_name_is_declared_twice() -> None:
    names = [name for match in DECLARED.findall(script()) for name in re.findall(r"[\w$]+", match)]
    assert len(names) > 80
    assert {name for name, count in Counter(names).items() if count > 1} == set()


def test_the_script_can_be_read(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node; names are looked at without it")
    (tmp_path / "page.js").write_text(script(), encoding="utf-8")
    checked = subprocess.run([node, "--check", str(tmp_path / "page.js")], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
