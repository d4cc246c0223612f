"""Space of designs of several robots, and the objectives and violations of conditions of its designs.

The robot is a category, each has the variables of its own section `design`. Variables of other robots are hidden: they
have values in every point, which parents hand on, and count for nothing (hidden genes: Abdelkhalik, Hidden genes
genetic optimization for variable-size design space problems, J. Optim. Theory Appl. 156, 2013). A method that knows
conditions, such as Optuna's, gets them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from applications.studies.columns import Array, Objective, base_of, by_case, costs, judges_failures, objective, refuse
from applications.studies.columns import condition as parsed_condition
from applications.studies.factors import Choice
from applications.studies.points import PointSpace
from applications.studies.space import DesignSpace
from pipeline.documents.dataset_names import CASE
from pipeline.errors import InputError
from pipeline.execution.contents import variable_units
from pipeline.sweep.model import Sweep
from pipeline.sweep.question.question import WEIGHTED, StudyQuestion
from robots.data_classes import dataclass, field, replace
from robots.quantities import QUANTITIES

ROBOT = "robot"
"""Name of the variable that chooses the robot."""


@dataclass(frozen=True, eq=False)
class FamilySpace(PointSpace):
    """Designs of several robots, by name: the first coordinate of a point is the number of its robot.

    >>> sample = "{sample: {method: sobol, count: 1, seed: 1, parameters: {rod_length: {low: 0.3, high: 0.6}}}}"
    >>> text = f'''
    ... limbsweep: 1
    ... robots: {{linear_delta: {{design: {sample}}}, orthoglide: {{design: {sample}}}}}
    ... trajectories: {{c: {{kind: circle, radius: 0.02}}}}
    ... time: {{stop: 1, step: 0.5}}
    ... metrics: [energy]
    ... '''
    >>> sweeps = [ls.Sweep.from_text(text + f"robot: {robot}") for robot in ("linear_delta", "orthoglide")]
    >>> space = ls.study.FamilySpace.of(sweeps)
    >>> (own, _), (other, _) = space.parts(np.array([[0, 0.5, 0.0], [1, 0.0, 1.0]]))  # robot, and both rod lengths
    >>> own.tolist(), other.tolist()
    ([0], [1])
    """

    spaces: Mapping[str, DesignSpace] = field(default_factory=dict)

    @classmethod
    def of(cls, sweeps: Sequence[Sweep], question: StudyQuestion | None = None) -> FamilySpace:
        """Return the design space of sweeps of different robots with the same cases; None: their question.

        Raises InputError for sweeps that cannot be compared: other cases, or numbers of the question in other units.
        """
        names = [sweep.robot for sweep in sweeps]
        if len(names) < 2 or len(set(names)) < len(names):
            got = ", ".join(names) or "no robot"
            raise refuse("robots", got, "two robots or more, each once", "Name them under robots.")
        spaces = {sweep.robot: _space(sweep, question or sweep.question) for sweep in sweeps}
        _require_same_cases(spaces)
        for sweep in sweeps:
            _require_same_units(sweeps[0], sweep, question or sweep.question)
        robots = Choice((ROBOT,), np.arange(float(len(names)))[:, None], ordered=False, texts=frozenset({ROBOT}))
        return cls((robots, *(variable for space in spaces.values() for variable in space.variables)), spaces)

    @property
    def is_conditional(self) -> bool:
        """Variables of a robot count for its own designs alone."""
        return True

    def active(self, points: Array) -> NDArray[np.bool_]:
        """Return a mask (n, variable) of the coordinates that count: the robot, and the variables of that robot."""
        counts = [len(space.variables) for space in self.spaces.values()]
        owner = np.repeat(np.arange(len(counts)), counts)
        is_active = np.asarray(points, dtype=float)[:, :1].astype(int) == owner
        return np.concatenate([np.ones((len(is_active), 1), dtype=bool), is_active], axis=1)

    def computable(self, points: Array) -> NDArray[np.bool_]:
        """Return a mask of the points (n, variable) whose derived parameters are within the bounds of their robot."""
        result = np.ones(len(points), dtype=bool)
        for space, (places, rows) in zip(self.spaces.values(), self.parts(points), strict=True):
            result[places] = space.computable(rows)
        return result

    def parts(self, points: Array) -> tuple[tuple[NDArray[np.intp], Array], ...]:
        """Return each robot's indices (m,) among all points (n, variable), and these points in its own space."""
        rows, first = np.asarray(points, dtype=float), 1
        result = []
        for number, space in enumerate(self.spaces.values()):
            places = np.flatnonzero(rows[:, 0].astype(int) == number)
            last = first + len(space.variables)
            result.append((places, rows[places, first:last]))
            first = last
        return tuple(result)


