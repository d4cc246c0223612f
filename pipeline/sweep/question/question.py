"""The question of a study: objectives with their directions, conditions, and the parameters that are operating cases.

An objective is a text such as `min peak_force` or `max dexterity, mean over cases`; without `over cases` the worst case
counts. `mean` and `sum` may be `weighted by` an expression on cases.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from robots.data_classes import dataclass

OVER = re.compile(
    r"(?P<objective>.*),\s*(?P<how>worst|max|min|quantile\s+\d*\.?\d+|(?:mean|sum)(?:\s+weighted\s+by\s+.+)?)"
    r"\s+over\s+cases\s*",
    re.DOTALL,
)
OVER_TOLERANCES = re.compile(
    r"(?P<objective>.*),\s*(?P<how>worst|max|min|mean|deviation|quantile\s+\d*\.?\d+)\s+over\s+tolerances\s*", re.DOTALL
)


@dataclass(frozen=True)
class StudyQuestion:
    """Question of a study: a title, objectives and conditions as texts, names of parameters that are cases."""

    title: str = ""
    objectives: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    tolerances: tuple[str, ...] = ()
    """Cases that are deviations within tolerances."""

    def with_options(
        self, objectives: Sequence[str] = (), where: Sequence[str] = (), cases: Sequence[str] = ()
    ) -> StudyQuestion:
        """Return the question with a user's options: objectives, conditions or cases replace those of the file.

        Conditions of the file stay where only objectives are given anew, and deviations are cases whatever else is.
        """
        named = (*(name for name in cases if name not in self.tolerances), *self.tolerances) if cases else self.cases
        asked = tuple(objectives) or self.objectives, tuple(where) or self.where
        return StudyQuestion(self.title, *asked, named, self.tolerances)


NO_QUESTION = StudyQuestion()

DIMS = ("friction", "trajectory")
"""Dims of a dataset that may be operating cases."""

ON = "_on_"
"""Separator between a metric and the name of a trajectory."""
WEIGHTED = " weighted by "
"""Separator between the rule over cases, `mean` or `sum`, and the expression of the weights."""


def split_tolerances(text: str) -> tuple[str, str]:
    """Return the text of an objective without its rule over tolerances, and that rule; empty without one."""
    over = OVER_TOLERANCES.fullmatch(text)
    return (over["objective"], " ".join(over["how"].split())) if over else (text, "")


def split_trajectory(name: str) -> tuple[str, str]:
    """Split the name of a column into its metric and the trajectory that alone counts: `peak_force_on_pick`.

    The trajectory is empty where all of them count.
    """
    metric, _, trajectory = name.partition(ON)
    return (metric, trajectory) if metric and trajectory else (name, "")


def split_objective(text: str) -> tuple[str, str, str]:
    """Split a text into direction (`min`, `max` or none), expression, and rule over cases (default: `worst`)."""
    over = OVER.fullmatch(text)
    body, how = (over["objective"].strip(), " ".join(over["how"].split())) if over else (text.strip(), "worst")
    first, _, after = body.partition(" ")
    after = after.strip()
    named = first in ("min", "max") and not after.startswith(("+", "-", "*", "/")) and not _has_arguments(after)
    return (first, after, how) if named else ("", body, how)


def _has_arguments(text: str) -> bool:
    """Return whether a text begins with parentheses around several arguments, as a call of min or max has."""
    depth = 0
    for letter in text if text.startswith("(") else "":
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 1:
            return True
        if not depth:
            return False
    return False
