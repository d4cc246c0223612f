"""Last step of a search: the best design by each objective is improved by exact derivatives."""

from __future__ import annotations

import numpy as np

from applications.studies.cases import stored_number
from applications.studies.columns import objective
from applications.studies.factors import Continuous
from applications.studies.optimisation import LocalOptimum, optimise
from applications.studies.populations.search import SearchOutcome
from applications.studies.problem import DesignProblem
from applications.studies.space import DesignSpace
from pipeline.errors import InputError
from pipeline.sweep.model import Sweep
from pipeline.sweep.question.question import StudyQuestion
from robots.data_classes import dataclass


@dataclass(frozen=True)
class PolishedDesign:
    """An optimum by derivatives from the best design of a search by one objective; choices stay as in that design.

    start: place of that design in the outcome, `number` that in the store. optimum: None where the objective or a
    condition has no derivatives, with the `refusal`.
    """

    objective: str
    start: int
    number: int
    optimum: LocalOptimum | None
    refusal: str = ""

    @property
    def is_better(self) -> bool:
        """Return whether it is better than its start by more than rounding, and meets all conditions."""
        if self.optimum is None:
            return False
        before, after = self.optimum.start, self.optimum.value
        gain = (before - after) * objective(self.objective).sign
        return self.optimum.feasible and gain > 1e-6 * abs(before)

    def __str__(self) -> str:
        """Format the design in one line for people."""
        if self.optimum is None:
            return f"{self.objective}: not improved, {self.refusal}"
        names = ", ".join(f"{name} {value:.6g}" for name, value in self.optimum.design.items())
        return (
            f"{self.objective}: {self.optimum.value:.6g} (design {self.number} has {self.optimum.start:.6g}) at {names}"
        )


def polished(sweep: Sweep, question: StudyQuestion, outcome: SearchOutcome) -> list[PolishedDesign]:
    """Improve the best design of a search by each objective, within the bounds of its continuous variables.

    Empty if no variable is continuous or no design is feasible. Raises InputError for sweeps that have no derivatives.
    """
    variables = DesignSpace.to_search(sweep, question.cases).variables
    bounds = {free.name: (free.low, free.high) for free in variables if isinstance(free, Continuous)}
    if not bounds or not len(outcome.front):
        return []
    problem = DesignProblem.of(sweep, bounds, question.cases)
    designs = []
    for k, text in enumerate(question.objectives):
        start = int(outcome.front[np.argmin(outcome.costs[outcome.front, k])])
        number = stored_number(outcome.designs, start)
        row = {str(name): x.values[start] for name, x in outcome.designs.coords.items() if x.dims == ("design",)}
        point = [float(row[name]) for name in problem.names]
        about = problem.about(problem.names, row)
        try:
            optimum = optimise(about, objective(text), np.array(point), question.where)[0]
            designs.append(PolishedDesign(text, start, number, optimum))
        except InputError as error:
            first = error.problems[0]
            designs.append(PolishedDesign(text, start, number, None, f"got {first.got}; expected {first.expected}"))
    return designs
