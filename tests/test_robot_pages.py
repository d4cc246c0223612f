"""The page of the robots says what the models say; each robot has a picture."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.site import robots
from robots import catalog

DOCS = Path(__file__).parent.parent / "docs"


SOME = ("five_bar", "irb6", "delta_3rr2rrr", "agile_eye")
"""Robots whose sections are made in every run of the tests: a loop, a chain and platforms; `make docs` makes all."""


@pytest.mark.parametrize("name", SOME)
def test_a_section_has_all_parameters_and_actuators(name: str) -> None:
    section = "\n".join(robots.section(catalog.family(name)))
    for each in catalog.family(name).parameters:
        assert f"| `{each.name}` | {each.default:.6g} | {each.unit} |" in section
        assert each.source in section
    for actuator in catalog.build(name).mechanism.actuators:
        assert f"`{actuator}`" in section


@pytest.mark.parametrize("name", catalog.FAMILIES)
def test_a_robot_has_a_small_picture(name: str) -> None:
    assert 10_000 < (DOCS / "pictures" / f"{name}.png").stat().st_size < 100_000


def test_a_graph_has_every_joint_of_its_limb() -> None:
    limb = catalog.build("irsbot2").mechanism.limbs[0]
    lines = "\n".join(robots.graph(limb))
    assert [lines.count(f'|"{joint} ') for joint in limb.joints] == [1] * len(limb.joints)
    assert '  base ==>|"1 R"| arm\n' in lines
    assert '  rod_a -.->|"6 U"| platform\n' in lines
