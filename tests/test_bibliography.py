"""Every source that code and pages name by authors and year is in the bibliography."""

from __future__ import annotations

import re

import pytest

from tests.pages import ROOT

PAGE = (ROOT / "docs" / "reference" / "bibliography.md").read_text("utf-8")
_CITED = re.compile(
    r"(?<![\w-])(?P<last>[A-Z][a-z]+[A-Za-z]*)(?: et al\.)?,? \(?(?P<year>(?:19|20)\d\d)\)?"
    r"(?:[.,;:)]| and | for |$|\s*\")"
)
NO_NAMES = {
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December", "Robotica", "Standard", "Draft", "Python", "Version", "International",
}  # fmt: skip
OF_MACHINES = {"Phee 2016", "Gaz 2019", "Brunot 2019", "Osuka 1990"}
"""Sources of the recordings and their identified values, on the pages of these."""


def cited() -> list[str]:
    """Last author and year of each citation in sources and theory."""
    files = [*ROOT.glob("docs/theory/*.md")]
    folders = ("robots", "tasks", "pipeline", "storage", "applications")
    files += [file for folder in folders for file in ROOT.glob(f"{folder}/**/*.py")]
    files = [file for file in files if "literature" not in file.parts]  # sources of robots are on the page of robots
    found = {f"{match['last']} {match['year']}" for file in files for match in _CITED.finditer(file.read_text("utf-8"))}
    return sorted(name for name in found if name.split()[0] not in NO_NAMES) or pytest.fail("nothing is cited")


def entries() -> list[str]:
    return [" ".join(entry.split()) for entry in re.split(r"\n- |\n\n", PAGE)]


@pytest.mark.parametrize("name", cited())
def test_a_source_is_listed(name: str) -> None:
    if name in OF_MACHINES:
        return
    last, year = name.split()
    assert [entry for entry in entries() if last in entry and year in entry], f"{name} is in no entry"


@pytest.mark.parametrize(
    "paper", ["hybrid-limb", "joint-friction", "inertia-matrix", "industrial manipulators", "hexapod"]
)
def test_the_papers_are_listed_by_the_words_that_name_them(paper: str) -> None:
    assert f"**{paper} paper**" in PAGE
