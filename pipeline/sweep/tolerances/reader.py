"""Read the section `tolerances`: the robot with deviations as parameters, and the axis of drawn deviations.

    tolerances:
      parameters: {upper_arm: {deviation: 1.0e-4}, rod_length: {limit: 5.0e-4}}
      count: 64
      seed: 1

Deviations are points of a shifted Sobol sequence, by the inverse of their distribution function, the same for all
designs. They have the streams of an axis of their own.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, Self

import numpy as np

from pipeline.documents.report import Got, Report, sentence
from pipeline.sweep.axes import samples
from pipeline.sweep.axes.kinds import MAX_DRAWN, Array, ArrayValues, Axis, Listed
from pipeline.sweep.reading import FamilyContent, SweepReading, optional
from pipeline.sweep.tolerances.sections import FittedTolerances, ToleranceSection, TolerancesSection
from pipeline.sweep.tolerances.spread import JointSpread, correlated
from robots.data_classes import dataclass
from robots.formats.description import Description
from robots.loads.wrapped import toleranced
from robots.model import Family
from robots.parameter_errors import ParameterError
from robots.parameters import DEVIATION

KEY = "tolerances"
DIGITS = 12
"""Significant digits of a deviation, so that rounding of a library in the last digits changes nothing."""
LEAST_UNIT = 2.0**-53


class TolerancesContent(FamilyContent[JointSpread, TolerancesSection | None]):
    """JointSpread of parameters. Deviations themselves are parameters, and part of the designs."""

    key = KEY
    field = optional(TolerancesSection, "deviations of parameters that every design is computed under; default: none")

    @classmethod
    def extend_family(cls, reading: SweepReading, family: Family) -> Description | None:
        """Return the robot with deviations as parameters; None after a reported problem."""
        section, report = reading.said(cls), reading.report
        assert section is not None
        parameters = section.parameters
        for name, part in parameters.items():
            if (part.deviation is None) == (part.limit is None):
                got = "neither deviation nor limit" if part.deviation is None else "both deviation and limit"
                report((KEY, "parameters", name), Got(got), "one of deviation and limit")
        try:
            return toleranced(family, tuple(parameters))
        except ParameterError as error:
            wrong = next((name for name in parameters if repr(name) in str(error)), None)
            path = (KEY, "parameters") if wrong is None else (KEY, "parameters", wrong)
            report(path, Got(wrong or "these"), "parameters of the robot", sentence(str(error)), key=wrong is not None)
            return None

    @classmethod
    def read(cls, reading: SweepReading) -> Self:
        """Return the standard deviations and the covariance."""
        return cls(spread_of(reading.said(TolerancesContent)))


@dataclass(frozen=True)
class Deviations(Listed):
    """Rows of deviations that were drawn."""

    def describe(self) -> dict[str, Any]:
        """Describe the deviations under a key of their own."""
        return {KEY: super().describe()["list"]}


def tolerances_of(section: TolerancesSection | None) -> tuple[str, ...]:
    """Return the names of the deviations; each of their values is an operating case of every design."""
    return () if section is None else tuple(name + DEVIATION for name in section.parameters)


def spread_of(section: TolerancesSection | None) -> JointSpread:
    """Return standard deviations and covariance of the deviations."""
    parts = {} if section is None else section.parameters
    deviations = {name: part.deviation or (part.limit or 0.0) / math.sqrt(3.0) for name, part in parts.items()}
    covariance = np.diag(np.square([*deviations.values()]))
    joint = _joint(section)
    covariance[: len(joint), : len(joint)] = joint
    return JointSpread(deviations, covariance)


def _joint(section: TolerancesSection | None) -> np.ndarray:
    """Return the covariance of the parameters that deviate together, the first ones; (0, 0) without such."""
    return np.array(section.covariance) if isinstance(section, FittedTolerances) else np.zeros((0, 0))


def read_deviations(report: Report, section: TolerancesSection | None, seed: int | None) -> tuple[Axis, ...]:
    """Read the axis of the deviations, none where none are drawn."""
    if section is None or section.count == 0 or not section.parameters:
        return ()
    chosen = seed if section.seed is None else section.seed
    if chosen is None:
        report((KEY,), Got("no seed"), "a seed, so that deviations can be drawn again", "Add for instance seed: 1.")
        return ()
    if section.count * len(section.parameters) > MAX_DRAWN:
        got = Got(f"{section.count} deviations of {len(section.parameters)} parameters")
        report((KEY, "count"), got, f"at most {MAX_DRAWN} numbers", "Take fewer.")
        return ()
    names = tuple(section.parameters)
    unit = samples.sample("sobol", section.count, chosen, KEY, names)
    rows = [_drawn(part, row) for part, row in zip(section.parameters.values(), unit, strict=True)]
    joint = _joint(section)
    if count := len(joint):
        sizes = np.sqrt(np.diag(joint))[:, None]
        rows[:count] = correlated(joint, np.array(rows[:count]) / sizes)
    columns = [ArrayValues(_rounded(row)) for row in rows]
    return (Deviations(tuple(name + DEVIATION for name in names), tuple(columns)),)


def _drawn(part: ToleranceSection, unit: Array) -> Array:
    if part.limit is not None:
        values = [part.limit * (2.0 * x - 1.0) for x in unit.tolist()]
    else:
        normal = NormalDist(0.0, part.deviation or 1.0)
        values = [normal.inv_cdf(max(x, LEAST_UNIT)) for x in unit.tolist()]
    return np.array(values)


def _rounded(values: Array) -> Array:
    """Return deviations with DIGITS significant digits."""
    return np.array([float(f"{value:.{DIGITS - 1}e}") for value in values])
