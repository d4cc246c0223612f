"""Expressions with commas between brackets of YAML are one value; what does not close stays as YAML has it."""

from __future__ import annotations

import pytest

from pipeline.documents.yaml import parse_yaml
from pipeline.errors import InputError
from pipeline.robot_files.reader import parse_robot

ROBOT = """limbsweep: 1
name: arm
parameters:
  d: {default: 0.1, unit: m, lower: 0, upper: 1}
  h: {default: 0.3, unit: m, lower: 0, upper: 1}
limbs:
  arm:
    links:
      - {joint: j, body: b, parent: base, kind: revolute, axis: z,
         placement: {position: [0.1 * atan2(d, h), 0, 0], turn: {y: -atan2(d, h)}}, inertia: {mass: 1}}
    actuated: [j]
"""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[max(1, 2), (b, 3), 4]", ["max(1, 2)", "(b, 3)", 4]),
        ("{p: f(1, g(2, 3), 4), q: 5}", {"p": "f(1, g(2, 3), 4)", "q": 5}),
        ("{p: [f(1,\\n    2), 3], q: {r: -atan2(d, h)}}", {"p": ["f(1, 2)", 3], "q": {"r": "-atan2(d, h)"}}),
        ("['f(1', '2)', 3]", ["f(1", "2)", 3]),
        ("[f(1, '2)']", ["f(1", "2)"]),
        ("{p: f(1, q: 5}", {"p": "f(1", "q": 5}),
        ("[f(1, [2], 3]", ["f(1", [2], 3]),
        ("[f(1, 2]", ["f(1", 2]),
        ("f(1, 2)", "f(1, 2)"),
    ],
)
def test_values_with_commas(text: str, value: object) -> None:
    assert parse_yaml(f"a: {text.replace(chr(92) + 'n', chr(10))}\nb: 1\n", "x.yaml").data == {"a": value, "b": 1}


def test_more_parts_than_any_expression_has_stay_apart() -> None:
    parts = ["f(0", *map(str, range(1, 70)), "70)"]
    assert len(parse_yaml(f"a: [{', '.join(parts)}]\n", "x.yaml").data["a"]) == len(parts)  # type: ignore[arg-type]


def test_a_robot_file_needs_no_quotes_for_expressions() -> None:
    quoted = ROBOT.replace("-atan2(d, h)", "'-atan2(d, h)'").replace("0.1 * atan2(d, h)", "'0.1 * atan2(d, h)'")
    assert quoted != ROBOT
    assert parse_robot(ROBOT, "r.yaml") == parse_robot(quoted, "r.yaml")


def test_a_mistake_in_such_an_expression_is_the_only_message() -> None:
    with pytest.raises(InputError) as caught:
        parse_robot(ROBOT.replace("-atan2(d, h)", "-atan2(d, k)"), "r.yaml")
    (problem,) = caught.value.problems
    assert problem.key == "limbs.arm.links[0].placement.turn.y"
    assert "k" in problem.got
