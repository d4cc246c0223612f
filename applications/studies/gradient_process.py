"""Gaussian process of values and gradients: regression with a Matern 5/2 kernel, its likelihood and its prediction.

Values and partial derivatives of one function are observations of one process, because the derivative of a process is a
process: cov(f, d'f) = d'k and cov(df, d'f) = d d'k. A Matern 5/2 kernel has these derivatives and does not ask for more
smoothness than a worst of many samples has. Derivatives have a noise of their own, which takes up the residuals at
kinks. Source: Rasmussen and Williams 2006, sections 2.2, 4.2.1, 5.4.1 and 9.4.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize

from robots.data_classes import dataclass, replace

Array = NDArray[np.float64]

LENGTHS = (0.05, 50.0)
"""Bounds of length scales, of inputs with a range of one."""

NOISE = (1e-7, 0.3)
"""Bounds of the deviations of noise, relative to the deviation of values."""

ROUNDS = 25
"""Steps of the search for the largest likelihood."""

CHUNK = 1 << 14
"""Distances of inputs to points that are computed at a time: a few arrays of this size stay in the L2 cache."""


MANY = 32
"""Chunks from which on threads share them."""


@dataclass(frozen=True)
class ProcessScales:
    """Length scales (input,), deviations of the noise of values and of slopes, relative to that of the process."""

    lengths: Array
    noise: float
    slope_noise: float

    @classmethod
    def of(cls, logarithms: Array) -> ProcessScales:
        """Return them from their logarithms (input + 2,)."""
        numbers = np.exp(logarithms)
        return cls(numbers[:-2], float(numbers[-2]), float(numbers[-1]))

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Bounds of the logarithms."""
        return [(math.log(low), math.log(high)) for low, high in [LENGTHS] * len(self.lengths) + [NOISE] * 2]


