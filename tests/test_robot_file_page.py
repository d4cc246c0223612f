"""The page on robot files: complete, its bounds are those of the code, and its examples are read and moved."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from docs.site import robot_files
from pipeline.documents.validation import Section, descriptions
from pipeline.robot_files import sections
from pipeline.robot_files.importing import import_robot
from pipeline.robot_files.reader import parse_robot, read_description
from robots.expressions import expression, parser
from robots.formats import checks, elements, usd_words, xml_tree
from robots.model import Robot
from robots.parameters import LARGEST
from tasks import inverse_dynamics
from tasks.dynamics.records import Moving
from tests.pipeline.robot_files.test_urdf import FOUR_BAR

ROOT = Path(__file__).parents[1]


PAGE = (ROOT / "docs" / "robot_files.md").read_text("utf-8")


def test_the_bounds_that_the_page_tells_are_those_of_the_code() -> None:
    functions = ", ".join(f"`{name}`" for name in expression.GEOMETRIC)
    for text in (
        f"closed, to {checks.GAP:g} m",
        f"whole powers up to {parser.MAX_POWER}",
        f"the functions {functions}, with angles",
        f"An expression has at most {expression.MAX_LENGTH} characters",
        f"Numbers may not be above {LARGEST:g}",
        f"{xml_tree.MAX_DEPTH} levels of elements, and {xml_tree.MAX_BYTES >> 20} MiB",
    ):
        assert text in " ".join(PAGE.split())


def test_every_section_and_key_has_a_row_with_a_meaning() -> None:
    known = {each for each in vars(sections).values() if isinstance(each, type) and issubclass(each, Section)}
    assert {model for model, _ in robot_files.SECTIONS} == known - {Section}
    for model in known - {Section}:
        assert descriptions(model).keys() == model.model_fields.keys(), model.__name__


def test_the_examples_of_the_page_are_read_and_move(tmp_path: Path) -> None:
    arm, *others = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    loops = next(text for text in others if "\nloops:" in text)
    robot = Robot.of(parse_robot(arm, "page").family, {"payload": 2.0})
    resting = inverse_dynamics(robot, q=np.zeros(2), qd=np.zeros(2), qdd=np.zeros(2)).force
    assert resting == pytest.approx([0.0, 2.0 * 9.81 * 0.3])
    (tmp_path / "robot.urdf").write_text(FOUR_BAR.replace('name="a"', 'name="crank_joint"'))
    (tmp_path / "loops.yaml").write_text(loops)
    made = import_robot(tmp_path / "robot.urdf", tmp_path / "loops.yaml")
    assert made.description.family.reference.freedoms == ("crank_joint",)


@pytest.mark.parametrize("path", sorted((ROOT / "examples" / "robots").glob("*.yaml")), ids=lambda path: path.stem)
def test_the_whole_examples_move_as_gravity_says(path: Path) -> None:
    robot = Robot.of(read_description(path).family, {})
    if robot.mechanism.is_chain:
        rest = Moving(q=np.zeros(len(robot.mechanism.freedoms)))
    else:
        rest = Moving(position=robot.mechanism.platform.home.position)
    force = inverse_dynamics(robot, **rest).force
    lifted = inverse_dynamics(robot, gravity=(0.0, 0.0, 9.81), **rest).force
    assert np.abs(force).max() > 0.01  # motors behind high ratios hold little
    np.testing.assert_allclose(force, -lifted, rtol=1e-12)


def test_the_table_of_words_has_each_element_of_the_readers_once() -> None:
    """Words that change something where they say so are refused in another table, and are no idle ones of this."""
    rows = [line.split(" | ") for line in robot_files.words()][2:]
    tags = {(row[0].removeprefix("| "), row[1].strip("`")): row for row in rows}
    count = len(usd_words.USD) + sum(len(vocabulary) for vocabulary, _ in elements.LANGUAGES.values())
    assert len(tags) == len(rows) == count
    assert "`gravity`" not in tags["SDF", "link"][3]
    assert "`collision`" in tags["SDF", "link"][3]
    assert "`@auto`" in tags["SDF", "inertial"][2]
