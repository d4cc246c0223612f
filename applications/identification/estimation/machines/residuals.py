"""Analysis of residuals: deviations that hold for correlated noise, and tests of the model against the machine.

Residuals of a fit are series along time, one for each recording and actuator. Sources: Newey and West 1987 and 1994 for
the covariance and its bandwidth; Kunsch 1989 for the block bootstrap; Ljung and Box 1978 for whiteness; Kay 1993 for
the number of independent samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.linalg import solve_toeplitz
from scipy.signal import lfilter
from scipy.stats import chi2, f

from applications.identification.estimation.machines.choices import LARGEST
from robots.data_classes import dataclass, replace
from tasks.kernels.expression import Array

LAGS = 20
"""Lags of the whiteness test."""
SIGNIFICANT = 3e-4
"""Probability below which a test is significant, of several for each actuator."""
BOOTSTRAPS = 400
DRAWN = 50
"""Draws of a bootstrap whose series are in memory together."""
ORDERS = 12
"""Longest autoregressive process that is tried."""
NEW = 1e-3
"""Least share of a column that is independent of the columns of the model."""


@dataclass(frozen=True)
class FitRows:
    """One recording's rows of a fit, already weighted: matrix (samples, actuator, column), forces (samples, actuator).

    Samples are evenly spaced in time. Rows that are not `good` (samples, actuator) are left out. measured: the matrix
    that residuals are of, where `matrix` is its projection on instruments. colour: power of white noise at low
    frequencies over its mean, once it has passed the filter of the forces.
    """

    matrix: np.ndarray
    forces: np.ndarray
    good: np.ndarray
    measured: np.ndarray | None = None
    colour: float = 1.0

    def residuals(self, values: Array) -> np.ndarray:
        """Return the residuals (samples, actuator); zero where a row is omitted."""
        matrix = self.matrix if self.measured is None else self.measured
        return np.asarray(np.where(self.good, self.forces - matrix @ values, 0.0))

    def on(self, instruments: np.ndarray) -> FitRows:
        """Return the rows with another matrix (samples, actuator, column); residuals still use the old one."""
        return replace(self, matrix=instruments, measured=self.matrix)


def stacked(parts: Sequence[FitRows]) -> tuple[np.ndarray, np.ndarray]:
    """Stack the good rows of some recordings: matrix (rows, column), forces (rows,)."""
    return np.concatenate([part.matrix[part.good] for part in parts]), np.concatenate(
        [part.forces[part.good] for part in parts]
    )


def actuators_of(parts: Sequence[FitRows]) -> np.ndarray:
    """Return the number of the actuator of every row that `stacked` gives."""
    return np.concatenate([np.nonzero(part.good)[1] for part in parts])


def independent_columns(matrix: np.ndarray, tolerance: float = 1e-7) -> list[int]:
    """Return the numbers of columns that recordings excite, left to right; others are zero or combinations."""
    sizes = np.linalg.norm(matrix, axis=0)
    moved = np.flatnonzero(sizes > tolerance * sizes.max(initial=0.0))
    triangle = np.asarray(np.linalg.qr(matrix[:, moved] / sizes[moved], mode="r"))
    # by their own part of length, which QR without pivoting has on its diagonal as long as none before it is small
    kept: list[int] = []
    basis = np.zeros((len(triangle), 0))
    for k, column in enumerate(triangle.T):
        remainder = column - basis @ (basis.T @ column)
        remainder = remainder - basis @ (basis.T @ remainder)
        if (size := float(np.linalg.norm(remainder))) > tolerance:
            kept.append(int(moved[k]))
            basis = np.column_stack([basis, remainder / size])
    return kept


def bandwidth(residuals: Sequence[Array]) -> int:
    """Return the number of lags over which residuals (samples, actuator) of recordings are correlated, at least 1.

    Four times the sum of the autocorrelations up to the first that is not significant: the weights of Bartlett's window
    then hardly reduce significant lags.
    """
    lengths = [1]
    for series in residuals:
        for column in np.asarray(series).T:
            correlation = autocorrelation(column)
            below = np.flatnonzero(correlation[1:] < 2.0 / np.sqrt(len(column)))
            lengths.append(1 + int(below[0]) if len(below) else len(correlation) - 1)
    longest = min(len(series) for series in residuals) // 4
    return int(max(1, min(4 * max(lengths), longest)))


def autocorrelation(series: Array, lags: int | None = None) -> np.ndarray:
    """Return the autocorrelation (lags + 1,) of a series, 1 at lag 0."""
    series = np.asarray(series) - np.mean(series)
    lags = min(len(series) - 1, len(series) // 4 if lags is None else lags)
    size = 1 << (2 * len(series) - 1).bit_length()
    spectrum = np.abs(np.fft.rfft(series, size)) ** 2
    raw = np.fft.irfft(spectrum, size)[: lags + 1]
    return np.asarray(raw / raw[0]) if raw[0] > 0 else np.eye(1, lags + 1)[0]


def covariance(parts: Sequence[FitRows], values: Array, lags: int | None = None) -> np.ndarray:
    """Return the least-squares covariance (column, column), noise correlated in time and between actuators (HAC).

    lags: of Bartlett's window, None: as residuals ask for.
    """
    return _correlated_covariance(parts, [part.residuals(values) for part in parts], parts[0].matrix.shape[2], lags)


def _correlated_covariance(
    parts: Sequence[FitRows], residuals: Sequence[np.ndarray], used: int, lags: int | None = None
) -> np.ndarray:
    """Compute the HAC covariance (column, column) of residuals of a fit that has used up `used` freedoms."""
    lags = bandwidth(residuals) if lags is None else lags
    matrix, forces = stacked(parts)
    inverse, sizes = _normal_inverse(matrix)
    count, middle = len(forces), np.zeros((matrix.shape[1],) * 2)
    for part, residual in zip(parts, residuals, strict=True):
        # contribution of a sample to the gradient, all of its actuators together
        scores = np.einsum("sac,sa->sc", part.matrix / sizes, residual)
        # the sum of products over all lags, with the weights of Bartlett's window, is one of sums over windows
        window = min(lags, len(scores) - 1) + 1
        sums = np.cumsum(np.concatenate([np.zeros((1, scores.shape[1])), scores]), axis=0)
        ends = np.arange(1, len(scores) + window)
        moving = sums[np.minimum(ends, len(scores))] - sums[np.maximum(ends - window, 0)]
        middle += moving.T @ moving / window
    # freedoms that the fit has used up, counted in independent samples
    free = max(independent_rows(residuals) - used, 1.0)
    grown = min((free + used) / free, 4.0) * count / max(count - 1, 1)
    return np.asarray(inverse @ middle @ inverse * grown / np.outer(sizes, sizes))


def deviations(parts: Sequence[FitRows], values: Array, kind: str = LARGEST) -> np.ndarray:
    """Return the standard deviations (column,) of least squares by one of COVARIANCES, or the largest of three of them.

    One is HAC, which takes any correlation, within and between actuators, but from few samples; one takes the residuals
    of each actuator for an autoregressive process, which tells long correlations from short recordings; one takes them
    for white noise, which needs the fewest samples: by chance the others are too small where there are few.
    """
    kinds = THREE if kind == LARGEST else (kind,)
    return np.sqrt(np.max([np.diag(COVARIANCES[name](parts, values)) for name in kinds], axis=0))


def white_covariance(parts: Sequence[FitRows], values: Array) -> np.ndarray:
    """Return the covariance (column, column) for white noise before the force filter, of one size per actuator.

    Slow motions determine the parameters. So the noise near the cutoff that the filter removes is missing in the
    residuals, but not in the parameters.
    """
    matrix = stacked(parts)[0]
    inverse, sizes = _normal_inverse(matrix)
    count, used = matrix.shape
    rows = np.maximum(np.sum([part.good.sum(axis=0) for part in parts], axis=0), 1)
    powers = np.sum([np.sum(part.residuals(values) ** 2, axis=0) * part.colour for part in parts], axis=0) / rows
    middle = np.zeros((used, used))
    for part in parts:
        scaled = np.where(part.good[..., None], part.matrix, 0.0) / sizes * np.sqrt(powers)[:, None]
        flat = scaled.reshape(-1, used)
        middle += flat.T @ flat
    grown = count / max(count - used, 1)
    return np.asarray(inverse @ middle @ inverse * grown / np.outer(sizes, sizes))


def autoregressive_covariance(parts: Sequence[FitRows], values: Array) -> np.ndarray:
    """Return the covariance (column, column) if each actuator's residuals are a separate autoregressive process."""
    residuals = [part.residuals(values) for part in parts]
    matrix = stacked(parts)[0]
    inverse, sizes = _normal_inverse(matrix)
    middle = np.zeros((matrix.shape[1],) * 2)
    for part, series in zip(parts, residuals, strict=True):
        for k in range(series.shape[1]):
            coefficients, noise = autoregression(series[:, k])
            rows = np.where(part.good[:, k, None], part.matrix[:, k] / sizes, 0.0)
            # noise = H white with H the impulse response; so columns go through its transpose, backwards in time
            passed = lfilter([1.0], coefficients, rows[::-1], axis=0)
            middle += noise * passed.T @ passed
    free = max(independent_rows(residuals) - matrix.shape[1], 1.0)
    grown = min((free + matrix.shape[1]) / free, 4.0)
    return np.asarray(inverse @ middle @ inverse * grown / np.outer(sizes, sizes))


