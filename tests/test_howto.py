"""The how-to pages, followed: their blocks are put into a copy of the packages, and what they run is run there.

Notes before a block, beside those of `tests.pages`:

    <!-- in: FILE, before: TEXT -->        goes before the first line that has the text (likewise `after`: after it)
    <!-- in: FILE, instead of: TEXT -->    takes the place of that line
    <!-- run -->                           Python or commands, run in the folder of the copy
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.pages import ROOT, Block, blocks

PACKAGES = ("robots", "tasks", "storage", "pipeline")
PAGES = sorted((ROOT / "docs" / "howto").glob("*.md"))
PLACE = re.compile(r"([\w/.]+), (before|after|instead of): (.+)")
START = """\
import pipeline
from pipeline.cli import cli
from pipeline.cluster.file import ClusterConfig
from pipeline.execution import run

print(pipeline.__file__)
run.as_config = lambda cluster: ClusterConfig.of("synchronous")
"""


def put(folder: Path, block: Block) -> None:
    """Do with a block what its note says. Raises ValueError for a note or a text that does not fit."""
    kind, told = block.note
    if kind == "file":
        (folder / told).write_text(block.text, "utf-8")
    elif kind == "in":
        place = PLACE.fullmatch(told)
        if place is None:
            raise ValueError(f"line {block.line}: got {told!r}; expected 'FILE, before: TEXT' or after, or instead of")
        file, where, text = place.groups()
        lines = (folder / file).read_text("utf-8").splitlines(keepends=True)
        at = next((k for k, line in enumerate(lines) if text in line), None)
        if at is None:
            raise ValueError(f"line {block.line}: {file} has no line with {text!r} any more")
        start, stop = {"before": (at, at), "after": (at + 1, at + 1), "instead of": (at, at + 1)}[where]
        lines[start:stop] = [block.text]
        (folder / file).write_text("".join(lines), "utf-8")


def script(found: Sequence[Block]) -> str:
    """What the blocks of a page run, as one program: importing and compiling once saves most of the time."""
    lines = [START]
    for block in found:
        lines += [f"cli({words!r}, prog_name='limbsweep', standalone_mode=False)" for words in block.commands()]
        if block.note[0] == "run" and block.language == "python":
            lines.append(block.text)
    return "\n".join(lines)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_following_the_page_leads_there(page: Path, tmp_path: Path) -> None:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    found = list(blocks(page.read_text("utf-8")))
    for block in found:
        put(tmp_path, block)
    assert {block.note[0] for block in found} == {"file", "in", "run"}
    done = subprocess.run(
        [sys.executable, "-c", script(found)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{page}\n{done.stdout}{done.stderr}"
    assert done.stdout.startswith(str(tmp_path))


def test_a_page_that_is_out_of_date_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n", "utf-8")
    put(tmp_path, Block(1, "python", "y = 2\n", ("in", "a.py, after: x =")))
    assert (tmp_path / "a.py").read_text("utf-8") == "x = 1\ny = 2\n"
    with pytest.raises(ValueError, match=r"line 3: a\.py has no line with 'z =' any more"):
        put(tmp_path, Block(3, "python", "", ("in", "a.py, instead of: z =")))
    with pytest.raises(ValueError, match="expected 'FILE, before: TEXT'"):
        put(tmp_path, Block(3, "python", "", ("in", "a.py")))
