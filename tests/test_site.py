"""The documentation is built without warnings, refers to nothing outside, and has every public name."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import limbsweep
import pipeline
import storage
import tasks
from applications.commands.cli import cli
from robots import catalog
from tests.pages import ROOT

DOCS = ROOT / "docs"
BROUGHT = re.compile(r"""<(?:script|link|img|iframe)[^>]+(?:src|href)=["'](?:https?:)?//""")
"""Addresses that a browser would fetch from another place."""
FACES = {"catalog", "robots", "study", "tasks"}
"""Names of the face that are modules."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("furo", reason="no Sphinx; install limbsweep[docs] to build the documentation")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "--builder", "html"]
    command += ["-D", "nb_execution_mode=off"]  # tests/test_notebooks.py runs them, and the kernel talks
    done = subprocess.run([*command, str(DOCS), str(folder)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def test_the_site_is_whole(site: Path) -> None:
    """One test, because processes of the tests share no fixture and each would build the site."""
    assert_every_page_is_there_and_refers_to_nothing_outside(site)
    assert_formulas_and_graphs_are_drawn_without_scripts(site)
    assert_the_reference_has_every_public_name_and_command(site)


def assert_every_page_is_there_and_refers_to_nothing_outside(site: Path) -> None:
    sources = [path for kind in ("md", "ipynb") for path in DOCS.rglob(f"*.{kind}") if "_build" not in path.parts]
    pages = [path.relative_to(DOCS).with_suffix(".html") for path in sources]
    assert len(pages) > 40
    for page in pages:
        text = (site / page).read_text("utf-8")
        assert BROUGHT.findall(text) == [], page


def assert_formulas_and_graphs_are_drawn_without_scripts(site: Path) -> None:
    assert "<math" in (site / "theory" / "constraint_embedding.html").read_text("utf-8")
    robots = (site / "robots.html").read_text("utf-8")
    limbs = sum(len(catalog.build(name).mechanism.limbs) for name in catalog.FAMILIES)
    assert robots.count('<figure class="graph"><svg') == limbs


def assert_the_reference_has_every_public_name_and_command(site: Path) -> None:
    """Each name has a page of its own, and no page of the reference is long."""
    pages = [*(site / "reference" / "generated").glob("*.html"), site / "reference" / "api.html"]
    api = "\n".join(page.read_text("utf-8") for page in pages)
    for package in (limbsweep, limbsweep.robots, limbsweep.study, tasks, pipeline, storage):
        for name in set(package.__all__) - FACES:
            assert re.search(rf'id="[\w.]*\b{name}"', api), f"{package.__name__}.{name}"
    assert max(page.stat().st_size for page in pages) < 300_000
    commands = (site / "reference" / "commands.html").read_text("utf-8")
    assert [name for name in cli.commands if f"limbsweep-{name}" not in commands] == []
