"""Which parameters matter at all: elementary effects after Morris, and means of squared derivatives.

Elementary effects (Morris, Technometrics 33, 1991; the mean of sizes by Campolongo et al., Environ. Modell. Softw. 22,
2007) take one step along each parameter from many places, and cost a tenth of variance-based indices. Means of squared
derivatives (Sobol and Kucherenko, Math. Comput. Simul. 79, 2009) bound the total index of each parameter from above,
and are exact here as derivatives are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from pipeline.study.columns import Array, objective, refuse
from pipeline.study.optimisation import value_with_rates
from pipeline.study.problem import DesignProblem

LEVELS = 4
"""Levels of each parameter; a step goes over half of them, so that all are met equally often."""


@dataclass(frozen=True)
class ElementaryEffects:
    """Effects of parameters (parameter,) per whole range: their mean, the mean of their sizes, their deviation.

    A deviation that is large beside the mean size says that the parameter interacts with others, or acts nonlinearly.
    """

    names: tuple[str, ...]
    mean: Array
    mean_size: Array
    deviation: Array


@dataclass(frozen=True)
class DerivativeMeasures:
    """Means of squared derivatives by parameters (parameter,), and what they say of total indices: at most `bound`.

    Both are in units of whole ranges, so parameters compare; `samples` is how many designs had a derivative.
    """

    names: tuple[str, ...]
    mean_square: Array
    bound: Array
    samples: int


def morris_designs(bounds: Mapping[str, tuple[float, float]], trajectories: int, seed: int) -> Array:
    """Designs (trajectories (parameters + 1), parameter): from a random place one step along each parameter in turn.

    >>> ls.study.morris_designs({"upper_arm": (0.2, 0.3), "base_radius": (0.12, 0.18)}, 4, seed=1).shape
    (12, 2)
    """
    if trajectories < 2:
        raise refuse("trajectories", str(trajectories), "at least 2", "10 to 50 are common.")
    generator, count = np.random.default_rng(seed), len(bounds)
    step = LEVELS / (2.0 * (LEVELS - 1))
    low, high = (np.array([pair[side] for pair in bounds.values()]) for side in (0, 1))
    parts = []
    for _ in range(trajectories):
        start = generator.integers(0, LEVELS // 2, count) / (LEVELS - 1)
        up = generator.random(count) < 0.5
        place = np.where(up, start, start + step)
        rows = [place]
        for k in generator.permutation(count):
            place = place.copy()
            place[k] += step if up[k] else -step
            rows.append(place)
        parts.append(np.array(rows))
    return np.asarray(low + (high - low) * np.concatenate(parts))


def morris(
    function: Callable[[Array], Array], bounds: Mapping[str, tuple[float, float]], trajectories: int, seed: int
) -> ElementaryEffects:
    """Elementary effects of a function of designs (designs, parameters) -> (designs,) over the box of `bounds`.

    Raises InputError where the function is NaN somewhere.

        >>> effects = ls.study.morris(lambda x: x[:, 0] + 2 * x[:, 1], {"a": (0, 1), "b": (0, 1)}, 10, seed=1)
        >>> effects.mean_size.round(9)
        array([1., 2.])
    """
    designs = morris_designs(bounds, trajectories, seed)
    values = np.asarray(function(designs), dtype=float)
    if bad := int(np.count_nonzero(~np.isfinite(values))):
        raise refuse("values", f"{bad} of {len(values)} designs without a value", "a value for every design",
                     "Make the box smaller.")  # fmt: skip
    span = np.array([high - low for low, high in bounds.values()])
    places = (designs / span).reshape(trajectories, len(span) + 1, len(span))
    steps, rises = np.diff(places, axis=1), np.diff(values.reshape(trajectories, -1), axis=1)
    along = np.abs(steps).argmax(axis=2)
    effects = np.empty((trajectories, len(span)))
    size = np.take_along_axis(steps, along[..., None], axis=2)[..., 0]
    np.put_along_axis(effects, along, rises / size, axis=1)
    return ElementaryEffects(
        tuple(bounds), effects.mean(axis=0), np.abs(effects).mean(axis=0), effects.std(axis=0, ddof=1)
    )


def derivative_measures(problem: DesignProblem, column: str, n: int, seed: int) -> DerivativeMeasures:
    """Means of squared derivatives of an objective over the box of a problem, from n designs, a power of two.

    Of cases the worst counts. Designs with failed samples are left out; InputError where all of them fail.

        >>> problem = ls.study.DesignProblem.of(ls.Sweep.from_yaml("sweep.yaml"), {"upper_arm": (0.2, 0.3)})
        >>> ls.study.derivative_measures(problem, "peak_force", 8, seed=1).names
        ('upper_arm',)
    """
    if n < 2 or n & (n - 1):
        raise refuse("n", str(n), "a power of two", "64 is a beginning.")
    low, high = (np.array([pair[side] for pair in problem.bounds.values()]) for side in (0, 1))
    unit = stats.qmc.Sobol(len(low), rng=np.random.default_rng(seed)).random(n)
    wanted = objective(column)
    results = [value_with_rates(problem, wanted, design) for design in low + (high - low) * unit]
    values = np.array([value for value, _ in results])
    rates = np.array([rate for _, rate in results]) * (high - low)
    good = np.isfinite(values) & np.isfinite(rates).all(axis=1)
    if good.sum() < 2:
        raise refuse("designs", f"{int(good.sum())} designs with a value", "at least 2", "Make the box smaller.")
    mean_square, variance = (rates[good] ** 2).mean(axis=0), float(values[good].var(ddof=1))
    bound = mean_square / (np.pi**2 * variance) if variance > 0.0 else np.zeros(len(low))
    return DerivativeMeasures(problem.names, mean_square, bound, int(good.sum()))
