"""`constraints.txt` has a version for everything that `pyproject.toml` asks for, and it is one that is asked for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WITHOUT = {"torch": "which of its builds is right depends on the hardware"}
"""Packages without a version, and why."""

REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(\[[^]]*\])?(?P<bounds>[^;]*)(;.*)?")


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins() -> dict[str, str]:
    """The version of each package."""
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    found = dict(line.split("==") for line in lines)
    assert len(found) == len(lines) == len(set(map(normal, found)))
    return {normal(name): version for name, version in found.items()}


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


ASKED = sorted(
    {*PROJECT["dependencies"], *(each for extra in PROJECT["optional-dependencies"].values() for each in extra)}
)


@pytest.mark.parametrize("requirement", [each for each in ASKED if not each.startswith("limbsweep[")])
def test_what_is_asked_for_has_a_version_that_is_allowed(requirement: str) -> None:
    found = REQUIREMENT.fullmatch(requirement)
    assert found is not None
    name, known = normal(found["name"]), pins()
    if name in WITHOUT:
        assert name not in known
        return
    assert name in known, f"{requirement}: no version in constraints.txt"
    for bound in filter(None, found["bounds"].split(",")):
        assert bound.startswith(">="), "other bounds need a rule here"
        assert numbers(known[name]) >= numbers(bound)


def test_extras_of_extras_are_extras() -> None:
    extras = PROJECT["optional-dependencies"]
    named = [each for each in ASKED if each.startswith("limbsweep[")]
    assert named
    for each in named:
        assert set(each.removeprefix("limbsweep[").removesuffix("]").split(",")) <= extras.keys()


def test_the_file_is_in_order() -> None:
    names = [
        line.split("==")[0].lower() for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line
    ]
    assert names == sorted(names)


LOCKED = re.compile(r"^([\w.-]+)==([^\s;]+)[^\\\n]*((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", re.MULTILINE)


def test_the_lock_has_the_same_versions_and_a_digest_of_each_file() -> None:
    text, versions = (ROOT / "requirements.lock").read_text(), pins()
    locked = {normal(name): version for name, version, _ in LOCKED.findall(text)}
    assert len(locked) == len(re.findall(r"^[\w.-]+==", text, re.MULTILINE)) > 50
    others = {name: version for name, version in locked.items() if versions.get(name, version) != version}
    assert others == {}, "run make hashes"  # what only other systems need has its version in the lock alone
    used = re.search(r"^USED := (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert used is not None
    extras = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *(each for key in used[1].split() for each in extras[key])]
    names = {normal(found["name"]) for each in wanted if (found := REQUIREMENT.fullmatch(each))}
    assert names <= locked.keys() | {"limbsweep"}, "run make hashes"
