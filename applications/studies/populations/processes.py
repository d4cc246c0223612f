"""Search by Gaussian processes: costs and conditions are learned from all designs, and the most promising are next.

Each objective and each condition has a process (scikit-learn) over the numbers of a design: variables on their ranges,
a row of a table by its own numbers, names as one number each. Its length scales have a prior that grows with their
number (Hvarfner, Hellsten and Nardi, Proc. Mach. Learn. Res. 235, 2024). Candidates are the front of NSGA-II by lower
confidence bounds where conditions may hold. Each of the next designs is the candidate that adds most to the hypervolume
by a joint draw of its own from the processes, so that designs of one population differ (Bradford, Schweidtmann and
Lapkin, J. Glob. Optim. 71, 2018); the first is that by the means. The proposals depend on the designs so far alone.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtr
from scipy.stats import qmc

from applications.studies.columns import Array, Indices
from applications.studies.pareto import best_designs, front
from applications.studies.populations.asking import SearchSettings
from applications.studies.populations.evolution import Evolution
from applications.studies.populations.genes import Genome, Proposals, designs
from robots.data_classes import dataclass

MOST_FITTED = 160
"""Designs that a process is fitted to, at most: the best ones."""

MOST_LISTED, MOST_DRAWN = 10_000, 400
"""Designs of a catalogue that are compared by their bounds, and designs that are drawn from, at most."""

LEAST_CHANCE = 0.25
"""Probability that conditions hold below which a candidate comes after all others."""

BOUND = 1.0
"""Standard deviations by which a bound is better than the mean."""

INNER_POPULATION, INNER_GENERATIONS = 64, 25
"""Search for the best bounds."""

GRID = 2.0**20
"""Parts of the range of a continuous variable: coordinates are whole numbers of them, which a store gives back."""

STEPS = 15
"""Iterations of a fit."""

SMOOTHNESS = 1.5
"""Smoothness of the Matern kernels: metrics are largest values, with kinks where another time becomes the largest."""


class Processes:
    """Gaussian processes of all designs so far, asked for a population at a time."""

    def __init__(self, settings: SearchSettings) -> None:
        self.settings, self.genome = settings, Genome.of(settings.space)
        self.proposals = Proposals(self.genome)
        self.points = np.zeros((0, len(settings.space.variables)))
        self.costs = np.zeros((0, settings.objectives))
        self.violations = np.zeros((0, settings.conditions))
        self.asked = self.points

    def ask(self) -> Array:
        """Return the next points: no design twice, and only designs that are robots."""
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):  # small matrices: more threads take longer, and may give other bits
            self.asked = self._promising() if len(self.points) else self._first()
        return self.asked

    def keep(self, rows: Indices) -> None:
        """Take some of the last points as all that were asked for; the others may be asked for again."""
        self.asked = self.asked[rows]

    def remember(self, points: Array) -> Array:
        """Record points as the last proposals, moved to the nearest points of the grid, and return these."""
        self.asked = self._on_grid(points)
        return self.asked

    def tell(self, costs: Array, violations: Array) -> None:
        """Receive the costs and violations of the last points."""
        self.proposals.add(self.asked)
        self.points = np.concatenate([self.points, self.asked])
        self.costs = np.concatenate([self.costs, costs])
        self.violations = np.concatenate([self.violations, violations])

    def _first(self) -> Array:
        """Return a scrambled Sobol' sample of the genes, no design twice."""
        count = self.settings.requested
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a population need not be a power of two
            unit = qmc.Sobol(len(self.genome.genes), rng=self.settings.seed).random(4 * count)
        for k, gene in enumerate(self.genome.genes):
            if gene.kind != "real":
                unit[:, k] = np.minimum(np.floor(unit[:, k] * gene.count), gene.count - 1)
        return _unique(self._on_grid(self.genome.points(unit)), self.proposals)[:count]

    def _on_grid(self, points: Array) -> Array:
        """Return points whose continuous coordinates are on the grid."""
        return np.asarray(np.round(points * GRID) / GRID)  # numbers of rows and steps are whole anyway

    def _promising(self) -> Array:
        models = self._models()
        remaining, generator = self.proposals.remaining(), np.random.default_rng((self.settings.seed, len(self.points)))
        if len(remaining) > MOST_LISTED:
            remaining = remaining[np.sort(generator.choice(len(remaining), MOST_LISTED, replace=False))]
        points = remaining if len(remaining) else self._candidates(models)
        if not len(points):
            return points
        x = self.genome.features(points)
        bounds, chance = models.at(x)
        drawn = np.sort(best_designs(bounds, LEAST_CHANCE - chance[:, None], MOST_DRAWN))
        return points[drawn[_selected(models, x[drawn], self.settings.requested, generator)]]

    def _models(self) -> _Models:
        is_valid = np.isfinite(self.costs).all(axis=1)
        feasible = is_valid & (self.violations <= 0.0).all(axis=1)
        fitted = np.isin(np.arange(len(self.points)), best_designs(self.costs, self.violations, MOST_FITTED))
        x = self.genome.features(self.points)
        costs, conditions, scaled = [], [], np.full(self.costs.shape, np.nan)
        for k in range(self.settings.objectives):
            if is_valid.sum() >= 2:
                scaled[is_valid, k] = _even_spread(self.costs[is_valid, k])
                rows = fitted & is_valid
                costs.append(_Process.of(x[rows], scaled[rows, k]))
        for column in self.violations.T:
            if np.ptp(column) > 0.0 and column.max() > 0.0:
                conditions.append(_Process.of(x[fitted], column[fitted]))
        return _Models(costs, conditions, scaled[feasible])

    def _candidates(self, models: _Models) -> Array:
        """Return designs with good bounds, by NSGA-II on the processes, from the best designs so far and others."""
        settings = self.settings
        seed = settings.seed + len(self.points)
        objectives = max(len(models.costs), 1)
        inner = SearchSettings(settings.space, objectives, 1, INNER_POPULATION, seed)
        start = self.points[np.sort(best_designs(self.costs, self.violations, INNER_POPULATION // 2))]
        random = settings.space.random(np.random.default_rng(seed), INNER_POPULATION)
        evolution = Evolution(inner, start=np.concatenate([start, random])[:INNER_POPULATION])
        populations = []
        for _ in range(INNER_GENERATIONS):
            points = self._on_grid(evolution.ask())
            if not len(points):
                break
            bounds, chance = models.at(self.genome.features(points))
            evolution.tell(bounds, LEAST_CHANCE - chance[:, None])
            populations.append(points)
        points = np.concatenate(populations) if populations else np.zeros((0, len(settings.space.variables)))
        return _unique(points, self.proposals)


def _unique(points: Array, proposals: Proposals) -> Array:
    """Return the points that are robots and were not proposed, each once."""
    points = points[proposals.genome.space.computable(points)]
    first: dict[bytes, int] = {}
    for place, key in enumerate(designs(proposals.genome.space, points)):
        if key not in proposals.seen:
            first.setdefault(key, place)
    return points[list(first.values())]


def _even_spread(y: Array) -> Array:
    """Return numbers with mean 0 and deviation 1, in their order, with short tails (Yeo-Johnson)."""
    from sklearn.preprocessing import PowerTransformer

    spread = y.std() or 1.0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        result = PowerTransformer().fit_transform(((y - np.median(y)) / spread)[:, None])[:, 0]
    plain = (y - y.mean()) / spread
    return np.asarray(result if np.isfinite(result).all() and np.ptp(result) > 0.0 else plain)


@dataclass(frozen=True)
class _Process:
    """A Gaussian process with its mean and deviation."""

    regressor: Any
    mean: float
    spread: float

    @classmethod
    def of(cls, x: Array, y: Array) -> _Process:
        """Fit a process to numbers y (n,) at designs x (n, feature)."""
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

        scales = np.full(x.shape[1], math.exp(_typical(x.shape[1])))
        kernel = ConstantKernel(1.0, (1e-3, 1e3)) * Matern(scales, (1e-2, 1e3), nu=SMOOTHNESS) + WhiteKernel(
            1e-5, (1e-8, 1e-2)
        )
        spread = float(y.std()) or 1.0
        fit = GaussianProcessRegressor(kernel, alpha=1e-9, optimizer=_with_prior)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of parameters at an end of their range
            fit.fit(x, (y - y.mean()) / spread)
        return cls(fit, float(y.mean()), spread)

    @property
    def theta(self) -> Array:
        """Logarithms of the parameters: of the size, of the length scales, of the noise."""
        return np.asarray(self.regressor.kernel_.theta)

    def at(self, x: Array) -> tuple[Array, Array]:
        """Return mean and deviation (n,) at designs (n, feature)."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of variances below rounding
            mean, deviation = self.regressor.predict(x, return_std=True)
        noise = math.exp(self.theta[-1])
        deviation = np.sqrt(np.maximum(deviation**2 - noise, 1e-12))
        return self.mean + self.spread * mean, self.spread * deviation

    def drawn(self, x: Array, count: int, generator: np.random.Generator) -> Array:
        """Return draws (draw, n) at designs (n, feature), the first one the mean."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mean, covariance = self.regressor.predict(x, return_cov=True)
        size, vectors = np.linalg.eigh(covariance - math.exp(self.theta[-1]) * np.eye(len(x)))
        normal = generator.standard_normal((count, len(x)))
        normal[0] = 0.0
        return self.mean + self.spread * (mean + (normal * np.sqrt(np.maximum(size, 0.0))) @ vectors.T)


WIDTH = math.sqrt(3.0)
"""Standard deviation of the logarithm of a length scale."""


def _typical(count: int) -> float:
    """Return the mean of the logarithms of length scales, for the number of inputs."""
    return math.sqrt(2.0) + 0.5 * math.log(count)


def _with_prior(loss: Callable[..., Any], start: Array, bounds: Array) -> tuple[Array, float]:
    """Minimise the negative logarithm of likelihood and prior."""
    centre = _typical(len(start) - 2)

    def both(theta: Array) -> tuple[float, Array]:
        value, rates = loss(theta)
        away = (theta[1:-1] - centre) / WIDTH
        rates = np.array(rates, dtype=float)
        rates[1:-1] += away / WIDTH
        return float(value) + 0.5 * float(away @ away), rates

    solution = minimize(both, start, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": STEPS})
    return solution.x, float(solution.fun)


@dataclass(frozen=True, eq=False)
class _Models:
    """Processes of objectives and of conditions, and the scaled costs (n, objective) of the feasible designs."""

    costs: list[_Process]
    conditions: list[_Process]
    feasible: Array

    def at(self, x: Array) -> tuple[Array, Array]:
        """Return bounds of the costs (n, objective), and the probability that all conditions hold (n,).

        As long as no design has costs, the probability is the only cost.
        """
        pairs = [process.at(x) for process in self.costs]
        chance = np.ones(len(x))
        for process in self.conditions:
            margin, width = process.at(x)
            chance = chance * ndtr(-margin / np.maximum(width, 1e-9))
        bounds = [mean - BOUND * width for mean, width in pairs] or [-chance]
        return np.stack(bounds, axis=1), chance

    def drawn(self, x: Array, count: int, generator: np.random.Generator) -> tuple[Array, Array]:
        """Return draws (draw, n, objective) of the costs, the first one their mean, and which designs are feasible."""
        costs = np.stack([process.drawn(x, count, generator) for process in self.costs], axis=2)
        feasible = np.ones((count, len(x)), dtype=bool)
        for process in self.conditions:
            feasible &= process.drawn(x, count, generator) <= 0.0
        return costs, feasible


def _selected(models: _Models, x: Array, count: int, generator: np.random.Generator) -> list[int]:
    """Return the numbers of the designs that add most to the hypervolume, each by a draw of its own."""
    bounds, chance = models.at(x)
    if not len(models.feasible):
        return np.argsort(-chance, kind="stable")[:count].tolist()
    costs, feasible = models.drawn(x, count, generator)
    numbers: list[int] = []
    for drawn, holds in zip(costs, feasible, strict=True):
        volume = _Volume(np.concatenate([models.feasible, drawn[numbers]]), models.feasible)
        gain = np.array([volume.gain(point) for point in drawn])
        gain[numbers] = -np.inf
        order = np.lexsort((bounds.sum(axis=1), -gain, ~holds, np.isinf(gain)))
        if len(order) == len(numbers):
            break
        numbers.append(int(order[0]))
    return numbers


class _Volume:
    """Hypervolume of scaled costs up to a little beyond the worst of a front, or to the medians of feasible designs.

    So a front that is short still grows at its ends: designs beyond its worst add to the volume.
    """

    def __init__(self, costs: Array, feasible: Array) -> None:
        best = feasible[np.asarray(front(feasible), dtype=bool)]
        beyond = best.max(axis=0) + 0.1 * np.maximum(np.ptp(best, axis=0), 0.1)
        self.reference = np.maximum(beyond, np.median(feasible, axis=0))
        self.points = costs[np.asarray(front(costs), dtype=bool)]
        self.now = self._of(self.points)

    def _of(self, points: Array) -> float:
        import moocore

        inside = points[(points < self.reference).all(axis=1)]
        return float(moocore.hypervolume(inside, ref=self.reference)) if len(inside) else 0.0

    def gain(self, point: Array) -> float:
        """Return the hypervolume that a design with these costs adds."""
        if not (point < self.reference).all() or (self.points <= point).all(axis=1).any():
            return 0.0
        return self._of(np.concatenate([self.points, point[None]])) - self.now
