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


def node(*arguments: str) -> str:
    """Run node, and return what it printed; skips a test where there is none."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("no node; names are looked at without it")
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_script_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "page.js").write_text(script(), encoding="utf-8")
    node("--check", str(tmp_path / "page.js"))


def test_axes_of_parameters_have_all_that_was_swept_and_those_of_numbers_what_meets_the_conditions() -> None:
    canvas = (Path(page.__file__).parent.parent / "web" / "canvas.js").read_text("utf-8")
    ranges = "[false, true, undefined].map((objective) => axisRange({ objective, values: [1, 2, 3, 9] }, [0, 1, 1, 0]))"
    assert node("-e", f"{canvas}\nconsole.log(JSON.stringify({ranges}))").strip() == "[[1,9],[2,3],[2,3]]"
