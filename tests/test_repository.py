"""Files for people who come to the repository: citation, templates, and the targets that they name."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.conftest import OF_THE_REPOSITORY
from tests.left_to_slow import LEFT

ROOT = Path(__file__).parent.parent
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"))


def read(path: Path) -> Any:
    return YAML(typ="safe").load(path.read_text("utf-8"))


def test_the_citation_is_of_this_version_and_has_what_the_format_requires() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found = read(ROOT / "CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= set(found)
    assert found["cff-version"] == "1.2.0"
    assert (found["version"], found["license"]) == (project["version"], project["license"])
    assert all(set(each) <= {"name", "family-names", "given-names", "orcid"} for each in found["authors"])
    known = {"abstract", "type", "version", "license", "keywords", "cff-version", "message", "title", "authors"}
    assert set(found) <= known | {"doi", "url", "repository-code", "date-released", "references"}


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_an_issue_form_asks_for_something(form: Path) -> None:
    found = read(form)
    assert found["name"]
    assert found["description"]
    fields = [each for each in found["body"] if each["type"] != "markdown"]
    assert len({each["id"] for each in fields}) == len(fields) > 0
    assert any(each.get("validations", {}).get("required") for each in fields)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", ".github/pull_request_template.md"])
def test_the_make_targets_that_a_page_names_exist(page: str) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = set(re.findall(r"(?:`|^ {4})make ([\w-]+)", (ROOT / page).read_text("utf-8"), re.MULTILINE))
    assert named
    assert named <= targets


def test_nothing_is_left_out_of_a_wheel_because_git_ignores_it() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("the files of a repository, without what git knows of them")
    command = ["git", "ls-files", "--cached", "--ignored", "--exclude-standard"]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout == ""


@pytest.mark.parametrize("pattern", OF_THE_REPOSITORY)
def test_what_is_left_out_beside_a_wheel_is_there(pattern: str) -> None:
    assert list((ROOT / "tests").glob(pattern))


CONDA = {"dask": "dask-core", "matplotlib": "matplotlib-base"}
"""Names that conda-forge has for the parts of projects that are needed."""


def test_the_recipe_for_conda_asks_for_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    recipe = read(ROOT / "packing" / "conda" / "recipe.yaml")
    asked = [re.fullmatch(r"([\w.-]+)(>=[\d.]+)", text) for text in project["dependencies"]]
    expected = {f"{CONDA.get(match[1], match[1])} {match[2]}" for match in asked if match}
    assert len(expected) == len(project["dependencies"])
    python, *run = recipe["requirements"]["run"]
    assert set(run) == expected
    assert run == sorted(run)
    assert python == "python >=${{ python_min }}"
    assert recipe["context"]["python_min"] == project["requires-python"].removeprefix(">=")
    assert recipe["context"]["version"] == project["version"]
    assert recipe["about"]["license"] == project["license"]
    (command,) = recipe["build"]["python"]["entry_points"]
    assert command == f"limbsweep = {project['scripts']['limbsweep']}"


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_to_slow_is_a_test(name: str) -> None:
    path, _, test = name.partition("::")
    assert f"def {test.partition('[')[0]}" in (ROOT / path).read_text("utf-8")
