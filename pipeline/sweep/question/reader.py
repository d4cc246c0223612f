"""Read the question of a study: objectives with their directions, conditions, and what counts as operating cases.

An objective is a text such as `min peak_force` or `max dexterity, mean over cases`; without `over cases` the worst case
counts. `mean` and `sum` may be `weighted by` an expression on cases. The question does not change what is computed, so
it is not part of a sweep's fingerprint.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.yaml import parse_yaml
from pipeline.errors import InputError
from pipeline.sweep.question.sections import StudySection
from robots.expressions.expression import ExpressionError, Kind, parse
from robots.loads.tolerances import SUFFIX
from robots.parameters import nearest

KEY = "study"
OVER = re.compile(
    r"(?P<objective>.*),\s*(?P<how>worst|max|min|quantile\s+\d*\.?\d+|(?:mean|sum)(?:\s+weighted\s+by\s+.+)?)"
    r"\s+over\s+cases\s*",
    re.DOTALL,
)
OVER_TOLERANCES = re.compile(
    r"(?P<objective>.*),\s*(?P<how>worst|max|min|mean|deviation|quantile\s+\d*\.?\d+)\s+over\s+tolerances\s*", re.DOTALL
)
REDUCED = re.compile(r"(?P<base>\w+)_(?:max|min|mean|sum)")


@dataclass(frozen=True)
class StudyQuestion:
    """What results are asked: a title, objectives and conditions as texts, names of parameters that are cases."""

    title: str = ""
    objectives: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    tolerances: tuple[str, ...] = ()
    """Those of the cases that are deviations within tolerances."""

    def with_options(
        self, objectives: Sequence[str] = (), where: Sequence[str] = (), cases: Sequence[str] = ()
    ) -> StudyQuestion:
        """The question with what a user asks instead: objectives or cases replace those of the file, as conditions do.

        Conditions of the file stay where only objectives are given anew, and deviations are cases whatever else is.
        """
        named = (*(name for name in cases if name not in self.tolerances), *self.tolerances) if cases else self.cases
        asked = tuple(objectives) or self.objectives, tuple(where) or self.where
        return StudyQuestion(self.title, *asked, named, self.tolerances)


NO_QUESTION = StudyQuestion()

DIMS = ("friction", "trajectory")
"""Dims of a dataset that may be operating cases."""

WEIGHTED = " weighted by "
"""Between what is taken over cases, `mean` or `sum`, and the expression that weighs them."""


def split_tolerances(text: str) -> tuple[str, str]:
    """The text of an objective without what is taken over tolerances, and that; empty where nothing is said."""
    over = OVER_TOLERANCES.fullmatch(text)
    return (over["objective"], " ".join(over["how"].split())) if over else (text, "")


def split_objective(text: str) -> tuple[str, str, str]:
    """Direction (`min`, `max` or none), expression, and what is taken over cases (`worst` where nothing is said)."""
    over = OVER.fullmatch(text)
    body, how = (over["objective"].strip(), " ".join(over["how"].split())) if over else (text.strip(), "worst")
    first, _, after = body.partition(" ")
    named = first in ("min", "max") and not after.lstrip().startswith(("+", "-", "*", "/", "("))
    return (first, after.strip(), how) if named else ("", body, how)


def read_question(
    report: Report,
    section: StudySection | None,
    swept: Sequence[str] | None,
    metrics: Sequence[str],
    further: Sequence[str] = (),
    tolerances: tuple[str, ...] = (),
) -> StudyQuestion:
    """Read the section; `swept` are the parameters of the designs that are swept, None where they are not known.

    `further` are those of friction and trajectories, which may be cases, `tolerances` deviations that are cases
    anyway. Problems go to `report`.
    """
    if section is None or swept is None:
        return StudyQuestion(cases=tolerances, tolerances=tolerances)
    for index, name in enumerate(section.cases):
        if name not in swept and name not in (*further, *DIMS):
            hint = "Sweep it, or take it out of the cases."
            report((KEY, "cases", index), name, "a swept parameter, friction or trajectory", hint)
    columns = (*swept, *section.cases, *(further if {*DIMS, *further} & {*section.cases} else ()))
    for index, text in enumerate(section.objectives):
        text, over = split_tolerances(text)
        if over and not tolerances:
            hint = "Add a section tolerances."
            report((KEY, "objectives", index), Got(f"{over} over tolerances"), "tolerances of this file", hint)
        _, body, how = split_objective(text)
        _check(report, ("objectives", index), body, "number", columns, metrics)
        if weights := how.partition(WEIGHTED)[2]:
            _check(report, ("objectives", index), weights, "number", section.cases, ())
    for index, text in enumerate(section.where):
        _check(report, ("where", index), text, "condition", columns, metrics)
    named = tuple(name for name in section.cases if name not in tolerances)
    return StudyQuestion(section.title, section.objectives, section.where, (*named, *tolerances), tolerances)


def _check(
    report: Report, place: tuple[str, int], text: str, kind: Kind, swept: Container[str], metrics: Sequence[str]
) -> None:
    """Refuse a text that is no expression, and names that no column has; without metrics those that are no cases."""
    try:
        names = parse(text, kind).names
    except ExpressionError as error:
        report((KEY, *place), Got(error.got), error.expected, error.hint)
        return
    for name in names:
        base = REDUCED.fullmatch(name)
        known = (*metrics, "failed_samples") if metrics else ()
        if not metrics and name not in swept:
            report((KEY, *place), name, "an operating case, by which cases are weighed", "Name it under cases.")
        elif name not in swept and name not in known and (base is None or base["base"] not in known):
            hint = sentence(nearest(name, known)) or "Add it to metrics."
            report((KEY, *place), name, "a metric of this file, or a parameter that is swept", hint)


def stored_question(attributes: Mapping[str, object]) -> StudyQuestion:
    """The question in the attributes of a store; an empty one where its sweep has none, or cannot be read."""
    try:
        data = parse_yaml(str(attributes.get("sweep", "")), "the sweep in the store").data
        section, drawn = data.get(KEY), data.get("tolerances")
        study = StudySection.model_validate(section) if section else StudySection()
        parts = drawn.get("parameters") if isinstance(drawn, dict) else None
    except (InputError, ValueError, AttributeError):
        return NO_QUESTION
    tolerances = tuple(f"{name}{SUFFIX}" for name in parts) if isinstance(parts, dict) else ()
    named = tuple(name for name in study.cases if name not in tolerances)
    return StudyQuestion(study.title, study.objectives, study.where, (*named, *tolerances), tolerances)
