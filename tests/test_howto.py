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

from benchmarks.house.extensions import files_to_touch
from tests.pages import ROOT, Block, blocks

PACKAGES = ("robots", "tasks", "storage", "pipeline", "applications", "limbsweep")
PAGES = sorted(set((ROOT / "docs" / "howto").glob("*.md")) - {ROOT / "docs" / "howto" / "index.md"})
PLACE = re.compile(r"([\w/.]+), (before|after|instead of): (.+)")
START = """\
import pipeline
from applications.commands.cli import cli
from pipeline.cluster.file import ClusterConfig
from pipeline.execution import run

print(pipeline.__file__)
run.as_cluster = lambda cluster: ClusterConfig.of("synchronous")
"""
MEASURED = """
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
from dask.local import get_sync

from pipeline import Sweep
from pipeline.execution.contents import create_store
from pipeline.execution.graph import block_graph
from pipeline.plan import plan as module
from robots.requested import QuantityNames
from storage.store import StoreWriter
from tasks.blocks import assembly, limb_results, reactions, series

module.WANTED_BLOCKS = 1
file = Path("power.yaml")
file.write_text(file.read_text().replace("step: 0.001", "step: 0.00002"))
sweep = Sweep.from_yaml("power.yaml")
for metrics in (("mean_effective_mass",), ("condition",)):
    plan = module.plan(replace(sweep, quantities=QuantityNames((), metrics)))
    store = Path(f"{metrics[0]}.zarr")
    create_store(plan, store)
    writer = StoreWriter(store)
    get_sync(*block_graph(plan, 0, writer, "first", "limb"))
    for used in (assembly, reactions, series):  # memory that is counted
        used.empty = np.empty
    limb_results.memory = lambda size: np.empty(size, np.uint8)
    tracemalloc.start()
    get_sync(*block_graph(plan, 0, writer, "again", "limb"))
    print(plan.block_memory, tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
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
    """Return the blocks of a page as one program: importing and compiling once saves most of the time."""
    lines = [START]
    for block in found:
        lines += [f"cli({words!r}, prog_name='limbsweep', standalone_mode=False)" for words in block.commands()]
        if block.note[0] == "run" and block.language == "python":
            lines.append(block.text)
    return "\n".join(lines)


def follow(page: Path, folder: Path) -> list[Block]:
    """Copy the packages into a folder, change them as a page says, and return its blocks."""
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    found = list(blocks(page.read_text("utf-8")))
    for block in found:
        put(folder, block)
    return found


def output(program: str, folder: Path) -> str:
    """Return the output of a program that runs in a folder."""
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_following_the_page_leads_there(page: Path, tmp_path: Path) -> None:
    found = follow(page, tmp_path)
    assert {block.note[0] for block in found} >= {"in", "run"}
    assert output(script(found), tmp_path).startswith(str(tmp_path))


def test_the_plan_counts_what_a_new_metric_of_mass_takes(tmp_path: Path) -> None:
    follow(ROOT / "docs" / "howto" / "metric.md", tmp_path)
    lines = output(MEASURED, tmp_path).splitlines()
    (planned, peak), (planned_without, _) = (map(int, line.split()) for line in lines)
    assert planned_without < 0.7 * peak
    assert 0.7 * planned < peak < 1.02 * planned  # times, which all designs share, are not counted


def test_a_feature_with_a_section_takes_three_files() -> None:
    """Check the page of features, which `test_following_the_page_leads_there` follows from a sweep to its results."""
    assert files_to_touch(ROOT, ())["feature with a section"] == 3


def test_a_page_that_is_out_of_date_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n", "utf-8")
    put(tmp_path, Block(1, "python", "y = 2\n", ("in", "a.py, after: x =")))
    assert (tmp_path / "a.py").read_text("utf-8") == "x = 1\ny = 2\n"
    with pytest.raises(ValueError, match=r"line 3: a\.py has no line with 'z =' any more"):
        put(tmp_path, Block(3, "python", "", ("in", "a.py, instead of: z =")))
    with pytest.raises(ValueError, match="expected 'FILE, before: TEXT'"):
        put(tmp_path, Block(3, "python", "", ("in", "a.py")))
