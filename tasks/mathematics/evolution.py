"""Minimise functions that have no slopes to trust: the evolution strategy with an adapted covariance matrix (CMA-ES).

With random numbers of its own, so that searches in threads have the same bits as one after the other. Source: Hansen
2016, The CMA evolution strategy: a tutorial, figure 6, with the constants of its table 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tasks.kernels.types import Array


def evolve(
    costs: Callable[[np.ndarray], np.ndarray], start: Array, spread: float, generations: int, seed: int = 0
) -> tuple[float, np.ndarray]:
    """The least cost found and where (n,); costs takes points (point, n), of which those that are no numbers are worst.

    spread: standard deviation of the first generation in every coordinate.
    """
    random, mean = np.random.default_rng(seed), np.asarray(start, dtype=float).copy()
    n = len(mean)
    population = 4 + int(3.0 * np.log(n))
    parents = population // 2
    raw = np.log((population + 1.0) / 2.0) - np.log(np.arange(1.0, population + 1.0))
    mass, against = (float(part.sum() ** 2 / np.sum(part**2)) for part in (raw[:parents], raw[parents:]))
    path_rate, step_rate = (4.0 + mass / n) / (n + 4.0 + 2.0 * mass / n), (mass + 2.0) / (n + mass + 5.0)
    one_rate = 2.0 / ((n + 1.3) ** 2 + mass)
    many_rate = min(1.0 - one_rate, 2.0 * (0.25 + mass + 1.0 / mass - 2.0) / ((n + 2.0) ** 2 + mass))
    # the worst of a generation count against their directions, as long as the covariance stays positive definite
    least = min(
        1.0 + one_rate / many_rate,
        1.0 + 2.0 * against / (mass + 2.0),
        (1.0 - one_rate - many_rate) / (n * many_rate),
    )
    weights = raw / raw[raw > 0].sum()
    weights[raw < 0] = raw[raw < 0] * least / -raw[raw < 0].sum()
    damping = 1.0 + 2.0 * max(0.0, float(np.sqrt((mass - 1.0) / (n + 1.0))) - 1.0) + step_rate
    usual = np.sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n))
    covariance, path, step_path = np.eye(n), np.zeros(n), np.zeros(n)
    best = (float(np.asarray(costs(mean[None]))[0]), mean.copy())
    for generation in range(1, generations + 1):
        squares, axes = np.linalg.eigh(covariance)
        sizes = np.sqrt(np.maximum(squares, 1e-20))
        moves = (random.normal(size=(population, n)) * sizes) @ axes.T
        values = np.asarray(costs(mean + spread * moves), dtype=float)
        order = np.argsort(np.where(np.isfinite(values), values, np.inf), kind="stable")
        if values[order[0]] < best[0]:
            best = (float(values[order[0]]), mean + spread * moves[order[0]])
        chosen = moves[order]
        move = weights[:parents] @ chosen[:parents]
        mean = mean + spread * move
        white = axes @ ((axes.T @ move) / sizes)
        step_path = (1.0 - step_rate) * step_path + np.sqrt(step_rate * (2.0 - step_rate) * mass) * white
        length = float(np.linalg.norm(step_path))
        settled = np.sqrt(1.0 - (1.0 - step_rate) ** (2 * generation))
        rises = float(length / settled < (1.4 + 2.0 / (n + 1.0)) * usual)
        path = (1.0 - path_rate) * path + rises * np.sqrt(path_rate * (2.0 - path_rate) * mass) * move
        lost = one_rate * (1.0 - rises) * path_rate * (2.0 - path_rate)
        lengths = np.linalg.norm((chosen @ axes) / sizes, axis=1)
        scaled = np.where(weights >= 0, weights, weights * n / np.maximum(lengths, 1e-12) ** 2)
        kept = 1.0 - one_rate - many_rate * float(weights.sum()) + lost
        covariance = kept * covariance + one_rate * np.outer(path, path) + many_rate * (chosen.T * scaled) @ chosen
        spread *= float(np.exp(min(1.0, step_rate / damping * (length / usual - 1.0))))
    return best