def _space(sweep: Sweep, question: StudyQuestion) -> DesignSpace:
    """Return the space of one of several robots, which errors name."""
    try:
        return DesignSpace.to_search(sweep, question.cases)
    except InputError as error:
        raise InputError(replace(p, key=f"robots.{sweep.robot}.{p.key}") for p in error.problems) from None


def _require_same_cases(spaces: Mapping[str, DesignSpace]) -> None:
    """Check that all robots have the same operating cases, in one order. Raises InputError."""
    (first, space), *further_spaces = spaces.items()
    for robot, further in further_spaces:
        for name, values in space.cases.items():
            if not np.array_equal(values, further.cases[name]):
                lists = (
                    ", ".join(f"{x:g}" for x in dict.fromkeys(each.tolist())) for each in (values, further.cases[name])
                )
                got = " and ".join(f"{text} for {who}" for text, who in zip(lists, (first, robot), strict=True))
                raise refuse(f"cases.{name}", got, "the same values for all robots", "Give all the same grid.")


def _require_same_units(first: Sweep, second: Sweep, question: StudyQuestion) -> None:
    """Check that the numbers of a question have the same units for two robots. Raises InputError."""
    texts = {"objective": [objective(text).expression.names for text in question.objectives]}
    texts["where"] = [parsed_condition(text).names for text in question.where]
    for text in question.objectives:
        if weights := objective(text).over.partition(WEIGHTED)[2]:
            texts["objective"].append(objective(weights).expression.names)
    for key, lists in texts.items():
        for name in (name for names in lists for name in names):
            units = unit_of(first, name), unit_of(second, name)
            if units[0] != units[1]:
                shown = [unit or "no unit" for unit in units]
                got = f"{name} in {shown[0]} for {first.robot}, in {shown[1]} for {second.robot}"
                hint = "Use one with one unit: energy, peak_power or actuator_margin with limits of each robot."
                raise refuse(key, got, "numbers of one unit for all robots", hint)


def unit_of(sweep: Sweep, name: str) -> str:
    """Return the unit of a metric, parameter or label of designs as a sweep has it; empty where it is not known."""
    parameters = {parameter.name: parameter.unit for parameter in sweep.family.parameters}
    metrics = {metric.name: metric.variable.units for metric in sweep.user_metrics} | dict(sweep.design.units)
    metrics |= {known: row.units for known, row in QUANTITIES.items()} | variable_units(sweep.family.reference)
    if name in parameters:
        return parameters[name]
    return metrics.get(base_of(name, metrics)[0], "")


EDGE = 1e-12
"""The least violation of a condition that does not hold, also at its very edge."""


def costs_and_violations(ds: xr.Dataset, objectives: Sequence[Objective], where: Sequence[str]) -> tuple[Array, Array]:
    """Return costs (design, objective) to minimise, and violations (design, 1 + condition), 0 or less if met.

    The first violation is that of designs with failed samples, or without a value; -1 for others. A condition counts by
    its margin, the worst over cases.
    """
    table = costs(ds, objectives)
    failed = np.where(np.isfinite(table).all(axis=1), -1.0, 1.0)
    if "failed_samples" in ds and not any(judges_failures(text) for text in where):
        samples = by_case(ds, "failed_samples").max(axis=1)
        failed = np.where(samples > 0.0, np.maximum(failed, samples / (1.0 + samples)), failed)
    return table, np.stack([failed, *(violation(ds, text) for text in where)], axis=1)


def violation(ds: xr.Dataset, text: str) -> Array:
    """Return by how much each design violates a condition (design,), from -1 to 1; met in its worst case: 0 or less."""
    expression = parsed_condition(text)
    values = {name: by_case(ds, name) for name in expression.names}
    holds, margin = np.asarray(expression(values), dtype=bool), np.asarray(expression.margin(values), dtype=float)
    unmet = np.where(np.isnan(margin), 1.0, np.maximum(-margin, EDGE))
    amount = np.where(holds, np.minimum(-np.nan_to_num(margin), 0.0), unmet)
    return np.broadcast_to(amount, (ds.sizes["design"], ds.sizes.get(CASE, 1))).max(axis=1)
