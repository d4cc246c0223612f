"""The page of the robots is what the models say now; its links and pictures exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs import make_robots
from robots import catalog

DOCS = Path(__file__).parent.parent / "docs"


SOME = ("five_bar", "irb6", "delta_3rr2rrr", "agile_eye")
"""Robots whose sections are made again in every run of the tests: a loop, a chain and platforms of three kinds."""


@pytest.fixture(scope="module")
def text() -> str:
    return (DOCS / "robots.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SOME)
def test_a_section_is_up_to_date(name: str, text: str) -> None:
    assert "\n".join(make_robots.section(catalog.family(name))) in text, "run python docs/make_robots.py"


@pytest.mark.slow
def test_the_page_is_up_to_date(text: str) -> None:
    assert text == make_robots.page(), "run python docs/make_robots.py"


@pytest.mark.parametrize("name", catalog.FAMILIES)
def test_a_robot_has_all_its_parameters_and_a_small_picture(name: str, text: str) -> None:
    (section,) = re.findall(rf"^## {name}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    for each in catalog.family(name).parameters:
        assert f"| `{each.name}` | {each.default:.6g} | {each.unit} |" in section
        assert each.source in section
    for actuator in catalog.build(name).mechanism.actuators:
        assert f"`{actuator}`" in section
    assert 10_000 < (DOCS / "pictures" / f"{name}.png").stat().st_size < 100_000


def test_a_graph_has_every_joint_of_its_limb() -> None:
    limb = catalog.build("irsbot2").mechanism.limbs[0]
    lines = "\n".join(make_robots.graph(limb))
    assert [lines.count(f'|"{joint} ') for joint in limb.joints] == [1] * len(limb.joints)
    assert '  base ==>|"1 R"| arm\n' in lines
    assert '  rod_a -.->|"6 U"| platform\n' in lines
