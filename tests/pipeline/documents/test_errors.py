from __future__ import annotations

from pipeline.errors import LIMIT, InputError, Problem, show


def test_a_problem_is_one_line_with_place_key_value_rule_and_hint() -> None:
    problem = Problem("a.yaml", 3, 7, "time.step", "0", "a number above 0", "Seconds.")
    assert str(problem) == "a.yaml:3:7 time.step: got 0; expected a number above 0. Seconds."
    assert str(Problem("a.yaml", 0, 0, "", "a directory", "a regular file")) == (
        "a.yaml: got a directory; expected a regular file."
    )


def test_problems_are_ordered_by_place_and_cut_after_the_limit() -> None:
    problems = [Problem("a", line, 1, "k", "x", "y") for line in range(LIMIT + 3, 0, -1)]
    lines = str(InputError(problems)).splitlines()
    assert len(lines) == LIMIT + 1
    assert lines[0].startswith("a:1:1")
    assert lines[-1] == "... and 3 more"


def test_values_are_shown_short_and_on_one_line() -> None:
    assert show(True) == "true"
    assert show(None) == "nothing"
    assert show("a\nb\u202e") == r"'a\nb\u202e'"
    assert show([1, "x"]) == "[1, 'x']"
    assert show({"a": 1}) == "a mapping with a"
    assert len(show("x" * 1000)) == 60