def autoregression(series: Array) -> tuple[np.ndarray, float]:
    """Return the coefficients (1, a_1, ...) and noise variance of an autoregressive process, by Yule and Walker.

    The order is that of the least information criterion (Akaike 1974).
    """
    series = np.asarray(series)
    count, power = len(series), float(np.mean(series**2))
    longest = min(ORDERS, count // 10)
    if power == 0.0 or longest == 0:
        return np.ones(1), power
    products = [float(series[lag:] @ series[: count - lag]) / count for lag in range(longest + 1)]
    best, answer = count * np.log(power), (np.ones(1), power)
    for order in range(1, longest + 1):
        weights = solve_toeplitz(products[:order], products[1 : order + 1])
        noise = products[0] - float(weights @ np.array(products[1 : order + 1]))
        criterion = count * np.log(max(noise, 1e-300)) + 2.0 * order
        if criterion < best:
            best, answer = criterion, (np.concatenate([[1.0], -weights]), noise)
    return answer


def bootstrap(
    parts: Sequence[FitRows], values: Array, block: int | None = None, count: int = BOOTSTRAPS, seed: int = 0
) -> np.ndarray:
    """Return the covariance (column, column) by a moving-block bootstrap of residuals (Kunsch 1989).

    block: samples of a block, None: as many as the bandwidth of the residuals. All actuators are drawn together, which
    keeps the correlation of their noise.
    """
    random, matrix = np.random.default_rng(seed), stacked(parts)[0]
    inverse, sizes = _normal_inverse(matrix)
    residuals = [part.residuals(values) for part in parts]
    block = bandwidth(residuals) if block is None else block
    gradients = np.zeros((matrix.shape[1], count))
    for part, residual in zip(parts, residuals, strict=True):
        samples = len(residual)
        length = min(block, samples)
        starts = random.integers(0, samples - length + 1, (count, -(-samples // length)))
        rows = np.where(part.good[..., None], part.matrix, 0.0).reshape(-1, matrix.shape[1]) / sizes
        # residuals of rows that are left out are zero, wherever they are drawn to
        share = np.maximum(part.good.mean(axis=0), 1.0 / samples)
        drawn = residual / np.sqrt(share)
        for first in range(0, count, DRAWN):
            taken = (starts[first : first + DRAWN, :, None] + np.arange(length)).reshape(-1, starts.shape[1] * length)
            series = drawn[taken[:, :samples]].reshape(len(taken), -1)
            gradients[:, first : first + DRAWN] += rows.T @ series.T
    free = max(independent_rows(residuals) - matrix.shape[1], 1.0)
    grown = min((free + matrix.shape[1]) / free, 4.0)
    draws = inverse @ gradients / sizes[:, None]
    return np.asarray(np.cov(draws, ddof=1) * grown).reshape((matrix.shape[1],) * 2)


COVARIANCES: Mapping[str, Callable[[Sequence[FitRows], Array], np.ndarray]] = {
    "hac": covariance,
    "autoregressive": autoregressive_covariance,
    "white": white_covariance,
    "bootstrap": bootstrap,
}
"""Estimates of the covariance of parameters, by name."""
THREE = ("hac", "autoregressive", "white")
"""Estimates of the covariance of which the largest deviations are taken."""


def _normal_inverse(matrix: Array) -> tuple[np.ndarray, np.ndarray]:
    """Return the inverse of the normal matrix of columns scaled to length one, and the lengths."""
    matrix = np.asarray(matrix)
    sizes = np.linalg.norm(matrix, axis=0)
    triangle = np.linalg.qr(matrix / sizes, mode="r")
    inverse = np.linalg.solve(triangle, np.eye(len(triangle)))
    return inverse @ inverse.T, sizes


def independent_samples(series: Array) -> float:
    """Return the equivalent independent samples of a series (samples,): count over the sum of correlations."""
    series = np.asarray(series)
    correlation = autocorrelation(series)
    below = np.flatnonzero(correlation[1:] < 2.0 / np.sqrt(len(series)))
    until = 1 + int(below[0]) if len(below) else len(correlation)
    return float(len(series) / max(1.0 + 2.0 * correlation[1:until].sum(), 1.0))


def independent_rows(residuals: Sequence[Array]) -> float:
    """Return the same of all series of some recordings together."""
    return float(sum(independent_samples(column) for series in residuals for column in np.asarray(series).T))


@dataclass(frozen=True)
class Whiteness:
    """Correlation of residuals with those one sample before, and the chance of so much correlation in white noise."""

    lag_one: float
    chance: float

    @property
    def is_white(self) -> bool:
        """Return whether the residuals may be white noise."""
        return self.chance > SIGNIFICANT


def whiteness(residuals: Sequence[Array], actuator: int) -> Whiteness:
    """Test one actuator's residuals for whiteness by Ljung and Box, all recordings together."""
    statistic, lags, first, weight = 0.0, 0, 0.0, 0
    for series in residuals:
        column = np.asarray(series)[:, actuator]
        count = len(column)
        correlation = autocorrelation(column, LAGS)[1:]
        statistic += count * (count + 2) * float(np.sum(correlation**2 / (count - 1.0 - np.arange(len(correlation)))))
        lags += len(correlation)
        first, weight = first + float(correlation[0]) * count, weight + count
    return Whiteness(first / max(weight, 1), float(chi2.sf(statistic, max(lags, 1))))


@dataclass(frozen=True)
class Extension:
    """Columns that a model may lack: their meaning in words, and their part of every recording's rows.

    columns: for each recording (samples, actuator, extra column), weighted and filtered as the model's. level: chance
    below which they count.
    """

    text: str
    columns: tuple[np.ndarray, ...]
    level: float = SIGNIFICANT


@dataclass(frozen=True)
class LackOfFit:
    """Improvement of a fit by more columns: its text, estimates, deviations, share of the residuals, chance.

    level: chance below which the improvement is significant.
    """

    text: str
    values: np.ndarray
    deviations: np.ndarray
    share: float
    chance: float
    level: float = SIGNIFICANT

    @property
    def is_significant(self) -> bool:
        """Return whether the model lacks the effect: not by chance, and more than a hundredth of the residuals."""
        return self.chance < self.level and self.share > 0.01


class FactoredRows:
    """Rows of a fit whose tests share one factorisation of the matrix."""

    def __init__(self, parts: Sequence[FitRows]) -> None:
        self.parts = tuple(parts)
        matrix, forces = stacked(self.parts)
        self.count = matrix.shape[1]
        self._basis = np.linalg.qr(matrix / np.linalg.norm(matrix, axis=0))[0]
        self.residuals = self.outside(forces)

    def outside(self, columns: np.ndarray) -> np.ndarray:
        """Return the part of columns (rows, ...) that the columns of the fit do not have."""
        remainder = columns - self._basis @ (self._basis.T @ columns)
        return np.asarray(remainder - self._basis @ (self._basis.T @ remainder))

    def by_time(self, rows: np.ndarray) -> list[np.ndarray]:
        """Return values of good rows (rows, ...) as series of each recording (samples, actuator, ...), else zero."""
        series, first = [], 0
        for part in self.parts:
            values = np.zeros((*part.good.shape, *rows.shape[1:]))
            last = first + int(part.good.sum())
            values[part.good], first = rows[first:last], last
            series.append(values)
        return series


def lack_of_fit(rows: FactoredRows, extension: Extension) -> LackOfFit:
    """Test whether more columns explain residuals: Fisher's ratio, with as many rows as are independent.

    Estimates, deviations and residuals are those of a fit with all columns, from the parts of the new columns outside
    the span of the others (Frisch and Waugh 1933).
    """
    columns = np.concatenate([extra[part.good] for part, extra in zip(rows.parts, extension.columns, strict=True)])
    new = rows.outside(columns)
    fresh = np.flatnonzero(np.linalg.norm(new, axis=0) > NEW * np.linalg.norm(columns, axis=0))
    kept = fresh[independent_columns(new[:, fresh], NEW)] if len(fresh) else fresh
    if not len(kept):
        return LackOfFit(extension.text, np.zeros(0), np.zeros(0), 0.0, 1.0)
    new = new[:, kept]
    sizes = np.linalg.norm(new, axis=0)
    values = np.linalg.lstsq(new / sizes, rows.residuals, rcond=None)[0] / sizes
    remaining = rows.residuals - new @ values
    residuals, used = rows.by_time(remaining), rows.count + len(values)
    parts = [
        replace(part, matrix=matrix, measured=None) for matrix, part in zip(rows.by_time(new), rows.parts, strict=True)
    ]
    spread = np.diag(_correlated_covariance(parts, residuals, used))
    before, after = float(rows.residuals @ rows.residuals), float(remaining @ remaining)
    # correlated noise is explained by slow columns as if there were fewer samples
    white = sum(float(part.good.sum()) / part.colour for part in parts)
    free = max(min(independent_rows(residuals), white) - used, 3.0)
    ratio = (before - after) / max(after, np.finfo(float).tiny) * free / len(values)
    share = 1.0 - after / before if before > 0 else 0.0
    return LackOfFit(
        extension.text,
        values,
        np.sqrt(np.maximum(spread, 0.0)),
        share,
        float(f.sf(ratio, len(values), free)),
        extension.level,
    )