@dataclass(frozen=True)
class GradientProcess:
    """A fitted process in scaled units: inputs of range one, values of mean zero and deviation one.

    points (point, input); weights (point,) of values and slopes (point, input) of derivatives; factor: Cholesky factor
    of the covariance of all observations, `seen` (point, input) where derivatives are among them; size: variance.
    """

    points: Array
    scales: ProcessScales
    weights: Array
    slopes: Array
    factor: Array
    seen: NDArray[np.bool_]
    size: float

    @classmethod
    def fit(cls, points: Array, values: Array, slopes: Array, sparse: int) -> GradientProcess:
        """Fit values (point,) and slopes (point, input), NaN where unknown; scales by at most `sparse` observations."""
        some = max(2, sparse // (1 + points.shape[1]))
        step = max(1, len(points) // some)
        scales = _likeliest(points[::step], values[::step], slopes[::step])
        seen = np.isfinite(slopes)
        observed, rows = _observed(values, slopes)
        scales, factor = _factored(points, scales, seen, rows)
        solved = cho_solve((factor, True), observed)
        size = float(observed @ solved) / len(observed)
        weights = np.zeros(points.size + len(points))
        weights[rows] = solved
        return cls(
            points, scales, weights[: len(points)], weights[len(points) :].reshape(points.shape), factor, seen, size
        )

    def value(self, inputs: Array) -> Array:
        """Return the mean of the process (n,) at inputs (n, input)."""
        step = max(64, CHUNK // max(1, len(self.points)))
        result, terms = np.empty(len(inputs)), MeanTerms.of(self)
        starts = range(0, len(inputs), step)
        if len(starts) < MANY:
            for start in starts:
                result[start : start + step] = terms.value(inputs[start : start + step])
            return result
        with ThreadPoolExecutor(os.cpu_count()) as pool:  # NumPy lets other threads run
            for start, part in zip(starts, pool.map(lambda k: terms.value(inputs[k : k + step]), starts), strict=True):
                result[start : start + len(part)] = part
        return result

    def gradient(self, inputs: Array) -> Array:
        """Return the derivatives of the mean (n, input) at inputs (n, input)."""
        parts = []
        for k in range(0, len(inputs), 64):
            some = inputs[k : k + 64]
            block = slope_covariances(some, self.points, self.scales.lengths)
            whole = np.concatenate([self.weights, self.slopes.ravel()])
            parts.append((block @ whole).reshape(some.shape))
        return np.concatenate(parts) if parts else np.zeros(inputs.shape)

    def deviation(self, inputs: Array) -> Array:
        """Return the deviation of the process (n,) at inputs (n, input)."""
        some_slopes = bool(self.seen.any())
        rows = np.concatenate([np.ones(len(self.points), dtype=bool), self.seen.ravel()])
        rows, parts = rows if some_slopes else rows[: len(self.points)], []
        for k in range(0, len(inputs), 256):
            some = inputs[k : k + 256]
            cross = value_covariances(some, self.points, self.scales.lengths, some_slopes)[:, rows]
            reduced = solve_triangular(self.factor, cross.T, lower=True)
            parts.append(np.sqrt(np.maximum(self.size * (1.0 - (reduced**2).sum(axis=0)), 0.0)))
        return np.concatenate(parts) if parts else np.zeros(0)


@dataclass(frozen=True)
class MeanTerms:
    """Numbers of the mean of a process, in an order in which one product of matrices gives all that depends on inputs.

    With x the inputs over the lengths, p a point, t its slopes: far = 5 (x^2 + p^2 - 2 x p), along = 5/3 t (x - p).
    """

    scale: Array
    product: Array
    far: Array
    along: Array
    weights: Array

    @classmethod
    def of(cls, process: GradientProcess) -> MeanTerms:
        """Return those of a process."""
        points, turned = process.points / process.scales.lengths, (5.0 / 3.0) * process.slopes / process.scales.lengths
        product = np.ascontiguousarray(np.vstack([-10.0 * points, turned]).T)
        far, along = 5.0 * (points**2).sum(axis=1), (points * turned).sum(axis=1)
        return cls(1.0 / process.scales.lengths, product, far, along, process.weights)

    def value(self, inputs: Array) -> Array:
        """Return the mean (n,) at inputs (n, input): of each point near times ((1 + d) (w + along) + w d^2 / 3)."""
        here = inputs * self.scale
        both = here @ self.product
        far, along = both[:, : len(self.far)], both[:, len(self.far) :]
        far += self.far
        far += 5.0 * (here * here).sum(axis=1)[:, None]
        np.maximum(far, 0.0, out=far)
        distance = np.sqrt(far)
        along -= self.along - self.weights
        far *= self.weights / 3.0
        near = np.exp(-distance)
        distance += 1.0
        along *= distance
        along += far
        along *= near
        return np.asarray(along.sum(axis=1))


def covariances(first: Array, second: Array, lengths: Array, with_slopes: bool = True) -> Array:
    """Return covariances of values and derivatives at two sets of inputs (n, input) and (m, input).

    Rows are the values at the first set, then the derivatives, input by input; columns the same of the second. Without
    slopes, of values alone.
    """
    upper = value_covariances(first, second, lengths, with_slopes)
    return np.vstack([upper, slope_covariances(first, second, lengths)]) if with_slopes else upper


def value_covariances(first: Array, second: Array, lengths: Array, with_slopes: bool = True) -> Array:
    """Return the covariances of values at the first set with values, and derivatives, at the second."""
    apart, distance, near = _apart(first, second, lengths)
    values = (1.0 + distance + distance**2 / 3.0) * near
    if not with_slopes:
        return values
    bend = (5.0 / 3.0) * (1.0 + distance) * near
    return np.hstack([values, (bend[..., None] * apart / lengths).reshape(len(first), second.size)])


def slope_covariances(first: Array, second: Array, lengths: Array) -> Array:
    """Return the covariances of derivatives at the first set with values and derivatives at the second."""
    width = len(lengths)
    apart, distance, near = _apart(first, second, lengths)
    bend = (5.0 / 3.0) * (1.0 + distance) * near
    cross = bend[..., None] * apart / lengths
    curved = (25.0 / 3.0) * near[..., None, None] * (apart[..., :, None] * apart[..., None, :])
    both = (bend[..., None, None] * np.eye(width) - curved) / (lengths[:, None] * lengths)
    return np.hstack([
        -cross.transpose(0, 2, 1).reshape(first.size, len(second)),
        both.transpose(0, 2, 1, 3).reshape(first.size, second.size),
    ])  # fmt: skip


def _apart(first: Array, second: Array, lengths: Array) -> tuple[Array, Array, Array]:
    """Return differences (n, m, input), distances (n, m), and their decay."""
    apart = (first[:, None] - second) / lengths
    distance = np.sqrt(5.0 * (apart**2).sum(axis=2))
    return apart, distance, np.exp(-distance)


def _observed(values: Array, slopes: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return all observations, and which of values and slopes they are."""
    whole = np.concatenate([values, slopes.ravel()])
    rows = np.isfinite(whole)
    return whole[rows], rows


def _covariance(points: Array, scales: ProcessScales, seen: NDArray[np.bool_], rows: NDArray[np.bool_]) -> Array:
    """Return the covariance of observations with their noise: of the rows of values, then slopes, that there are."""
    some_slopes = bool(seen.any())
    noise = np.full(len(points), scales.noise)
    if some_slopes:
        noise = np.concatenate([noise, np.tile(scales.slope_noise / scales.lengths, len(points))])
    kept = np.flatnonzero(rows)
    whole = covariances(points, points, scales.lengths, some_slopes)
    whole[np.diag_indices(len(whole))] += noise**2
    return whole if len(kept) == len(whole) else whole[np.ix_(kept, kept)]


def _factored(
    points: Array, scales: ProcessScales, seen: NDArray[np.bool_], rows: NDArray[np.bool_]
) -> tuple[ProcessScales, Array]:
    """Return the Cholesky factor of the covariance, and its scales: with so much more noise as rounding asks for.

    Scales come from some of the points; all of them may lie so near each other that a smooth function needs more.
    """
    while True:
        try:
            return scales, cholesky(_covariance(points, scales, seen, rows), lower=True)
        except np.linalg.LinAlgError:
            if scales.noise >= NOISE[1]:
                raise
            scales = replace(scales, noise=10.0 * scales.noise, slope_noise=10.0 * scales.slope_noise)


def _likeliest(points: Array, values: Array, slopes: Array) -> ProcessScales:
    """Return the scales of the largest likelihood, the variance eliminated."""
    width = points.shape[1]
    observed, rows = _observed(values, slopes)
    seen = np.isfinite(slopes)

    def cost(logarithms: Array) -> float:
        scales = ProcessScales.of(logarithms)
        matrix = _covariance(points, scales, seen, rows)
        try:
            factor = cholesky(matrix, lower=True)
        except np.linalg.LinAlgError:
            return 1e25
        size = float(observed @ cho_solve((factor, True), observed)) / len(observed)
        prior = 0.02 * float(((logarithms[:width] - math.log(math.sqrt(width))) ** 2).sum())
        return 0.5 * len(observed) * math.log(max(size, 1e-300)) + float(np.log(np.diag(factor)).sum()) + prior

    start = np.log([*[math.sqrt(width)] * width, 1e-3, 1e-2])
    bounds = ProcessScales.of(start).bounds
    best = minimize(cost, start, method="L-BFGS-B", bounds=bounds, options={"maxiter": ROUNDS})
    return ProcessScales.of(best.x)
