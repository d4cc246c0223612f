"""Uncertainty of metrics from that of parameters: first order by exact derivatives, and samples beside it.

Parameters have a covariance C, from an identification, a calibration or tolerances. With the derivatives g of a metric
its variance is g^T C g to first order (JCGM 100:2008, equation 13). The share of a parameter is g_i (C g)_i of it; with
correlations a share may be negative. Samples of a normal distribution with the same covariance show effects that the
first order misses: curvature, and another actuator or instant that becomes the worst (JCGM 101:2008).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from applications.studies.columns import Array, Objective, objective, refuse
from applications.studies.optimisation import check_derivatives, value_with_rates
from applications.studies.problem import DesignProblem
from pipeline.documents.report import sentence
from pipeline.sweep.axes.derived import Sliced
from pipeline.sweep.model import Sweep
from robots.arguments import check_arguments
from robots.data_classes import dataclass, replace
from robots.parameter_errors import nearest
from robots.parameters import Parameter
from robots.quantities import DIFFERENTIABLE

if TYPE_CHECKING:
    from pandas import DataFrame

WIDTH = 8.0
"""Standard deviations to each side within which a parameter is looked at."""

ROUNDING = 1e-9
"""Share of the largest eigenvalue by which others of a covariance may be below zero, and of sizes for symmetry."""

TOGETHER = 256
"""Samples that are computed at a time."""


@dataclass(frozen=True)
class SampledUncertainty:
    """Mean and standard deviation of a metric over samples of its parameters, and of how many.

    `error` is the standard error of the deviation, as if the metric were normal; `failed` counts samples without a
    value, out of the bounds of parameters or with a failed case.
    """

    mean: float
    deviation: float
    error: float
    count: int
    failed: int


@dataclass(frozen=True)
class MetricUncertainty:
    """A metric at the design, its standard deviation to first order, derivatives and shares of the parameters.

    `sampled` is the same from samples, None where none are drawn.
    """

    value: float
    deviation: float
    slopes: Mapping[str, float]
    shares: Mapping[str, float]
    sampled: SampledUncertainty | None = None

    def quantile(self, share: float) -> float:
        """Compute the value that the metric does not exceed in a share of all cases, as if it were normal."""
        return self.value + NormalDist().inv_cdf(share) * self.deviation


@check_arguments
def uncertainty(
    sweep: Sweep,
    covariance: Mapping[str, float] | DataFrame,
    columns: Sequence[str] | None = None,
    *,
    design: int = 0,
    samples: int = 0,
    seed: int = 0,
) -> dict[str, MetricUncertainty]:
    """Compute the uncertainty of metrics from that of parameters of the robot and of friction, by metric.

    covariance: standard deviations by name, of independent parameters; or a DataFrame, the covariance, with the names
    along both axes. columns: expressions over metrics, default all metrics of the sweep with derivatives; over
    operating cases, friction sets, trajectories and actuators the worst counts. design: the number of the design.
    samples: number of samples that are drawn beside it. Raises InputError for other names, for a matrix that is no
    covariance, and for metrics without derivatives.

        >>> sweep = ls.sweep("five_bar", trajectories={"c": {"kind": "circle", "radius": 0.05, "normal": [0, 1, 0]}},
        ...     time=(1, 0.1), metrics="peak_force")
        >>> found = ls.study.uncertainty(sweep, {"proximal_length": 1e-3, "payload_mass": 0.01})["peak_force"]
        >>> 0.0 < found.deviation < 0.1 * found.value
        True
    """
    sweep = Sweep.checked(sweep)
    names, matrix = _matrix(covariance)
    problem, here = _problem(_of_design(sweep, design), names, np.sqrt(np.diag(matrix)))
    texts = tuple(columns) if columns is not None else tuple(name for name in sweep.metrics if name in DIFFERENTIABLE)
    if not texts:
        raise refuse("columns", "none", "a metric with derivatives", "Name one, or add it to the metrics of the sweep.")
    targets = {text: objective(text) for text in texts}
    for target in targets.values():
        check_derivatives(problem, target, ())
    drawn = _sampled(problem, targets, here, matrix, samples, seed) if samples else {}
    return {text: _first_order(problem, target, here, matrix, drawn.get(text)) for text, target in targets.items()}


def _first_order(
    problem: DesignProblem, target: Objective, here: Array, matrix: Array, sampled: SampledUncertainty | None
) -> MetricUncertainty:
    value, slopes = value_with_rates(problem, target, here)
    parts = slopes * (matrix @ slopes)
    variance = max(float(parts.sum()), 0.0)
    shares = parts / variance if variance else parts
    by_slope, by_share = (dict(zip(problem.names, row.tolist(), strict=True)) for row in (slopes, shares))
    return MetricUncertainty(value, math.sqrt(variance), by_slope, by_share, sampled)


def _sampled(
    problem: DesignProblem, targets: Mapping[str, Objective], here: Array, matrix: Array, count: int, seed: int
) -> dict[str, SampledUncertainty]:
    """Return mean and deviation of each target over samples of the parameters."""
    values, vectors = np.linalg.eigh(matrix)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    rows = here + np.random.default_rng(seed).standard_normal((count, len(here))) @ root.T
    parts = [rows[k : k + TOGETHER] for k in range(0, count, TOGETHER)]
    result: dict[str, SampledUncertainty] = {}
    for text, target in targets.items():
        numbers = np.concatenate([problem.objective(part, target) for part in parts])
        good = numbers[np.isfinite(numbers)]
        deviation = float(good.std(ddof=1)) if len(good) > 1 else math.nan
        error = deviation / math.sqrt(2.0 * max(len(good) - 1, 1))
        mean = float(good.mean()) if len(good) else math.nan
        result[text] = SampledUncertainty(mean, deviation, error, count, count - len(good))
    return result


def _matrix(covariance: Mapping[str, float] | DataFrame) -> tuple[tuple[str, ...], Array]:
    """Return names and covariance (parameter, parameter). Raises InputError for an invalid covariance."""
    if isinstance(covariance, Mapping):
        names, sizes = tuple(map(str, covariance)), np.array(list(covariance.values()), dtype=float)
        if not names or not (np.isfinite(sizes) & (sizes > 0.0)).all():
            got = ", ".join(f"{name} = {size:g}" for name, size in zip(names, sizes.tolist(), strict=True)) or "nothing"
            raise refuse("covariance", got, "standard deviations above zero, by name")
        return names, np.diag(sizes**2)
    names = tuple(str(name) for name in covariance.columns)
    if tuple(str(name) for name in covariance.index) != names or not names:
        raise refuse("covariance", "other names of rows than of columns", "the same names, in the same order")
    matrix = np.asarray(covariance, dtype=float)
    scale = np.sqrt(np.abs(np.outer(np.diag(matrix), np.diag(matrix))))
    if not np.isfinite(matrix).all() or (np.diag(matrix) <= 0.0).any():
        raise refuse("covariance", "a number that is no variance", "finite numbers, above zero on the diagonal")
    if (np.abs(matrix - matrix.T) > ROUNDING * scale).any():
        raise refuse("covariance", "a matrix that is not symmetric", "a covariance")
    eigenvalues = np.linalg.eigvalsh(matrix / scale)
    if eigenvalues[0] < -ROUNDING * eigenvalues[-1]:
        raise refuse("covariance", "correlations that contradict each other", "a matrix without negative eigenvalues")
    return names, matrix


def _of_design(sweep: Sweep, number: int) -> Sweep:
    """Return a sweep with one of its designs as the first. Raises InputError for one that it does not have."""
    axis = sweep.design
    if not 0 <= number < axis.size:
        raise refuse("design", str(number), f"a number from 0 to {axis.size - 1}")
    return replace(sweep, design=Sliced(axis.names, axis, number, number + 1)) if axis.names else sweep


def _problem(sweep: Sweep, names: Sequence[str], sizes: Array) -> tuple[DesignProblem, Array]:
    """Return the problem in which these parameters vary around their values, and these values."""
    table: dict[str, Parameter] = {p.name: p for p in sweep.family.parameters} | dict(sweep.friction.parameters)
    for name in names:
        if name not in table:
            hint = sentence(nearest(name, table))
            raise refuse(f"covariance.{name}", "no such parameter", "one of the robot or of friction", hint)
    wide = {name: (table[name].lower, table[name].upper) for name in names}
    here = DesignProblem.of(sweep, wide).first
    bounds = {
        name: (max(here[name] - WIDTH * size, table[name].lower), min(here[name] + WIDTH * size, table[name].upper))
        for name, size in zip(names, sizes.tolist(), strict=True)
    }
    return DesignProblem.of(sweep, bounds), np.array([here[name] for name in names])
