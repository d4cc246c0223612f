"""Read the question of a study: objectives with their directions, conditions, and operating cases.

An objective is a text such as `min peak_force` or `max dexterity, mean over cases`; without `over cases` the worst case
counts. `mean` and `sum` may be `weighted by` an expression on cases. The question does not change results, so it is not
part of a sweep's fingerprint.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Self

from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.yaml import parse_yaml
from pipeline.errors import InputError
from pipeline.sweep.friction import FrictionContent
from pipeline.sweep.question.question import (
    DIMS,
    NO_QUESTION,
    WEIGHTED,
    StudyQuestion,
    split_objective,
    split_tolerances,
    split_trajectory,
)
from pipeline.sweep.question.sections import StudySection
from pipeline.sweep.reading import SectionContent, SweepReading, optional
from pipeline.sweep.tolerances.reader import TolerancesContent, tolerances_of
from robots.expressions.expression import ExpressionError, Kind, parse
from robots.parameter_errors import nearest
from robots.parameters import DEVIATION
from robots.quantities import QUANTITIES

KEY = "study"
REDUCED = re.compile(r"(?P<base>\w+)_(?:max|min|mean|sum)")


class QuestionContent(SectionContent[StudyQuestion, StudySection | None]):
    """Question that reports and studies answer; it changes no result, so it is not part of the fingerprint."""

    key = KEY
    field = optional(StudySection, "the question that reports and studies answer; default: none")
    after = ("friction", "simulation", "tolerances")

    @classmethod
    def read(cls, reading: SweepReading) -> Self:
        """Read the question, about metrics and parameters that the sweep has."""
        names = reading.design.axis.names if reading.design else None
        drawn = tolerances_of(reading.said(TolerancesContent))
        further = swept_beside_designs(reading)
        motions = tuple(trajectory.name for trajectory in reading.trajectories)
        return cls(read_question(reading, names, further, drawn, motions))


def swept_beside_designs(reading: SweepReading) -> tuple[str, ...]:
    """Return the names of the parameters that friction and trajectories sweep."""
    friction = reading.value(FrictionContent)
    of_friction = () if friction is None else friction.axis.names
    return (*of_friction, *(row.coordinate for each in reading.trajectories for row in each.swept))


def read_question(
    reading: SweepReading,
    swept: Sequence[str] | None,
    further: Sequence[str] = (),
    tolerances: tuple[str, ...] = (),
    motions: tuple[str, ...] = (),
) -> StudyQuestion:
    """Read the section; `swept` are the parameters of the designs that are swept, None where they are not known.

    `further` are those of friction and trajectories, which may be cases, `tolerances` deviations that are cases
    anyway, `motions` names of trajectories.
    """
    report, section, metrics = reading.report, reading.said(QuestionContent), reading.file.metrics
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
        for part in (over, how):
            if part.startswith("quantile") and float(part.split()[1]) > 1.0:
                report((KEY, "objectives", index), Got(part), "a quantile from 0 to 1", "Such as quantile 0.95.")
        _check(report, ("objectives", index), body, "number", columns, metrics, motions)
        if weights := how.partition(WEIGHTED)[2]:
            _check(report, ("objectives", index), weights, "number", section.cases, ())
    for index, text in enumerate(section.where):
        _check(report, ("where", index), text, "condition", columns, metrics, motions)
    named = tuple(name for name in section.cases if name not in tolerances)
    return StudyQuestion(section.title, section.objectives, section.where, (*named, *tolerances), tolerances)


def _check(
    report: Report,
    place: tuple[str, int],
    text: str,
    kind: Kind,
    swept: Container[str],
    metrics: Sequence[str],
    motions: Sequence[str] = (),
) -> None:
    """Refuse a text that is no expression, and names without a column; without metrics, names that are no cases."""
    try:
        names = parse(text, kind).names
    except ExpressionError as error:
        report((KEY, *place), Got(error.got), error.expected, error.hint)
        return
    known = (*metrics, "failed_samples") if metrics else ()
    for name in names:
        if name not in known and name not in swept:
            name, trajectory = split_trajectory(name)
            if trajectory and motions:
                report.require_known((KEY, *place), trajectory, motions, "a trajectory of this file")
        base = REDUCED.fullmatch(name)
        if not metrics and name not in swept:
            report((KEY, *place), name, "an operating case, by which cases are weighed", "Name it under cases.")
        elif name not in swept and name not in known and (base is None or base["base"] not in known):
            hint = "Add it to metrics." if name in QUANTITIES else sentence(nearest(name, known))
            report((KEY, *place), name, "a metric of this file, or a parameter that is swept", hint)


def stored_question(attributes: Mapping[str, object], coordinates: Iterable[object] = ()) -> StudyQuestion:
    """Return the question in the attributes of a store; an empty one where its sweep has none, or cannot be read.

    coordinates: names of those of the store, among which are the deviations whose names a file of the sweep has.
    """
    try:
        data = parse_yaml(str(attributes.get("sweep", "")), "the sweep in the store").data
        section, drawn = data.get(KEY), data.get("tolerances")
        study = StudySection.model_validate(section) if section else StudySection()
        parts = drawn.get("parameters") if isinstance(drawn, dict) else None
    except (InputError, ValueError, AttributeError):
        return NO_QUESTION
    tolerances = tuple(f"{name}{DEVIATION}" for name in parts) if isinstance(parts, dict) else ()
    if isinstance(drawn, dict) and "from" in drawn:
        deviations = (str(name) for name in coordinates if str(name).endswith(DEVIATION))
        tolerances = tuple(dict.fromkeys((*tolerances, *deviations)))
    named = tuple(name for name in study.cases if name not in tolerances)
    return StudyQuestion(study.title, study.objectives, study.where, (*named, *tolerances), tolerances)
