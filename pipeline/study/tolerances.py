"""What tolerances do to a metric, to first order exactly: derivatives by the deviations of a sweep's `tolerances`.

With independent deviations of standard deviations s_i a metric f has, to first order, the variance of the sum of
(df/dp_i s_i)^2. Samples of the deviations show what that leaves out: objectives `over tolerances` take them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from pipeline.study.columns import objective, refuse
from pipeline.study.optimisation import value_with_rates
from pipeline.study.problem import DesignProblem
from pipeline.sweep.model import Sweep
from robots.loads.tolerances import SUFFIX


@dataclass(frozen=True)
class ToleranceEffect:
    """A metric of a design without deviations, its standard deviation to first order, the share of each parameter.

    `slopes` are derivatives by the parameters that have tolerances.
    """

    value: float
    deviation: float
    slopes: Mapping[str, float]
    shares: Mapping[str, float]

    def quantile(self, share: float) -> float:
        """What the metric stays below in so large a share of all machines, as if it were normal."""
        return self.value + NormalDist().inv_cdf(share) * self.deviation


def tolerance_effect(sweep: Sweep, column: str, design: Mapping[str, float] | None = None) -> ToleranceEffect:
    """The effect of the section `tolerances` of a sweep on an objective of studies, such as `peak_force`.

    design: parameters that are not those of the sweep's first design. Over operating cases, trajectories and actuators
    the worst counts, as that of the design without deviations. Raises InputError for a sweep without tolerances, and
    ValueError for metrics that have no derivatives.

        >>> text = '''
        ... limbsweep: 1
        ... robot: five_bar
        ... tolerances: {parameters: {proximal_length: {deviation: 1.0e-3}}, seed: 1}
        ... trajectories: {c: {kind: circle, radius: 0.05, normal: [0, 1, 0]}}
        ... time: {stop: 1, step: 0.1}
        ... metrics: [peak_force]
        ... '''
        >>> effect = ls.study.tolerance_effect(ls.Sweep.from_text(text), "peak_force", {"proximal_length": 0.53})
        >>> round(effect.deviation, 3), effect.quantile(0.99) > effect.value
        (0.182, True)
    """
    if not sweep.tolerances:
        raise refuse("tolerances", "a sweep without tolerances", "a section tolerances", "Add it to the sweep.")
    names, spread = [name + SUFFIX for name in sweep.tolerances], np.array(list(sweep.tolerances.values()))
    cases = [name for name in sweep.question.cases if name not in names]
    bounds = {name: (-size, size) for name, size in zip(names, spread.tolist(), strict=True)}
    problem = DesignProblem.of(sweep, bounds, cases)
    if design:
        problem = problem.at(design)
    value, slopes = value_with_rates(problem, objective(column), np.zeros(len(names)))
    parts = (slopes * spread) ** 2
    total = float(parts.sum())
    shares = parts / total if total else parts
    rates = dict(zip(sweep.tolerances, slopes.tolist(), strict=True))
    return ToleranceEffect(value, math.sqrt(total), rates, dict(zip(sweep.tolerances, shares.tolist(), strict=True)))
