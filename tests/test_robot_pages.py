"""The page of the robots is what the models say now; its links and pictures exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs import make_robots
from robots import catalog

DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def text() -> str:
    return make_robots.page()


def test_the_page_is_up_to_date(text: str) -> None:
    written = (DOCS / "robots.md").read_text(encoding="utf-8")
    assert written == text, "run python docs/make_robots.py"


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
